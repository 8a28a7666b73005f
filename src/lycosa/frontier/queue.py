"""What waits at one host: URL ids, highest score first, first found first among equals.

Links of one page that go to the same host with the same score wait as one run, so a page costs a handful of heap
operations instead of one per link, and a waiting URL about twelve bytes. The order is exact all the same: a run is
keyed by its next id, so runs of equal score interleave by id.
"""

from __future__ import annotations  # array[int] is a type before Python 3.12 only in annotations

from array import array
from collections.abc import Callable, Sequence
from heapq import heapify, heappop, heappush, heapreplace
from typing import TypeAlias

# minus the score, the next id, all ids of the run in order, the position of the next
Run: TypeAlias = "tuple[float, int, array[int], int]"

_FEW = 8  # stale entries that each queue may have: there may be very many queues
_ONE: array[int] = array("I", [0])  # stands for the ids of a run of one: most are, where each URL has its own score


class HostQueue:
    """A heap of runs. An id that was taken, or waits with another score by now, is passed over when it comes up."""

    __slots__ = ("_left_behind", "_runs", "_size")

    def __init__(self) -> None:
        self._runs: list[Run] = []
        self._size = 0
        self._left_behind = 0  # entries that a change of score has made stale

    def push(self, score: float, ids: array[int]) -> None:
        """`ids` in ascending order."""
        heappush(self._runs, (-score, ids[0], ids if len(ids) > 1 else _ONE, 0))
        self._size += len(ids)

    def move(self, score: float, ids: array[int], waits: Callable[[int, float], bool]) -> None:
        """The same for ids that wait here already, with another score."""
        self.push(score, ids)
        self._left_behind += len(ids)
        if self._left_behind > max(_FEW, self._size // 2):
            self._tidy(waits)

    def _tidy(self, waits: Callable[[int, float], bool]) -> None:
        """Drop what no longer waits: where scores add up, each change leaves an entry behind that never comes up."""
        runs = []
        for minus, first, ids, at in self._runs:
            left = [number for number in _left(first, ids, at) if waits(number, -minus)]
            if left:
                runs.append((minus, left[0], array("I", left) if len(left) > 1 else _ONE, 0))
        heapify(runs)
        self._runs = runs
        self._size = sum(len(ids) for _, _, ids, _ in runs)
        self._left_behind = 0

    def head(self, waits: Callable[[int, float], bool]) -> tuple[float, int] | None:
        """Minus the score and the id of the best that still waits, or None; `waits(id, score)` knows."""
        runs = self._runs
        while runs:
            minus, first, _, _ = runs[0]
            if waits(first, -minus):
                return minus, first
            self.advance()
        return None

    def advance(self) -> None:
        """Pass over the head."""
        minus, _, ids, at = self._runs[0]
        at += 1
        if at < len(ids):
            heapreplace(self._runs, (minus, ids[at], ids, at))
        else:
            heappop(self._runs)
        self._size -= 1

    def scale(self, factor: float, below: float) -> None:
        """Multiply the scores below a bound; the order stays."""
        self._runs = [
            (minus * factor if -minus < below else minus, first, ids, at) for minus, first, ids, at in self._runs
        ]

    def waiting(self, waits: Callable[[int, float], bool]) -> set[int]:
        """All ids that wait here; `waits(id, score)` knows."""
        return {
            number for minus, first, ids, at in self._runs for number in _left(first, ids, at) if waits(number, -minus)
        }


def _left(first: int, ids: array[int], at: int) -> Sequence[int]:
    return ids[at:] if len(ids) > 1 else (first,)
