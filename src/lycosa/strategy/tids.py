"""TIDS (2009): score a link by the similarity of its page plus that of its anchor to the set, each 0 to 100.

The first crawl grows the set. Each later one starts from the best hubs of the previous crawl (`lycosa again`), leaves
the set unchanged, discards no links, and counts the anchor that led to a page as part of it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Protocol, runtime_checkable

from msgspec import Meta

from lycosa.errors import ConfigError
from lycosa.strategy.plainly import OUTSIDE
from lycosa.text import words
from lycosa.types import Explanation, Notes, Scored, Visit

DROPPED = -1.0


@runtime_checkable
class Compares(Protocol):
    """A judge that compares words with those of the pages in its set."""

    def similarity(self, words: Sequence[str]) -> float: ...  # 0 to 100


@dataclass
class TidsStrategy:
    """Scores range from 0 to 200; if several pages link to a URL, the highest score counts."""

    threshold: Annotated[float, Meta(ge=0, le=200)] = 0.0  # links up to this score are discarded; 0: none
    consecutive: bool = False  # a later crawl that builds on the previous one

    judge_: Any = field(init=False, repr=False, default=None)

    def prepare(self, folder: Path, judge: Any) -> None:
        if not isinstance(judge, Compares):
            raise ConfigError("strategy.kind", 'tids needs a topic of kind "tids"')
        self.judge_ = judge

    def score(self, visit: Visit) -> Sequence[float]:
        if not visit.page.links:
            return []
        similarity, of_page = self.judge_.similarity, self._of_page(visit)
        scores = [of_page + similarity(words(link.anchor)) for link in visit.page.links]
        if not self.threshold or self.consecutive:
            return scores
        return [score if score > self.threshold else DROPPED for score in scores]

    def merge(self, waiting: float, found: float) -> float:
        return max(waiting, found)

    def learn(self, visit: Visit) -> None:
        """Nothing to learn here: the judge adds similar pages to the set."""

    def explain(self, scored: Scored, notes: Notes) -> Explanation:
        if scored.source is None:
            return Explanation(OUTSIDE)
        if self.consecutive:
            return Explanation(f"its page, with the anchor that led there, and its anchor add up to {scored.score:.2f}")
        of_page = 100 * scored.source.relevance
        of_anchor = scored.score - of_page
        parts = {"similarity of the page it was found on": of_page, "similarity of its anchor": of_anchor}
        because = f"the page it was found on has similarity {of_page:.2f} and its anchor {of_anchor:.2f}"
        return Explanation(because, parts, "score")

    def _of_page(self, visit: Visit) -> float:
        page, anchor = visit.page, visit.reply.link.anchor
        if self.consecutive and anchor:
            return float(self.judge_.similarity([*words(page.title), *page.words, *words(anchor)]))
        return 100 * visit.verdict.relevance
