"""Report in one line what cannot be written: a full disk or missing permissions are not bugs."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lycosa.types import BadInput


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """A context for everything that writes; `path` is named if the error does not say which file it was."""
    try:
        yield
    except OSError as error:
        raise BadInput(
            f"{error.filename2 or error.filename or path}: cannot be written: {error.strerror or error}"
        ) from None


def make_folder(path: Path) -> None:
    """Create the folder and its parents if necessary."""
    with writing(path):
        path.mkdir(parents=True, exist_ok=True)


def check_folder(path: Path) -> None:
    """Report now what would otherwise fail after minutes of work; nothing is created."""
    there = next(folder for folder in (path.absolute(), *path.absolute().parents) if folder.exists())
    if not there.is_dir():
        raise BadInput(f"{path}: cannot be written: {there} is not a folder")
    if not os.access(there, os.W_OK | os.X_OK):
        raise BadInput(f"{path}: cannot be written: no permission to write to {there}")
