"""Who may run a shard? On a cluster, a process that seems to be dead may only be out of reach, and a successor started
at once would contact the same hosts beside it. So a shard runs under a lease.

The holder asks for a renewal every 2 seconds and stops fetching when the last one it was granted is 6 seconds old,
counted from when it *asked*. The granter starts a successor 10 seconds after its last grant. A grant cannot be made
before it was asked for, so the two never overlap, however late messages arrive.
"""

from collections.abc import Callable

RENEW_S = 2.0  # between two renewals
HOLD_S = 6.0  # the holder stops fetching this long after it asked for the last renewal that was granted
STOP_S = 8.0  # and its process is killed after this time, if it has not ended by itself
SUCCEED_S = 10.0  # a successor starts this long after the last grant

Now = Callable[[], float]  # seconds on a clock that never goes back


class Held:
    """The lease as its holder sees it."""

    def __init__(self, now: Now) -> None:
        self._now = now
        self._asked: dict[int, float] = {}  # by number of the question
        self._last = 0
        self._since: float | None = None  # when the last renewal that was granted had been asked for

    def ask(self) -> int:
        """Ask for a renewal; the granter returns this number."""
        self._last += 1
        self._asked[self._last] = self._now()
        return self._last

    def granted(self, number: int) -> None:
        asked_at = self._asked.pop(number, None)
        if asked_at is not None:
            self._since = asked_at
            self._asked = {other: at for other, at in self._asked.items() if other > number}

    def is_valid(self) -> bool:
        """Whether the shard may fetch."""
        return self._age_s() < HOLD_S

    def is_over(self) -> bool:
        """Whether the shard must have ended by now."""
        return self._age_s() >= STOP_S

    def _age_s(self) -> float:
        return float("inf") if self._since is None else self._now() - self._since


class Granted:
    """The lease as its granter sees it."""

    def __init__(self, now: Now) -> None:
        self._now = now
        self._last: float | None = None

    def grant(self) -> None:
        """Call this before the answer is sent."""
        self._last = self._now()

    def end(self) -> None:
        """The holder has ended: nobody holds the lease."""
        self._last = None

    def wait_s(self) -> float:
        """How long to wait before a successor may start."""
        return 0.0 if self._last is None else max(0.0, self._last + SUCCEED_S - self._now())
