"""The pages whose links wait, what those that were tried brought, and which of them come next breadth-first."""

from __future__ import annotations  # array[int] is a type before Python 3.12 only in annotations

from array import array
from collections import deque
from collections.abc import Sequence
from math import log
from typing import Any

from lycosa.strategy.link_features import Tally


class Source:
    """A fetched page, and what its links brought so far: the yield of siblings."""

    __slots__ = (
        *("cash", "distance", "given", "kids", "kind", "label", "luck", "number", "places", "relevance", "spots"),
        *("tally", "up", "waiting"),
    )

    def __init__(self, number: int, relevance: float, label: str, distance: int, cash: float, luck: float) -> None:
        self.number = number
        self.relevance = relevance
        self.label = label
        self.kind = 0  # the number of the name that links from pages of this class are counted under
        self.distance = distance  # clicks since the last page on topic
        self.cash = cash  # what each of its links gets
        self.luck = luck  # how eagerly its links are tried: this is where chance comes in
        self.given = 0.0  # credit that the link to it got for what its own links brought
        self.tally: Tally | None = None  # none of most pages: nothing was tried yet
        self.places: dict[int, Tally] = _NONE  # the same by the kind of address
        self.spots: dict[int, Tally] = _NONE  # and by where on the page they stand
        self.waiting: dict[int, int] = {}  # links that wait, by the kind of address
        self.kids: array[int] = array("I")  # the rows of these links, most promising first
        self.up = 0  # the row of the link that led here; 0 for a seed

    def add(self, row: int, place: int) -> None:
        self.kids.append(row)
        self.waiting[place] = self.waiting.get(place, 0) + 1

    def remove(self, row: int, place: int) -> None:
        """The link waits no longer."""
        self.kids.remove(row)
        left = self.waiting[place] - 1
        if left:
            self.waiting[place] = left
        else:
            del self.waiting[place]

    def count(self, place: int, spot: int, good: float, tried: float) -> None:
        """Take down what one of its links brought."""
        if self.tally is None:
            self.tally, self.places, self.spots = Tally(), {}, {}
        self.tally.add(good, tried)
        self.places.setdefault(place, Tally()).add(good, tried)
        self.spots.setdefault(spot, Tally()).add(good, tried)

    def near(self, spot: int, rate: float) -> float:
        """The surplus of the links around a spot; those a little further away count half."""
        spots, good, tried = self.spots, 0.0, 0.0
        if tally := spots.get(spot):
            good, tried = tally.good, tally.tried
        for beside in (spot - 1, spot + 1):
            if tally := spots.get(beside):
                good += 0.5 * tally.good
                tried += 0.5 * tally.tried
        return log((good + 1.0) / (tried * rate + 1.0)) if tried else 0.0

    def state(self) -> list[Any]:
        """What changes while its links are tried."""
        tally = self.tally or Tally()
        groups = [{key: found.state() for key, found in group.items()} for group in (self.places, self.spots)]
        return [tally.good, tally.tried, self.given, *groups]

    def load(self, state: Sequence[Any]) -> None:
        good, tried, self.given, places, spots = state
        self.tally = Tally(good, tried)
        self.places = {place: Tally(*parts) for place, parts in places.items()}
        self.spots = {spot: Tally(*parts) for spot, parts in spots.items()}


_NONE: dict[int, Tally] = {}  # shared by all pages of which nothing was counted; never written to


class Levels:
    """Pages by clicks from a seed: where to look around, breadth-first, while nothing tells where to go."""

    def __init__(self) -> None:
        self._levels: dict[int, deque[Source]] = {}

    def add(self, source: Source, depth: int) -> None:
        self._levels.setdefault(depth, deque()).append(source)

    def turn(self, turns: array[int], twins: array[int]) -> int:
        """The row of the next link in turn: of the first page with the fewest clicks, the one with the best words."""
        for depth in sorted(self._levels):
            level = self._levels[depth]
            while level:
                for row in level[0].kids:
                    if not turns[row] and not twins[row]:
                        turns[row] = 1
                        return row
                level.popleft()
        return 0
