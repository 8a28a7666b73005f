"""Write a file completely or not at all; problems are reported in one clear line."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import BinaryIO

from lycosa import files
from lycosa.types import BadInput


@contextmanager
def replacing(out: Path) -> Iterator[BinaryIO]:
    """Write to a temporary file that is renamed at the end, so that an existing file survives a failure.

    Anything but a regular file (a pipe, a device) is written to directly.
    """
    path = out.resolve()
    if path.is_dir() or not path.parent.is_dir():
        raise BadInput(f"{path}: " + ("is a folder, not a file" if path.is_dir() else "no such folder to write it in"))
    in_place = path.exists() and not path.is_file()
    try:
        with nullcontext(path) if in_place else files.replacing(path) as part, part.open("wb") as file:
            yield file
    except OSError as error:
        raise files.unwritable(out, error) from None
