"""A judge and a strategy in another package: Lycosa finds them by the entry points in pyproject.toml."""

from dataclasses import dataclass

from lycosa import Page, Verdict, Visit


@dataclass
class Mentions:
    """A page is on topic if it mentions a word often enough."""

    word: str
    times: int = 3

    async def judge(self, page: Page) -> Verdict:
        found = list(page.words).count(self.word.lower())
        return Verdict(
            min(1.0, found / self.times), found >= self.times, why={self.word: float(found)} if found else {}
        )


@dataclass
class ShallowFirst:
    """Links of relevant pages come first, and among them those with short paths."""

    weight: float = 0.1

    def score(self, visit: Visit) -> list[float]:
        return [visit.verdict.relevance + self.weight / link.url.count("/") for link in visit.page.links]

    def merge(self, waiting: float, found: float) -> float:
        return max(waiting, found)

    def learn(self, visit: Visit) -> None:
        """Nothing to learn."""
