"""The tables set aside while all pages are judged again: where the crawl began, and what has changed."""

from collections.abc import Iterator
from typing import NamedTuple

from lycosa.store.db import WAITING, CrawlDb
from lycosa.types import Band, Link, Origin

_STARTS = "SELECT url, anchor, depth, origin, score, band FROM before_urls WHERE origin IN (?, ?, ?) ORDER BY id"
_CHANGES = (
    "SELECT count(now.relevance), coalesce(sum(now.on_topic > before.on_topic), 0),"
    " coalesce(sum(now.on_topic < before.on_topic), 0) FROM visits now JOIN before_visits before USING (n)"
)
_DROPPED = f"SELECT count(*) FROM (SELECT url FROM before_urls WHERE state = {WAITING} EXCEPT SELECT url FROM urls)"


class Start(NamedTuple):
    """A URL that was not found on a page: a seed, a search result, a sitemap."""

    link: Link
    score: float
    band: Band


class Changes(NamedTuple):
    """The changes caused by judging again."""

    judged: int
    now_relevant: int
    no_longer: int
    dropped: int  # URLs that were queued before, and are no longer known


def starts(db: CrawlDb) -> Iterator[Start]:
    """In the order of discovery."""
    for url, anchor, depth, origin, score, band in db.execute(_STARTS, (Origin.SEED, Origin.ROBOTS, Origin.SEARCH)):
        yield Start(Link(url, anchor=anchor, depth=depth, origin=Origin(origin)), score, Band(band))


def restore_hosts(db: CrawlDb) -> None:
    """Restore what was known of the hosts."""
    db.execute("DELETE FROM hosts")
    db.execute("INSERT INTO hosts SELECT * FROM before_hosts")


def changes(db: CrawlDb) -> Changes:
    return Changes._make([*db.execute(_CHANGES).fetchone(), *db.execute(_DROPPED).fetchone()])
