"""Wall-clock time, in the form the crawler needs."""

import asyncio
import time
from collections.abc import Callable

from lycosa.types import Timer


def _elapsed() -> float:
    """Monotonic seconds, including the time a computer was asleep where the system reports it, as hosts rested
    meanwhile."""
    clock = getattr(time, "CLOCK_BOOTTIME", None)
    return time.monotonic() if clock is None else time.clock_gettime(clock)


class WallClock:
    """Seconds since the epoch, so that rests survive a restart. The wall clock is read once and then advanced
    monotonically: when it is set forward or back, no host is contacted too early or rests too long."""

    def __init__(self, elapsed: Callable[[], float] = _elapsed) -> None:
        self._elapsed = elapsed
        self._started_at = time.time() - elapsed()

    def now(self) -> float:
        return self._started_at + self._elapsed()

    def call_at(self, when: float, call: Callable[[], None]) -> Timer:
        return asyncio.get_running_loop().call_later(max(0.0, when - self.now()), call)
