"""OPIC (Abiteboul, Preda, Cobena 2003) as a crawl order: cash flows along links, and the richest URL is fetched next.

All seeds start with equal shares. A fetched page divides its cash equally among its links. A page without links divides
it equally among all known URLs.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from lycosa.errors import ConfigError
from lycosa.types import NOTHING, Effects, Explanation, Link, Notes, Origin, Scored, View, Visit


@dataclass
class Opic:
    """Queue a URL with its cash minus what all URLs have been given, so that a gift to all is a single number."""

    reads_words = False  # of a page: the verdict is enough

    list_size: int = 50  # URLs selected at once, the richest first

    view_: View | None = field(init=False, repr=False, default=None)
    gift_: float = field(init=False, repr=False, default=0.0)  # what every URL known then received from dead ends
    known_: int = field(init=False, repr=False, default=0)  # number of URLs that share such a gift

    def connect(self, view: View) -> Effects:
        self.view_ = view
        return NOTHING

    def prepare(self, folder: object, judge: object) -> None:
        if self.list_size < 1:
            raise ConfigError("strategy.list_size", f"{self.list_size} is less than 1")

    def open(self, seeds: Sequence[Link]) -> Sequence[float]:
        return [1.0 / len(seeds)] * len(seeds)

    def first(self, found: float) -> float:
        self.known_ += 1
        return found - self.gift_

    def merge(self, waiting: float, found: float) -> float:
        return waiting + found

    def score(self, visit: Visit) -> Sequence[float]:
        cash = visit.score + self.gift_
        refused = self.view_.refusals(visit.page.links) if self.view_ else {}
        admitted = [link.url not in refused for link in visit.page.links]
        share = cash / (sum(admitted) or 1)
        return [share if good else -1.0 for good in admitted]

    def learn(self, visit: Visit) -> None:
        """Share out the cash of a dead end; the cash of a URL that could not be fetched is lost."""
        if not visit.reply.error and not visit.page.links and self.known_:
            self.gift_ += (visit.score + self.gift_) / self.known_

    def explain(self, scored: Scored, notes: Notes) -> Explanation:
        is_seed = scored.link.origin == Origin.SEED
        cash = "that is the cash of a seed" if is_seed else "pages that link to it passed on their cash"
        return Explanation(f"{cash} (less what dead ends gave to all URLs); the {self.list_size} richest come next")

    def begin_list(self, scores: Sequence[float]) -> None:
        """Do nothing: the frontier orders the list."""

    def end_list(self) -> Effects:
        return NOTHING

    def effects(self) -> Effects:
        return NOTHING

    def save(self) -> dict[str, Any]:
        return {"gift": self.gift_, "known": self.known_}

    def load(self, state: dict[str, Any]) -> None:
        self.gift_, self.known_ = state["gift"], state["known"]
