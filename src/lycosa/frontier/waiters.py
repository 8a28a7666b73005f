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
        self._one_is_awake = False  # a task was woken, and has not looked yet

    def wake(self) -> None:
        """Wake one task, which wakes the next if it finds something. If one was woken before and has not run yet, it
        will see this change too, and no other is woken: a look that finds nothing costs more than most changes."""
        while self._waiters and not self._one_is_awake:
            self._wake_first()

    def wake_all(self) -> None:
        while self._waiters:
            self._wake_first()

    def _wake_first(self) -> None:
        waiter = self._waiters.popleft()
        if not waiter.done():
            waiter.set_result(None)
            self._one_is_awake = True

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
        try:
            await waiter
        except asyncio.CancelledError:
            self._one_is_awake = False
            if not waiter.cancelled():  # it was woken just before: somebody else must look
                self.wake()
            raise
        self._one_is_awake = False

    def _ring(self) -> None:
        self._timer = None
        self.wake()
