"""Hard focus (Chakrabarti, van den Berg, Dom 1999): only links on relevant pages are followed.

A page is on topic if its best class is a target class and the target is probable enough; the judge decides. Links on
seeds are always followed: a person chose the seeds, and without them there is no crawl.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from lycosa.strategy.following import Following
from lycosa.strategy.plainly import by_relevance
from lycosa.types import Explanation, Notes, Scored, Visit

DROPPED = -1.0


@dataclass
class HardFocus(Following):
    """Give links the relevance of their page if it is on topic, and discard them otherwise."""

    reads_words = False  # of a page: the verdict is enough

    def score(self, visit: Visit) -> Sequence[float]:
        is_start = visit.reply.link.is_start
        followed = visit.verdict.on_topic or is_start
        return [visit.verdict.steering_relevance if followed else DROPPED] * len(visit.page.links)

    def merge(self, waiting: float, found: float) -> float:
        return max(waiting, found)

    def learn(self, visit: Visit) -> None:
        """There is nothing to learn."""

    def explain(self, scored: Scored, notes: Notes) -> Explanation:
        on_topic = scored.source is not None and scored.source.on_topic
        seed = " and is a seed, whose links are followed whatever it is about"
        return by_relevance(scored, " and is on topic" if on_topic else seed if scored.from_seed else "")
