"""Identifies our files in a crawl folder. Files that the crawl did not write are never deleted or changed."""

import errno
import itertools
import os
import stat
from pathlib import Path
from typing import cast

from isal import isal_zlib

from lycosa.types import BadInput

_MAX_INFO_BYTES = 4_096  # the first record of our files has about 500
_GZIP = b"\x1f\x8b\x08"
_BEGIN = b"WARC/1.1\r\nWARC-Type: warcinfo\r\n"


def open_own(path: str, flags: int) -> int:
    """Open a file of ours for writing, but never through a symbolic link, and never anything but a regular file."""
    try:
        file = os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.EEXIST):
            raise BadInput(f"{path}: not written by this crawl; move it away") from None
        raise
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise BadInput(f"{path}: not a file; move it away")
    return file


def remove_uncommitted(path: Path, run: str) -> None:
    """Delete a file that a killed run started after its last commit; rename a file of another run, or a broken one.

    Files that someone else put there are left alone.
    """
    require_ours(path)
    if run and f"\r\nisPartOf: {run}\r\n".encode() in _first_record(path)[0]:
        path.unlink()
        return
    numbers = (path.with_name(f"{path.name}.uncommitted{number or ''}") for number in itertools.count())
    path.rename(next(target for target in numbers if not os.path.lexists(target)))


def require_ours(path: Path) -> None:
    if path.is_symlink() or not path.is_file() or not _is_ours(path):
        raise BadInput(f"{path}: not written by this crawl; move it away")


def _is_ours(path: Path) -> bool:
    """Whether the file starts with the first record of all our files, or with as much of it as a kill left."""
    record, is_whole = _first_record(path)
    if not is_whole:
        return _BEGIN.startswith(record[: len(_BEGIN)])
    name = f"WARC-Filename: {path.name}\r\n".encode()
    return record.startswith(_BEGIN) and name in record and b"software: lycosa" in record


def _first_record(path: Path) -> tuple[bytes, bool]:
    """The unpacked start, and whether it is complete. Anything but gzip counts as a complete record of someone else."""
    with path.open("rb") as file:
        start = file.read(_MAX_INFO_BYTES)
    if not _GZIP.startswith(start[: len(_GZIP)]):
        return b"", True
    stream = isal_zlib.decompressobj(16 + isal_zlib.MAX_WBITS)
    try:
        record = bytes(stream.decompress(start, _MAX_INFO_BYTES))
    except (EOFError, ValueError, cast(type[Exception], isal_zlib.error)):
        return b"", True
    return record, stream.eof or len(start) == _MAX_INFO_BYTES
