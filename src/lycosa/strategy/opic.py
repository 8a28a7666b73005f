"""OPIC (Abiteboul, Preda, Cobena 2003) as a crawl order: money flows along links, the richest URL is asked next.

Every seed starts with the same share. A page that is fetched gives its money in equal parts to what it links to. A page
without links gives it to all known URLs alike.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from lycosa.errors import ConfigError
from lycosa.store.db import CrawlDb
from lycosa.types import Explanation, Link, Notes, Scored, Visit


@dataclass
class Opic:
    """A URL waits with its cash less what all URLs have been given, so that a gift to all is one number."""

    list_size: int = 50  # URLs chosen at once, the richest first

    refuses_: Callable[[str, int], str] = field(init=False, repr=False, default_factory=lambda: lambda url, depth: "")
    gift_: float = field(init=False, repr=False, default=0.0)  # what every URL known at the time got from dead ends
    known_: int = field(init=False, repr=False, default=0)  # how many URLs there are to share such a gift

    def connect(self, db: CrawlDb, refuses: Callable[[str, int], str], scale: Callable[[float], None]) -> None:
        self.refuses_ = refuses

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
        admitted = [not self.refuses_(link.url, link.depth) for link in visit.page.links]
        share = cash / (sum(admitted) or 1)
        return [share if good else -1.0 for good in admitted]

    def learn(self, visit: Visit) -> None:
        """A dead end gives to all; a URL that could not be fetched takes its money with it."""
        if not visit.reply.error and not visit.page.links and self.known_:
            self.gift_ += (visit.score + self.gift_) / self.known_

    def explain(self, scored: Scored, notes: Notes) -> Explanation:
        cash = "that is the cash of a seed" if not scored.link.source else "pages that link to it passed on their cash"
        return Explanation(f"{cash} (less what dead ends gave to all URLs); the {self.list_size} richest come next")

    def begin_list(self, scores: Sequence[float]) -> None:
        """The order of the list is the frontier's business."""

    def end_list(self) -> tuple[Sequence[Link], Sequence[float]]:
        return (), ()

    def save(self) -> dict[str, Any]:
        return {"gift": self.gift_, "known": self.known_}

    def load(self, state: dict[str, Any]) -> None:
        self.gift_, self.known_ = state["gift"], state["known"]
