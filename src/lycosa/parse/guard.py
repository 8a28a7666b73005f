"""Parse the pages of a crawl so that none can stop it: expensive and suspicious ones in a sandbox.

Before a page is parsed, the fingerprint of its URL is written to a small file, and it is erased when the page's turn is
over. A page whose fingerprint is found there when a crawl starts was being worked on at a kill or a crash, and may have
been the cause. From then on it is parsed in the sandbox; after the third such end of a crawl it is given up.
"""

import asyncio
import contextlib
import hashlib
import os
import weakref
from collections import Counter
from collections.abc import Awaitable
from pathlib import Path

from lycosa.errors import TooCostly
from lycosa.parse.by_type import Parsers
from lycosa.types import Page, Reply

NAME = "crawl.parsing"
MOST_TRIES = 3
_SIZE = 16  # bytes of a fingerprint: the file holds the current one, then each of the others once for every try
_MOST = 1_000
_NOBODY = bytes(_SIZE)


class Guarded:
    """`parse` returns a page, or an awaitable if parsing may take long."""

    def __init__(self, inner: Parsers, folder: Path) -> None:
        self.inner = inner
        self.folder = folder
        self._file: int | None = None  # -1: it cannot be had
        self._tries: Counter[bytes] = Counter()  # how often a run ended while it worked on a page

    def parse(self, reply: Reply) -> Page | Awaitable[Page]:
        """TooCostly if the page was tried too often."""
        if self._file is None:
            self._file = self._open()
        key = hashlib.blake2b(reply.link.url.encode(), digest_size=_SIZE).digest()  # no URL can be made to share it
        tries = self._tries.get(key, 0)
        if tries >= MOST_TRIES:
            raise TooCostly(f"skipped after {tries} tries: each time, the crawl ended while parsing this page")
        if tries or self.inner.is_heavy(reply):
            return self._parse_aside(reply, key)
        self._begin(key)
        return self.inner.parse_here(reply)

    async def _parse_aside(self, reply: Reply, key: bytes) -> Page:
        try:
            page = await asyncio.to_thread(self.inner.sandbox.parse, reply)
            self._begin(key)  # it is not over: judge and strategy come next
            return page
        except OSError:  # there is no room for another process now, which is not the page's fault
            self._begin(key)
            return self.inner.parse_here(reply)
        except asyncio.CancelledError:
            self.inner.sandbox.close()  # or the crawl would have to wait for it at the end
            raise

    def _begin(self, key: bytes) -> None:
        """Note the page until the loop gets to something else: by then it is parsed, judged and stored."""
        self._write(key)
        with contextlib.suppress(RuntimeError):  # no loop: then the next page takes its place
            asyncio.get_running_loop().call_soon(self._write, _NOBODY)

    def _write(self, key: bytes) -> None:
        with contextlib.suppress(OSError):  # a full disk is for those to report who store what matters
            os.pwrite(-1 if self._file is None else self._file, key, 0)

    def _open(self) -> int:
        """Open the file with the first page, when we hold the lock. Without the file a crawl is only less safe."""
        with contextlib.suppress(OSError):
            file = os.open(self.folder / NAME, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
            weakref.finalize(self, _close, file)
            held = os.pread(file, _SIZE * _MOST, 0)
            known = (held[at : at + _SIZE] for at in range(0, len(held), _SIZE))
            self._tries = Counter(key for key in known if len(key) == _SIZE and key != _NOBODY)
            os.pwrite(file, _NOBODY + b"".join(sorted(self._tries.elements())), 0)
            return file
        return -1


def _close(file: int) -> None:
    """Clear the file: after an orderly end no page is suspicious."""
    with contextlib.suppress(OSError):
        os.pwrite(file, _NOBODY, 0)
    os.close(file)
