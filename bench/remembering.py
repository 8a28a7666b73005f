"""Judge each page once, however many crawls of one web fetch it."""

from collections.abc import Sequence
from typing import Any

from lycosa.types import Page, Verdict


class Remembering:
    """A judge and a web that do each page once, however many crawls ask."""

    def __init__(self, judge: Any, web: Any) -> None:
        self._judge, self._web = judge, web
        self._verdicts: dict[str, Verdict] = {}
        self._known: dict[tuple[str, ...], float] = {}
        self._answers: dict[str, Any] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._judge, name)

    async def judge(self, page: Page) -> Verdict:
        if page.url not in self._verdicts:
            self._verdicts[page.url] = await self._judge.judge(page)
        return self._verdicts[page.url]

    def relevance_of(self, words: Sequence[str]) -> float:
        key = tuple(words)
        if key not in self._known:
            self._known[key] = self._judge.relevance_of(words)
        return self._known[key]

    def get(self, url: str) -> Any:
        if url not in self._answers:
            self._answers[url] = self._web.get(url)
        return self._answers[url]
