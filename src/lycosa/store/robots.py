"""Every robots.txt that a crawl has read, by origin, with its meaning and expiry."""

from typing import NamedTuple

from lycosa.store.db import CrawlDb


class StoredRobots(NamedTuple):
    """One robots.txt; the verdict is `rules`, or `unreachable` if it could not be fetched."""

    body: bytes
    verdict: str
    expires_at: float


def stored_robots(db: CrawlDb, origin: str) -> StoredRobots | None:
    row = db.execute("SELECT body, verdict, expires_at FROM robots WHERE origin=?", (origin,)).fetchone()
    return StoredRobots._make(row) if row else None


def store_robots(db: CrawlDb, origin: str, robots: StoredRobots) -> None:
    db.execute("INSERT OR REPLACE INTO robots VALUES (?, ?, ?, ?)", (origin, *robots))


def holds(db: CrawlDb, origin: str, now: float) -> bool:
    """Whether the robots.txt of an origin is known and has not expired."""
    return db.execute("SELECT 1 FROM robots WHERE origin = ? AND expires_at > ?", (origin, now)).fetchone() is not None
