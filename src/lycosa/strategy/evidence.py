"""What speaks for a link? What is known of it when it is found, and above all what such links brought so far.

Everything counted here is compared with the going rate of the crawl, so that no number depends on how generous a topic
judges or how rare its pages are.
"""

import sys
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from math import log, sqrt
from typing import Any

from msgspec import Struct

from lycosa.strategy.addresses import quick_marks

PRIOR = {
    "parent": 0.4,  # relevance of the best page it was found on
    "context": 0.4,  # of the words around it
    "own": 0.9,  # of its own words, in anchor and address: a list of what is sought is often called so
    "elsewhere": 0.8,  # where links lead to by their words and those around them, as was learned beforehand
    "siblings": 2.5,  # what other links of its pages brought
    "part": 1.5,  # what those of them brought that have addresses of the same kind
    "near": 2.0,  # what those of them brought that stand near it on the page
    "untested": 1.2,  # many such siblings wait and few have failed: one try tells much
    "place": 0.2,  # what addresses of the same kind brought, wherever found
    "area": 2.0,  # what its part of the host brought: a person's pages, a project's; only against a link
    "host": 0.3,
    "class": 0.2,  # what links from pages of this class brought
    "leads": 3.0,  # where pages of this class lead to, by rules between classes
    "words": 0.7,  # what the words of anchor and address brought
    "cash": 1.0,  # importance that flows along links
    "depth": -0.7,
    "links": 0.0,  # pages it was found on
    "distance": 0.0,  # clicks since the last page on topic
    "twin": -6.0,  # what is probably the same page was fetched
}
BIAS = -2.0
YIELD = slice(list(PRIOR).index("siblings"), list(PRIOR).index("near") + 1)  # of the pages a link was found on
CURIOUS = 3.0  # where more than one page in twenty (e^-3) is good anyway, trying the untested is worth less
SPOT = 5  # links in a row on a page that are taken together
WORDS_KEPT = 16  # of a link, from all its pages
MOST_KEYS = 50_000  # of which it is remembered that nothing was counted
MEMORY = 2_000  # observations; older ones count less and less


class Tally:
    """How many of the tried links were good; the unit is one relevant page."""

    __slots__ = ("good", "tried")

    def __init__(self, good: float = 0.0, tried: float = 0.0) -> None:
        self.good = good
        self.tried = tried

    def add(self, good: float, tried: float = 1.0) -> None:
        self.good += good
        self.tried += tried
        if self.tried > MEMORY:
            self.good, self.tried = self.good / 2, self.tried / 2

    def state(self) -> list[float]:
        return [self.good, self.tried]

    def surplus(self, rate: float, more: float = 1.0) -> float:
        """The logarithm of good links over those to be expected at this rate, both with one page more.

        So a rare topic needs many failures before they tell anything, and one success tells much.
        """
        return log((self.good + more) / (self.tried * rate + more))


class Scale:
    """Running mean and spread of a number, to see each value in units of the spread: -3 .. 3, the mean is 0."""

    __slots__ = ("count", "mean", "spread", "square")

    def __init__(self, count: float = 0.0, mean: float = 0.0, square: float = 0.0) -> None:
        self.count = count
        self.mean = mean
        self.square = square  # the variance
        self.spread = sqrt(square)

    def add(self, values: Iterable[float]) -> None:
        count, mean, square = self.count, self.mean, self.square
        for value in values:
            if count < MEMORY:
                count += 1
            step = value - mean
            mean += step / count
            square += (step * (value - mean) - square) / count
        self.count, self.mean, self.square, self.spread = count, mean, square, sqrt(max(0.0, square))

    def of(self, value: float) -> float:
        if self.spread < 1e-6:
            return 0.0
        units = (value - self.mean) / self.spread
        return units if -3.0 < units < 3.0 else 3.0 if units > 0 else -3.0

    def state(self) -> list[float]:
        return [self.count, self.mean, self.square]


class Surpluses(dict[str, float]):
    """The surplus of each key that is asked for, at the rate of now: most keys come many times before it changes, and
    of most nothing was counted yet."""

    rate = 1.0
    curiosity = 0.0  # 0..1: what trying the untested is worth

    def __init__(self) -> None:
        super().__init__()
        self.tallies: dict[str, Tally] = {}
        self._passing: list[str] = []  # keys whose surplus holds for this rate only

    def __missing__(self, key: str) -> float:
        tally, found = self.tallies.get(key), 0.0
        if tally:
            found = tally.surplus(self.rate)
            self._passing.append(key)
        elif len(self) >= MOST_KEYS:
            self.clear()
        self[key] = found
        return found

    def count(self, key: str, good: float, tried: float = 1.0) -> Tally:
        tally = self.tallies.get(key)
        if tally is None:
            tally = self.tallies[key] = Tally()
        tally.add(good, tried)
        self.pop(key, None)
        return tally

    def start(self, rate: float) -> None:
        """The rate has changed, or not: a failure leaves it as it was."""
        if rate != self.rate:
            for key in self._passing:
                self.pop(key, None)
            self._passing.clear()
            self.rate = rate
            self.curiosity = min(1.0, -log(rate) / CURIOUS)


