"""Atomic writes: a file is written under a temporary name and renamed when it is complete."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from lycosa.errors import BadInput


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """An empty file next to `path`, to be filled; on exit it replaces `path`.

    On failure it is removed, and an existing file at `path` is left unchanged. The name is unique and has the same
    suffix as `path`, for readers that depend on the suffix.
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


@contextmanager
def part_of(path: Path) -> Iterator[BinaryIO]:
    """A new file next to `path`, which it replaces on exit. Unlike that of `replacing`, it does not have its suffix, so
    that nobody takes it for a file of that kind; after a kill or a failure it stays."""
    part = path.with_name(f"{path.name}.{secrets.token_hex(4)}.part")
    with part.open("xb") as file:
        yield file
    part.replace(path)


def write_whole(path: Path, data: bytes) -> None:
    """Readers see either the old or the new contents, never a partial file."""
    with replacing(path) as part:
        part.write_bytes(data)


def unwritable(what: Path | str, error: OSError) -> BadInput:
    """An error message of one line for the user."""
    return BadInput(f"{what}: cannot be written: {error.strerror or error}")


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Make errors refer to the file that the caller knows."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None
