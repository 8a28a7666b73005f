"""Fetch lists: the N best at one moment are asked before anything is chosen again.

Strategies whose scores flow along links (OPIC, OTIE) choose that way. What is on the list waits in the queues like
everything else, with its place on the list as a score above all others; the rest waits below a floor.
"""

from __future__ import annotations  # array[int] is a type before Python 3.12 only in annotations

from array import array
from collections.abc import Callable, Sequence
from heapq import heapify, heappop, heapreplace
from typing import Protocol, runtime_checkable

from lycosa.frontier.hosts import Hosts
from lycosa.store.db import CrawlDb
from lycosa.types import Link

FIRST_PLACE = 2e9  # above every score, that of seeds too
FLOOR = 1.5e9


@runtime_checkable
class Listing(Protocol):
    """A strategy that chooses by lists of `list_size`, and may do something of its own between two of them."""

    list_size: int

    def connect(
        self, db: CrawlDb, refuses: Callable[[str, int], str], scale: Callable[[float], None]
    ) -> None: ...  # where to keep notes, which links may not be asked, how to shrink all scores
    def first(self, found: float) -> float: ...  # what a URL waits with that was found for the first time
    def begin_list(self, scores: Sequence[float]) -> None: ...
    def end_list(self) -> tuple[Sequence[Link], Sequence[float]]: ...


class FetchList:
    """The URLs chosen last and not done yet."""

    def __init__(self, size: int, db: CrawlDb) -> None:
        self.size = size
        self.places: dict[int, float] = {}
        self._db = db

    def choose(self, hosts: Hosts, waits: Callable[[int, float], bool], now: float) -> list[float]:
        """Put the best of all hosts on the list, due or not; their scores, best first."""
        heads = [(*head, host.id) for host in hosts.all if not host.closed and (head := host.queue.head(waits))]
        heapify(heads)
        chosen: list[tuple[int, int]] = []
        scores: list[float] = []
        while heads and len(chosen) < self.size:
            minus, number, host_id = heads[0]
            chosen.append((number, host_id))
            scores.append(-minus)
            queue = hosts.all[host_id].queue
            queue.advance()
            head = queue.head(waits)
            if head:
                heapreplace(heads, (*head, host_id))
            else:
                heappop(heads)
        self.places = {number: FIRST_PLACE - place for place, (number, _) in enumerate(chosen)}
        for number, host_id in chosen:
            hosts.push(hosts.all[host_id], self.places[number], array("I", [number]), now)
        self._write()
        return scores

    def strike(self, number: int) -> None:
        """This one is done."""
        self.places.pop(number, None)

    def load(self) -> None:
        """The list a killed run had chosen; what it did of it is struck by the frontier."""
        names = self._db.get("list").split()
        self.places = {int(name): FIRST_PLACE - place for place, name in enumerate(names)}

    def _write(self) -> None:
        self._db.put("list", " ".join(map(str, self.places)))
