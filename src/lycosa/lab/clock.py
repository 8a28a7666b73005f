"""A time of its own: it stands still until somebody waits, then it jumps to the moment waited for."""

import asyncio
from collections.abc import Callable
from heapq import heappop, heappush
from itertools import count

from lycosa.types import Timer


class LabClock:
    """No call ever really waits, and the calls come in the order of their moments: a crawl repeats exactly."""

    def __init__(self, start: float = 1_000_000_000.0) -> None:
        self._now = start
        self._calls: list[tuple[float, int, LabTimer]] = []
        self._numbers = count()

    def now(self) -> float:
        return self._now

    def call_at(self, when: float, call: Callable[[], None]) -> Timer:
        """Make the call as soon as the loop is idle, after a jump to its moment."""
        timer = LabTimer(call)
        heappush(self._calls, (when, next(self._numbers), timer))
        asyncio.get_running_loop().call_soon(self._jump)
        return timer

    def _jump(self) -> None:
        when, _, timer = heappop(self._calls)
        if timer.call:
            self._now = max(self._now, when)
            timer.call()


class LabTimer:
    """A call that is due once, unless it is cancelled before."""

    def __init__(self, call: Callable[[], None]) -> None:
        self.call: Callable[[], None] | None = call

    def cancel(self) -> None:
        self.call = None
