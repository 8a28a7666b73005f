"""How much of the words and phrases looked for is there? A score from 0 to 1 that needs no training.

Each term alone gives a score s by BM25 saturation. A page is irrelevant to the extent that all terms fail, and a longer
list demands slightly more: score = 1 - prod (1 - s_i) ** (1 / sqrt(number of terms)). With tf-idf, it is the mean.
"""

from collections.abc import Iterable, Mapping, Sequence
from math import exp, log1p, sqrt
from typing import Literal

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

FULL_TIMES = 20  # tf-idf: mentions on a typical page at which the score saturates

Numbers = NDArray[np.float64]


class TermScores(Struct, frozen=True):
    """Terms have places: first those looked for, then those that count against a page."""

    wanted: int = 0  # number of terms looked for
    model: Literal["bm25", "tfidf"] = "bm25"
    k1: float = 3.0  # mentions on a typical page that are worth half the maximum

    def of_page(self, mentions: Iterable[tuple[int, float]], common: Sequence[float]) -> tuple[float, dict[int, float]]:
        """Return the score of a page and the contribution of each term; `common` mentions of each are worth nothing."""
        times = dict(mentions)
        above = {place: max(0.0, x - common[place]) for place, x in times.items() if place < self.wanted}
        root = self._root(self.wanted)
        evidence = {place: self._worth(x) / root for place, x in above.items()}
        for_it, parts = any_of(evidence) if self.model == "bm25" else (sum(evidence.values()), evidence)
        against, vetoes = self._against(times)
        return for_it * (1 - against), parts | {place: -for_it * veto for place, veto in vetoes.items()}

    def of_pages(self, times: Numbers, common: Sequence[float]) -> Numbers:
        """Like `of_page`, for many pages at once: a row for each page, a column for each term."""
        above, root = np.maximum(0.0, times[:, : self.wanted] - common), self._root(self.wanted)
        if self.model == "bm25":
            for_it = 1 - np.exp(-np.log1p(above / self.k1).sum(axis=1) / root)
        else:
            for_it = np.minimum(np.log1p(above) / log1p(FULL_TIMES), 1.0).sum(axis=1) / root
        found: Numbers = for_it * np.exp(-np.log1p(times[:, self.wanted :] / self.k1).sum(axis=1))
        return found

    def of_texts(self, many: Iterable[Mapping[int, float]], weight: Sequence[float]) -> list[float]:
        """Return the scores of short texts, given the mentions in each and the weight of each term looked for."""
        root = self._root(sum(weight))
        return [self._of_text(mentions, weight, root) if mentions else 0.0 for mentions in many]

    def _of_text(self, mentions: Mapping[int, float], weight: Sequence[float], root: float) -> float:
        worth, wanted = self._worth, self.wanted
        total = sum([weight[place] / root * worth(times) for place, times in mentions.items() if place < wanted])
        for_it = 1 - exp(-total) if self.model == "bm25" else total
        return for_it * (1 - self._against(mentions)[0]) if for_it else 0.0

    def _against(self, mentions: Mapping[int, float]) -> tuple[float, dict[int, float]]:
        return any_of({place: log1p(times / self.k1) for place, times in mentions.items() if place >= self.wanted})

    def _root(self, terms: float) -> float:
        """Return the divisor of each term's worth: the longer the list, the more a page has to contain."""
        return sqrt(terms) if self.model == "bm25" else float(terms)

    def _worth(self, times: float) -> float:
        """Return the worth of a number of mentions of one term, as -log(1 - probability), or as a share for tf-idf."""
        return log1p(times / self.k1) if self.model == "bm25" else min(log1p(times) / log1p(FULL_TIMES), 1.0)


def any_of(evidence: Mapping[int, float]) -> tuple[float, dict[int, float]]:
    """Return the probability that any of several independent causes suffices, each given as -log(1 - probability)."""
    total = sum(evidence.values())
    if not total:
        return 0.0, {}
    probability = 1 - exp(-total)
    return probability, {place: value / total * probability for place, value in evidence.items()}
