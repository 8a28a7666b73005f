"""The latest visits of a crawl, read by their numbers: as quick after a million visits as after ten."""

from typing import NamedTuple

from lycosa.store.db import CrawlDb

_LATEST = (
    "SELECT n, url, final_url, title, relevance, on_topic, label, error, detail, fetched_at, seconds FROM visits"
    " ORDER BY n DESC LIMIT ?"
)


class LateVisit(NamedTuple):
    """One of the latest visits."""

    n: int
    url: str
    final_url: str
    title: str
    relevance: float | None  # None: not judged
    on_topic: bool
    label: str
    error: str
    detail: str
    at: float
    seconds: float


def latest_visits(db: CrawlDb, most: int) -> list[LateVisit]:
    """The newest first."""
    return [
        LateVisit._make((*row[:5], bool(row[5]), *row[6:9], row[9] or 0.0, row[10] or 0.0))
        for row in db.execute(_LATEST, (most,))
    ]
