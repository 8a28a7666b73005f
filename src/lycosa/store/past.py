"""What a crawl did so far, read back from crawl.db by what was not there to see it."""

from collections.abc import Iterator

from lycosa.store.db import CrawlDb
from lycosa.types import Link, Reply, Verdict, Visit

_VISITS = "SELECT url, final_url, error, source, relevance, on_topic, digest, duplicate_of FROM visits ORDER BY n"
_SEEDS = "SELECT url FROM urls WHERE source = 0"


def past_visits(db: CrawlDb) -> Iterator[Visit]:
    """Every visit in the order of fetching, without its page."""
    for url, final_url, error, source, relevance, on_topic, digest, duplicate_of in db.execute(_VISITS):
        reply = Reply(Link(url, source=source), url=final_url, error=error)
        verdict = Verdict(relevance or 0.0, bool(on_topic))
        yield Visit(reply, verdict=verdict, digest=digest, duplicate_of=duplicate_of)


def seed_urls(db: CrawlDb) -> list[str]:
    """Every URL that the crawl was given: those that no page led to."""
    return [url for (url,) in db.execute(_SEEDS)]
