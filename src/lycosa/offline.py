"""Orders for a crawl that is not running: stored in crawl.db for the next run."""

import contextlib
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from lycosa import config
from lycosa.build import make_scope
from lycosa.clock import WallClock
from lycosa.errors import StateError
from lycosa.run import Run, lock
from lycosa.session import checked_labels, checked_urls
from lycosa.store import labels, orders
from lycosa.store.db import CrawlDb


def add(folder: Path, found: Sequence[str]) -> dict[str, str]:
    """Add seeds for the next run; returns the outcome for each URL, as a session does."""
    good = checked_urls(found)
    settings, _ = config.load(folder)
    with _changing(folder) as db:
        scope = make_scope(settings, orders.exclusions(db))
        known = orders.known_urls(db, good)
        outcome = {url: scope.refuses(url) or ("known" if url in known else "added") for url in good}
        orders.add_seeds(db, [url for url, became in outcome.items() if became in ("added", "known")])
    return outcome


def count(folder: Path, what: orders.Exclusion) -> int:
    """The number of queued URLs that an exclusion would remove."""
    settings, _ = config.load(folder)
    with _changing(folder) as db:
        return len(orders.waiting_urls(db, what, make_scope(settings, orders.exclusions(db)).refuses))


def exclude(folder: Path, what: orders.Exclusion) -> int:
    """Exclude a host or a pattern from the next run on; returns the number of queued URLs this removes."""
    settings, _ = config.load(folder)
    with _changing(folder) as db:
        dropped = orders.waiting_urls(db, what, make_scope(settings, orders.exclusions(db)).refuses)
        orders.add_exclusion(db, what)
    return len(dropped)


def label(folder: Path, given: Mapping[str, bool | None], chosen: str) -> None:
    """Store or remove labels; pages are judged with them by `apply_labels`, or else by the next run."""
    good = checked_labels(given, chosen)
    with _changing(folder) as db:
        stored = labels.fetched_as(db, good)
        labels.put_labels(db, {stored[url]: on_topic for url, on_topic in good.items()}, chosen, time.time())


def apply_labels(folder: Path) -> int:
    """Judge all stored pages with the labels, as the start of a run does; returns the number of reversed verdicts."""
    settings, source = config.load(folder)
    with lock(folder):
        run = Run(folder, settings, source, WallClock())
        return run.relabel()


@contextlib.contextmanager
def _changing(folder: Path) -> Iterator[CrawlDb]:
    if not (folder / "crawl.db").exists():
        problem = f"nothing crawled yet: write seeds and exclusions to {config.NAME}, then: lycosa crawl {folder}"
        raise StateError(folder, problem)
    with lock(folder), contextlib.closing(CrawlDb(folder / "crawl.db").open()) as db:
        yield db
        db.commit()
