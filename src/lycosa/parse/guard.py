"""Parse the pages of a crawl so that none can stop it: costly ones aside, and the one we died of with them.

Before each parse the fingerprint of the URL is written to a small file. Whatever page stands there when a crawl starts
was the last one before a kill or a crash; it may have been the cause, so from then on it is parsed in the sandbox.
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
_SIZE = 16  # bytes of a fingerprint: the file holds the current one, then those under suspicion
_MOST = 1_000


class Guarded:
    """`parse` gives a page at once, or, where it may take long, something to wait for."""

    def __init__(self, inner: Parsers, folder: Path) -> None:
        self.inner = inner
        self.folder = folder
        self._file: int | None = None  # -1: it cannot be had
        self._suspects: set[bytes] = set()

    def parse(self, reply: Reply) -> Page | Awaitable[Page]:
        if self._file is None:
            self._file = self._open()
        key = xxhash.xxh3_128_digest(reply.link.url.encode())
        if key in self._suspects or self.inner.is_heavy(reply):
            return self._parse_aside(reply)
        with contextlib.suppress(OSError):  # a full disk is for those to report who store what matters
            os.pwrite(self._file, key, 0)
        return self.inner.parse_here(reply)

    async def _parse_aside(self, reply: Reply) -> Page:
        try:
            return await asyncio.to_thread(self.inner.sandbox.parse, reply)
        except OSError:  # there is no room for another process now, which is not the page's fault
            return self.inner.parse_here(reply)
        except asyncio.CancelledError:
            self.inner.sandbox.close()  # or the end of the crawl would have to wait for it
            raise

    def _open(self) -> int:
        """On the first page: by then the folder is ours. Without the file a crawl is only less safe."""
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
    """An orderly end leaves nothing to suspect."""
    with contextlib.suppress(OSError):
        os.pwrite(file, bytes(_SIZE), 0)
    os.close(file)
