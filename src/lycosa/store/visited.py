"""Read-only queries on the visits in crawl.db: which are pages, what they are, how they were judged."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import msgspec

from lycosa.store.db import CrawlDb

# conditions on a row of the table visits; equivalent to `Visit.is_page` and `Visit.is_distinct` for visits in memory
IS_PAGE = "error = '' AND digest != ''"  # the others are failures and sitemaps
IS_DISTINCT = f"{IS_PAGE} AND duplicate_of = ''"  # the first page with a given body
IS_JUDGED = "relevance IS NOT NULL"
IS_RELEVANT = "on_topic"

_TALLY = (
    f"SELECT count(*), coalesce(sum({IS_DISTINCT}), 0), coalesce(sum({IS_RELEVANT}), 0),"
    " coalesce(avg(relevance), 0.0), coalesce(sum(duplicate_of != ''), 0), coalesce(sum(bytes), 0) FROM visits"
)
_ERRORS = "SELECT error, count(*) AS n FROM visits WHERE error != '' GROUP BY error ORDER BY n DESC"
_BEST = f"SELECT url, title, relevance, label FROM visits WHERE {IS_JUDGED} ORDER BY relevance DESC, n LIMIT ?"
_SUBJECTS = (
    "SELECT final_url, title, relevance, why FROM visits"
    f" WHERE {IS_RELEVANT} AND error = '' AND relevance >= ? ORDER BY n"
)
_LATEST = f"SELECT url, title, why FROM visits WHERE {IS_RELEVANT} ORDER BY n DESC LIMIT ?"
_ANSWERED = (
    "SELECT final_url FROM (SELECT n, final_url FROM visits WHERE status > 0 ORDER BY n DESC LIMIT ?) ORDER BY n"
)
_LAST_VISITS = (
    "SELECT url, score, n, status, error, detail, final_url, title, relevance, on_topic, label, why, duplicate_of"
    " FROM visits WHERE url IN ({}) ORDER BY n"
)


class Tally(NamedTuple):
    """Counts over the visits of a crawl. Only distinct pages count as pages."""

    visits: int
    pages: int
    relevant: int
    mean_relevance: float
    duplicates: int
    bytes: int


class RelevantPage(NamedTuple):
    """The title of a relevant page, and the parts of its relevance."""

    url: str
    title: str
    relevance: float
    why: dict[str, float]


class LatestPage(NamedTuple):
    """The URL of a relevant page as requested, and the parts of its relevance."""

    url: str
    title: str
    why: dict[str, float]


class LastVisit(NamedTuple):
    """The result of the last visit of a URL."""

    score: float | None
    n: int
    status: int
    error: str
    detail: str
    final_url: str
    title: str
    relevance: float | None
    on_topic: bool
    label: str
    why: dict[str, float]
    duplicate_of: str


def tally(db: CrawlDb) -> Tally:
    return Tally._make(db.execute(_TALLY).fetchone())


def count_visits(db: CrawlDb) -> int:
    return int(db.execute("SELECT count(*) FROM visits").fetchone()[0])


def errors(db: CrawlDb) -> dict[str, int]:
    """How often each error occurred, most frequent first."""
    return dict(db.execute(_ERRORS))


def is_judged(db: CrawlDb) -> bool:
    """Whether any page has a verdict."""
    return bool(db.execute(f"SELECT EXISTS (SELECT 1 FROM visits WHERE {IS_JUDGED})").fetchone()[0])


def relevances(db: CrawlDb) -> list[float]:
    """The relevance of every judged page."""
    return [relevance for (relevance,) in db.execute(f"SELECT relevance FROM visits WHERE {IS_JUDGED}")]


def relevance_order(db: CrawlDb) -> list[bool]:
    """For each page in the order of fetching, whether it is relevant."""
    rows = db.execute(f"SELECT {IS_RELEVANT} FROM visits WHERE {IS_DISTINCT} ORDER BY n")
    return [bool(relevant) for (relevant,) in rows]


def page_addresses(db: CrawlDb) -> list[str]:
    """The URL of each page after redirects, in the order of fetching."""
    return [url for (url,) in db.execute(f"SELECT final_url FROM visits WHERE {IS_DISTINCT} ORDER BY n")]


def best_pages(db: CrawlDb, most: int) -> list[tuple[str, str, float, str]]:
    """URL, title, relevance and label of the most relevant pages."""
    return db.execute(_BEST, (most,)).fetchall()


def count_relevant_by_address(db: CrawlDb) -> Iterator[tuple[str, int]]:
    """The number of relevant pages per URL after redirects."""
    yield from db.execute(f"SELECT final_url, count(*) FROM visits WHERE {IS_RELEVANT} GROUP BY final_url")


def relevant_pages(db: CrawlDb, min_relevance: float) -> Iterator[RelevantPage]:
    """In the order of fetching."""
    for url, title, relevance, why in db.execute(_SUBJECTS, (min_relevance,)):
        yield RelevantPage(url, title, relevance, _reasons(why))


def latest_relevant(db: CrawlDb, most: int) -> list[LatestPage]:
    """The relevant pages fetched last, the newest last."""
    rows = db.execute(_LATEST, (most,)).fetchall()
    return [LatestPage(url, title, _reasons(why)) for url, title, why in reversed(rows)]


def first_bodies(db: CrawlDb) -> Iterator[tuple[str, str]]:
    """The digest of every body, and the URL where it was first seen."""
    yield from db.execute("SELECT digest, url FROM visits WHERE digest != '' AND duplicate_of = ''")


def last_answered(db: CrawlDb, most: int = 100) -> list[str]:
    """URLs that returned a response, the latest last."""
    return [url for (url,) in db.execute(_ANSWERED, (most,))]


def last_visits(db: CrawlDb, urls: Sequence[str]) -> dict[str, LastVisit]:
    """The last visit of each URL that has one, in a single scan: the table has no index on URLs."""
    found = {}
    for url, *facts in db.execute(_LAST_VISITS.format(", ".join("?" * len(urls))), urls):
        visit = LastVisit._make(facts)
        found[url] = visit._replace(on_topic=bool(visit.on_topic), why=_reasons(facts[-2]))
    return found


def _reasons(text: str) -> dict[str, float]:
    return msgspec.json.decode(text, type=dict[str, float]) if text else {}
