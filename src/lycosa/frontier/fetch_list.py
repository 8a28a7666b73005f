"""Fetch lists: the N best URLs at one moment are fetched before any others are chosen.

Strategies whose scores flow along links (OPIC, OTIE) choose this way. URLs on the list are queued like all others, but
in a band above them; the rest have to wait.
"""

from __future__ import annotations  # before Python 3.12, array[int] is valid only in annotations

from array import array
from collections.abc import Callable
from heapq import heapify, heappop, heapreplace

from lycosa.frontier.hosts import Hosts
from lycosa.frontier.priority import rank_of, score_of
from lycosa.store.db import CrawlDb
from lycosa.types import Band


class FetchList:
    """The URLs of the current list that are not done yet."""

    def __init__(self, size: int, db: CrawlDb) -> None:
        self.size = size
        self.places: dict[int, int] = {}  # from id to rank
        self._db = db

    def choose(self, hosts: Hosts, waits: Callable[[int, int], bool], now: float) -> list[float]:
        """Put the best URLs of all hosts on the list, due or not, and return their scores, best first."""
        heads = [(*head, host.id) for host in hosts.all if not host.closed and (head := host.queue.head(waits))]
        heapify(heads)
        chosen: list[tuple[int, int]] = []
        scores: list[float] = []
        while heads and len(chosen) < self.size:
            minus, number, host_id = heads[0]
            chosen.append((number, host_id))
            scores.append(score_of(-minus))
            queue = hosts.all[host_id].queue
            queue.advance()
            head = queue.head(waits)
            if head:
                heapreplace(heads, (*head, host_id))
            else:
                heappop(heads)
        self._place([number for number, _ in chosen])
        for number, host_id in chosen:
            hosts.push(hosts.all[host_id], self.places[number], array("I", [number]), now)
        self._write()
        return scores

    def strike(self, number: int) -> None:
        """Remove a URL that is done."""
        self.places.pop(number, None)

    def load(self) -> None:
        """Restore the list of a killed run; the frontier removes the URLs that are done."""
        self._place([*map(int, self._db.get("list").split())])

    def _place(self, numbers: list[int]) -> None:
        self.places = {number: rank_of(-place, Band.LISTED) for place, number in enumerate(numbers)}

    def _write(self) -> None:
        self._db.put("list", " ".join(map(str, self.places)))
