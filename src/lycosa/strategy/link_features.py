"""What speaks for a link? What is known of it when it is found, and above all what such links brought so far.

Everything counted here is compared with the going rate of the crawl, so that no number depends on how generous a topic
judges or how rare its pages are.
"""

from collections.abc import Iterable
from math import log, sqrt

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


class Surpluses(dict[int, float]):
    """The surplus of each key that is asked for, at the rate of now: most keys come many times before it changes, and
    of most nothing was counted yet. A key is the number of a name."""

    rate = 1.0
    curiosity = 0.0  # 0..1: what trying the untested is worth

    def __init__(self) -> None:
        super().__init__()
        self.tallies: dict[int, Tally] = {}
        self._passing: list[int] = []  # keys whose surplus holds for this rate only

    def __missing__(self, key: int) -> float:
        tally, found = self.tallies.get(key), 0.0
        if tally:
            found = log((tally.good + 1.0) / (tally.tried * self.rate + 1.0))  # its surplus, without a call
            self._passing.append(key)
        elif len(self) >= MOST_KEYS:
            self.clear()
        self[key] = found
        return found

    def count(self, key: int, good: float, tried: float = 1.0) -> Tally:
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
