"""Collects the changes of one push to the frontier, so that they are written together."""

from __future__ import annotations  # before Python 3.12, array[int] is valid only in annotations

from array import array
from collections.abc import Callable, Sequence

from lycosa.frontier.hosts import Host
from lycosa.frontier.priority import rank_of
from lycosa.store.url_rows import Raised, Row
from lycosa.types import Band, Link

Route = Callable[[Sequence[Link], Sequence[float], Band], tuple[Sequence[Link], Sequence[float]]]
Groups = dict[tuple[Host, int], list[int]]  # URLs queued at one host with the same rank


class Batch:
    """The changes of one push."""

    __slots__ = ("_ranks", "band", "moved", "new", "raised", "rescored", "rows", "source", "targets")

    def __init__(self, source: int, band: Band = Band.FOUND) -> None:
        self.source = source  # the id of the page the links were found on
        self.band = band._value_  # a plain number, because it is used for every link
        self._ranks: dict[float, int] = {}  # cached: most links of a page share a few scores
        self.targets: array[int] = array("I")  # the ids of the links
        self.new: Groups = {}
        self.moved: Groups = {}  # already queued, with another rank
        self.rows: list[Row] = []
        self.raised: list[Raised] = []
        self.rescored: list[tuple[float, int]] = []

    def rank(self, score: float) -> int:
        rank = self._ranks.get(score)
        if rank is None:
            rank = self._ranks[score] = rank_of(score, self.band)
        return rank


def group(groups: Groups, host: Host, rank: int, number: int) -> None:
    ids = groups.get((host, rank))
    if ids is None:
        groups[host, rank] = [number]
    else:
        ids.append(number)
