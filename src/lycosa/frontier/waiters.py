"""Tasks waiting for the frontier are woken instead of polling: by a change, or by a timer set for the next relevant
moment."""

import asyncio
from collections import deque

from lycosa.types import Clock, Timer


class Waiters:
    """The waiting tasks, and the single timer set for them."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._waiters: deque[asyncio.Future[None]] = deque()
        self._timer: Timer | None = None
        self._timer_at = 0.0

    def wake(self, most: int = 1) -> None:
        while most and self._waiters:
            waiter = self._waiters.popleft()
            if not waiter.done():
                waiter.set_result(None)
                most -= 1

    def wake_all(self) -> None:
        self.wake(len(self._waiters))

    async def wait(self, *until: float | None) -> None:
        """Wait until woken, or until the earliest of these moments."""
        times = [when for when in until if when is not None]
        if times and (self._timer is None or min(times) < self._timer_at):
            if self._timer:
                self._timer.cancel()
            self._timer_at = min(times)
            self._timer = self._clock.call_at(self._timer_at, self._ring)
        waiter = asyncio.get_running_loop().create_future()
        self._waiters.append(waiter)
        await waiter

    def _ring(self) -> None:
        self._timer = None
        self.wake()
