"""The limits of a crawl, applied by one of its shards: each has an allotment of pages, so that all of them together
never exceed the limit."""

from collections.abc import Callable

from lycosa import config
from lycosa.frontier.limits import Counts, Quota

NO_LIMIT = 1 << 62
SOON = 0.25  # share of the last allotment that is left when a shard asks for more, so that it need not wait


class ShardQuota(Quota):
    """Pages are limited by the allotment. All other limits concern the whole crawl, and the hub watches them."""

    def __init__(self, limits: config.Limits, counts: Counts, when_short: Callable[[], None]) -> None:
        """`when_short` is called when more pages are needed."""
        super().__init__(limits, counts)
        self._when_short = when_short
        self._soon = 0
        self.left: int | None = None  # pages until the limit, as the hub said last
        self.allotted = 0 if limits.pages else NO_LIMIT
        self.version = 0
        self.wants_pages = False

    def remaining(self) -> int | None:
        return self.left

    def admits(self, in_flight: int) -> bool:
        left = self.allotted - self.counts.pages - in_flight
        if left <= 0 or (left <= self._soon and not self.wants_pages):
            self.wants_pages = True
            self._when_short()
        return left > 0

    def reached(self, now: float) -> str:
        if self.deadline is not None and now >= self.deadline:
            return f"limit of {self.limits.seconds:g} seconds"
        return ""

    def allot(self, pages: int, version: int) -> None:
        self._soon = int(SOON * (pages - max(self.allotted, self.counts.pages)))
        self.allotted, self.version, self.wants_pages = pages, version, False

    def give_back(self, in_flight: int) -> None:
        """Keep only what requests in flight may still need."""
        self.allotted = min(self.allotted, self.counts.pages + in_flight)
