"""Which place does a score have among all that waits? A histogram of scores that follows every change.

Politeness makes the best hosts rest most of the time. Whether a URL of another host is worth a page of the budget
depends on its place among *all* URLs that wait, not on its being the best of those that may be fetched now. Only the
order of scores counts here, so any strategy's scale will do: probabilities, money, minus the depth.
"""

from bisect import bisect_left, insort
from math import floor, frexp, inf

_STEPS = 64  # buckets between a number and its double: scores closer than about one per cent share a place
_MANY = 4_096  # buckets, before empty ones are dropped
_HALF = 1 << 40  # sets the exponents of positive numbers apart from those of negative ones


class Ranks:
    """Counts scores by bucket, and remembers the bucket it was last asked for: the next question is mostly near."""

    def __init__(self) -> None:
        self.total = 0
        self._counts: dict[int, int] = {}
        self._buckets: list[int] = []  # the keys of the counts in ascending order; some may be empty
        self._at = 0  # a bucket, and how many scores lie in it or above
        self._above = 0

    def add(self, score: float, count: int = 1) -> None:
        """Count so many scores more; fewer, if `count` is negative."""
        bucket = bucket_of(score)
        counts = self._counts
        if bucket in counts:
            counts[bucket] += count
        else:
            counts[bucket] = count
            insort(self._buckets, bucket)
            if len(self._buckets) > _MANY:
                self._tidy()
        self.total += count
        if bucket >= self._at:
            self._above += count

    def move(self, before: float, after: float) -> None:
        self.add(before, -1)
        self.add(after)

    def _tidy(self) -> None:
        self._counts = {bucket: count for bucket, count in self._counts.items() if count}
        self._buckets = sorted(self._counts)

    def threshold(self, place: int) -> float:
        """The score that each of the best `place` has at least; minus infinity if no more than that wait."""
        if self.total <= place:
            return -inf
        buckets, counts = self._buckets, self._counts
        at = bisect_left(buckets, self._at)
        while self._above < place:
            at -= 1
            self._at = buckets[at]
            self._above += counts[self._at]
        while self._above - (count := counts.get(self._at, 0)) >= place:
            self._above -= count
            at += at < len(buckets) and buckets[at] == self._at
            self._at = buckets[at]
        return least_of(self._at)


def bucket_of(score: float) -> int:
    """Ascending with the score."""
    part, exponent = frexp(score)
    if part > 0:
        return _HALF + exponent * _STEPS + int((part - 0.5) * 2 * _STEPS)
    return -_HALF - exponent * _STEPS + floor((part + 0.5) * 2 * _STEPS) if part else 0


def least_of(bucket: int) -> float:
    """The smallest score of a bucket."""
    if not bucket:
        return 0.0
    if bucket > 0:
        exponent, step = divmod(bucket - _HALF, _STEPS)
        return float((0.5 + step / (2 * _STEPS)) * 2.0**exponent)
    exponent, step = divmod(-_HALF - bucket, _STEPS)
    return float(-(0.5 + step / (2 * _STEPS)) * 2.0**exponent)
