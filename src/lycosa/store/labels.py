"""Labels given by users: whether pages are on topic. Stored in crawl.db permanently, even when pages are judged again.

The table is created with the first label, and judging again does not rebuild it.
"""

from collections.abc import Collection, Mapping, Sequence
from math import sqrt
from typing import NamedTuple

import msgspec

from lycosa.store.db import CrawlDb
from lycosa.store.visited import IS_DISTINCT, IS_JUDGED

LABELS = "(labels)"  # in the reasons of a verdict: what the labels added to the relevance
CHOSEN = ("uncertain", "best", "random", "import")  # how a page was selected for labelling

_CREATE = (
    "CREATE TABLE IF NOT EXISTS labels (url TEXT PRIMARY KEY, on_topic INTEGER, at REAL, chosen TEXT) WITHOUT ROWID"
)
_EXISTS = (  # the latter for a reader of several shards
    "SELECT (SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = 'labels')"
    " + (SELECT count(*) FROM sqlite_temp_master WHERE type = 'view' AND name = 'labels')"
)
_ALL = "SELECT url, on_topic, at, chosen FROM labels ORDER BY at, url"
_COUNTS = (
    "SELECT coalesce(sum(on_topic), 0), coalesce(sum(NOT on_topic), 0),"
    " coalesce(sum(on_topic AND chosen = 'random'), 0), coalesce(sum(chosen = 'random'), 0) FROM labels"
)
_NAMES = "SELECT url, final_url, duplicate_of FROM visits WHERE error = ''"
_IS_CANDIDATE = f"{IS_JUDGED} AND {IS_DISTINCT}"
_JUDGED = f"SELECT n, url, relevance, on_topic, simhash FROM visits WHERE {_IS_CANDIDATE} ORDER BY n"
_CANDIDATES = (
    "SELECT n, url, title, relevance, on_topic, label, why, simhash, content_type, final_url, warc, warc_offset"
    f" FROM visits WHERE n IN ({{}}) AND {_IS_CANDIDATE}"
)


class Label(NamedTuple):
    """One label."""

    url: str  # as the crawl fetched it
    on_topic: bool
    at: float  # seconds since the epoch
    chosen: str  # one of CHOSEN


class Counts(NamedTuple):
    """The number of labels, and how many of those on randomly sampled relevant pages are positive."""

    on_topic: int = 0
    off_topic: int = 0
    random_on_topic: int = 0
    random: int = 0


class Precision(NamedTuple):
    """The share of pages judged relevant that users label as relevant, too, with its 95 % Wilson interval."""

    share: float
    low: float
    high: float
    pages: int


class Judged(NamedTuple):
    """What decides whether a judged page is offered for labelling."""

    n: int  # the number of its visit
    url: str
    relevance: float
    on_topic: bool
    simhash: int


class Candidate(NamedTuple):
    """A page that is offered for labelling."""

    url: str
    title: str
    relevance: float
    on_topic: bool
    label: str
    why: Mapping[str, float]
    simhash: int
    content_type: str
    final_url: str
    warc: str
    warc_offset: int


def read_labels(db: CrawlDb) -> list[Label]:
    """All labels, oldest first."""
    rows = db.execute(_ALL).fetchall() if has_labels(db) else []
    return [Label(url, bool(on_topic), at, chosen) for url, on_topic, at, chosen in rows]


def answers(db: CrawlDb) -> dict[str, bool]:
    """From URL to label."""
    return {label.url: label.on_topic for label in read_labels(db)}


def put_labels(db: CrawlDb, given: Mapping[str, bool | None], chosen: str, at: float) -> None:
    """Add or replace labels; None removes a label."""
    db.execute(_CREATE)
    kept = [(url, on_topic, at, chosen) for url, on_topic in given.items() if on_topic is not None]
    db.executemany("INSERT OR REPLACE INTO labels VALUES (?, ?, ?, ?)", kept)
    gone = [(url,) for url, on_topic in given.items() if on_topic is None]
    db.executemany("DELETE FROM labels WHERE url = ?", gone)


def count_labels(db: CrawlDb) -> Counts:
    return Counts._make(db.execute(_COUNTS).fetchone()) if has_labels(db) else Counts()


def precision(counts: Counts) -> Precision | None:
    """Estimated from the random sample; None if it is empty. Each page was judged relevant when it was sampled."""
    if not counts.random:
        return None
    return Precision(counts.random_on_topic / counts.random, *wilson(counts.random_on_topic, counts.random), counts[3])


def wilson(found: int, number: int, z: float = 1.96) -> tuple[float, float]:
    """A confidence interval for a proportion, valid for few observations, too."""
    share, square = found / number, z * z / number
    middle = (share + square / 2) / (1 + square)
    half = z / (1 + square) * sqrt(share * (1 - share) / number + square / (4 * number))
    return max(0.0, middle - half), min(1.0, middle + half)


def fetched_as(db: CrawlDb, urls: Collection[str]) -> dict[str, str]:
    """The URL under which the verdict on each page is stored: users may label the target of a redirect, or a duplicate.
    A URL that the crawl has not fetched is returned unchanged."""
    wanted, found = set(urls), dict[str, str]()
    for url, final, original in db.execute(_NAMES):
        for name in (url, final):
            if name in wanted and (name == url or name not in found):
                found[name] = original or url
    return {url: found.get(url, url) for url in urls}


def judged(db: CrawlDb) -> list[Judged]:
    """All judged pages in the order of fetching."""
    return [*map(Judged._make, db.execute(_JUDGED))]


def candidates(db: CrawlDb, numbers: Sequence[int]) -> dict[int, Candidate]:
    """Some of them in full, by the numbers of their visits."""
    found = {}
    for n, url, title, relevance, on_topic, label, why, *rest in db.execute(
        _CANDIDATES.format(", ".join(map(str, numbers)))
    ):
        reasons = msgspec.json.decode(why, type=dict[str, float]) if why else {}
        found[n] = Candidate(url, title, relevance, bool(on_topic), label, reasons, *rest)
    return found


def simhashes(pages: Sequence[Judged], labelled: Collection[str]) -> list[int]:
    """Those of the labelled pages."""
    return [page.simhash for page in pages if page.url in labelled and page.simhash]


def has_labels(db: CrawlDb) -> bool:
    """Whether a label was ever given."""
    return bool(db.execute(_EXISTS).fetchone()[0])
