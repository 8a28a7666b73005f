"""Write a file completely or not at all; problems are reported in one clear line."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from lycosa.types import BadInput


@contextmanager
def replacing(out: Path) -> Iterator[BinaryIO]:
    """Write to a temporary file that is renamed at the end, so that an existing file survives a failure.

    Anything but a regular file (a pipe, a device) is written to directly.
    """
    path = out.resolve()
    if path.is_dir() or not path.parent.is_dir():
        raise BadInput(f"{path}: " + ("is a folder, not a file" if path.is_dir() else "no such folder to write it in"))
    part = path if path.exists() and not path.is_file() else path.with_name(f".{path.name}.part")
    try:
        with part.open("wb") as file:
            yield file
        if part != path:
            os.replace(part, path)
    except OSError as error:
        raise unwritable(out, error) from None
    finally:
        if part != path:
            part.unlink(missing_ok=True)


def unwritable(what: Path | str, error: OSError) -> BadInput:
    return BadInput(f"{what}: cannot be written: {error.strerror or error}")
