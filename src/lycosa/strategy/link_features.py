"""The features of a link: what is known when it is found and, above all, how well similar links have done so far.

All counts are compared with the base rate of the crawl, so that no feature depends on how generous the judge is or how
rare the topic.
"""

from array import array
from collections.abc import Iterable, Sequence
from math import ceil, exp, log, nan, sqrt

PRIOR = {
    "parent": 0.4,  # relevance of the best page it was found on
    "context": 0.4,  # relevance of the words around it
    "own": 0.9,  # relevance of its anchor and URL words: a list of what is sought is often called that
    "elsewhere": 0.8,  # where links with such words led in the training data
    "value": 0.6,  # what pages behind links with such words were worth there; 1.0 does no better on texas
    "siblings": 2.5,  # yield of other links on its pages
    "part": 1.5,  # yield of siblings with the same kind of address
    "near": 2.0,  # yield of siblings near it on the page
    "untested": 1.2,  # many such siblings are queued and few have failed: one try tells a lot
    "place": 0.2,  # yield of this kind of address, wherever found
    "area": 2.0,  # yield of its part of the host (a person's or a project's pages); negative evidence only
    "host": 0.3,
    "class": 0.2,  # yield of links from pages of this class
    "leads": 3.0,  # where pages of this class lead, by interclass rules
    "words": 0.7,  # yield of the words in anchor and URL
    "cash": 1.0,  # importance that flows along links
    "depth": -0.7,
    "distance": 0.0,  # clicks since the last relevant page
    "twin": -6.0,  # probably the same page as one already fetched
}
BIAS = -2.0
YIELD = slice(list(PRIOR).index("siblings"), list(PRIOR).index("near") + 1)  # yield of the pages a link was found on
CURIOUS = 3.0  # above a base rate of about one in twenty (e^-3), trying untested links is worth less
SPOT = 5  # consecutive links on a page that are counted together
STEP = 0.01  # of the rate's logarithm: 1 % more or less says nothing about a link
MORE_KEYS = 4_096  # for which there is room beyond those in use
AREA = 0.3  # smoothing, in pages: an area is so small a part of a host that a few failures are enough
MEMORY = 2_000  # observations; older ones are discounted


class Tally:
    """How many of the links tried were good, in units of one relevant page."""

    __slots__ = ("good", "tried")

    def __init__(self, good: float = 0.0, tried: float = 0.0) -> None:
        self.good = good
        self.tried = tried

    def add(self, good: float, tried: float = 1.0) -> None:
        self.good += good
        self.tried += tried
        if self.good < 0:  # pages counted as good turned out not to be, after older counts were discounted
            self.good = 0.0
        if self.tried > MEMORY:
            self.good, self.tried = self.good / 2, self.tried / 2

    def state(self) -> list[float]:
        return [self.good, self.tried]

    def surplus(self, rate: float, more: float = 1.0) -> float:
        """Return the log of the number of good links over the number expected at this rate, with one page added to
        both.

        So with a rare topic it takes many failures to be significant, but a single success is.
        """
        return log((self.good + more) / (self.tried * rate + more))


class Scale:
    """Running mean and spread, used to standardise a number: the mean maps to 0, values are clipped to -3..3."""

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


class Surpluses:
    """The surplus of each key at the current rate, computed once needed. A key is the number of a name, so that all fit
    into one array: a crawl with many names spends much of its time waiting for memory."""

    rate = 1.0
    curiosity = 0.0  # 0..1: value of trying untested links

    def __init__(self) -> None:
        self.tallies: dict[int, Tally] = {}
        self._values = array("d")  # by key: 0 if nothing was counted, NaN if it is to be computed
        self._passing: list[int] = []  # keys whose surplus is valid for the current rate only

    def __getitem__(self, key: int) -> float:
        value = self._values[key]
        return value if value == value else self._computed(key)  # NaN is unlike itself

    def sum(self, keys: Sequence[int]) -> float:
        total = sum(map(self._values.__getitem__, keys))
        return total if total == total else sum([self[key] for key in keys])

    def _computed(self, key: int) -> float:
        tally = self.tallies[key]
        found = self._values[key] = log((tally.good + 1.0) / (tally.tried * self.rate + 1.0))  # inlined `surplus`
        self._passing.append(key)
        return found

    def area(self, key: int) -> float:
        """Return the surplus of an area, which only counts against a link; it takes fewer pages than that of others."""
        if not self._values[key]:
            return 0.0
        return min(0.0, self.tallies[key].surplus(self.rate, AREA))

    def restore(self, tallies: dict[int, Tally]) -> None:
        self.tallies, self._values, self._passing = tallies, array("d"), []
        self.reach(max(tallies, default=0) + 1)
        for key in tallies:
            self._values[key] = nan

    def reach(self, count: int) -> None:
        """Make room for this number of keys."""
        if count > len(self._values):
            self._values.frombytes(bytes(self._values.itemsize * (count + MORE_KEYS - len(self._values))))

    def count(self, key: int, good: float, tried: float = 1.0) -> Tally:
        tally = self.tallies.get(key)
        if tally is None:
            tally = self.tallies[key] = Tally()
            self.reach(key + 1)
        tally.add(good, tried)
        self._values[key] = nan
        return tally

    def start(self, rate: float) -> None:
        """Set the rate, rounded so that what is computed outlives the visits that hardly change it; rounded up, so that
        links no better than all others have no surplus."""
        rate = exp(ceil(log(rate) / STEP) * STEP)
        if rate != self.rate:
            for key in self._passing:
                self._values[key] = nan
            self._passing.clear()
            self.rate = rate
            self.curiosity = min(1.0, -log(rate) / CURIOUS)
