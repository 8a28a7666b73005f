"""The queue by host: how many URLs wait at each, how good the best is, what the host has yielded, when it is due."""

from collections import defaultdict

from msgspec import Struct

from lycosa import urls
from lycosa.store.db import WAITING, CrawlDb
from lycosa.store.known import hosts as known_hosts
from lycosa.store.visited import IS_JUDGED, IS_RELEVANT
from lycosa.types import Band

CHUNK = 100_000  # rows counted at once: in between, the crawl may tidy up its database
_ORIGIN = "substr({url}, 1, 8 + instr(substr({url}, 9), '/'))"  # up to the slash after the host
# Counted by SQLite, not row by row in Python: while it works, other threads of this process are not held up.
_NEXT = "SELECT max(id) FROM (SELECT id FROM urls WHERE id > ? ORDER BY id LIMIT ?)"
_WAITING = (
    f"SELECT {_ORIGIN.format(url='url')}, count(*), max(score), sum(band = {Band.FIRST:d}), sum(band = {Band.LAST:d})"
    f" FROM urls WHERE id > ? AND id <= ? AND state = {WAITING} GROUP BY 1"
)
_FETCHED = (
    f"SELECT {_ORIGIN.format(url='final_url')}, count(*), sum({IS_RELEVANT}) FROM visits WHERE {IS_JUDGED} GROUP BY 1"
)
_AT = (  # "0" follows "/"
    f"SELECT id, url, anchor, score, band FROM urls WHERE state = {WAITING}"
    " AND ((url >= ? AND url < ?) OR (url >= ? AND url < ?))"
    " ORDER BY band DESC, score DESC, id LIMIT ?"
)


class QueuedHost(Struct, frozen=True):
    """A host with its queue."""

    name: str
    waiting: int = 0
    best: float | None = None  # the highest score of what waits
    first: int = 0  # of those, how many were put first
    last: int = 0  # ... and last
    pages: int = 0  # judged pages
    relevant: int = 0
    due_at: float = 0.0
    closed: str = ""  # why nothing more is fetched from it


class Queued(Struct, frozen=True):
    """A URL that waits."""

    id: int
    url: str
    anchor: str
    score: float
    band: int


class _Count:
    __slots__ = ("best", "first", "last", "pages", "relevant", "waiting")

    def __init__(self) -> None:
        self.waiting = self.first = self.last = self.pages = self.relevant = 0
        self.best: float | None = None


def queued_hosts(db: CrawlDb) -> list[QueuedHost]:
    """All hosts with queued URLs or judged pages, those with most queued URLs first. This reads every URL: with a
    million of them it takes a second or two."""
    counts: defaultdict[str, _Count] = defaultdict(_Count)
    last = 0
    while end := db.execute(_NEXT, (last, CHUNK)).fetchone()[0]:
        for origin, waiting, best, first, behind in db.execute(_WAITING, (last, end)).fetchall():
            count = counts[urls.host(origin)]
            count.waiting += waiting
            count.best = best if count.best is None else max(best, count.best)
            count.first += first
            count.last += behind
        last = end
    for origin, pages, relevant in db.execute(_FETCHED).fetchall():
        count = counts[urls.host(origin)]
        count.pages += pages
        count.relevant += relevant
    facts = {host.name: host for host in known_hosts(db)}
    found = [
        QueuedHost(
            name,
            one.waiting,
            one.best,
            one.first,
            one.last,
            one.pages,
            one.relevant,
            facts[name].due_at if name in facts else 0.0,
            facts[name].closed if name in facts else "",
        )
        for name, one in counts.items()
    ]
    return sorted(found, key=lambda host: (-host.waiting, -host.relevant, host.name))


def best_queued(db: CrawlDb, host: str, most: int = 50) -> list[Queued]:
    """The best URLs that wait at a host."""
    ranges = [f"{scheme}://{host}{end}" for scheme in ("http", "https") for end in "/0"]
    return [Queued(*row) for row in db.execute(_AT, (*ranges, most))]
