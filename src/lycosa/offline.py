"""Orders for a crawl that does not run: written to crawl.db, where the next run finds them."""

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from lycosa import config
from lycosa.build import make_scope
from lycosa.errors import StateError
from lycosa.run import lock
from lycosa.session import checked_urls
from lycosa.store import orders
from lycosa.store.db import CrawlDb


def add(folder: Path, found: Sequence[str]) -> dict[str, str]:
    """Let the next run start from further seeds; for each URL what became of it, as a session tells."""
    good = checked_urls(found)
    settings, _ = config.load(folder)
    with _changing(folder) as db:
        scope = make_scope(settings, orders.exclusions(db))
        known = orders.known_urls(db, good)
        outcome = {url: scope.refuses(url) or ("known" if url in known else "added") for url in good}
        orders.add_seeds(db, [url for url, became in outcome.items() if became in ("added", "known")])
    return outcome


def count(folder: Path, what: orders.Exclusion) -> int:
    """How many waiting URLs an exclusion would drop."""
    settings, _ = config.load(folder)
    with _changing(folder) as db:
        return len(orders.waiting_urls(db, what, make_scope(settings, orders.exclusions(db)).refuses))


def exclude(folder: Path, what: orders.Exclusion) -> int:
    """Let the next run leave a host or a pattern alone; how many waiting URLs that drops."""
    settings, _ = config.load(folder)
    with _changing(folder) as db:
        dropped = orders.waiting_urls(db, what, make_scope(settings, orders.exclusions(db)).refuses)
        orders.add_exclusion(db, what)
    return len(dropped)


@contextlib.contextmanager
def _changing(folder: Path) -> Iterator[CrawlDb]:
    if not (folder / "crawl.db").exists():
        problem = f"nothing crawled yet: write seeds and exclusions to {config.NAME}, then: lycosa crawl {folder}"
        raise StateError(folder, problem)
    with lock(folder), contextlib.closing(CrawlDb(folder / "crawl.db").open()) as db:
        yield db
        db.commit()
