"""A simulated clock: it stands still until everything is waiting, then it jumps to the next scheduled moment."""

import asyncio
import selectors
from collections.abc import Callable, Coroutine
from heapq import heappop, heappush
from itertools import count
from typing import Any, TypeVar

from lycosa.types import Timer

Result = TypeVar("Result")


class LabClock:
    """No call really waits, and calls are made in the order of their times, so a crawl is exactly repeatable."""

    def __init__(self, start: float = 1_000_000_000.0) -> None:
        self.start = start
        self.elapsed = 0.0  # kept separately: added to the start, fractions of a second would be rounded
        self._calls: list[tuple[float, int, LabTimer]] = []
        self._numbers = count()

    def now(self) -> float:
        return self.start + self.elapsed

    def call_at(self, when: float, call: Callable[[], None]) -> Timer:
        """Make the call when its time has come. In `run_in_lab` that is when everything else is waiting; in any other
        event loop, where this cannot be known, as soon as the loop gets to it."""
        loop = asyncio.get_running_loop()
        if isinstance(loop, LabLoop):
            return loop.call_at(when - self.start, call)
        timer = LabTimer(call)
        heappush(self._calls, (when, next(self._numbers), timer))
        loop.call_soon(self._jump)
        return timer

    def _jump(self) -> None:
        when, _, timer = heappop(self._calls)
        if timer.call:
            self.elapsed = max(self.elapsed, when - self.start)
            timer.call()


class LabTimer:
    """A scheduled call that can be cancelled."""

    def __init__(self, call: Callable[[], None]) -> None:
        self.call: Callable[[], None] | None = call

    def cancel(self) -> None:
        self.call = None


class LabLoop(asyncio.SelectorEventLoop):
    """An event loop on simulated time: where another loop would sleep until its next timer, the clock jumps. So any
    number of workers may wait, for hosts or for replies, and `asyncio.sleep` takes no time."""

    def __init__(self, clock: LabClock) -> None:
        self._lab_clock = clock
        super().__init__(_Jumping(clock))

    def time(self) -> float:
        return self._lab_clock.elapsed


class _Jumping(selectors.DefaultSelector):
    """A selector that moves the clock instead of waiting."""

    def __init__(self, clock: LabClock) -> None:
        super().__init__()
        self._clock = clock

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout:
            self._clock.elapsed += timeout
        return super().select(0 if timeout else timeout)


def run_in_lab(clock: LabClock, main: Coroutine[Any, Any, Result]) -> Result:
    """Run a coroutine to completion on simulated time."""
    with asyncio.Runner(loop_factory=lambda: LabLoop(clock)) as runner:
        return runner.run(main)
