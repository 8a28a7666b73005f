"""A frontier on a bench: how it is built, driven, killed and opened again is written here once."""

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from lycosa import config
from lycosa.frontier.durable import DurableFrontier
from lycosa.frontier.scope import Scope
from lycosa.store.db import CrawlDb
from lycosa.types import Deferred, Lease, Link, Reply


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
        rules = config.Scope(max_hosts_per_domain=0, **(scope or {}))
        settings = config.Config(fetch=config.Fetch(**{"delay_s": 0.0, "focus": 0.0, **fetch}), scope=rules)
        strategy = listing or SimpleNamespace(merge=merge)
        frontier = DurableFrontier(self.db, settings, Scope(rules), strategy, self.clock)
        frontier.load()
        self.frontier = frontier
        self.leased: dict[str, Lease] = {}

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
                lease = task.result()
                if lease:
                    self.leased[lease.link.url] = lease
                return lease.link.url if lease else ""
            assert self.clock.next_call is not None, "it waits for nothing"
            self.clock.advance(max(0.0, self.clock.next_call - self.clock.now()))
        raise AssertionError("it never came")

    def done(self, url: str, /, again: bool = False, hop: str = "", **reply: Any) -> None:
        """With `again` it is no answer yet, and the link waits for the host of the reply's URL."""
        answer = Reply(self.leased.pop(url).link, **{"url": url, "status": 200, **reply})
        self.frontier.done(Deferred(answer, answer.url, hop) if again else answer)

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
