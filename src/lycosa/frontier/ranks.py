"""The position of a rank among all queued URLs: a histogram of ranks that is kept up to date.

Because of politeness, the best hosts rest most of the time. Whether a URL of another host is worth a page of the budget
depends on its position among *all* queued URLs, not on whether it is the best of those that may be fetched now. Only
the order matters here, so strategies may use any scale: probabilities, money, minus the depth.

Nearly equal ranks share a bucket: scores within about one per cent. Between one half and one, where the probabilities
of a confident judge cluster, it is one per cent of the difference to one.
"""

from bisect import bisect_left, insort

from lycosa.frontier.priority import LOWEST, rank_of

_SHIFT, _STEPS = 46, 64  # buckets between a score and its double
_BITS = 52  # in the fraction of a float
_HALF = rank_of(0.5)
_FIRST, _END = _HALF >> _SHIFT, rank_of(1.0) >> _SHIFT
_MORE = (_BITS + 1) * _STEPS - (_END - _FIRST)  # extra buckets between one half and one
_MANY = 4_096  # number of buckets at which empty ones are discarded


class Ranks:
    """Counts ranks by bucket, and remembers the last bucket looked up: the next one is usually close by."""

    def __init__(self) -> None:
        self.total = 0
        self._counts: dict[int, int] = {}
        self._buckets: list[int] = []  # keys of the counts in ascending order; some may be empty
        self._at = 0  # a bucket, and the number of ranks in or above it
        self._above = 0

    def add(self, rank: int, count: int = 1) -> None:
        """Add `count` ranks; remove them if `count` is negative."""
        bucket = bucket_of(rank)
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

    def move(self, before: int, after: int, count: int = 1) -> None:
        self.add(before, -count)
        self.add(after, count)

    def _tidy(self) -> None:
        self._counts = {bucket: count for bucket, count in self._counts.items() if count}
        self._buckets = sorted(self._counts)

    def threshold(self, place: int) -> int:
        """The lower bound of the ranks of the best `place` URLs; the lowest rank if no more than that are queued."""
        if self.total <= place:
            return LOWEST
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


def bucket_of(rank: int) -> int:
    """Increases with the rank."""
    bucket = rank >> _SHIFT
    if bucket < _FIRST:
        return bucket
    if bucket >= _END:
        return bucket + _MORE
    missing = (1 << _BITS) - (rank - _HALF)  # the difference to one, in units in the last place
    size = missing.bit_length()
    step = (missing << _BITS >> (size + _BITS - 7)) & (_STEPS - 1)
    return _FIRST + (_BITS + 1 - size) * _STEPS + _STEPS - 1 - step


def least_of(bucket: int) -> int:
    """The lowest rank of a bucket."""
    if bucket < _FIRST:
        return bucket << _SHIFT
    if bucket >= _END + _MORE:
        return (bucket - _MORE) << _SHIFT
    doublings, step = divmod(bucket - _FIRST, _STEPS)
    size = _BITS + 1 - doublings
    most = ((2 * _STEPS - step << _BITS) - 1) >> (_BITS + 7 - size)  # upper bound of the difference
    return _HALF + max(0, (1 << _BITS) - most)
