"""OTIE (2009): cash flows along links in proportion to predicted relevance, combining link and content evidence.

The cash of a fetched page is first revised by its relevance (8), then divided among its links by their similarity (6):
the true similarity for pages already fetched, otherwise the one predicted from the link's context (7, 9). Fetched pages
receive cash too; once per list, the richest of them passes on what it has received since, replayed from its stored
links. All URLs that redirects or identical bodies have shown to be the same page share one account.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from lycosa.errors import ConfigError
from lycosa.judging import text_relevances
from lycosa.types import (
    CONTEXT_WORDS,
    NOTHING,
    Effects,
    Explanation,
    Link,
    Notes,
    Origin,
    Reply,
    Scored,
    TextRelevance,
    View,
    Visit,
)

TOO_RICH = 1e8  # cash grows along links; above this, all of it is divided by this


@dataclass
class Otie:
    """Queue a URL with its cash."""

    a: float = 0.85  # how much relevance revises the cash of a page
    d: int = 3  # odd: how steeply
    beta: float = 0.25  # weight of the page relative to the link's context
    words: int = CONTEXT_WORDS  # in the window around a link, anchor included; 1: the anchor alone
    list_size: int = 50  # URLs selected at once, the richest first
    recrawl: bool = True  # let the richest fetched page pass on what it received

    notes_: Any = field(init=False, repr=False, default_factory=lambda: _Memory())  # about fetched pages
    view_: View | None = field(init=False, repr=False, default=None)
    judge_: Any = field(init=False, repr=False, default=None)
    scale_: float = field(init=False, repr=False, default=1.0)  # factor to multiply all cash by after this turn
    relevance_: dict[str, float] = field(init=False, repr=False, default_factory=dict)  # of fetched pages
    cash_: dict[str, float] = field(init=False, repr=False, default_factory=dict)  # of fetched pages that received some
    same_: dict[str, str] = field(init=False, repr=False, default_factory=dict)  # other URLs of fetched pages
    replay_: str = field(init=False, repr=False, default="")  # the fetched page that passes on its cash with this list

    def prepare(self, folder: object, judge: object) -> None:
        if self.a <= 0 or self.d < 1 or self.d % 2 == 0 or self.list_size < 1 or not 0 <= self.beta <= 1:
            raise ConfigError("strategy", "otie needs a > 0, d odd, list_size >= 1 and beta between 0 and 1")
        if self.words < 1:
            raise ConfigError("strategy.words", f"{self.words} is less than 1")
        if not isinstance(judge, TextRelevance):
            raise ConfigError("strategy.kind", "otie needs a topic that can judge a few words, and this kind cannot")
        self.judge_ = judge

    def connect(self, view: View) -> Effects:
        self.notes_, self.view_ = view.notes, view
        return NOTHING

    def open(self, seeds: Sequence[Link]) -> Sequence[float]:
        return [1.0 / len(seeds)] * len(seeds)

    def first(self, found: float) -> float:
        return found

    def merge(self, waiting: float, found: float) -> float:
        return waiting + found

    def learn(self, visit: Visit) -> None:
        """Settle the cash of the page: lost if it could not be fetched, kept if the page was known already."""
        reply, asked = visit.reply, visit.reply.link.url
        if visit.page.url:
            self.relevance_[asked] = visit.verdict.relevance
            self.notes_.note(f"relevance:{asked}", repr(visit.verdict.relevance))
            self._same(reply, asked)
            return
        known = visit.duplicate_of or (reply.detail if reply.error == "redirect-known" else "")
        known = self.same_.get(known, known)
        if known in self.relevance_:
            self._same(reply, known)
            self._pay(known, visit.score)

    def score(self, visit: Visit) -> Sequence[float]:
        links = visit.page.links
        if not links:
            return []
        page, r = visit.page, visit.verdict.relevance
        refused = self.view_.refusals(links) if self.view_ else {}
        followed = [link for link in links if link.url not in refused]
        around = text_relevances(self.judge_, [page.context(link, self.words) for link in followed])
        promised = [self.beta * r + (1 - self.beta) * relevance for relevance in around]
        good = [(link.url, promise) for link, promise in zip(followed, promised, strict=True)]
        self.notes_.note(f"links:{visit.reply.link.url}", msgspec.json.encode(good).decode())
        given = dict(self._share(self.revised(visit.score, r), good))
        return [given.get(link.url, -1.0) for link in links]

    def revised(self, cash: float, r: float) -> float:
        return cash + cash * max(-1.0, self.a * (2 * r - 1) ** self.d)

    def explain(self, scored: Scored, notes: Notes) -> Explanation:
        cash = "that is the cash of a seed"
        if scored.link.origin != Origin.SEED:
            cash = "pages that link to it passed on cash in proportion to its predicted relevance"
        return Explanation(f"{cash}; the {self.list_size} richest come next")

    def begin_list(self, scores: Sequence[float]) -> None:
        """Select the page to replay: it must be richer than the poorest on the list, unless the list has room."""
        best = max(self.cash_, key=lambda url: (self.cash_[url], url), default="") if self.recrawl else ""
        if best and (len(scores) < self.list_size or self.cash_[best] > scores[-1]):
            self.replay_ = best

    def end_list(self) -> Effects:
        url, self.replay_ = self.replay_, ""
        if not url:
            return NOTHING
        cash = self.revised(self.cash_.pop(url, 0.0), self.relevance_[url])
        self.notes_.note(f"cash:{url}", "0")
        good = msgspec.json.decode(self.notes_.noted(f"links:{url}") or "[]", type=list[tuple[str, float]])
        given = self._share(cash, good)
        scale = self._take_scale()
        return Effects(scale, [Link(target) for target, _ in given], [scale * share for _, share in given])

    def effects(self) -> Effects:
        return Effects(self._take_scale()) if self.scale_ != 1.0 else NOTHING

    def _take_scale(self) -> float:
        scale, self.scale_ = self.scale_, 1.0
        return scale

    def _share(self, cash: float, links: Sequence[tuple[str, float]]) -> list[tuple[str, float]]:
        """Divide cash among links; fetched pages' shares are kept here, the rest is returned for the frontier."""
        weights = [self.relevance_.get(self.same_.get(url, url), promise) for url, promise in links]
        total = sum(weights)
        given: list[tuple[str, float]] = []
        for (url, _), weight in zip(links, weights, strict=True):
            share = cash * (weight / total if total > 0 else 1.0 / len(links))
            fetched = self.same_.get(url, url)
            if fetched in self.relevance_:
                self._pay(fetched, share)
            else:
                given.append((url, share))
        if any(share > TOO_RICH for _, share in given):
            self._shrink()
        return given

    def _pay(self, page: str, cash: float) -> None:
        self.cash_[page] = self.cash_.get(page, 0.0) + cash
        self.notes_.note(f"cash:{page}", repr(self.cash_[page]))

    def _same(self, reply: Reply, page: str) -> None:
        """Record that all URLs on the way of a request are the same fetched page."""
        for address in (reply.link.url, *(exchange.url for exchange in reply.exchanges), reply.url):
            if address != page and address not in self.relevance_:
                self.same_[address] = page
                self.notes_.note(f"same:{address}", page)

    def _shrink(self) -> None:
        self.scale_ /= TOO_RICH
        for url, cash in self.cash_.items():
            self.cash_[url] = cash / TOO_RICH
            self.notes_.note(f"cash:{url}", repr(self.cash_[url]))

    def save(self) -> dict[str, Any]:
        return {"replay": self.replay_}

    def load(self, state: dict[str, Any]) -> None:
        self.replay_ = state["replay"]
        self.relevance_ = {url: float(text) for url, text in self.notes_.notes("relevance:")}
        self.same_ = dict(self.notes_.notes("same:"))
        self.cash_ = {url: cash for url, text in self.notes_.notes("cash:") if (cash := float(text)) > 0}


class _Memory:
    """In-memory notes, for a strategy used without a crawl.db."""

    def __init__(self) -> None:
        self._notes: dict[str, str] = {}

    def note(self, key: str, value: str) -> None:
        self._notes[key] = value

    def noted(self, key: str) -> str:
        return self._notes.get(key, "")

    def notes(self, prefix: str) -> list[tuple[str, str]]:
        return [(key.removeprefix(prefix), value) for key, value in self._notes.items() if key.startswith(prefix)]
