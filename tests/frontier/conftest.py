"""A frontier on a bench: how it is built, driven, killed and opened again is written here once."""

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from lycosa import config
from lycosa.frontier.durable import DurableFrontier
from lycosa.frontier.hosts import Hosts
from lycosa.frontier.scope import Scope
from lycosa.store.db import CrawlDb
from lycosa.types import Link, Reply


class Bench:
    """Push, take and end leases by URL; time passes only while somebody waits."""

    def __init__(self, clock: Any, path: Path | str = ":memory:", **options: Any) -> None:
        self.clock = clock
        self.path = path
        self.open(**options)

    def open(
        self,
        merge: Callable[[float, float], float] = max,
        scope: dict[str, Any] | None = None,
        listing: Any = None,
        **fetch: Any,
    ) -> None:
        self.db = CrawlDb(self.path).open()
        frontier: DurableFrontier
        hosts = Hosts(config.Fetch(**{"delay_s": 0.0, **fetch}), lambda number, score: frontier.waits(number, score))
        frontier = DurableFrontier(self.db, hosts, Scope(config.Scope(**(scope or {}))), merge, self.clock)
        if listing:
            frontier.choose_by_lists(listing)
        frontier.load()
        self.frontier = frontier
        self.leased: dict[str, Link] = {}

    def commit(self) -> None:
        self.db.commit()

    def kill(self) -> None:
        """Whatever was not committed is lost."""
        self.db.close()

    def push(self, *pairs: tuple[str, float], source: str = "") -> None:
        self.frontier.push([Link(url, source=source) for url, _ in pairs], [score for _, score in pairs])

    async def take(self) -> str:
        """The next URL, after as much waiting as it takes; empty at the end."""
        task = asyncio.ensure_future(self.frontier.pop())
        for _ in range(100):
            for _ in range(3):
                await asyncio.sleep(0)
            if task.done():
                link = task.result()
                if link:
                    self.leased[link.url] = link
                return link.url if link else ""
            assert self.clock.next_call is not None, "it waits for nothing"
            self.clock.advance(max(0.0, self.clock.next_call - self.clock.now()))
        raise AssertionError("it never came")

    def done(self, url: str, /, **reply: Any) -> None:
        self.frontier.done(Reply(self.leased.pop(url), **{"url": url, "status": 200, **reply}))

    async def drain(self) -> list[str]:
        order = []
        while url := await self.take():
            order.append(url)
            self.done(url)
        return order


@pytest.fixture
def bench(clock: Any) -> Iterator[Callable[..., Bench]]:
    """Makes benches, and closes their databases."""
    made: list[Bench] = []

    def make(*given: Any, **options: Any) -> Bench:
        made.append(Bench(clock, *given, **options))
        return made[-1]

    yield make
    for one in made:
        one.kill()
