"""Write a file whole or not at all: it is written under a name of its own and renamed when it is complete."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from lycosa.errors import BadInput


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """An empty file beside `path`, to be filled; at the end it takes the place of `path`.

    If anything fails before, it is removed, and an older file of that name is as it was. Its name belongs to nobody
    else and ends like that of `path`, for readers that go by the suffix.
    """
    part = path.with_name(f".{secrets.token_hex(4)}.{path.name}")
    with _naming(path):
        os.close(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666))
    try:
        yield part
        with _naming(path):
            part.replace(path)
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)


def write_whole(path: Path, data: bytes) -> None:
    """A reader sees the file as it was or as it is now, never half of it."""
    with replacing(path) as part:
        part.write_bytes(data)


def unwritable(what: Path | str, error: OSError) -> BadInput:
    """One line for the user."""
    return BadInput(f"{what}: cannot be written: {error.strerror or error}")


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Let a failure name the file that the caller knows."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None
