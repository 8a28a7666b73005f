"""Limits on pages, relevant pages, seconds and recall, counted over all runs of a crawl."""

from collections.abc import Callable
from typing import Protocol

from lycosa import config


class Counts(Protocol):
    """The totals of a crawl so far."""

    pages: int
    relevant: int
    duplicates: int


class Quota:
    """Decides whether one more request is allowed. The page limit is exact: requests in flight count as pages until
    they finish."""

    def __init__(
        self,
        limits: config.Limits,
        counts: Counts,
        recall: Callable[[], str] = lambda: "",
    ) -> None:
        """`recall` returns a reason once enough of the topic has been found; it must be cheap to call."""
        self.limits = limits
        self.counts = counts
        self.recall = recall
        self.deadline: float | None = None  # none before it begins

    def begin(self, started_at: float, spent_s: float = 0.0) -> "Quota":
        """Count time from now on; `spent_s` is what earlier runs took."""
        if self.limits.seconds:
            self.deadline = started_at + self.limits.seconds - spent_s
        return self

    def remaining(self) -> int | None:
        """Number of pages that may still be fetched; None if there is no limit."""
        return max(0, self.limits.pages - self.counts.pages) if self.limits.pages else None

    def admits(self, in_flight: int) -> bool:
        return not self.limits.pages or self.counts.pages + in_flight < self.limits.pages

    def reached(self, now: float) -> str:
        """The limit that has been reached; empty if none."""
        if self.limits.pages and self.counts.pages >= self.limits.pages:
            return f"limit of {self.limits.pages} pages"
        if self.limits.pages and self.counts.duplicates >= self.limits.pages:  # one page under endless addresses
            return f"limit of {self.limits.pages} duplicates"
        if self.limits.relevant and self.counts.relevant >= self.limits.relevant:
            return f"limit of {self.limits.relevant} relevant pages"
        if self.deadline is not None and now >= self.deadline:
            return f"limit of {self.limits.seconds:g} seconds"
        return self.recall()
