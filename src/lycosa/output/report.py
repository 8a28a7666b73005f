"""What a crawl found, read from its folder: totals, harvest curve, best pages, errors, hosts, and why it stopped."""

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Struct

from lycosa.store import known, labels, visited
from lycosa.store.db import CrawlDb

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
    """The state of the search engine."""

    day: int = 0  # since the epoch
    asked: int = 0  # queries sent on that day
    failures: int = 0  # in a row
    rests_until: float = 0.0
    trouble: str = ""  # the last failure


class LabelReport(Struct, frozen=True):
    """What people have said of pages."""

    on_topic: int
    off_topic: int
    precision: labels.Precision | None  # estimated from randomly drawn relevant pages, if some were labelled


class Report(Struct, frozen=True):
    """Everything that `lycosa show` prints."""

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
    status: str  # what the crawl was waiting for at the last commit
    errors: dict[str, int]
    refused: dict[str, int]
    curve: list[float]  # share of relevant pages among those fetched so far, at equal steps
    best: list[BestPage]
    hosts: list[HostReport]
    n_hosts: int = 0  # including those not listed
    search: SearchReport | None = None  # if it ever queried an engine
    added_seeds: list[str] = []  # while it ran or between two runs
    excluded: list[str] = []  # hosts and patterns, in addition to crawl.toml
    labels: LabelReport | None = None  # if there are any
    recall: str = ""  # how much of the topic has been found, in words
    drift: str = ""  # how recent relevant pages differ from the first ones, if they do
    learned: dict[str, dict[str, float]] = {}  # what the strategy has learned, if it does: heading, name, weight


def read_report(db: CrawlDb, top: int = 10) -> Report:
    totals, hosts = visited.tally(db), _hosts(db)
    outlook = msgspec.json.decode(db.get("outlook", "{}"), type=dict[str, Any])  # of the frontier at the last commit
    return Report(
        strategy=db.get("strategy"),
        ended=db.get("ended"),
        visits=totals.visits,
        pages=totals.pages,
        relevant=totals.relevant,
        harvest_rate=totals.relevant / totals.pages if totals.pages else 0.0,
        mean_relevance=totals.mean_relevance,
        duplicates=totals.duplicates,
        bytes=totals.bytes,
        seconds=float(db.get("spent_s", "0")),
        known=known.count_urls(db),
        waiting=outlook.get("waiting", 0),
        next_due=outlook.get("next_due") or 0.0,
        status=str(outlook.get("status", "")),
        errors=visited.errors(db),
        refused=msgspec.json.decode(db.get("refused", "{}"), type=dict[str, int]),
        curve=harvest_curve(visited.relevance_order(db), CURVE_POINTS),
        best=[BestPage(*page) for page in visited.best_pages(db, top)],
        hosts=hosts[:top],
        n_hosts=len(hosts),
        search=msgspec.json.decode(text, type=SearchReport) if (text := db.get("search")) else None,
        labels=_labels(db),
    )


def _labels(db: CrawlDb) -> LabelReport | None:
    found = labels.count_labels(db)
    if not found.on_topic + found.off_topic:
        return None
    return LabelReport(found.on_topic, found.off_topic, labels.precision(found))


def harvest_curve(pages: Sequence[bool], points: int) -> list[float]:
    """The share of relevant pages among those fetched so far, sampled at `points` equal steps."""
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


def _hosts(db: CrawlDb) -> list[HostReport]:
    """The hosts with most relevant pages, by final URL."""
    relevant: dict[str, int] = {}
    for url, count in visited.count_relevant_by_address(db):
        name = url.split("/", 3)[2]
        relevant[name] = relevant.get(name, 0) + count
    reports = [
        HostReport(name, pages, relevant.get(name, 0), failures, due_at, closed)
        for name, pages, failures, due_at, closed in known.hosts(db)
    ]
    return sorted(reports, key=lambda host: (-host.relevant, -host.pages, host.host))
