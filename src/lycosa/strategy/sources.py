"""The pages with queued links, the yield of the links tried so far, and the order for exploration."""

from __future__ import annotations  # before Python 3.12, array[int] works in annotations only

from array import array
from collections import deque
from collections.abc import Sequence
from math import log
from typing import Any

from lycosa.strategy.link_features import Tally


class Source:
    """A fetched page and the yield of its links so far."""

    __slots__ = (
        *(
            "cash",
            "distance",
            "given",
            "kids",
            "kind",
            "label",
            "level",
            "luck",
            "number",
            "places",
            "relevance",
            "spots",
        ),
        *("tally", "up", "waiting"),
    )

    def __init__(self, number: int, relevance: float, label: str, distance: int, cash: float, luck: float) -> None:
        self.number = number
        self.relevance = relevance
        self.label = label
        self.kind = 0  # number of the name under which links from pages of this class are counted
        self.distance = distance  # clicks since the last relevant page
        self.cash = cash  # what each of its links gets
        self.luck = luck  # random factor: how eagerly its links are tried
        self.given = 0.0  # credit that the link to it received for the yield of its own links
        self.tally: Tally | None = None  # None for most pages: nothing has been tried yet
        self.places: dict[int, Tally] = _NONE  # the same by kind of address
        self.spots: dict[int, Tally] = _NONE  # and by position on the page
        self.waiting: dict[int, int] = {}  # queued links, by kind of address
        self.kids: array[int] = array("I")  # rows of these links, most promising first
        self.up = 0  # row of the link that led here; 0 for a seed
        self.level = 0  # how far its URL is below the root of its host

    def add(self, row: int, place: int) -> None:
        self.kids.append(row)
        self.waiting[place] = self.waiting.get(place, 0) + 1

    def remove(self, row: int, place: int) -> None:
        """Remove a link that is no longer queued."""
        self.kids.remove(row)
        left = self.waiting[place] - 1
        if left:
            self.waiting[place] = left
        else:
            del self.waiting[place]

    def count(self, place: int, spot: int, good: float, tried: float) -> None:
        """Record the outcome of one of its links."""
        if self.tally is None:
            self.tally, self.places, self.spots = Tally(), {}, {}
        self.tally.add(good, tried)
        self.places.setdefault(place, Tally()).add(good, tried)
        self.spots.setdefault(spot, Tally()).add(good, tried)

    def near(self, spot: int, rate: float) -> float:
        """Return the surplus of the links around a position; those slightly further away count half."""
        spots, good, tried = self.spots, 0.0, 0.0
        if tally := spots.get(spot):
            good, tried = tally.good, tally.tried
        for beside in (spot - 1, spot + 1):
            if tally := spots.get(beside):
                good += 0.5 * tally.good
                tried += 0.5 * tally.tried
        return log((good + 1.0) / (tried * rate + 1.0)) if tried else 0.0

    def state(self) -> list[Any]:
        """Return the state that changes as its links are tried, or when its verdict is revised."""
        tally = self.tally or Tally()
        groups = [
            [number for key, found in group.items() for number in (key, found.good, found.tried)]
            for group in (self.places, self.spots)
        ]
        return [tally.good, tally.tried, self.given, *groups, self.relevance, self.label, self.distance]

    def load(self, state: Sequence[Any]) -> None:
        good, tried, self.given, places, spots, self.relevance, self.label, self.distance = state
        self.tally = Tally(good, tried)
        self.places, self.spots = _tallies(places), _tallies(spots)


def _tallies(numbers: Sequence[Any]) -> dict[int, Tally]:
    """Each as three numbers: its key, and how many were good and tried."""
    found = iter(numbers)
    return {key: Tally(good, tried) for key, good, tried in zip(found, found, found, strict=True)}


_NONE: dict[int, Tally] = {}  # shared by all pages without counts; never written to


class Levels:
    """Pages by how far they are below the root of their host, then by clicks from a seed: explored from the top, where
    the indexes are, while there is no evidence where to go. A crawl that starts deep inside a site would find little
    around its seed."""

    def __init__(self) -> None:
        self._levels: dict[tuple[int, int], deque[Source]] = {}

    def add(self, source: Source, clicks: int) -> None:
        self._levels.setdefault((source.level, clicks), deque()).append(source)

    def turn(self, turns: array[int], twins: array[int]) -> int:
        """Return the row of the next link to explore: on the first page of the highest level, the best by its words."""
        for place in sorted(self._levels):
            level = self._levels[place]
            while level:
                for row in level[0].kids:
                    if not turns[row] and not twins[row]:
                        turns[row] = 1
                        return row
                level.popleft()
        return 0
