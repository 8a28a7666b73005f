"""How is the crawl doing at the moment? The harvest of the last pages, and the last page on topic."""

from typing import Any

from lycosa.types import Revised, Visit

PAGES = 100


class Recent:
    """A sink that remembers the last pages only, with their verdicts as revised since."""

    def __init__(self) -> None:
        self._on_topic: dict[str, bool] = {}  # by requested URL, oldest first
        self._names: dict[str, dict[str, str]] = {}  # of these pages
        self._good: dict[str, str] = {}  # the last page on topic before them

    def write(self, visit: Visit) -> None:
        if not visit.is_page:
            return
        url = visit.reply.link.url
        self._on_topic[url] = visit.verdict.on_topic
        self._names[url] = {"url": visit.reply.url, "title": visit.page.title}
        if len(self._on_topic) > PAGES:
            oldest = next(iter(self._on_topic))
            name = self._names.pop(oldest)
            if self._on_topic.pop(oldest):
                self._good = name

    def hear(self, revised: Revised) -> None:
        for url, verdict in revised:
            if url in self._on_topic:
                self._on_topic[url] = verdict.on_topic

    def summary(self) -> dict[str, Any]:
        """For this run only: a run that has just started has no trend yet."""
        pages = len(self._on_topic)
        good = [url for url, on_topic in self._on_topic.items() if on_topic]
        return {
            "recent_pages": pages,
            "recent_harvest_rate": len(good) / pages if pages else 0.0,
            "last_good": self._names[good[-1]] if good else self._good,
        }
