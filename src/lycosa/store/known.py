"""The URLs and hosts known to a crawl: how each URL was found, which pages link to it, which hosts are closed."""

from array import array
from collections.abc import Iterator
from typing import NamedTuple

from lycosa.store.db import DONE, CrawlDb

_KNOWN = "SELECT id, url, source, anchor, score, depth, band, origin, state FROM urls WHERE"


class KnownUrl(NamedTuple):
    """A URL as it was found."""

    id: int
    url: str
    source: int  # the id of the page that determined its score
    anchor: str
    score: float
    depth: int
    band: int
    origin: int
    is_done: bool


class Host(NamedTuple):
    """What is known of a host."""

    name: str
    pages: int
    failures: int
    due_at: float
    closed: str  # why nothing more is fetched from it


def url_of(db: CrawlDb, number: int) -> KnownUrl | None:
    return _known(db, "id = ?", number)


def path_to(db: CrawlDb, url: str) -> list[KnownUrl]:
    """The URL, the page it was found on, the page before that ... up to a seed; empty if the URL is unknown."""
    step = _known(db, "url = ?", url) if url else None
    path: list[KnownUrl] = []
    while step and step.id not in {before.id for before in path}:
        path.append(step)
        step = url_of(db, step.source) if step.source else None
    return path


def _known(db: CrawlDb, condition: str, value: str | int) -> KnownUrl | None:
    row = db.execute(f"{_KNOWN} {condition}", (value,)).fetchone()
    if row is None:
        return None
    *facts, state = row
    return KnownUrl._make([*facts, state == DONE])


def count_urls(db: CrawlDb) -> int:
    return int(db.execute("SELECT count(*) FROM urls").fetchone()[0])


def url_ids(db: CrawlDb) -> Iterator[tuple[int, str]]:
    """The id of every URL, and the URL."""
    yield from db.execute("SELECT id, url FROM urls")


def links(db: CrawlDb) -> Iterator[tuple[int, "array[int]"]]:
    """The id of each page that has links, in ascending order, and the ids of the URLs it links to."""
    for source, targets in db.execute("SELECT source, targets FROM links ORDER BY source"):
        yield source, array("I", targets)


def hosts(db: CrawlDb) -> list[Host]:
    return [*map(Host._make, db.execute("SELECT name, pages, failures, due_at, closed FROM hosts"))]


def host_of(db: CrawlDb, name: str) -> Host:
    """A host that was never contacted is open and due."""
    row = db.execute("SELECT name, pages, failures, due_at, closed FROM hosts WHERE name = ?", (name,)).fetchone()
    return Host._make(row or (name, 0, 0, 0.0, ""))


def closed_hosts(db: CrawlDb) -> set[str]:
    return {name for (name,) in db.execute("SELECT name FROM hosts WHERE closed != ''")}
