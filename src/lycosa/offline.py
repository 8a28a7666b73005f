"""Orders for a crawl that is not running: stored in crawl.db for the next run."""

import contextlib
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from lycosa import config
from lycosa.build import make_scope
from lycosa.clock import WallClock
from lycosa.control import Place
from lycosa.errors import StateError
from lycosa.locking import lock
from lycosa.run import Run
from lycosa.session import checked_labels, checked_urls
from lycosa.shards.layout import homes
from lycosa.shards.routing import Routing
from lycosa.store import labels, orders, retry
from lycosa.store.db import CrawlDb
from lycosa.store.url_rows import UrlRows


def add(folder: Path, found: Sequence[str]) -> dict[str, str]:
    """Add seeds for the next run; returns the outcome for each URL, as a session does."""
    good = checked_urls(found)
    settings, _ = config.load(folder)
    with _changing(folder) as all_:
        scope = make_scope(settings, orders.exclusions(all_[0]))
        known = set().union(*(orders.known_urls(db, good) for db in all_))
        outcome = {url: scope.refuses(url) or ("known" if url in known else "added") for url in good}
        for db in all_:
            orders.add_seeds(db, [url for url, became in outcome.items() if became in ("added", "known")])
    return outcome


def count(folder: Path, what: orders.Exclusion) -> int:
    """The number of queued URLs that an exclusion would remove."""
    settings, _ = config.load(folder)
    with _changing(folder) as all_:
        scope = make_scope(settings, orders.exclusions(all_[0]))
        return sum(len(orders.waiting_urls(db, what, scope.refuses)) for db in all_)


def exclude(folder: Path, what: orders.Exclusion) -> int:
    """Exclude a host or a pattern from the next run on; returns the number of queued URLs this removes."""
    settings, _ = config.load(folder)
    with _changing(folder) as all_:
        scope = make_scope(settings, orders.exclusions(all_[0]))
        dropped = sum(len(orders.waiting_urls(db, what, scope.refuses)) for db in all_)
        for db in all_:
            orders.add_exclusion(db, what)
    return dropped


def prefer(folder: Path, what: orders.Exclusion, place: Place) -> int:
    """Put queued URLs first, last or in their usual place; returns their number."""
    settings, _ = config.load(folder)
    number = 0
    with _changing(folder) as all_:
        for db in all_:
            found = orders.waiting_urls(db, what, make_scope(settings, orders.exclusions(db)).refuses)
            UrlRows(db).prefer(found, orders.PLACES[place])
            number += len(found)
    return number


def retry_failed(folder: Path, found: Sequence[str] = (), kind: str = "") -> int:
    """Queue failed URLs again for the next run: those named, those of one kind, or all; returns their number."""
    settings, _ = config.load(folder)
    among = checked_urls(found) if found else None
    number = 0
    with _changing(folder) as all_:
        scope = make_scope(settings, orders.exclusions(all_[0]))
        for db in all_:
            failed = retry.chosen(db, among, kind, scope.refuses)
            retry.reopen(db, failed)
            number += len(failed)
    return number


def label(folder: Path, given: Mapping[str, bool | None], chosen: str) -> None:
    """Store or remove labels; pages are judged with them by `apply_labels`, or else by the next run."""
    good = checked_labels(given, chosen)
    with _changing(folder) as all_:
        routing = Routing(0, len(all_))
        for shard, db in enumerate(all_):
            own = {url: on_topic for url, on_topic in good.items() if routing.owner(url) == shard}
            stored = labels.fetched_as(db, own)
            labels.put_labels(db, {stored[url]: on_topic for url, on_topic in own.items()}, chosen, time.time())


def apply_labels(folder: Path) -> int:
    """Judge all stored pages with the labels, as the start of a run does; returns the number of reversed verdicts."""
    settings, source = config.load(folder)
    with lock(folder):
        return sum(Run(home, settings, source, WallClock()).relabel() for home in homes(folder) or [folder])


@contextlib.contextmanager
def _changing(folder: Path) -> Iterator[list[CrawlDb]]:
    """The database of the crawl, or those of all its shards."""
    found = homes(folder) or [folder]
    if not (found[0] / "crawl.db").exists():
        problem = f"nothing crawled yet: write seeds and exclusions to {config.NAME}, then: lycosa crawl {folder}"
        raise StateError(folder, problem)
    with lock(folder), contextlib.ExitStack() as stack:
        all_ = [stack.enter_context(contextlib.closing(CrawlDb(home / "crawl.db").open())) for home in found]
        yield all_
        for db in all_:
            db.commit()
