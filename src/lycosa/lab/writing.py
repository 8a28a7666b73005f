"""What cannot be written is told in one line: a full disk or a folder of others is no fault of the program."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lycosa.types import BadInput


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Around everything that writes; `path` is named if the failure does not say which file it was."""
    try:
        yield
    except OSError as error:
        raise BadInput(
            f"{error.filename2 or error.filename or path}: cannot be written: {error.strerror or error}"
        ) from None


def make_folder(path: Path) -> None:
    """The folder and all above it, which may be there already."""
    with writing(path):
        path.mkdir(parents=True, exist_ok=True)


def check_folder(path: Path) -> None:
    """Say now what would be wrong after minutes of work; nothing is made."""
    there = next(folder for folder in (path.absolute(), *path.absolute().parents) if folder.exists())
    if not there.is_dir():
        raise BadInput(f"{path}: cannot be written: {there} is no folder")
    if not os.access(there, os.W_OK | os.X_OK):
        raise BadInput(f"{path}: cannot be written: {there} is not ours to write to")
