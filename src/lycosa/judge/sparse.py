"""A sparse matrix with one row per page: enough to select, count and split, in numpy alone."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lycosa.judge.features import Ids


@dataclass
class Rows:
    """Row i has the entries `starts[i]:starts[i + 1]` of `columns` and `values`."""

    starts: NDArray[np.int64]
    columns: Ids
    values: NDArray[Any]
    width: int

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __iter__(self) -> Iterator[tuple[Ids, NDArray[Any]]]:
        for start, end in zip(self.starts[:-1].tolist(), self.starts[1:].tolist(), strict=True):
            yield self.columns[start:end], self.values[start:end]

    def take(self, chosen: NDArray[np.intp]) -> "Rows":
        """Return some of the rows, in the order given."""
        lengths = np.diff(self.starts)[chosen]
        starts = np.concatenate([[0], np.cumsum(lengths)])
        entries = np.arange(starts[-1]) + np.repeat(self.starts[chosen] - starts[:-1], lengths)
        return Rows(starts, self.columns[entries], self.values[entries], self.width)

    def keep(self, columns: NDArray[np.intp]) -> "Rows":
        """Return some of the columns, renumbered; `columns` is in ascending order."""
        numbers = np.full(self.width, -1, np.int32)
        numbers[columns] = np.arange(len(columns))
        found = numbers[self.columns]
        kept = found >= 0
        starts = np.concatenate([[0], np.cumsum(kept)])[self.starts]
        return Rows(starts, found[kept], self.values[kept], len(columns))

    def row_numbers(self) -> NDArray[np.intp]:
        """Return the row of each entry."""
        return np.repeat(np.arange(len(self)), np.diff(self.starts))

    def sums(self) -> NDArray[np.float64]:
        """Return the sum of each column."""
        return np.bincount(self.columns, self.values, self.width).astype(np.float64)

    def to_scipy(self) -> Any:
        from scipy.sparse import csr_matrix

        return csr_matrix((self.values, self.columns, self.starts), (len(self), self.width))


def folds(classes: NDArray[np.intp], number: int, seed: int) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Split the pages into stratified folds; yield the training and test indices of each."""
    shuffled = np.random.default_rng(seed).permutation(len(classes))
    by_class = shuffled[np.argsort(classes[shuffled], kind="stable")]
    part = np.empty(len(classes), np.intp)
    part[by_class] = np.arange(len(classes)) % number  # dealt like cards, class by class
    for turn in range(min(number, len(classes))):
        yield np.flatnonzero(part != turn), np.flatnonzero(part == turn)


def chi_squared(rows: Rows, classes: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return how much each column depends on the class: the largest chi-squared of one class against the rest.

    One class at a time: a thousand classes by half a million terms do not fit in memory.
    """
    totals = rows.sums()
    of_class = classes[rows.row_numbers()]
    best = np.zeros(rows.width)
    for number in np.unique(classes):
        share = np.mean(classes == number)
        mine = of_class == number
        observed = np.bincount(rows.columns[mine], rows.values[mine], rows.width)
        with np.errstate(divide="ignore", invalid="ignore"):
            found = (observed - share * totals) ** 2 / (totals * share * (1 - share))
        np.maximum(best, np.nan_to_num(found, nan=0.0, posinf=0.0), out=best)
    return best
