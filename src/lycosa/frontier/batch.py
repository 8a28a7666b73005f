"""What one push to the frontier changes, gathered before it is written at once."""

from __future__ import annotations  # array[int] is a type before Python 3.12 only in annotations

from array import array

from lycosa.frontier.hosts import Host

Groups = dict[tuple[Host, float], list[int]]  # URLs that wait at one host with one score


class Batch:
    """One push."""

    __slots__ = ("moved", "new", "raised", "rescored", "rows", "source", "targets")

    def __init__(self, source: int) -> None:
        self.source = source  # the id of the page the links were found on
        self.targets: array[int] = array("I")  # the ids of the links
        self.new: Groups = {}
        self.moved: Groups = {}  # they waited before, with another score
        self.rows: list[tuple[int, str, int, str, int, float, int]] = []
        self.raised: list[tuple[float, int, str, int, int]] = []
        self.rescored: list[tuple[float, int]] = []


def group(groups: Groups, host: Host, score: float, number: int) -> None:
    ids = groups.get((host, score))
    if ids is None:
        groups[host, score] = [number]
    else:
        ids.append(number)
