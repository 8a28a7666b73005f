"""Why is a queued URL not fetched yet, and what is fetched instead? Read from crawl.db."""

import time
from itertools import islice

from msgspec import Struct

from lycosa import urls
from lycosa.db import WAITING, CrawlDb
from lycosa.types import SEED_SCORE

_SHOWN = 3


class Waits(Struct, frozen=True):
    """The position of a URL in the queue."""

    ahead: int  # URLs that are fetched first
    waiting: int
    first: list[tuple[str, float]]  # the best of those ahead, with their scores
    host: str
    rests_until: float = 0.0  # 0: its host is due
    unread_robots: bool = False  # the robots.txt of its host is fetched first
    refused: str = ""  # why it will not be fetched at all: its host is closed, or it is out of scope
    ended: str = ""  # why the crawl is over


def read_waits(db: CrawlDb, number: int, now: float, refused: str = "") -> Waits:
    """The state of a queued URL; `refused` says why the scope refuses it, if it does."""
    url, score = db.execute("SELECT url, score FROM urls WHERE id = ?", (number,)).fetchone()
    host, origin = urls.host(url), urls.origin(url)
    row = db.execute("SELECT due_at, closed FROM hosts WHERE name = ?", (host,)).fetchone()
    due_at, closed = row or (0.0, "")
    known = db.execute("SELECT 1 FROM robots WHERE origin = ? AND expires_at > ?", (origin, now)).fetchone()
    ahead, first = _ahead(db, number, score)
    return Waits(
        ahead,
        db.execute("SELECT count(*) FROM urls WHERE state = ?", (WAITING,)).fetchone()[0],
        first,
        host,
        due_at if due_at > now else 0.0,
        not known,
        f"its host is closed: {closed}" if closed else f"out of scope ({refused})" if refused else "",
        db.get("ended"),
    )


def _ahead(db: CrawlDb, number: int, score: float) -> tuple[int, list[tuple[str, float]]]:
    """How many URLs come before it, and the best of them. If a strategy fetches in lists, its list comes first."""
    listed = [int(name) for name in db.get("list").split()]
    before = ", ".join(map(str, listed[: listed.index(number)] if number in listed else listed))
    better = "" if number in listed else " OR score > ? OR score = ? AND id < ?"  # equal scores: the first one found
    closed = {name for (name,) in db.execute("SELECT name FROM hosts WHERE closed != ''")}
    those = f"FROM urls WHERE state = {WAITING} AND (id IN ({before}){better})"
    values = (score, score, number) if better else ()
    best_first = f"SELECT url, score {those} ORDER BY id IN ({before}) DESC, score DESC, id"
    if not closed:
        count: int = db.execute(f"SELECT count(*) {those}", values).fetchone()[0]
        return count, db.execute(f"{best_first} LIMIT {_SHOWN}", values).fetchall()
    rows = (row for row in db.execute(best_first, values) if urls.host(row[0]) not in closed)
    first = list(islice(rows, _SHOWN))
    return len(first) + sum(1 for _ in rows), first


def waits_for(waits: Waits) -> list[str]:
    """In plain words, one line each."""
    if waits.refused:
        return [f"It will not be fetched: {waits.refused}."]
    lines = [f"{waits.ahead:,} of the {waits.waiting:,} queued URLs come before it."]
    if waits.ended:
        lines.append(f"The crawl is over: {waits.ended}.")
    if waits.rests_until:
        until = time.strftime("%H:%M:%S", time.localtime(waits.rests_until))
        lines.append(f"Its host {waits.host} rests until {until}.")
    if waits.unread_robots:
        lines.append(f"The robots.txt of {waits.host} has to be fetched first.")
    if waits.first:
        lines.append("The best of them:")
        scores = ["a seed" if score >= SEED_SCORE else f"{score:.4f}" for _, score in waits.first]
        lines += [f"  {score:>9}  {url}" for score, (url, _) in zip(scores, waits.first, strict=True)]
    return lines
