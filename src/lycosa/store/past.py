"""The history of a crawl, read from crawl.db for components that did not observe it."""

from collections.abc import Iterator

from lycosa.store.db import CrawlDb
from lycosa.types import Link, Reply, Verdict, Visit

_VISITS = "SELECT url, final_url, error, source, relevance, on_topic, digest, duplicate_of FROM visits ORDER BY n"
_SEEDS = "SELECT url FROM urls WHERE source = 0"


def past_visits(db: CrawlDb) -> Iterator[Visit]:
    """All visits in the order of fetching, without their pages."""
    for url, final_url, error, source, relevance, on_topic, digest, duplicate_of in db.execute(_VISITS):
        reply = Reply(Link(url, source=source), url=final_url, error=error)
        verdict = Verdict(relevance or 0.0, bool(on_topic))
        yield Visit(reply, verdict=verdict, digest=digest, duplicate_of=duplicate_of)


def seed_urls(db: CrawlDb) -> list[str]:
    """All URLs that the crawl was given, not found on a page."""
    return [url for (url,) in db.execute(_SEEDS)]
