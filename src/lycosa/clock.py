"""The wall's clock, in the form the crawler needs."""

import asyncio
import time
from collections.abc import Callable

from lycosa.types import Timer


def _elapsed() -> float:
    """Seconds that nobody can set; where the system tells, with those a computer was asleep: hosts rested meanwhile."""
    clock = getattr(time, "CLOCK_BOOTTIME", None)
    return time.monotonic() if clock is None else time.clock_gettime(clock)


class WallClock:
    """Seconds since the epoch, so that a rest survives a restart; read once, and from then on steady: when the wall's
    clock is set, forward or back, no host is fetched from too early or left alone for longer than it should."""

    def __init__(self, elapsed: Callable[[], float] = _elapsed) -> None:
        self._elapsed = elapsed
        self._started_at = time.time() - elapsed()

    def now(self) -> float:
        return self._started_at + self._elapsed()

    def call_at(self, when: float, call: Callable[[], None]) -> Timer:
        return asyncio.get_running_loop().call_later(max(0.0, when - self.now()), call)