class Source:
    """A fetched page, and what its links brought so far: the yield of siblings."""

    __slots__ = (
        *("cash", "distance", "given", "kids", "kind", "label", "luck", "number", "places", "relevance", "spots"),
        *("tally", "up", "waiting"),
    )

    def __init__(self, number: int, relevance: float, label: str, distance: int, cash: float, luck: float) -> None:
        self.number = number
        self.relevance = relevance
        self.label = label
        self.kind = sys.intern(f"class {label}") if label else ""  # a key as those of `counted_as`
        self.distance = distance  # clicks since the last page on topic
        self.cash = cash  # what each of its links gets
        self.luck = luck  # how eagerly its links are tried: this is where chance comes in
        self.given = 0.0  # credit that the link to it got for what its own links brought
        self.tally = Tally()
        self.places: dict[str, Tally] = {}  # the same by the kind of address
        self.spots: dict[int, Tally] = {}  # and by where on the page they stand
        self.waiting: dict[str, int] = {}  # links that wait, by the kind of address
        self.kids: list[str] = []  # addresses that may still wait, most promising first
        self.up: Waiting | None = None  # the link that led here; None for a seed

    def count(self, place: str, spot: int, good: float, tried: float) -> None:
        """Take down what one of its links brought."""
        self.tally.add(good, tried)
        self.places.setdefault(place, Tally()).add(good, tried)
        self.spots.setdefault(spot, Tally()).add(good, tried)

    def near(self, spot: int, rate: float) -> float:
        """The surplus of the links around a spot; those a little further away count half."""
        spots, good, tried = self.spots, 0.0, 0.0
        if tally := spots.get(spot):
            good, tried = tally.good, tally.tried
        for beside in (spot - 1, spot + 1):
            if tally := spots.get(beside):
                good += 0.5 * tally.good
                tried += 0.5 * tally.tried
        return log((good + 1.0) / (tried * rate + 1.0)) if tried else 0.0

    def state(self) -> list[Any]:
        """What changes while its links are tried."""
        groups = [{key: tally.state() for key, tally in group.items()} for group in (self.places, self.spots)]
        return [self.tally.good, self.tally.tried, self.given, *groups]

    def load(self, state: Sequence[Any]) -> None:
        good, tried, self.given, places, spots = state
        self.tally = Tally(good, tried)
        self.places = {place: Tally(*parts) for place, parts in places.items()}
        self.spots = {int(spot): Tally(*parts) for spot, parts in spots.items()}


class Waiting(Struct, eq=False, gc=False):
    """A link that waits, with all that was said of it on the pages it was found on. There are very many of them, so it
    is a struct: made in a third of the time, and no work for the garbage collector."""

    host: str
    place: str
    area: str
    depth: int
    context: float  # what the judge makes of the words around it; below 0 if it was not asked
    own: float  # and of its own words
    elsewhere: float  # where links with such words led to elsewhere
    words: tuple[str, ...]
    found: list[tuple[Source, int]]  # the first few pages it was found on, and where it stands on each of them
    best: Source  # the most relevant of them
    cash: float
    finds: int = 1  # pages it was found on
    twin: float = 0.0  # 1 if what is probably the same page was fetched
    turn: bool = False  # it is asked next, whatever speaks for it

    @classmethod
    def first(cls, source: Source, about: Sequence[Any]) -> "Waiting":
        """From what the first page says of it: address, spot, depth, context, own, elsewhere, words."""
        url, spot, depth, context, own, elsewhere, *words = about
        host, place, area = quick_marks(url)
        found = [(source, spot)]
        return cls(host, place, area, depth, context, own, elsewhere, tuple(words), found, source, source.cash)

    def again(self, source: Source, about: Sequence[Any]) -> None:
        """Found on a further page, which may say no more than the address."""
        self.cash += source.cash
        self.finds += 1
        if len(about) > 1:
            _, spot, depth, context, own, elsewhere, *words = about
            self.depth, self.context = min(self.depth, depth), max(self.context, context)
            self.own, self.elsewhere = max(self.own, own), max(self.elsewhere, elsewhere)
            self.words = tuple(dict.fromkeys((*self.words, *words)))[:WORDS_KEPT]
            self.found.append((source, spot))
            if source.relevance > self.best.relevance:
                self.best = source

    def counted_as(self) -> Iterable[str]:
        """Under which its outcome is counted, beside the pages it was found on."""
        return [self.host, self.place, *(key for key in (self.area, self.best.kind) if key), *self.words]

    def state(self) -> list[Any]:
        numbers, spots = [source.number for source, _ in self.found], [spot for _, spot in self.found]
        return [numbers, spots, self.host, self.area, self.place, list(self.words)]

    @classmethod
    def restored(cls, state: Sequence[Any], sources: Sequence[Source]) -> "Waiting":
        """The link that led to a page, as far as it still counts."""
        numbers, spots, host, area, place, words = state
        found = [(sources[number], spot) for number, spot in zip(numbers, spots, strict=True)]
        best = max((source for source, _ in found), key=lambda source: source.relevance)
        return cls(host, place, area, 0, -1.0, -1.0, 0.0, tuple(words), found, best, 0.0)


class Levels:
    """Pages by clicks from a seed: where to look around, breadth-first, while nothing tells where to go."""

    def __init__(self) -> None:
        self._levels: dict[int, deque[Source]] = {}

    def add(self, source: Source, depth: int) -> None:
        self._levels.setdefault(depth, deque()).append(source)

    def turn(self, waiting: Mapping[str, Waiting]) -> str:
        """The next link in turn: of the first page with the fewest clicks, the one with the best words."""
        for depth in sorted(self._levels):
            level = self._levels[depth]
            while level:
                for url in level[0].kids:
                    link = waiting.get(url)
                    if link and not link.turn and not link.twin:
                        link.turn = True
                        return url
                level.popleft()
        return ""
