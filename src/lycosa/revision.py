"""Now and then a strategy orders all that waits anew: link analysis beside the crawl, which goes on meanwhile."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, Protocol, runtime_checkable

from lycosa.frontier.durable import DurableFrontier
from lycosa.store.db import CrawlDb
from lycosa.types import SEED_SCORE, Visit


@runtime_checkable
class Revises(Protocol):
    """A strategy that orders the frontier anew from the graph of all links."""

    @property
    def floor(self) -> float: ...  # what is worth less was not chosen: it is held back while something else waits
    def wants_revision(self) -> bool: ...
    def analyse(self, sources: Sequence[int], targets: Sequence[int], waiting: Sequence[int]) -> Any: ...  # slow
    def choose(
        self, analysed: Any, waits_with: Callable[[int], float], host_of: Callable[[int], str]
    ) -> tuple[Sequence[int], Sequence[float]]: ...  # ids and their new scores; quick


class Revision:
    """A sink that asks the strategy after each visit. `at_once`: the crawl waits for it, so that it repeats exactly."""

    def __init__(self, strategy: Revises, frontier: DurableFrontier, at_once: bool = False) -> None:
        self._strategy = strategy
        self._frontier = frontier
        self._at_once = at_once
        self._task: asyncio.Task[None] | None = None
        frontier.floor = strategy.floor
        frontier.pending = self._is_under_way

    def _is_under_way(self) -> bool:
        return self._task is not None and not self._task.done()

    def write(self, visit: Visit) -> None:
        if not self._strategy.wants_revision() or self._is_under_way():
            return
        edges = self._frontier.edges()
        if self._at_once:
            self._apply(self._strategy.analyse(*edges))
        else:
            self._task = asyncio.get_running_loop().create_task(self._revise(edges))
            self._task.add_done_callback(lambda task: self._frontier.bring((), ()))  # who waited for it looks again

    async def _revise(self, edges: Any) -> None:
        self._apply(await asyncio.to_thread(self._strategy.analyse, *edges))

    def _apply(self, analysed: Any) -> None:
        self._frontier.floor = self._strategy.floor
        self._frontier.rescore(*self._strategy.choose(analysed, self._frontier.waits_with, self._frontier.host_of))


@runtime_checkable
class Renews(Protocol):
    """A strategy that, after each visit, gives some of what waits another score. It may keep notes in crawl.db."""

    def connect(
        self,
        db: CrawlDb,
        refuses: Callable[[str, int], str],
        number: Callable[[str], int],
        waits: Callable[[int], bool],
    ) -> (
        None
    ): ...  # once: what is out of scope, what is the id of a known URL, does it wait (and is not in flight, say)?
    def renew(self) -> tuple[Sequence[int], Sequence[float], Sequence[str]]: ...  # ids, their new scores, their hosts


class Renewal:
    """A sink that applies the new scores. Seeds keep theirs: a person chose them."""

    def __init__(self, strategy: Renews, frontier: DurableFrontier) -> None:
        self._strategy = strategy
        self._frontier = frontier

    def write(self, visit: Visit) -> None:
        renewed = [
            (number, score, host)
            for number, score, host in zip(*self._strategy.renew(), strict=True)
            if number and self._frontier.waits_with(number) < SEED_SCORE
        ]
        if renewed:
            self._frontier.rescore(*zip(*renewed, strict=True))
