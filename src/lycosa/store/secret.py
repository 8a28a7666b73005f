"""Digests of bodies are made with a number that each crawl keeps to itself.

Otherwise a page could be made to have the digest of another and pass for it: the other would count as its duplicate,
and would be neither judged nor followed.
"""

import secrets
from collections.abc import Callable

from lycosa.store.db import CrawlDb

_KEY = "secret"


class Digests:
    """Takes the digests of one crawl. Its secret is looked up, or drawn for a new crawl, when the first body comes."""

    def __init__(self, db: CrawlDb, take: Callable[[bytes, int], str]) -> None:
        self._db = db
        self._take = take
        self._secret: int | None = None

    def __call__(self, body: bytes) -> str:
        if self._secret is None:
            self._secret = self._find()
        return self._take(body, self._secret)

    def _find(self) -> int:
        """0 in crawls that began before there were secrets, so that all digests of one crawl are made alike."""
        found = self._db.get(_KEY)
        if not found and not self._db.readonly and not self._db.execute("SELECT 1 FROM visits LIMIT 1").fetchone():
            found = str(secrets.randbits(64))
            self._db.put(_KEY, found)
        return int(found or 0)
