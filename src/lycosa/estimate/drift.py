"""Has the crawl wandered off? The first relevant pages against the latest, by their words and their relevance.

A judge that knows one word of a topic follows it into another: from jaguars in forests to Jaguars for sale. Each
relevant page gives its most frequent words; the share of pages that use a word is compared, early against recent. A
crawl that moves from site to site within its topic changes half of its words, one that leaves it nearly all.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from heapq import nlargest
from math import sqrt
from typing import Any

import msgspec
from msgspec import Struct

from lycosa.text import STEMS, words
from lycosa.types import Page, Visit

READ = 1_000  # words of a page
KEPT = 40  # the most frequent of them
EARLY = 50  # the first relevant pages
BLOCK = 25  # relevant pages between two looks
LEAST_BLOCKS, MOST_BLOCKS = 2, 4  # that make the recent pages
UNLIKE = {2: 0.15, 3: 0.225, 4: 0.3}  # similarity below which it is drift, by blocks: a single site may fill a few
FALL = 0.25  # of the mean relevance: then more similar pages are drift too
FALL_FACTOR = 1.5
_SHOWN = 5


class Side(Struct):
    """Some relevant pages: on how many of them each word is frequent, and how relevant they are."""

    pages: int = 0
    relevance: float = 0.0  # summed up
    words: dict[str, int] = {}

    def add(self, frequent: Iterable[str], relevance: float) -> None:
        self.pages += 1
        self.relevance += relevance
        for word in frequent:
            self.words[word] = self.words.get(word, 0) + 1

    def close(self) -> None:
        """Forget the words of single pages: nothing is read from them, and they are most of all."""
        self.words = {word: count for word, count in self.words.items() if count > 1}

    def shares(self) -> dict[str, float]:
        return {word: count / self.pages for word, count in self.words.items() if count > 1}

    @property
    def mean(self) -> float:
        return self.relevance / self.pages if self.pages else 0.0


class Alarm(Struct, frozen=True):
    """What has changed."""

    similarity: float  # of the words, 0..1
    relevance_before: float
    relevance_now: float
    came: list[str]
    went: list[str]

    def short(self) -> str:
        return f"drift: now {', '.join(self.came[:3])}, before {', '.join(self.went[:3])}"

    def __str__(self) -> str:
        return (
            f"recent relevant pages are unlike the first ones (similarity {self.similarity:.2f}, relevance"
            f" {self.relevance_before:.2f} before, {self.relevance_now:.2f} now);"
            f" words that came: {', '.join(self.came)}; words that went: {', '.join(self.went)}"
        )


class Drift:
    """Receives the relevant pages in the order of fetching; `alarm` is set while the recent ones are too unlike."""

    def __init__(self) -> None:
        self.early = Side()
        self.blocks: list[Side] = []  # complete ones, the latest last
        self.block = Side()
        self.alarm: Alarm | None = None

    def write(self, visit: Visit) -> None:
        frequent, relevance = frequent_words(visit.page), visit.verdict.relevance
        if self.early.pages < EARLY:
            self.early.add(frequent, relevance)
            return
        self.block.add(frequent, relevance)
        if self.block.pages == BLOCK:
            self.block.close()
            self.blocks = [*self.blocks, self.block][-MOST_BLOCKS:]
            self.block = Side()
            self.alarm = self._compare()

    def _compare(self) -> Alarm | None:
        if len(self.blocks) < LEAST_BLOCKS:
            return None
        recent = merged(self.blocks)
        before, now = self.early.shares(), recent.shares()
        similarity, fall = cosine(before, now), self.early.mean - recent.mean
        if similarity >= UNLIKE[len(self.blocks)] * (FALL_FACTOR if fall > FALL else 1.0):
            return None
        means = round(self.early.mean, 3), round(recent.mean, 3)
        return Alarm(round(similarity, 3), *means, _more(now, before), _more(before, now))

    def save(self) -> dict[str, Any]:
        state = {"early": self.early, "blocks": self.blocks, "block": self.block, "alarm": self.alarm}
        return {name: msgspec.to_builtins(part) for name, part in state.items()}

    def load(self, state: dict[str, Any]) -> None:
        self.early, self.block = (msgspec.convert(state[name], Side) for name in ("early", "block"))
        self.blocks = msgspec.convert(state["blocks"], list[Side])
        self.alarm = msgspec.convert(state["alarm"], Alarm | None)


def frequent_words(page: Page) -> list[str]:
    """What the page speaks of most: words, not stems, since people will read them."""
    counts = Counter([*words(page.title), *page.words[:READ]])
    telling = ((count, word) for word, count in counts.items() if len(word) > 2 and STEMS[word])
    return [word for _, word in nlargest(KEPT, telling)]


def merged(sides: Sequence[Side]) -> Side:
    found: Counter[str] = Counter()
    for side in sides:
        found.update(side.words)
    return Side(sum(side.pages for side in sides), sum(side.relevance for side in sides), dict(found))


def cosine(some: Mapping[str, float], others: Mapping[str, float]) -> float:
    norms = sqrt(sum(share * share for share in some.values()) * sum(share * share for share in others.values()))
    return sum(share * others.get(word, 0.0) for word, share in some.items()) / norms if norms else 1.0


def _more(some: Mapping[str, float], others: Mapping[str, float]) -> list[str]:
    """The words that are on many more of some pages than of the others."""
    return sorted(some, key=lambda word: (others.get(word, 0.0) - some[word], word))[:_SHOWN]
