"""Why is a queued URL not fetched yet, and what is fetched instead? Read from crawl.db."""

import time

from msgspec import Struct

from lycosa import urls
from lycosa.store import robots
from lycosa.store.db import CrawlDb
from lycosa.store.known import host_of, url_of
from lycosa.store.waiting import ahead_of
from lycosa.types import Band

_SHOWN = 3


class Waits(Struct, frozen=True):
    """The position of a URL in the queue."""

    ahead: int  # URLs that are fetched first
    waiting: int
    first: list[tuple[str, float, int]]  # the best of those ahead, with their scores and bands
    host: str
    rests_until: float = 0.0  # 0: its host is due
    unread_robots: bool = False  # the robots.txt of its host is fetched first
    refused: str = ""  # why it will not be fetched at all: its host is closed, or it is out of scope
    ended: str = ""  # why the crawl is over


def read_waits(db: CrawlDb, number: int, now: float, refused: str = "", most: int = _SHOWN) -> Waits:
    """The state of a queued URL; `refused` says why the scope refuses it, if it does. At most `most` of the URLs ahead
    are read."""
    known = url_of(db, number)
    assert known, number
    host = host_of(db, urls.host(known.url))
    ahead, waiting, first = ahead_of(db, known, most)
    return Waits(
        ahead,
        waiting,
        first,
        host.name,
        host.due_at if host.due_at > now else 0.0,
        not robots.holds(db, urls.origin(known.url), now),
        f"its host is closed: {host.closed}" if host.closed else f"out of scope ({refused})" if refused else "",
        db.get("ended"),
    )


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
        named = {Band.FIRST: "first", Band.LAST: "last"}
        scores = [named.get(Band(band), f"{score:.4f}") for _, score, band in waits.first]
        lines += [f"  {score:>9}  {url}" for score, (url, _, _) in zip(scores, waits.first, strict=True)]
    return lines
