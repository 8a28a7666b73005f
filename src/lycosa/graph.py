"""Link analysis: hubs and authorities, PageRank, and the algorithm of early Nutch.

A graph is two arrays, `sources` and `targets`: link number i leads from page sources[i] to page targets[i], and pages
are numbered from 0. One iteration over a million links takes about ten milliseconds.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Ids = NDArray[np.intp]

JUMP = 0.15  # the probability of a random jump instead of following a link
MOST_ROUNDS = 200
CLOSE_ENOUGH = 1e-9  # tolerance: the largest change of one page in one iteration


@dataclass(frozen=True)
class Graph:
    """Links between pages 0 to size - 1, without duplicates, as ensured by `make_graph`."""

    sources: Ids
    targets: Ids
    size: int

    def received(self, values: NDArray[Any]) -> Floats:
        """For each page, the sum over the pages that link to it."""
        return _sums(self.targets, values[self.sources], self.size)

    def offered(self, values: NDArray[Any]) -> Floats:
        """For each page, the sum over the pages it links to."""
        return _sums(self.sources, values[self.targets], self.size)

    def out_degrees(self) -> Ids:
        return np.bincount(self.sources, minlength=self.size)


def make_graph(sources: ArrayLike, targets: ArrayLike, size: int) -> Graph:
    """Build a graph without duplicate links and without links from a page to itself."""
    start, end = np.asarray(sources, np.int64), np.asarray(targets, np.int64)
    if start.shape != end.shape or start.ndim != 1:
        raise ValueError("as many sources as targets are needed")
    if start.size and not 0 <= min(start.min(), end.min()) <= max(start.max(), end.max()) < size:
        raise ValueError(f"pages are numbered from 0 to {size - 1}")
    pairs = np.unique((end * size + start)[start != end])  # sorted by target: sums then access memory sequentially
    return Graph((pairs % max(size, 1)).astype(np.intp), (pairs // max(size, 1)).astype(np.intp), size)


def hits(graph: Graph, most_rounds: int = MOST_ROUNDS) -> tuple[Floats, Floats]:
    """Hubs and authorities (Kleinberg 1999): a good hub links to good authorities, and a good authority is linked from
    good hubs.

    Both vectors are normalised to unit length. A graph without links has neither.
    """
    authorities = np.zeros(graph.size)

    def one_round(hubs: Floats) -> Floats:
        nonlocal authorities
        authorities = _unit(graph.received(hubs))
        return _unit(graph.offered(authorities))

    return _settle(one_round, np.ones(graph.size), most_rounds), authorities


def pagerank(graph: Graph, jump: float = JUMP, most_rounds: int = MOST_ROUNDS) -> Floats:
    """The probability that a random surfer is at each page; the sum is 1.

    With probability `jump`, and always from a page without links, the surfer moves to a random page.
    """
    links = graph.out_degrees()
    dangling = links == 0
    share = (1 - jump) / np.maximum(links, 1)

    def one_round(rank: Floats) -> Floats:
        anywhere = jump + (1 - jump) * float(rank[dangling].sum())
        return graph.received(rank * share) + anywhere / graph.size

    return _settle(one_round, np.ones(graph.size) / max(graph.size, 1), most_rounds)


def nutch(graph: Graph, rounds: int, jump: float = JUMP) -> Floats:
    """The link analysis of Nutch 0.7: the score of a page is the jump plus what its in-links pass on.

    A page passes what it received on to those of its targets that have links themselves, so that dead ends drain
    nothing; the final score is divided among all targets.
    """
    links = graph.out_degrees()
    alive = links > 0
    onward = graph.offered(alive)  # targets that have links
    score = given = np.ones(graph.size)
    for _ in range(rounds):
        score = jump + (1 - jump) * graph.received(given / np.maximum(links, 1))
        given = jump + (1 - jump) * np.where(alive, graph.received(given / np.maximum(onward, 1)), 0.0)
    return score


def _settle(one_round: Callable[[Floats], Floats], values: Floats, most_rounds: int) -> Floats:
    """Iterate until convergence."""
    for _ in range(most_rounds if values.size else 0):
        before, values = values, one_round(values)
        if np.abs(values - before).max() < CLOSE_ENOUGH:
            break
    return values


def _sums(pages: Ids, values: NDArray[Any], size: int) -> Floats:
    return np.bincount(pages, values, size).astype(np.float64, copy=False)


def _unit(values: Floats) -> Floats:
    length = np.sqrt((values * values).sum())
    return values / length if length else values
