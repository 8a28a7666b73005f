"""Base for strategies that score links by the relevance of their page: scores follow when the judge revises a verdict.

Without this, links scored by an older version of the judge would not be comparable with newer ones.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from lycosa.types import NOTHING, Effects, Revised, View


@dataclass
class Following:
    """Collects revised verdicts and rescores the queued links."""

    view_: View | None = field(init=False, repr=False, default=None)
    heard_: dict[str, float] = field(init=False, repr=False, default_factory=dict)  # relevance of pages, by URL

    def connect(self, view: View) -> Effects:
        self.view_ = view
        return NOTHING

    def hear(self, revised: Revised) -> None:
        self.heard_.update((url, verdict.steering_relevance) for url, verdict in revised)

    def effects(self) -> Effects:
        if not self.heard_ or self.view_ is None:
            return NOTHING
        heard, self.heard_ = self.heard_, {}
        hosts: dict[int, str] = {}
        scores: dict[int, float] = {}
        for url, relevance in heard.items():
            found = self.view_.found_on(self.view_.number(url))
            hosts.update(found)
            scores.update(self.rescored(url, relevance, found))
        return Effects(ids=[*scores], scores=[*scores.values()], hosts=[hosts[number] for number in scores])

    def rescored(self, url: str, relevance: float, found: Iterable[int]) -> dict[int, float]:
        """The new scores of links that were found on a page, which has another relevance now."""
        return dict.fromkeys(found, relevance)
