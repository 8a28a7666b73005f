"""Crawl a folder from a program: with a summary at the end, or visit by visit."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from lycosa import config
from lycosa.api.written import overrides
from lycosa.build import Parts
from lycosa.locking import lock
from lycosa.session import Session, naming_state
from lycosa.shards import layout
from lycosa.shards.fleet import Fleet
from lycosa.shards.sites import away, bring_home
from lycosa.types import BadInput, Deferred, Fetcher, Lease, Reply, Visit

Summary = dict[str, Any]
Changes = Mapping[str, Any] | None  # section.key to value
Watch = Callable[[Summary], None] | None
_MOST_WAITING = 64  # unread visits; beyond this, the crawl waits


class Plan:
    """The options of one run."""

    def __init__(self, seeds: Sequence[str], changes: Changes, retry_failed: bool) -> None:
        self.seeds = list(seeds)
        self.overrides = overrides(changes or {})
        self.retry_failed = retry_failed


async def crawl(folder: Path, plan: Plan, watch: Watch = None, live: "Live | None" = None) -> Summary:
    """Crawl until it ends or is cancelled; no signal handlers or process settings are changed."""
    settings, source = config.load(folder, plan.overrides)
    found, shards = source.path.parent, layout.wanted_shards(settings)
    if live and (shards > 1 or layout.homes(found)):
        raise BadInput(f"{folder}: visits can be followed only in a crawl of one shard: set run.shards = 1")
    layout.check(settings, source)
    with lock(found, may_be_away=True), naming_state(folder), source.placing():
        bring_home(found)
        layout.arrange(found, shards)
        if shards > 1:
            layout.hold_out(found, settings, source)
            with away(found, settings) as sites:
                fleet = Fleet(found, settings, plan.overrides, sites)
                return await fleet.run(plan.seeds, watch or (lambda summary: None), plan.retry_failed, signals=False)
        if live:
            session = Session(folder, plan.overrides, sinks=[live], fetcher=live.around)
        else:
            session = Session(folder, plan.overrides)
        return await session.run(plan.seeds, watch or (lambda summary: None), plan.retry_failed)


async def follow(folder: Path, plan: Plan) -> AsyncGenerator[Visit, None]:
    """Crawl, and yield each visit as soon as it is made. The crawl stops when the caller stops iterating."""
    live = Live()
    crawling = asyncio.ensure_future(crawl(folder, plan, live=live))
    crawling.add_done_callback(lambda _: live.changed.set())
    try:
        while live.waiting or not crawling.done():
            if live.waiting:
                yield live.take()
            else:
                live.changed.clear()
                await live.changed.wait()
        await crawling
    finally:
        crawling.cancel()
        await asyncio.gather(crawling, return_exceptions=True)


class Live:
    """A sink that buffers visits until they are read, and a fetcher that waits while the buffer is full."""

    def __init__(self) -> None:
        self.waiting: deque[Visit] = deque()
        self.changed = asyncio.Event()
        self._room = asyncio.Event()
        self._room.set()
        self._fetcher: Fetcher

    def around(self, parts: Parts) -> "Live":
        """Take the place of the crawl's fetcher."""
        self._fetcher = parts.fetcher
        return self

    async def fetch(self, lease: Lease) -> Reply | Deferred:
        await self._room.wait()
        return await self._fetcher.fetch(lease)

    def write(self, visit: Visit) -> None:
        self.waiting.append(visit)
        self.changed.set()
        if len(self.waiting) >= _MOST_WAITING:
            self._room.clear()

    def take(self) -> Visit:
        visit = self.waiting.popleft()
        if len(self.waiting) < _MOST_WAITING:
            self._room.set()
        return visit
