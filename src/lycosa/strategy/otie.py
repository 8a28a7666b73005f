"""OTIE (2009): money flows along links in proportion to predicted relevance: link and content evidence in one score.

A fetched page's cash is first revised by its relevance (8), then shared among its links by their similarity (6): the
true one of pages fetched before, else what the link's context promises (7, 9). Fetched pages receive money too; once a
list the richest of them passes on what it got since, replayed from what is stored of it. All addresses of a page that
redirects or equal bodies have shown to be one page share its account.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from lycosa.errors import ConfigError
from lycosa.store.db import CrawlDb
from lycosa.types import (
    CONTEXT_WORDS,
    Explanation,
    Link,
    Notes,
    Reply,
    Scored,
    TextRelevance,
    Visit,
    text_relevances,
)

TOO_RICH = 1e8  # below the places of the fetch list, which order above every score


@dataclass
class Otie:
    """A URL waits with its cash."""

    a: float = 0.85  # how much relevance revises the cash of a page
    d: int = 3  # odd: how sharply
    beta: float = 0.25  # weight of the page beside the link's context
    words: int = CONTEXT_WORDS  # around a link, anchor included; 1: the anchor alone
    list_size: int = 50  # URLs chosen at once, the richest first
    recrawl: bool = True  # does the richest fetched page pass on what it got?

    db_: Any = field(init=False, repr=False, default_factory=lambda: _Memory())  # keeps notes on fetched pages
    judge_: Any = field(init=False, repr=False, default=None)
    refuses_: Callable[[str, int], str] = field(init=False, repr=False, default_factory=lambda: lambda url, depth: "")
    scale_: Callable[[float], None] = field(init=False, repr=False, default_factory=lambda: lambda factor: None)
    relevance_: dict[str, float] = field(init=False, repr=False, default_factory=dict)  # of fetched pages
    cash_: dict[str, float] = field(init=False, repr=False, default_factory=dict)  # of fetched pages that got some
    same_: dict[str, str] = field(init=False, repr=False, default_factory=dict)  # further addresses of fetched pages
    replay_: str = field(init=False, repr=False, default="")  # the fetched page that passes on its cash with this list

    def prepare(self, folder: object, judge: object) -> None:
        if self.a <= 0 or self.d < 1 or self.d % 2 == 0 or self.list_size < 1 or not 0 <= self.beta <= 1:
            raise ConfigError("strategy", "otie needs a > 0, d odd, list_size >= 1 and beta between 0 and 1")
        if self.words < 1:
            raise ConfigError("strategy.words", f"{self.words} is less than 1")
        if not isinstance(judge, TextRelevance):
            raise ConfigError("strategy.kind", "otie needs a topic that can judge a few words, and this kind cannot")
        self.judge_ = judge

    def connect(self, db: CrawlDb, refuses: Callable[[str, int], str], scale: Callable[[float], None]) -> None:
        self.db_, self.refuses_, self.scale_ = db, refuses, scale

    def open(self, seeds: Sequence[Link]) -> Sequence[float]:
        return [1.0 / len(seeds)] * len(seeds)

    def first(self, found: float) -> float:
        return found

    def merge(self, waiting: float, found: float) -> float:
        return waiting + found

    def learn(self, visit: Visit) -> None:
        """A page that could not be fetched takes its money with it; one that was known already keeps it."""
        reply, asked = visit.reply, visit.reply.link.url
        if visit.page.url:
            self.relevance_[asked] = visit.verdict.relevance
            self.db_.note(f"relevance:{asked}", repr(visit.verdict.relevance))
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
        let_in = [link for link in links if not self.refuses_(link.url, link.depth)]
        around = text_relevances(self.judge_, [page.context(link, self.words) for link in let_in])
        promised = [self.beta * r + (1 - self.beta) * relevance for relevance in around]
        good = [(link.url, promise) for link, promise in zip(let_in, promised, strict=True)]
        self.db_.note(f"links:{visit.reply.link.url}", msgspec.json.encode(good).decode())
        given = dict(self._share(self.revised(visit.score, r), good))
        return [given.get(link.url, -1.0) for link in links]

    def revised(self, cash: float, r: float) -> float:
        return cash + cash * max(-1.0, self.a * (2 * r - 1) ** self.d)

    def explain(self, scored: Scored, notes: Notes) -> Explanation:
        cash = "that is the cash of a seed"
        if scored.link.source:
            cash = "pages that link to it passed on cash, the more the more relevant it promised to be"
        return Explanation(f"{cash}; the {self.list_size} richest come next")

    def begin_list(self, scores: Sequence[float]) -> None:
        """Choose the page to replay: it must be richer than the poorest on the list, or find room on it."""
        best = max(self.cash_, key=lambda url: (self.cash_[url], url), default="") if self.recrawl else ""
        if best and (len(scores) < self.list_size or self.cash_[best] > scores[-1]):
            self.replay_ = best

    def end_list(self) -> tuple[Sequence[Link], Sequence[float]]:
        url, self.replay_ = self.replay_, ""
        if not url:
            return (), ()
        cash = self.revised(self.cash_.pop(url, 0.0), self.relevance_[url])
        self.db_.note(f"cash:{url}", "0")
        good = msgspec.json.decode(self.db_.noted(f"links:{url}") or "[]", type=list[tuple[str, float]])
        given = self._share(cash, good)
        return [Link(target) for target, _ in given], [share for _, share in given]

    def _share(self, cash: float, links: Sequence[tuple[str, float]]) -> list[tuple[str, float]]:
        """Divide money among links; what fetched pages get is kept here, the rest is returned for the frontier."""
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
            given = [(url, share / TOO_RICH) for url, share in given]
            self._shrink()
        return given

    def _pay(self, page: str, cash: float) -> None:
        self.cash_[page] = self.cash_.get(page, 0.0) + cash
        self.db_.note(f"cash:{page}", repr(self.cash_[page]))

    def _same(self, reply: Reply, page: str) -> None:
        """All addresses that a request came by mean a page that was fetched."""
        for address in (reply.link.url, *(exchange.url for exchange in reply.exchanges), reply.url):
            if address != page and address not in self.relevance_:
                self.same_[address] = page
                self.db_.note(f"same:{address}", page)

    def _shrink(self) -> None:
        self.scale_(1 / TOO_RICH)
        for url, cash in self.cash_.items():
            self.cash_[url] = cash / TOO_RICH
            self.db_.note(f"cash:{url}", repr(self.cash_[url]))

    def save(self) -> dict[str, Any]:
        return {"replay": self.replay_}

    def load(self, state: dict[str, Any]) -> None:
        self.replay_ = state["replay"]
        self.relevance_ = {url: float(text) for url, text in self.db_.notes("relevance:")}
        self.same_ = dict(self.db_.notes("same:"))
        self.cash_ = {url: cash for url, text in self.db_.notes("cash:") if (cash := float(text)) > 0}


class _Memory:
    """Notes of a strategy that is used without a crawl.db."""

    def __init__(self) -> None:
        self._notes: dict[str, str] = {}

    def note(self, key: str, value: str) -> None:
        self._notes[key] = value

    def noted(self, key: str) -> str:
        return self._notes.get(key, "")

    def notes(self, prefix: str) -> list[tuple[str, str]]:
        return [(key.removeprefix(prefix), value) for key, value in self._notes.items() if key.startswith(prefix)]
