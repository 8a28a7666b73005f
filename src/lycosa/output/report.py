"""What a crawl brought, read from its folder: totals, harvest curve, best pages, errors, hosts, and why it stopped."""

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Struct

from lycosa.db import CrawlDb

CURVE_POINTS = 60


class HostReport(Struct, frozen=True):
    host: str
    pages: int
    relevant: int
    failures: int
    due_at: float
    closed: str


class BestPage(Struct, frozen=True):
    url: str
    title: str
    relevance: float
    label: str


class SearchReport(Struct, frozen=True):
    """How the crawl stands with its search engine."""

    day: int = 0  # since the epoch
    asked: int = 0  # on that day
    failures: int = 0  # in a row
    rests_until: float = 0.0
    trouble: str = ""  # what failed last


class Report(Struct, frozen=True):
    """All that `lycosa show` tells."""

    strategy: str
    ended: str
    visits: int
    pages: int
    relevant: int
    harvest_rate: float
    mean_relevance: float
    duplicates: int
    bytes: int
    seconds: float
    known: int
    waiting: int
    next_due: float
    status: str  # what it waited for when it was last written down
    errors: dict[str, int]
    refused: dict[str, int]
    curve: list[float]  # share of relevant pages among those fetched so far, at equal steps
    best: list[BestPage]
    hosts: list[HostReport]
    n_hosts: int = 0  # all of them, also those not listed
    search: SearchReport | None = None  # if it ever asked an engine
    added_seeds: list[str] = []  # while it ran or between two runs
    excluded: list[str] = []  # hosts and patterns, in addition to crawl.toml
    recall: str = ""  # how much of the topic has been found, in words
    drift: str = ""  # how recent relevant pages differ from the first ones, if they do
    learned: dict[str, dict[str, float]] = {}  # what the strategy has learned, if it does: heading, name, weight


def read_report(db: CrawlDb, top: int = 10) -> Report:
    totals = db.execute(
        "SELECT count(*), coalesce(sum(error = '' AND digest != '' AND duplicate_of = ''), 0),"
        " coalesce(sum(on_topic), 0),"
        " coalesce(avg(relevance), 0.0), coalesce(sum(duplicate_of != ''), 0), coalesce(sum(bytes), 0) FROM visits"
    ).fetchone()
    visits, pages, relevant, mean, duplicates, size = totals
    known, next_due, outlook = _outlook(db)
    waiting = outlook.get("waiting", 0)
    return Report(
        strategy=db.get("strategy"),
        ended=db.get("ended"),
        visits=visits,
        pages=pages,
        relevant=relevant,
        harvest_rate=relevant / pages if pages else 0.0,
        mean_relevance=mean,
        duplicates=duplicates,
        bytes=size,
        seconds=float(db.get("spent_s", "0")),
        known=known,
        waiting=waiting,
        next_due=next_due,
        status=str(outlook.get("status", "")),
        errors=dict(
            db.execute("SELECT error, count(*) AS n FROM visits WHERE error != '' GROUP BY error ORDER BY n DESC")
        ),
        refused=msgspec.json.decode(db.get("refused", "{}"), type=dict[str, int]),
        curve=harvest_curve(relevance_order(db), CURVE_POINTS),
        best=[BestPage(*row) for row in db.execute(_BEST, (top,))],
        hosts=_hosts(db, top),
        n_hosts=db.execute("SELECT count(*) FROM hosts").fetchone()[0],
        search=msgspec.json.decode(text, type=SearchReport) if (text := db.get("search")) else None,
    )


def _outlook(db: CrawlDb) -> tuple[int, float, dict[str, Any]]:
    """Known URLs, when the next host is due, and how the frontier stood at the last commit."""
    known = db.execute("SELECT count(*) FROM urls").fetchone()[0]
    outlook = msgspec.json.decode(db.get("outlook", "{}"), type=dict[str, Any])
    return known, outlook.get("next_due") or 0.0, outlook


_ON_TOPIC = "SELECT on_topic FROM visits WHERE error = '' AND digest != '' AND duplicate_of = '' ORDER BY n"
_BEST = "SELECT url, title, relevance, label FROM visits WHERE relevance IS NOT NULL ORDER BY relevance DESC, n LIMIT ?"


def relevance_order(db: CrawlDb) -> list[bool]:
    """For each page in the order of fetching: is it relevant?"""
    return [bool(row[0]) for row in db.execute(_ON_TOPIC)]


def harvest_curve(pages: Sequence[bool], points: int) -> list[float]:
    """Relevant pages among all fetched so far, read at `points` equal steps."""
    if not pages:
        return []
    steps = min(points, len(pages))
    marks = {round((step + 1) * len(pages) / steps) for step in range(steps)}
    found, curve = 0, []
    for number, relevant in enumerate(pages, 1):
        found += bool(relevant)
        if number in marks:
            curve.append(found / number)
    return curve


def _hosts(db: CrawlDb, top: int) -> list[HostReport]:
    """The hosts that gave most relevant pages, counted by the address that answered."""
    relevant: dict[str, int] = {}
    for url, count in db.execute("SELECT final_url, count(*) FROM visits WHERE on_topic GROUP BY final_url"):
        name = url.split("/", 3)[2]
        relevant[name] = relevant.get(name, 0) + count
    rows = db.execute("SELECT name, pages, failures, due_at, closed FROM hosts").fetchall()
    reports = [
        HostReport(name, pages, relevant.get(name, 0), failures, due_at, closed)
        for name, pages, failures, due_at, closed in rows
    ]
    return sorted(reports, key=lambda host: (-host.relevant, -host.pages, host.host))[:top]
