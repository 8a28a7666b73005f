"""Soft focus (Chakrabarti, van den Berg, Dom 1999): a link scores as high as the page it was found on.

Nothing is discarded: links on irrelevant pages stay queued until nothing better is left.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from lycosa.strategy.following import Following
from lycosa.strategy.plainly import by_relevance
from lycosa.types import Explanation, Notes, Scored, Visit


@dataclass
class BestFirst(Following):
    """Give every link the relevance of its page; if several pages link to a URL, the most relevant one counts."""

    reads_words = False  # of a page: the verdict is enough

    def score(self, visit: Visit) -> Sequence[float]:
        return [visit.verdict.steering_relevance] * len(visit.page.links)

    def merge(self, waiting: float, found: float) -> float:
        return max(waiting, found)

    def learn(self, visit: Visit) -> None:
        """There is nothing to learn."""

    def explain(self, scored: Scored, notes: Notes) -> Explanation:
        return by_relevance(scored)
