"""What waits at one host: URL ids, highest score first, first found first among equals.

Links of one page that go to the same host with the same score wait as one run, so a page costs a handful of heap
operations instead of one per link, and a waiting URL about twelve bytes. The order is exact all the same: a run is
keyed by its next id, so runs of equal score interleave by id.

A key is one whole number, made of score and id: where each URL has a score of its own, a heap of tuples would take
three times the memory.
"""

from __future__ import annotations  # array[int] is a type before Python 3.12 only in annotations

import struct
from array import array
from collections.abc import Callable, Sequence
from heapq import heapify, heappop, heappush, heapreplace

_FEW = 8  # stale entries that each queue may have: there may be very many queues
_ALONE: array[int] = array("I")
_ID_BITS = 32
_IDS = (1 << _ID_BITS) - 1
_SIGN, _ONES = 1 << 63, (1 << 64) - 1
_as_float, _as_bits = struct.Struct("<d"), struct.Struct("<Q")


class HostQueue:
    """A heap of runs. An id that was taken, or waits with another score by now, is passed over when it comes up."""

    __slots__ = ("_heap", "_left_behind", "_runs", "_size")

    def __init__(self) -> None:
        self._heap: list[int] = []  # a key for each run
        self._runs: dict[
            int, tuple[array[int], int]
        ] = {}  # by key: its ids and where the next stands; not if it is one
        self._size = 0
        self._left_behind = 0  # entries that a change of score has made stale

    def push(self, score: float, ids: Sequence[int]) -> None:
        """`ids` in ascending order."""
        for key in self._keys(score, ids):
            heappush(self._heap, key)

    def _keys(self, score: float, ids: Sequence[int]) -> Sequence[int]:
        """The key of a new run: of each id by itself if there is such a run already, whose ids left and came back."""
        self._size += len(ids)
        key = _key(score, ids[0])
        if len(ids) == 1:
            return (key,)
        if key in self._runs:
            return [key - ids[0] + number for number in ids]
        self._runs[key] = array("I", ids), 0
        return (key,)

    def move(self, score: float, ids: Sequence[int], waits: Callable[[int, float], bool]) -> None:
        """The same for ids that wait here already, with another score."""
        self.push(score, ids)
        self._left_behind += len(ids)
        if self._left_behind > max(_FEW, self._size // 2):
            self._tidy(waits)

    def _tidy(self, waits: Callable[[int, float], bool]) -> None:
        """Drop what no longer waits: where scores add up, each change leaves an entry behind that never comes up."""
        kept = [(score, [number for number in ids if waits(number, score)]) for score, ids in self._all()]
        self._fill([(score, ids) for score, ids in kept if ids])

    def _all(self) -> list[tuple[float, Sequence[int]]]:
        """Scores and ids that may wait here, run by run."""
        runs, found = dict(self._runs), list[tuple[float, Sequence[int]]]()
        for key in self._heap:
            ids, at = runs.pop(key, (None, 0))
            found.append((_score(key), (key & _IDS,) if ids is None else ids[at:]))
        return found

    def _fill(self, runs: Sequence[tuple[float, Sequence[int]]]) -> None:
        self._runs, self._size, self._left_behind = {}, 0, 0
        self._heap = [key for score, ids in runs for key in self._keys(score, ids)]
        heapify(self._heap)

    def head(self, waits: Callable[[int, float], bool]) -> tuple[float, int] | None:
        """Minus the score and the id of the best that still waits, or None; `waits(id, score)` knows."""
        heap = self._heap
        while heap:
            key = heap[0]
            score = _score(key)
            if waits(key & _IDS, score):
                return -score, key & _IDS
            self.advance()
        return None

    def advance(self) -> None:
        """Pass over the head."""
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
            if following in self._runs:  # another run goes on there: the rest goes on one by one
                for number in ids[at + 1 :]:
                    heappush(self._heap, key - ids[at - 1] + number)
            else:
                self._runs[following] = ids, at

    def scale(self, factor: float, below: float) -> None:
        """Multiply the scores below a bound; the order stays."""
        self._fill([(score * factor if score < below else score, ids) for score, ids in self._all()])

    def waiting(self, waits: Callable[[int, float], bool]) -> set[int]:
        """All ids that wait here; `waits(id, score)` knows."""
        return {number for score, ids in self._all() for number in ids if waits(number, score)}


def _key(score: float, number: int) -> int:
    """The higher the score, the lower the key; among equals, the lower the number."""
    bits: int = _as_bits.unpack(_as_float.pack(-score or 0.0))[0]  # zero has two forms, and must have one key
    return (bits ^ (_ONES if bits & _SIGN else _SIGN)) << _ID_BITS | number


def _score(key: int) -> float:
    bits = key >> _ID_BITS
    minus: float = _as_float.unpack(_as_bits.pack(bits ^ (_SIGN if bits & _SIGN else _ONES)))[0]
    return -minus
