"""What speaks for a link? What is known of it when it is found, and above all what such links brought so far.

Everything counted here is compared with the going rate of the crawl, so that no number depends on how generous a topic
judges or how rare its pages are.
"""

import sys
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from math import log, sqrt
from typing import Any

from lycosa.strategy.addresses import marks_of

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
SPOT = 5  # links in a row on a page that are taken together
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
    """The surplus of each key that is asked for, at the rate of now: most keys come many times before it changes."""

    rate = 1.0

    def __init__(self, tallies: Mapping[str, Tally]) -> None:
        super().__init__()
        self._tallies = tallies

    def __missing__(self, key: str) -> float:
        tally = self._tallies.get(key)
        found = self[key] = tally.surplus(self.rate) if tally else 0.0
        return found

    def start(self, rate: float) -> None:
        """Counts have changed."""
        self.clear()
        self.rate = rate


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
        good = tried = 0.0
        for at, share in ((spot, 1.0), (spot - 1, 0.5), (spot + 1, 0.5)):
            tally = self.spots.get(at)
            if tally:
                good += share * tally.good
                tried += share * tally.tried
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


class Waiting:
    """A link that waits, with all that was said of it on the pages it was found on."""

    __slots__ = (
        *("area", "cash", "context", "depth", "elsewhere", "finds", "host", "own", "place", "sources", "spots"),
        *("turn", "twin", "words"),
    )

    def __init__(self, url: str, depth: int) -> None:
        self.host, self.place, self.area = map(sys.intern, marks_of(url))
        self.depth = depth
        self.context = -1.0  # what the judge makes of the words around it, if it was asked
        self.own = -1.0  # and of its own words
        self.elsewhere = 0.0  # where links with such words led to elsewhere
        self.words: tuple[str, ...] = ()
        self.sources: list[Source] = []  # the first few pages it was found on
        self.spots: list[int] = []  # where it stands on each of them
        self.cash = 0.0
        self.finds = 0  # pages it was found on
        self.twin = 0.0  # 1 if what is probably the same page was fetched
        self.turn = False  # it is asked next, whatever speaks for it

    def counted_as(self) -> Iterable[str]:
        """Under which its outcome is counted, beside the pages it was found on."""
        return [self.host, self.place, *(key for key in (self.area, self.best().kind) if key), *self.words]

    def best(self) -> Source:
        """The most relevant page it was found on."""
        sources = self.sources
        return sources[0] if len(sources) == 1 else max(sources, key=lambda source: source.relevance)

    def state(self) -> list[Any]:
        numbers = [source.number for source in self.sources]
        return [numbers, self.spots, self.host, self.area, self.place, list(self.words)]

    @classmethod
    def restored(cls, state: Sequence[Any], sources: Sequence[Source]) -> "Waiting":
        """The link that led to a page, as far as it still counts."""
        numbers, spots, host, area, place, words = state
        link = cls("http://-/", 0)
        link.host, link.area, link.place, link.spots, link.words = host, area, place, spots, tuple(words)
        link.sources = [sources[number] for number in numbers]
        return link


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
