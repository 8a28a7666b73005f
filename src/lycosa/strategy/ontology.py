"""The ontology crawler (2004): only relevant pages are followed, and link analysis selects what is fetched next.

Links of relevant pages are added to a web graph and queued with scores below 1. Whenever fewer than `minimum` selected
URLs are left, the graph is analysed and the `top` best queued URLs, at most `per_host` per host, are selected: from
then on their scores are above 1.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from lycosa import graph
from lycosa.errors import ConfigError
from lycosa.strategy.plainly import by_relevance
from lycosa.types import NOTHING, Effects, Explanation, Graph, Notes, Scored, View, Visit

DROPPED, CHOSEN = -1.0, 1.0

Numbers = NDArray[np.int64]


@dataclass
class OntologyStrategy:
    """Queue a URL with 0, or with the relevance of its best page, until an analysis selects it."""

    focused: bool = True  # discard links on irrelevant pages
    analysis: Literal["nutch", "pagerank"] = "nutch"
    iterations: int = 5
    minimum: int = 100  # selected URLs; below this the graph is analysed
    top: int = 500  # URLs selected at once
    per_host: int = 50  # selected URLs per host
    by_relevance: bool = False  # weigh the link scores by the relevance of the best page a URL was found on
    hold: bool = True  # hold back unselected URLs while selected ones wait for their host, even if another host is free

    view_: Any = field(init=False, repr=False, default=None)
    analysed_: Any = field(init=False, repr=False, default=None)  # the result of an analysis, not yet applied
    chosen_: int = field(init=False, repr=False, default=0)  # URLs selected and not visited yet
    fresh_: bool = field(init=False, repr=False, default=False)  # are there URLs that the last analysis did not select?

    def prepare(self, folder: object, judge: object) -> None:
        for name in ("iterations", "minimum", "top", "per_host"):
            if getattr(self, name) < 1:
                raise ConfigError(f"strategy.{name}", f"{getattr(self, name)} is less than 1")

    @property
    def floor(self) -> float:
        return CHOSEN if self.hold else 0.0

    def score(self, visit: Visit) -> Sequence[float]:
        is_start = visit.reply.link.is_start
        followed = visit.verdict.on_topic or is_start or not self.focused
        waits_with = min(visit.verdict.relevance, 0.999) if self.by_relevance else 0.0
        return [waits_with if followed else DROPPED] * len(visit.page.links)

    def merge(self, waiting: float, found: float) -> float:
        return max(waiting, found)

    def learn(self, visit: Visit) -> None:
        self.chosen_ -= visit.score >= CHOSEN
        self.fresh_ = self.fresh_ or bool(visit.page.links)

    def explain(self, scored: Scored, notes: Notes) -> Explanation:
        if scored.score >= CHOSEN:
            weighed = ", weighed by the relevance of its page" if self.by_relevance else ""
            value = scored.score - CHOSEN
            return Explanation(f"link analysis ({self.analysis}) chose it with a value of {value:.4f}{weighed}")
        if self.by_relevance:
            return by_relevance(scored, ", and no link analysis chose it yet")
        return Explanation("no link analysis chose it yet, and until then all URLs are worth the same")

    def connect(self, view: View) -> Effects:
        self.view_ = view
        return Effects(floor=self.floor)

    def effects(self) -> Effects:
        """Apply the last analysis or, if few selected URLs are left, have the graph analysed."""
        if self.analysed_ is not None:
            analysed, self.analysed_ = self.analysed_, None
            ids, scores = self.choose(*analysed)
            return Effects(ids=ids, scores=scores, floor=self.floor)
        if self.fresh_ and self.chosen_ < self.minimum:
            graph = self.view_.graph()
            return Effects(job=lambda: self._analyse(graph))
        return NOTHING

    def _analyse(self, web: Graph) -> None:
        self.analysed_ = self.analyse(*web)

    def analyse(
        self, sources: Sequence[int], targets: Sequence[int], waiting: Sequence[int]
    ) -> tuple[Numbers, NDArray[np.float64]]:
        """Rank the queued URLs by link analysis, best first. Slow, so it runs alongside the crawl."""
        ids = np.asarray(waiting, dtype=np.int64)
        size = 1 + int(max(np.max(part, initial=0) for part in (sources, targets, ids)))
        order = np.argsort(np.asarray(sources), kind="stable")
        web = graph.make_graph(np.asarray(sources)[order], np.asarray(targets)[order], size)
        scores = graph.nutch(web, self.iterations) if self.analysis == "nutch" else graph.pagerank(web) * size
        order = np.lexsort((ids, -scores[ids]))
        return ids[order], scores[ids][order]

    def choose(self, ids: Numbers, scores: NDArray[np.float64]) -> tuple[list[int], list[float]]:
        """Select the best URLs that are not selected yet, and return them with their new scores."""
        waiting_with = np.asarray(self.view_.scores())[ids]
        is_chosen = waiting_with >= CHOSEN
        at_host = Counter(map(self.view_.host, ids[is_chosen].tolist()))
        chosen: list[tuple[int, float]] = []
        left = np.flatnonzero(~is_chosen)
        for at in map(int, left):
            if len(chosen) >= self.top:
                break
            number = int(ids[at])
            if at_host[host := self.view_.host(number)] < self.per_host:
                at_host[host] += 1
                weight = float(waiting_with[at]) if self.by_relevance else 1.0
                chosen.append((number, CHOSEN + float(scores[at]) * weight))
        self.chosen_ = len(ids) - len(left) + len(chosen)
        self.fresh_ = self.chosen_ < len(ids)
        return [number for number, _ in chosen], [score for _, score in chosen]

    def save(self) -> dict[str, Any]:
        return {"chosen": self.chosen_, "fresh": self.fresh_}

    def load(self, state: dict[str, Any]) -> None:
        self.chosen_, self.fresh_ = state["chosen"], state["fresh"]
