"""The hosts of a crawl, as stored in crawl.db."""

from collections.abc import Iterator
from typing import NamedTuple

from lycosa.store.db import CrawlDb


class HostRow(NamedTuple):
    """What must survive a restart, so that a restarted crawl is as polite as one that never stopped."""

    name: str
    due_at: float
    delay_s: float
    failures: int
    pages: int
    closed: str


class HostRows:
    def __init__(self, db: CrawlDb) -> None:
        self._db = db

    def write(self, host: HostRow) -> None:
        self._db.execute("INSERT OR REPLACE INTO hosts VALUES (?, ?, ?, ?, ?, ?)", host)

    def all(self) -> Iterator[HostRow]:
        return map(HostRow._make, self._db.execute("SELECT * FROM hosts"))
