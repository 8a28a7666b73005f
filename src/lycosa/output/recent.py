"""How is the crawl doing at the moment? The harvest of the last pages, and the last page on topic."""

from collections import deque
from typing import Any

from lycosa.types import Visit

PAGES = 100


class Recent:
    """A sink that remembers the last pages only."""

    def __init__(self) -> None:
        self._on_topic: deque[bool] = deque(maxlen=PAGES)
        self._good: dict[str, str] = {}

    def write(self, visit: Visit) -> None:
        if not visit.is_page:
            return
        self._on_topic.append(visit.verdict.on_topic)
        if visit.verdict.on_topic:
            self._good = {"url": visit.reply.url, "title": visit.page.title}

    def summary(self) -> dict[str, Any]:
        """For this run only: a run that has just started has no trend yet."""
        pages = len(self._on_topic)
        return {
            "recent_pages": pages,
            "recent_harvest_rate": sum(self._on_topic) / pages if pages else 0.0,
            "last_good": self._good,
        }
