"""The queue of one host: URL ids, highest rank first, first found first among equals.

Links of one page that go to the same host with the same rank are queued as one run, so a page costs a handful of heap
operations instead of one per link, and a queued URL about twelve bytes. The order is still exact: a run is keyed by its
next id, so runs of equal rank interleave by id.

A key is one integer, composed of rank and id: where each URL has its own rank, a heap of tuples would take three times
the memory.
"""

from __future__ import annotations  # before Python 3.12, array[int] is valid only in annotations

from array import array
from collections.abc import Callable, Sequence
from heapq import heapify, heappop, heappush, heapreplace

from lycosa.frontier.priority import NEVER, band_of, rank_of, score_of

_FEW = 8  # stale entries that each queue may have; there may be very many queues
_ALONE: array[int] = array("I")
_ID_BITS = 32
_IDS = (1 << _ID_BITS) - 1

Among = Callable[[Sequence[int], int], list[int]]  # those of the ids that are queued with this rank


class HostQueue:
    """A heap of runs. An id that was taken, or is now queued with another rank, is skipped when it comes up."""

    __slots__ = ("_heap", "_left_behind", "_runs", "_size")

    def __init__(self) -> None:
        self._heap: list[int] = []  # one key per run
        self._runs: dict[
            int, tuple[array[int], int]
        ] = {}  # by key: its ids and the position of the next; single ids have no entry
        self._size = 0
        self._left_behind = 0  # number of entries made stale by a change of rank

    def push(self, rank: int, ids: Sequence[int]) -> None:
        """Queue `ids`, which must be in ascending order."""
        if len(ids) == 1:  # like most links where each has a score of its own
            self._size += 1
            heappush(self._heap, _key(rank, ids[0]))
            return
        for key in self._keys(rank, ids):
            heappush(self._heap, key)

    def _keys(self, rank: int, ids: Sequence[int]) -> Sequence[int]:
        """The key of a new run; if that run already exists, because its ids were removed and came back, one key per
        id."""
        self._size += len(ids)
        key = _key(rank, ids[0])
        if len(ids) == 1:
            return (key,)
        if key in self._runs:
            return [key - ids[0] + number for number in ids]
        self._runs[key] = array("I", ids), 0
        return (key,)

    def move(self, rank: int, ids: Sequence[int], among: Among) -> None:
        """Like `push`, for ids that are already queued here with another rank."""
        self.push(rank, ids)
        self._left_behind += len(ids)
        if self._left_behind > max(_FEW, self._size // 2):
            self._tidy(among)

    def _tidy(self, among: Among) -> None:
        """Discard stale entries: where scores add up, each change leaves behind an entry that never comes up."""
        kept = [(rank, among(ids, rank)) for rank, ids in self._all()]
        self._fill([(rank, ids) for rank, ids in kept if ids])

    def _all(self) -> list[tuple[int, Sequence[int]]]:
        """Ranks and ids that may be queued here, by run."""
        runs, found = dict(self._runs), list[tuple[int, Sequence[int]]]()
        for key in self._heap:
            ids, at = runs.pop(key, (None, 0))
            found.append((_rank(key), (key & _IDS,) if ids is None else ids[at:]))
        return found

    def _fill(self, runs: Sequence[tuple[int, Sequence[int]]]) -> None:
        self._runs, self._size, self._left_behind = {}, 0, 0
        self._heap = [key for rank, ids in runs for key in self._keys(rank, ids)]
        heapify(self._heap)

    def head(self, waits: Callable[[int, int], bool]) -> tuple[int, int] | None:
        """Minus the rank, and the id, of the best entry that is still queued according to `waits(id, rank)`; None if
        there is none."""
        heap = self._heap
        while heap:
            key = heap[0]
            rank = _rank(key)
            if waits(key & _IDS, rank):
                return -rank, key & _IDS
            self.advance()
        return None

    def advance(self) -> None:
        """Skip the head."""
        self._size -= 1
        key = self._heap[0]
        ids, at = self._runs.pop(key, (_ALONE, 0))
        at += 1
        if at >= len(ids):
            heappop(self._heap)
            return
        following = key - ids[at - 1] + ids[at]
        heapreplace(self._heap, following)
        if at + 1 < len(ids):
            if following in self._runs:  # another run continues there: queue the remaining ids one by one
                for number in ids[at + 1 :]:
                    heappush(self._heap, key - ids[at - 1] + number)
            else:
                self._runs[following] = ids, at

    def scale(self, factor: float, below: int) -> None:
        """Multiply the scores of all bands below the given one; the order does not change."""
        scaled = ((rank_of(score_of(rank) * factor, band_of(rank)), rank, ids) for rank, ids in self._all())
        self._fill([(new if band_of(rank) < below else rank, ids) for new, rank, ids in scaled])

    def waiting(self, among: Among) -> set[int]:
        """All ids queued here, according to `among(ids, rank)`."""
        return {number for rank, ids in self._all() for number in among(ids, rank)}


def _key(rank: int, number: int) -> int:
    """The higher the rank, the lower the key; among equals, the lower the id, the lower the key."""
    return (NEVER - rank) << _ID_BITS | number


def _rank(key: int) -> int:
    return NEVER - (key >> _ID_BITS)
