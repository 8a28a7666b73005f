"""Digests of bodies are computed with a number that is secret to each crawl.

Otherwise a page could be crafted to have the digest of another: the other would count as its duplicate, and would
neither be judged nor have its links followed.
"""

import secrets
from collections.abc import Callable

from lycosa.store.db import CrawlDb

_KEY = "secret"


class Digests:
    """Computes the digests of one crawl. Its secret is looked up, or generated for a new crawl, when the first body
    arrives."""

    def __init__(self, db: CrawlDb, take: Callable[[bytes, int], str]) -> None:
        self._db = db
        self._take = take
        self._secret: int | None = None

    def __call__(self, body: bytes) -> str:
        if self._secret is None:
            self._secret = self._find()
        return self._take(body, self._secret)

    def _find(self) -> int:
        """0 for crawls that began before secrets were introduced, so that all digests of a crawl are computed the same
        way."""
        found = self._db.get(_KEY)
        if not found and not self._db.readonly and not self._db.execute("SELECT 1 FROM visits LIMIT 1").fetchone():
            found = str(secrets.randbits(64))
            self._db.put(_KEY, found)
        return int(found or 0)
