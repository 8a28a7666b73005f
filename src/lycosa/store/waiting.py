"""The queued URLs: how many there are, their scores, and which of them come before another."""

from collections.abc import Iterator
from itertools import islice

from lycosa import urls
from lycosa.store.db import WAITING, CrawlDb
from lycosa.store.known import KnownUrl, closed_hosts
from lycosa.types import Band


def count_waiting(db: CrawlDb) -> int:
    return int(db.execute("SELECT count(*) FROM urls WHERE state = ?", (WAITING,)).fetchone()[0])


def waiting_with(db: CrawlDb, score: float) -> Iterator[str]:
    """URLs queued with at least this score, except those that come first regardless of score."""
    found = "SELECT url FROM urls WHERE state = ? AND score >= ? AND band = ?"
    for (url,) in db.execute(found, (WAITING, score, Band.FOUND)):
        yield url


def ahead_of(db: CrawlDb, known: KnownUrl, most: int) -> tuple[int, list[tuple[str, float, int]]]:
    """The number of URLs ahead of this one, and the best of them with their scores and bands.

    If a strategy uses fetch lists, its list comes first. URLs queued at a closed host do not count.
    """
    listed = [int(name) for name in db.get("list").split()]
    before = ", ".join(map(str, listed[: listed.index(known.id)] if known.id in listed else listed))
    better = "" if known.id in listed else " OR (band, score, -id) > (?, ?, ?)"  # ties: first found first
    values = (known.band, known.score, -known.id) if better else ()
    those = f"FROM urls WHERE state = {WAITING} AND (id IN ({before}){better})"
    best_first = f"SELECT url, score, band {those} ORDER BY id IN ({before}) DESC, band DESC, score DESC, id"
    closed = closed_hosts(db)
    if not closed:
        count: int = db.execute(f"SELECT count(*) {those}", values).fetchone()[0]
        return count, db.execute(f"{best_first} LIMIT {most}", values).fetchall()
    rows = (row for row in db.execute(best_first, values) if urls.host(row[0]) not in closed)
    first = list(islice(rows, most))
    return len(first) + sum(1 for _ in rows), first
