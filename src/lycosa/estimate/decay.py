"""How much is left, judging by the harvest alone: as relevant pages become rare, extrapolate how many are to come.

The cumulative curve of relevant pages over fetched pages is kept in a bounded number of bins. From its steepest part
on, two families of saturating curves, an exponential and one with a longer tail, are fitted over a grid of speeds. Each
candidate predicts the final number of relevant pages and is weighted by its likelihood; the spread of the predictions
is the range. A topic may also end abruptly, so the upper end is at least what the latest pages allow; and until the
harvest has faded, how much more there is cannot be estimated, so the lower end is zero.
"""

from collections.abc import Sequence
from math import sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

MOST_BINS = 128  # above this, bins are merged in pairs
LEAST_BINS = 8  # after the steepest part, to tell a decline from noise
LEAST_FOUND = 5  # relevant pages: fewer make no curve
CLUSTERING = 4.0  # relevant pages come in lists, so this many count as one independent observation
SPEEDS = np.geomspace(0.03, 2.0, 20)  # of the decline, in units of the crawl's length so far
TAILS = (3.0, np.inf)  # exponent of the long tail; infinite: exponential
LOW, HIGH = 0.1, 0.9  # quantiles that bound the range
LATEST = 0.1  # share of the pages
FADED = 0.5  # share of the best rate below which the harvest has faded
_SMOOTH = 5  # bins over which the steepest rate is averaged

Floats = NDArray[np.float64]


class Range(NamedTuple):
    """An estimated share of all relevant pages."""

    low: float
    middle: float
    high: float


class Curve:
    """Relevant pages over the crawl, in at most `MOST_BINS` bins of equal width."""

    def __init__(self) -> None:
        self.width = 1  # pages per bin
        self.bins: list[int] = []  # relevant pages in each; the last bin may be incomplete
        self.pages = 0

    def add(self, relevant: bool) -> None:
        if self.pages == self.width * len(self.bins):
            if len(self.bins) == MOST_BINS:
                self.bins = [sum(self.bins[place : place + 2]) for place in range(0, MOST_BINS, 2)]
                self.width *= 2
            self.bins.append(0)
        self.bins[-1] += relevant
        self.pages += 1

    @property
    def found(self) -> int:
        return sum(self.bins)

    def save(self) -> dict[str, Any]:
        return {"width": self.width, "bins": self.bins, "pages": self.pages}

    def load(self, state: dict[str, Any]) -> None:
        self.width, self.bins, self.pages = int(state["width"]), [*map(int, state["bins"])], int(state["pages"])


def extrapolate(curve: Curve) -> Range | None:
    """Estimate the share of the relevant pages that has been found; None while there are too few to tell."""
    if curve.found < LEAST_FOUND:
        return None
    edges = np.minimum(np.arange(len(curve.bins) + 1) * curve.width, curve.pages).astype(float)
    start, best = _steepest(curve.bins, np.diff(edges))
    after = np.array(curve.bins[start:], dtype=float)
    totals, fits = _candidates(after, edges[start:] - edges[start], curve.pages)
    shares = np.minimum(1.0, curve.found / (curve.found - after.sum() + totals))
    weights = np.exp((fits - fits.max()) / CLUSTERING)
    low, middle, high = _spread(shares, weights / weights.sum())
    count = max(1, round(LATEST * len(curve.bins)))
    latest, pages = sum(curve.bins[-count:]), edges[-1] - edges[-1 - count]
    least = max(0.0, latest - 1.28 * sqrt(latest))  # lower bound for what is still to come, allowing for chance
    return Range(low if latest < FADED * best * pages else 0.0, middle, max(high, curve.found / (curve.found + least)))


def _steepest(found: Sequence[int], pages: Floats) -> tuple[int, float]:
    """Return the bin with the best harvest (the first bin if that is the latest one), and the rate there."""
    around = np.ones(min(_SMOOTH, len(found)))
    rate = np.convolve(found, around, "same") / np.convolve(pages, around, "same")
    peak = int(np.argmax(rate))
    return peak if peak <= len(found) - LEAST_BINS else 0, float(rate[peak])


def _candidates(found: Floats, edges: Floats, length: int) -> tuple[Floats, Floats]:
    """Return, for each family and speed, the final number of relevant pages and the log-likelihood of what was found.

    A curve gives the share of them found by each page; the total follows from the number found so far.
    """
    totals, fits = [], []
    for tail in TAILS:
        scaled = edges / (SPEEDS[:, None] * length)
        share = 1.0 - (np.exp(-scaled) if np.isinf(tail) else (1.0 + scaled / tail) ** -tail)
        total = found.sum() / share[:, -1]
        expected = np.maximum(total[:, None] * np.diff(share, axis=1), 1e-12)
        totals.append(total)
        fits.append((found * np.log(expected) - expected).sum(axis=1))
    return np.concatenate(totals), np.concatenate(fits)


def _spread(shares: Floats, weights: Floats) -> Range:
    order = np.argsort(shares)
    below = np.cumsum(weights[order])
    low, high = (float(shares[order][min(len(order) - 1, int(np.searchsorted(below, at)))]) for at in (LOW, HIGH))
    return Range(low, float(shares @ weights), high)
