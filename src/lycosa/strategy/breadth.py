"""First found, first fetched: a baseline that ignores the topic."""

from collections.abc import Sequence
from dataclasses import dataclass

from lycosa.types import Explanation, Notes, Scored, Visit


@dataclass
class BreadthFirst:
    """Score all links the same; the frontier breaks ties by order of discovery."""

    reads_words = False  # of a page: the verdict is enough

    def score(self, visit: Visit) -> Sequence[float]:
        return [1.0] * len(visit.page.links)

    def merge(self, waiting: float, found: float) -> float:
        return waiting

    def learn(self, visit: Visit) -> None:
        """There is nothing to learn."""

    def explain(self, scored: Scored, notes: Notes) -> Explanation:
        return Explanation("all links are worth the same, and are fetched in the order in which they are found")
