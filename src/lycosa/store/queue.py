"""The queue by host: how many URLs wait at each, how good the best is, what the host has brought, when it is due."""

from collections.abc import Iterator

from msgspec import Struct

from lycosa import urls
from lycosa.store.db import WAITING, CrawlDb
from lycosa.store.known import hosts as known_hosts
from lycosa.store.visited import IS_JUDGED, IS_RELEVANT
from lycosa.types import Band

CHUNK = 50_000  # rows read at once: in between, the crawl may tidy up its database
_WAITING = "SELECT id, url, score, band, state FROM urls WHERE id > ? ORDER BY id LIMIT ?"
_FETCHED = f"SELECT final_url, {IS_RELEVANT} FROM visits WHERE {IS_JUDGED}"
_AT = (
    f"SELECT id, url, anchor, score, band FROM urls WHERE state = {WAITING}"
    " AND (substr(url, 1, ?) = ? OR substr(url, 1, ?) = ?)"
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
    counts: dict[str, _Count] = {}
    for url, score, band in _waiting(db):
        name = url.split("/", 3)[2]
        count = counts.get(name) or counts.setdefault(name, _Count())
        count.waiting += 1
        if count.best is None or score > count.best:
            count.best = score
        if band != 1:
            count.first += band == Band.FIRST
            count.last += band == Band.LAST
    for url, relevant in db.execute(_FETCHED):
        name = urls.host(url)
        count = counts.get(name) or counts.setdefault(name, _Count())
        count.pages += 1
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
    origins = (f"http://{host}/", f"https://{host}/")
    return [Queued(*row) for row in db.execute(_AT, (len(origins[0]), origins[0], len(origins[1]), origins[1], most))]


def _waiting(db: CrawlDb) -> Iterator[tuple[str, float, int]]:
    last = 0
    while rows := db.execute(_WAITING, (last, CHUNK)).fetchall():
        last = rows[-1][0]
        yield from ((url, score, band) for _, url, score, band, state in rows if state == WAITING)
