"""The queued URLs: their scores, and which of them come before another."""

from collections.abc import Iterator

import msgspec

from lycosa.store.db import WAITING, CrawlDb
from lycosa.store.known import KnownUrl, closed_hosts
from lycosa.types import Band

_AFTER_SCHEME = "substr(url, instr(url, '//') + 2)"
_HOST = f"substr({_AFTER_SCHEME}, 1, instr({_AFTER_SCHEME}, '/') - 1)"


def waiting_with(db: CrawlDb, score: float) -> Iterator[str]:
    """URLs queued with at least this score, except those that come first regardless of score."""
    found = "SELECT url FROM urls WHERE state = ? AND score >= ? AND band = ?"
    for (url,) in db.execute(found, (WAITING, score, Band.FOUND)):
        yield url


def ahead_of(db: CrawlDb, known: KnownUrl, most: int) -> tuple[int, int, list[tuple[str, float, int]]]:
    """How many URLs are ahead of this one, how many are queued, and the best of those ahead with scores and bands.

    If a strategy uses fetch lists, its list comes first. URLs queued at a closed host do not count as ahead.
    """
    listed = [int(name) for name in db.get("list").split()]
    before = ", ".join(map(str, listed[: listed.index(known.id)] if known.id in listed else listed))
    better = "" if known.id in listed else " OR (band, score, -id) > (?, ?, ?)"  # ties: first found first
    values: list[float | str] = [known.band, known.score, -known.id] if better else []
    ahead = f"(id IN ({before}){better})"
    if closed := closed_hosts(db):
        # CASE: the host, which is slow to cut out, is needed only for those that are better
        ahead = f"CASE WHEN {ahead} THEN {_HOST} NOT IN (SELECT value FROM json_each(?)) ELSE 0 END"
        values.append(msgspec.json.encode(sorted(closed)).decode())
    counts = f"SELECT coalesce(sum({ahead}), 0), count(*) FROM urls WHERE state = {WAITING}"
    count, waiting = db.execute(counts, values).fetchone()
    best = (
        f"SELECT url, score, band FROM urls WHERE state = {WAITING} AND {ahead}"
        f" ORDER BY id IN ({before}) DESC, band DESC, score DESC, id LIMIT {most}"
    )
    return count, waiting, db.execute(best, values).fetchall() if most else []
