"""Applies what a strategy changes beyond the scores of a page's links; slow work is done in the background."""

import asyncio
import logging
from collections.abc import Callable

from lycosa.types import NOTHING, Acts, Frontier

_log = logging.getLogger(__name__)


class Jobs:
    """Applies effects and runs their jobs. `at_once`: the crawl waits for each job, so that it is exactly
    reproducible."""

    def __init__(self, at_once: bool = True) -> None:
        self.at_once = at_once
        self._is_under_way = False
        self._has_failed = False
        self._task: asyncio.Task[None] | None = None  # keeps a reference, so that the task is not garbage collected

    def is_under_way(self) -> bool:
        return self._is_under_way

    def apply(self, strategy: Acts, frontier: Frontier) -> None:
        """Called once a turn."""
        if self._is_under_way:
            return
        effects = strategy.effects()
        if effects is NOTHING:  # applying it would wake a worker for nothing
            return
        frontier.apply(effects)
        if effects.job is None or self._has_failed:
            return
        if self.at_once:
            effects.job()
            frontier.apply(strategy.effects())
        else:
            self._is_under_way = True
            self._task = asyncio.get_running_loop().create_task(self._do(effects.job, strategy, frontier))

    async def _do(self, job: Callable[[], None], strategy: Acts, frontier: Frontier) -> None:
        try:
            await asyncio.to_thread(job)
        except Exception as error:  # a graph that is too large, for example: the crawl can do without
            self._has_failed = True
            _log.error(
                "a background job of the strategy %s failed; no further ones will be started",
                type(strategy).__module__,
                exc_info=error,
            )
        self._is_under_way = False
        # even if it changes nothing: workers that waited for the job must look again
        frontier.apply(strategy.effects())
