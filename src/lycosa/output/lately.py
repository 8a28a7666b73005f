"""What has happened lately in a crawl: the last pages, which hosts answered, what failed and what that means."""

from collections import Counter
from collections.abc import Sequence

from msgspec import Struct

from lycosa.store.db import CrawlDb
from lycosa.store.known import host_of
from lycosa.store.overview import LateVisit, latest_visits
from lycosa.urls import host

VISITS = 300  # that count as "lately"
_PAGES = 40  # shown
_HOSTS = 10  # shown
_NOTABLE = 0.3  # share of the visits that makes a failure worth a sentence
_LEAST = 20  # visits: fewer say nothing


class LatePage(Struct, frozen=True):
    url: str
    title: str
    relevance: float
    on_topic: bool
    label: str
    at: float


class LateHost(Struct, frozen=True):
    """A host, with counts over the latest visits."""

    name: str
    visits: int
    relevant: int
    failed: int
    due_at: float
    closed: str


class Lately(Struct, frozen=True):
    pages: list[LatePage]  # the newest first
    hosts: list[LateHost]  # those with the most visits
    notes: list[str]  # what explains a poor harvest


def read_lately(db: CrawlDb) -> Lately:
    visits = latest_visits(db, VISITS)
    pages = [
        LatePage(one.url, one.title, one.relevance, one.on_topic, one.label, one.at)
        for one in visits
        if one.relevance is not None
    ]
    return Lately(pages[:_PAGES], _hosts(db, visits), _notes(visits))


def _hosts(db: CrawlDb, visits: Sequence[LateVisit]) -> list[LateHost]:
    all_, relevant, failed = Counter[str](), Counter[str](), Counter[str]()
    for one in visits:
        name = host(one.url)
        all_[name] += 1
        relevant[name] += one.on_topic
        failed[name] += bool(one.error)
    most = sorted(all_, key=lambda name: (-all_[name], name))[:_HOSTS]
    known = {name: host_of(db, name) for name in most}
    return [
        LateHost(name, all_[name], relevant[name], failed[name], known[name].due_at, known[name].closed)
        for name in most
    ]


def _notes(visits: Sequence[LateVisit]) -> list[str]:
    """Failures that are frequent enough to explain why little is found."""
    if len(visits) < _LEAST:
        return []
    kinds = Counter(one.error for one in visits if one.error)
    found = []
    for kind, count in kinds.most_common(2):
        if count < _NOTABLE * len(visits):
            continue
        name, at_it = Counter(host(one.url) for one in visits if one.error == kind).most_common(1)[0]
        whose = f"of {name} " if at_it > count / 2 else ""
        if kind == "robots":
            found.append(f"robots.txt {whose}forbids {count} of the last {len(visits)} links chosen")
        else:
            found.append(f"{count} of the last {len(visits)} fetches failed: {kind}{f' at {name}' if whose else ''}")
    return found
