"""When is it enough? Pages, relevant pages, seconds and recall, counted over all runs of a crawl."""

from collections.abc import Callable
from typing import Protocol

from lycosa import config


class Counts(Protocol):
    """What a crawl has so far."""

    pages: int
    relevant: int
    duplicates: int


class Quota:
    """Says whether one more may be asked. The page limit is exact: what is in flight counts as a page for the time."""

    def __init__(
        self,
        limits: config.Limits,
        counts: Counts,
        spent_s: float,
        started_at: float,
        recall: Callable[[], str] = lambda: "",
    ) -> None:
        """`recall` says so when enough of the topic has been found; it must cost nothing."""
        self.limits = limits
        self.counts = counts
        self.recall = recall
        self.deadline = started_at + limits.seconds - spent_s if limits.seconds else None

    def remaining(self) -> int | None:
        """Pages that may still be fetched; None without a limit."""
        return max(0, self.limits.pages - self.counts.pages) if self.limits.pages else None

    def admits(self, in_flight: int) -> bool:
        return not self.limits.pages or self.counts.pages + in_flight < self.limits.pages

    def reached(self, now: float) -> str:
        """Which limit is reached; empty if none."""
        if self.limits.pages and self.counts.pages >= self.limits.pages:
            return f"limit of {self.limits.pages} pages"
        if self.limits.pages and self.counts.duplicates >= self.limits.pages:  # one page under addresses without end
            return f"limit of {self.limits.pages} duplicates"
        if self.limits.relevant and self.counts.relevant >= self.limits.relevant:
            return f"limit of {self.limits.relevant} relevant pages"
        if self.deadline is not None and now >= self.deadline:
            return f"limit of {self.limits.seconds:g} seconds"
        return self.recall()
