"""Parse the pages of a crawl so that none can stop it: expensive and suspicious ones in a sandbox.

Before each parse the fingerprint of the URL is written to a small file. The page found there when a crawl starts was
the last one before a kill or a crash; it may have been the cause, so from then on it is parsed in the sandbox.
"""

import asyncio
import contextlib
import os
import weakref
from collections.abc import Awaitable
from pathlib import Path

import xxhash

from lycosa.parse.by_type import Parsers
from lycosa.types import Page, Reply

NAME = "crawl.parsing"
_SIZE = 16  # bytes per fingerprint: the file holds the current one, then the suspicious ones
_MOST = 1_000


class Guarded:
    """`parse` returns a page, or an awaitable if parsing may take long."""

    def __init__(self, inner: Parsers, folder: Path) -> None:
        self.inner = inner
        self.folder = folder
        self._file: int | None = None  # -1: it cannot be opened
        self._suspects: set[bytes] = set()

    def parse(self, reply: Reply) -> Page | Awaitable[Page]:
        if self._file is None:
            self._file = self._open()
        key = xxhash.xxh3_128_digest(reply.link.url.encode())
        if key in self._suspects or self.inner.is_heavy(reply):
            return self._parse_aside(reply)
        with contextlib.suppress(OSError):  # a full disk is reported by the parts that store results
            os.pwrite(self._file, key, 0)
        return self.inner.parse_here(reply)

    async def _parse_aside(self, reply: Reply) -> Page:
        try:
            return await asyncio.to_thread(self.inner.sandbox.parse, reply)
        except OSError:  # no process can be started now, which is not the page's fault
            return self.inner.parse_here(reply)
        except asyncio.CancelledError:
            self.inner.sandbox.close()  # or the crawl would have to wait for it at the end
            raise

    def _open(self) -> int:
        """Open the file with the first page, when we hold the lock. Without the file a crawl is only less safe."""
        with contextlib.suppress(OSError):
            file = os.open(self.folder / NAME, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
            weakref.finalize(self, _close, file)
            held = os.pread(file, _SIZE * _MOST, 0)
            known = (held[at : at + _SIZE] for at in range(0, len(held), _SIZE))
            self._suspects = {key for key in known if len(key) == _SIZE and any(key)}
            os.pwrite(file, bytes(_SIZE) + b"".join(sorted(self._suspects)), 0)
            return file
        return -1


def _close(file: int) -> None:
    """Clear the file: after an orderly end no page is suspicious."""
    with contextlib.suppress(OSError):
        os.pwrite(file, bytes(_SIZE), 0)
    os.close(file)
