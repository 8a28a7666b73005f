"""Has the crawl drifted? Compares the first relevant pages with the latest by their words and their relevance.

A judge that knows one word of a topic follows it into another: from jaguars in forests to Jaguars for sale. Each page
contributes its most frequent words. For each word, the share of pages that use it, minus its share among irrelevant
pages, is compared between early and recent pages. If the first pages are mostly from one site, the site's own words
cannot be told from those of the subject; then it counts as drift only if the relevance has fallen too, or hardly any
words are left.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain, islice
from math import sqrt
from typing import Any

import msgspec
from msgspec import Struct

from lycosa.text import STEMS, words
from lycosa.types import Page, Visit
from lycosa.urls import hostname

READ = 400  # words read per page: enough to see what it is about
KEPT = 40  # the most frequent of them
EARLY = 50  # the first relevant pages
BLOCK = 25  # relevant pages between two checks ...
READ_EVERY = 3  # ... of which every third is read
LEAST_BLOCKS, MOST_BLOCKS = 2, 4  # blocks that make up the recent pages
UNLIKE = 0.35  # similarity below which it is drift
NOTHING_LEFT = 0.1  # the same if a move to another site may explain it
FALL = 0.15  # drop in mean relevance that makes it drift even then
SITES = 3.0  # effective number: how mixed the first pages must be to show the words of the subject
USUAL_FIRST, USUAL_STEP = 200, 10  # all of the first irrelevant pages are sampled, then every tenth
USUAL_LEAST, USUAL_MOST = 20, 400  # pages: fewer are no baseline; beyond the maximum, counts are halved
_PRUNE_EVERY = 50
_SHOWN = 5


class Side(Struct):
    """A set of pages: on how many of them each word is frequent, their hosts and their relevance."""

    pages: int = 0
    relevance: float = 0.0  # sum
    words: dict[str, int] = {}
    hosts: dict[str, int] = {}
    read: int = 0  # pages whose words were counted

    def add(self, visit: Visit, reads: bool = True) -> None:
        """Add a page; unless it `reads`, its words are not counted, since that takes most of the time."""
        self.pages += 1
        self.relevance += visit.verdict.relevance
        if reads:
            self.read += 1
            for word in frequent_words(visit.page):
                self.words[word] = self.words.get(word, 0) + 1
        host = hostname(visit.reply.url or visit.reply.link.url)
        self.hosts[host] = self.hosts.get(host, 0) + 1

    def prune(self) -> None:
        """Discard words that occur on one page only: they are not used, and they are the majority."""
        self.words = {word: count for word, count in self.words.items() if count > 1}

    def halve(self) -> None:
        self.pages //= 2
        self.read //= 2
        self.words = {word: count // 2 for word, count in self.words.items() if count > 3}

    def shares(self) -> dict[str, float]:
        return {word: count / self.read for word, count in self.words.items() if count > 1}

    def save(self) -> dict[str, Any]:
        """Return a copy; `msgspec.to_builtins` would take ten times as long."""
        counts = {"words": self.words.copy(), "hosts": self.hosts.copy()}
        return {"pages": self.pages, "relevance": self.relevance, "read": self.read, **counts}

    @property
    def mean(self) -> float:
        return self.relevance / self.pages if self.pages else 0.0

    @property
    def sites(self) -> float:
        """Return the effective number of sites: how many sites of equal size would be as mixed."""
        return self.pages**2 / (sum(count**2 for count in self.hosts.values()) or 1)


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
    """Receives all pages in fetch order; `alarm` is set while the recent relevant pages are too different."""

    def __init__(self) -> None:
        self.early = Side()
        self.blocks: list[Side] = []  # complete ones, the latest last
        self.block = Side()
        self.usual = Side()  # irrelevant pages
        self.irrelevant = 0
        self.alarm: Alarm | None = None

    def write(self, visit: Visit) -> None:
        if not visit.verdict.on_topic:
            self._note_usual(visit)
        elif self.early.pages < EARLY:
            self.early.add(visit)
        else:
            self.block.add(visit, reads=self.block.pages % READ_EVERY == 0)
            if self.block.pages == BLOCK:
                self.block.prune()
                self.blocks = [*self.blocks, self.block][-MOST_BLOCKS:]
                self.block = Side()
                self.alarm = self._compare()

    def _note_usual(self, visit: Visit) -> None:
        """Sample the baseline: the words of irrelevant pages."""
        self.irrelevant += 1
        if self.irrelevant > USUAL_FIRST and self.irrelevant % USUAL_STEP:
            return
        self.usual.add(visit)
        self.usual.hosts = {}
        if self.usual.pages % _PRUNE_EVERY == 0:
            self.usual.prune()
        if self.usual.pages == USUAL_MOST:
            self.usual.halve()

    def _compare(self) -> Alarm | None:
        if len(self.blocks) < LEAST_BLOCKS:
            return None
        recent = merged(self.blocks)
        usual = self.usual.shares() if self.usual.pages >= USUAL_LEAST else {}
        before, now = (above(side.shares(), usual) for side in (self.early, recent))
        similarity, fall = cosine(before, now), self.early.mean - recent.mean
        telling = fall >= FALL or self.early.sites >= SITES
        if similarity >= (UNLIKE if telling else NOTHING_LEFT):
            return None
        means = round(self.early.mean, 3), round(recent.mean, 3)
        return Alarm(round(similarity, 3), *means, _more(now, before), _more(before, now))

    def save(self) -> dict[str, Any]:
        alarm, blocks = msgspec.to_builtins(self.alarm), [block.save() for block in self.blocks]
        sides = {"early": self.early.save(), "block": self.block.save(), "usual": self.usual.save()}
        return {**sides, "blocks": blocks, "irrelevant": self.irrelevant, "alarm": alarm}

    def load(self, state: dict[str, Any]) -> None:
        for name in ("early", "block", "usual"):
            setattr(self, name, msgspec.convert(state[name], Side))
        self.blocks = msgspec.convert(state["blocks"], list[Side])
        self.irrelevant = int(state["irrelevant"])
        self.alarm = msgspec.convert(state["alarm"], Alarm | None)


def frequent_words(page: Page) -> list[str]:
    """Return the most frequent words of a page: words rather than stems, since people will read them."""
    counts = Counter([*words(page.title), *page.words[:READ]])
    repeated = sorted([word for word, count in counts.items() if count > 1], key=counts.__getitem__, reverse=True)
    once = (word for word, count in counts.items() if count == 1)  # most: they need no sorting, and few are looked at
    return list(islice((word for word in chain(repeated, once) if len(word) > 2 and STEMS[word]), KEPT))


def merged(sides: Sequence[Side]) -> Side:
    found, hosts = Counter[str](), Counter[str]()
    for side in sides:
        found.update(side.words)
        hosts.update(side.hosts)
    pages, read = sum(side.pages for side in sides), sum(side.read for side in sides)
    return Side(pages, sum(side.relevance for side in sides), dict(found), dict(hosts), read)


def above(shares: Mapping[str, float], usual: Mapping[str, float]) -> dict[str, float]:
    """Return the shares of words minus the baseline, where positive."""
    return {word: share - usual.get(word, 0.0) for word, share in shares.items() if share > usual.get(word, 0.0)}


def cosine(some: Mapping[str, float], others: Mapping[str, float]) -> float:
    norms = sqrt(sum(share * share for share in some.values()) * sum(share * share for share in others.values()))
    return sum(share * others.get(word, 0.0) for word, share in some.items()) / norms if norms else 1.0


def _more(some: Mapping[str, float], others: Mapping[str, float]) -> list[str]:
    """Return the words that are on many more of `some` pages than of the `others`."""
    return sorted(some, key=lambda word: (others.get(word, 0.0) - some[word], word))[:_SHOWN]
