"""Query a search engine for more links when the frontier runs out of targets (Publication Spider, 2007).

As a sink, the step observes every visit and decides when to search; as a task alongside the crawl, it queries. It works
with every strategy and topic. With a strategy that knows the class of a URL before it is fetched, it observes the share
of targets among the queued links; otherwise, the share of relevant pages among all pages fetched.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Protocol

from msgspec import Struct

from lycosa import urls
from lycosa.seeds.engines import Search
from lycosa.seeds.ledger import Account
from lycosa.seeds.queries import MOST_BYTES, Note, distinct, from_items, from_notes, list_items
from lycosa.store.db import CrawlDb
from lycosa.store.visited import latest_relevant, tally
from lycosa.store.waiting import waiting_with
from lycosa.types import Band, Link, Origin, Targets, Visit

_MOST_NAMED = 10_000  # target URLs that may become sources
_MOST_KEPT = 16  # pages kept as sources
_MOST_NOTES = 5


class Trigger:
    """Fires after `alpha` consecutive decreases; a share of zero counts as a decrease, anything else resets the
    count."""

    def __init__(self, alpha: int) -> None:
        self.alpha = alpha
        self._share = 0.0
        self._decreases = 0

    def step(self, part: int, whole: int, ready: bool) -> bool:
        """Called after each fetch; fires only when `ready`, and stays pending until then."""
        share = part / whole if whole else 0.0
        self._decreases = self._decreases + 1 if share == 0.0 or share < self._share else 0
        self._share = share
        if self._decreases < self.alpha or not ready:
            return False
        self._decreases = 0
        return True


class Source(Struct, frozen=True):
    """A page from which queries can be made."""

    url: str
    body: bytes = b""


class Sources:
    """Pages to make queries from: among those available, the one named last comes first, and each is used once."""

    def __init__(self) -> None:
        self._order: dict[str, int] = {}  # of the URLs named and not used yet
        self._kept: dict[str, Source] = {}
        self._count = 0

    @property
    def named(self) -> int:
        return len(self._order)

    @property
    def kept(self) -> int:
        return len(self._kept)

    def name(self, url: str) -> None:
        if url not in self._order:
            self._count += 1
            self._order[url] = self._count
            if len(self._order) > _MOST_NAMED:
                self.drop(next(iter(self._order)))

    def knows(self, url: str) -> bool:
        return url in self._order

    def keep(self, source: Source) -> None:
        """The page has been fetched, or is returned unused."""
        self.name(source.url)
        self._kept[source.url] = source
        if len(self._kept) > _MOST_KEPT:
            self.drop(min(self._kept, key=self._order.__getitem__))

    def drop(self, url: str) -> None:
        self._order.pop(url, None)
        self._kept.pop(url, None)

    def take(self) -> Source:
        url = max(self._kept, key=self._order.__getitem__)
        source = self._kept[url]
        self.drop(url)
        return source


class Queries(Protocol):
    """A search engine that is queried responsibly: the ledger, or another shard that has it."""

    @property
    def account(self) -> Account: ...
    async def open(self) -> None: ...
    async def close(self) -> None: ...
    def ready(self) -> bool: ...
    def knows(self, query: str, site: str) -> bool: ...
    async def search(self, query: str, site: str, k: int) -> list[str]: ...


@dataclass
class SearchStep:
    """Add it to the crawl as a sink, run `run` alongside the crawl, and have the frontier call `more` before it
    ends."""

    rules: Search
    engine: Queries
    push: Callable[
        [Sequence[Link], Sequence[float], Band], None
    ]  # to the frontier; without links, signals the end of a step
    waiting: Callable[[], int]  # number of URLs queued in the frontier
    refuses: Callable[[str], str]  # why a URL may not be fetched; empty if it may
    targets: Targets | None = None  # the strategy, if it knows the class of a URL
    site: str = ""
    hits: int = field(default=0, init=False)  # number of steps that found something new
    steps: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self.trigger = Trigger(self.rules.alpha)
        self.sources = Sources()
        self._open: set[int] = set()  # fingerprints of the queued targets
        self._notes: deque[Note] = deque(maxlen=_MOST_NOTES)
        self._pages = 0
        self._relevant = 0
        self._due = False  # the trigger fired, but no page was available to make queries from
        self._busy = False
        self._called = asyncio.Event()
        self._elsewhere: Callable[[str], bool] = lambda url: False  # whether a URL belongs to another shard

    def join(self, engine: Queries, elsewhere: Callable[[str], bool]) -> None:
        """Be the search step of one shard among several, before anything is opened."""
        self.engine, self._elsewhere = engine, elsewhere

    @property
    def is_busy(self) -> bool:
        return self._busy

    def load(self, db: CrawlDb) -> None:
        """Continue where the last run ended, with the relevant pages it saw last."""
        for url, title, why in latest_relevant(db, _MOST_NOTES):
            self._notes.append(Note(title, why))
            if not self.targets or self.targets.is_target(url):
                self.sources.keep(Source(url))  # without its body: queries are made from the notes
        totals = tally(db)
        self._pages, self._relevant = totals.pages, totals.relevant
        if self.targets:
            waiting = waiting_with(db, self.targets.target_score)
            self._open.update(urls.key(url) for url in waiting if self.targets.is_target(url))

    # -- observing
    # --------------------------------------------------------------------------------------------------------

    def write(self, visit: Visit) -> None:
        judged = visit.is_distinct
        self._note(visit, judged)
        ready = self.sources.named > 0 and not self._busy and not self._due and self.engine.ready()
        if self.targets:
            self._due |= self.trigger.step(len(self._open), self.waiting(), ready)
        elif judged:
            self._pages += 1
            self._relevant += visit.verdict.on_topic
            self._due |= self.trigger.step(self._relevant, self._pages, ready)
        if self._due:
            self._start()

    def hear(self, found: Iterable[str]) -> None:
        """URLs that other shards have found: some may be targets."""
        for url in found:
            if self.targets and self.targets.is_target(url):
                self._name(url)

    def more(self) -> bool:
        """Called when nothing is queued or in flight: whether a search may find more, so that the crawl is not over
        yet."""
        self._start()
        return self._busy

    def _start(self) -> None:
        if not self._busy and self.sources.kept and self.engine.ready():
            self._busy, self._due = True, False
            self._called.set()

    def _note(self, visit: Visit, judged: bool) -> None:
        """Record what queries can be made from, and which targets are queued."""
        url, page, verdict = visit.reply.link.url, visit.page, visit.verdict
        if verdict.on_topic:
            self._notes.append(Note(page.title, verdict.why, page.words))
        if judged and (self.targets.is_target(url) if self.targets else verdict.on_topic):
            self.sources.keep(Source(url, visit.reply.body[:MOST_BYTES]))
        elif not judged:
            self.sources.drop(url)
        if self.targets:
            self._open -= {urls.key(url), urls.key(visit.reply.url)}
            self.hear(link.url for link in page.links)

    def _name(self, url: str) -> bool:
        """A URL of the target class was found; returns whether it is new and may be fetched."""
        key = urls.key(url)
        if key in self._open or self.refuses(url):
            return False
        if not self._elsewhere(url):  # its own shard will count it
            self._open.add(key)
            self.sources.name(url)
        return True

    # -- querying
    # ---------------------------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Open the engine, query it when triggered, close it when cancelled."""
        await self.engine.open()
        try:
            while True:
                await self._called.wait()
                self._called.clear()
                await self._step()
                self._busy = False
                self.push([], [], Band.FOUND)
        finally:
            await self.engine.close()

    async def _step(self) -> None:
        """Send one query at a time, until one finds something new or the engine may no longer be queried."""
        self.steps += 1
        while self.sources.kept:
            source = self.sources.take()
            fresh = list(islice(self._fresh(source), self.rules.queries_per_page))
            for query in fresh:
                found = await self.engine.search(query, self.site, self.rules.results)
                if self.let_in(query, found):
                    self.hits += 1
                    if any(map(self._elsewhere, _canonical(found))):  # where they may be known: try again, if so
                        self.sources.keep(source)
                    return
                if not self.engine.ready():
                    self.sources.keep(source)  # for later: queries already sent are then skipped
                    return
            if fresh:
                return

    def _fresh(self, source: Source) -> Iterable[str]:
        """Queries that were never sent."""
        wanted = list(from_items(list_items(source.body), self.rules.min_words)) or from_notes(reversed(self._notes))
        return (query for query in distinct(wanted) if not self.engine.knows(query, self.site))

    def let_in(self, query: str, found: Iterable[str]) -> bool:
        """Queue URLs that may be fetched; return whether any is new, and of the target class if there are classes."""
        links = [Link(url, anchor=query, origin=Origin.SEARCH) for url in _canonical(found) if not self.refuses(url)]
        if self.targets:
            new = [link.url for link in links if self.targets.is_target(link.url) and self._name(link.url)]
            self.push(links, [self.targets.priority(link.url) for link in links], Band.FOUND)
            return bool(new)
        before = self.waiting()
        self.push(
            links, [0.0] * len(links), Band.FIRST
        )  # without classes there is no scale: like seeds, before all others
        return self.waiting() > before or any(self._elsewhere(link.url) for link in links)

    def status(self) -> dict[str, Any]:
        """The state of the search, for users."""
        account = self.engine.account
        return {
            "steps": self.steps,
            "hits": self.hits,
            "asked_today": account.asked,
            "rests_until": account.rests_until if account.failures else 0.0,
            "trouble": account.trouble,
        }


def _canonical(found: Iterable[str]) -> list[str]:
    return [*dict.fromkeys(filter(None, map(urls.canonical, found)))]
