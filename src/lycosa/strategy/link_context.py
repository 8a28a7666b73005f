"""Link context: score a link by the relevance of its page and, with more weight, of the words around it.

    score(u -> v) = beta * relevance(u) + (1 - beta) * relevance(the words around the link)

The window is centred on the anchor and includes it; if one side is short, the other is extended.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta

from lycosa.errors import ConfigError
from lycosa.judging import text_relevances
from lycosa.strategy.following import Following
from lycosa.strategy.plainly import OUTSIDE, named
from lycosa.types import CONTEXT_WORDS, Explanation, Notes, Scored, TextRelevance, Visit


@dataclass
class LinkContext(Following):
    """If several pages link to a URL, the highest score counts."""

    beta: Annotated[float, Meta(ge=0, le=1)] = 0.25  # weight of the page relative to the words around the link
    words: Annotated[int, Meta(ge=1)] = CONTEXT_WORDS  # in the window around a link, anchor included

    judge_: Any = field(init=False, repr=False, default=None)  # a `TextRelevance`

    def prepare(self, folder: Path, judge: Any) -> None:
        if not isinstance(judge, TextRelevance):
            raise ConfigError(
                "strategy.kind", "link-context needs a topic that can judge a few words; this kind cannot"
            )
        self.judge_ = judge

    def score(self, visit: Visit) -> Sequence[float]:
        page, of_page = visit.page, self.beta * visit.verdict.steering_relevance
        if page.links and self.view_:
            self.view_.notes.note(f"relevance:{visit.reply.link.url}", repr(visit.verdict.steering_relevance))
        around = text_relevances(self.judge_, [page.context(link, self.words) for link in page.links])
        return [of_page + (1 - self.beta) * relevance for relevance in around]

    def rescored(self, url: str, relevance: float, found: Iterable[int]) -> dict[int, float]:
        """Only the page's part of a score changes."""
        assert self.view_
        notes, scores = self.view_.notes, self.view_.scores()
        before = float(notes.noted(f"relevance:{url}") or relevance)
        notes.note(f"relevance:{url}", repr(relevance))
        return {number: scores[number] + self.beta * (relevance - before) for number in found}

    def merge(self, waiting: float, found: float) -> float:
        return max(waiting, found)

    def learn(self, visit: Visit) -> None:
        """Nothing to learn: the judge knows the topic."""

    def explain(self, scored: Scored, notes: Notes) -> Explanation:
        if scored.source is None:
            return Explanation(OUTSIDE)
        page = scored.source.steering_relevance
        of_page = self.beta * page
        of_words = scored.score - of_page
        around = of_words / (1 - self.beta) if self.beta < 1 else 0.0
        if not -1e-9 <= around <= 1 + 1e-9:
            return Explanation("its page and the words around it gave it this score; the page was judged again since")
        parts = {
            f"{named(scored.source)} of the page it was found on, times {self.beta:g}": of_page,
            f"relevance {around:.4f} of the {self.words} words around it, times {1 - self.beta:g}": of_words,
        }
        because = (
            f"the words around it have relevance {around:.4f} and the page it was found on has {named(scored.source)}"
        )
        return Explanation(because, parts, "score")
