"""Soft focus (Chakrabarti, van den Berg, Dom 1999): a link is worth what the page it was found on is worth.

Nothing is dropped: links of irrelevant pages wait until nothing better is left.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from lycosa.strategy.following import Following
from lycosa.strategy.plainly import by_relevance
from lycosa.types import Explanation, Notes, Scored, Visit


@dataclass
class BestFirst(Following):
    """Every link of a page gets the page's relevance; of several pages the most relevant counts."""

    def score(self, visit: Visit) -> Sequence[float]:
        return [visit.verdict.relevance] * len(visit.page.links)

    def merge(self, waiting: float, found: float) -> float:
        return max(waiting, found)

    def learn(self, visit: Visit) -> None:
        """There is nothing to learn."""

    def explain(self, scored: Scored, notes: Notes) -> Explanation:
        return by_relevance(scored)
