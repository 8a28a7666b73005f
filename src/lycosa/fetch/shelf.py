"""Holds the replies of a redirect while its link waits for the next host: in memory, and in a file beyond a limit. A
host with a long crawl-delay may keep thousands of links waiting, each with the replies of its redirects."""

import os
import tempfile
import weakref
from pathlib import Path

import msgspec

from lycosa.types import Exchange

Exchanges = tuple[Exchange, ...]
_decode = msgspec.msgpack.Decoder(Exchanges).decode
_encode = msgspec.msgpack.Encoder().encode
_BESIDE = 300  # bytes that an exchange takes in addition to its contents


class Shelf:
    """Stores the exchanges of a link, and returns them once. Nothing survives the process."""

    def __init__(self, folder: Path | None = None, most_bytes: int = 16 << 20) -> None:
        """`folder` is where the file is created; by default, in the system's temporary folder."""
        self.folder = folder
        self.most_bytes = most_bytes  # held in memory
        self.memory_bytes = 0
        self.file_bytes = 0
        self._held: dict[str, Exchanges] = {}
        self._filed: dict[str, tuple[int, int]] = {}  # offset in the file, and length
        self._file = -1

    def put(self, key: str, exchanges: Exchanges) -> None:
        size = _size(exchanges)
        if self.memory_bytes + size <= self.most_bytes:
            self._held[key] = exchanges
            self.memory_bytes += size
            return
        data = _encode(exchanges)
        self._filed[key] = self.file_bytes, len(data)
        self._write(data)

    def pop(self, key: str) -> Exchanges:
        """The stored exchanges; empty if there are none."""
        if held := self._held.pop(key, None):
            self.memory_bytes -= _size(held)
            return held
        if key not in self._filed:
            return ()
        start, size = self._filed.pop(key)
        exchanges = _decode(os.pread(self._file, size, start))
        if not self._filed:
            os.ftruncate(self._file, 0)
            self.file_bytes = 0
        return exchanges

    def _write(self, data: bytes) -> None:
        if self._file < 0:
            self._file, name = tempfile.mkstemp(prefix="redirects-", dir=self.folder)
            os.unlink(name)  # deleted with the process, however that ends
            weakref.finalize(self, os.close, self._file)
        view = memoryview(data)
        while view:
            written = os.pwrite(self._file, view, self.file_bytes)
            self.file_bytes += written
            view = view[written:]


def _size(exchanges: Exchanges) -> int:
    return sum(_BESIDE + len(one.request) + len(one.head) + len(one.payload) for one in exchanges)
