"""How relevant are a few words to a linear model? The sums that a page gets too, over rows that are added up ahead.

The words around a link are some twenty, of which the model knows seven, and a page has many links: arrays would cost
more to make than to use. In double precision, so the last digits of a verdict on the same words may differ.
"""

from collections.abc import Mapping, Sequence
from functools import reduce
from itertools import compress
from math import exp, sqrt
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lycosa.judge.features import Features
from lycosa.judge.linear import Linear

_MOST_ROWS = 100_000  # hostile pages repeat words as often as they like
_MANY_CLASSES = 24  # from here on arrays are cheaper
_MOST_EXP = 700.0  # exp of more overflows


class _Rows(dict[tuple[int, int], Any]):
    """From a term and how often it comes to what that adds to each class and, last, to the square of the length.

    Few classes are counted from the last one, which then needs no sum: probabilities hang on differences alone.
    """

    def __init__(self, features: Features, head: Linear, wide: bool) -> None:
        super().__init__()
        self._features = features
        self._head = head
        self._wide = wide

    def __missing__(self, item: tuple[int, int]) -> Any:
        if len(self) >= _MOST_ROWS:
            self.clear()
        value = self._features.value(*item)
        weights = self._head.weights[item[0]].tolist()
        last = 0.0 if self._wide else weights.pop()
        row = [(weight - last) * value for weight in weights]
        row.append(0.0 if self._features.plain else value * value)
        found = self[item] = np.array(row) if self._wide else row
        return found


class Glance:
    """For one linear model."""

    def __init__(self, features: Features, head: Linear) -> None:
        self._features = features
        self._head = head
        self._counts = features.counts
        self._bias = head.bias.astype(np.float64)
        self._biases = (self._bias[:-1] - self._bias[-1]).tolist()
        self._wide = len(head.bias) >= _MANY_CLASSES
        self._rows = _Rows(features, head, self._wide)

    def relevance(self, words: Sequence[str], target: NDArray[np.bool_]) -> float:
        """The probability of the target's classes; of no word that is known, what it is before a page is seen."""
        counts = self._counts(words)
        if self._wide:
            return self._of_many(counts, target)
        scores = self._biases
        if counts:
            *sums, square = map(sum, zip(*map(self._rows.__getitem__, counts.items()), strict=True))
            length = sqrt(square) or 1.0
            scores = [part / length + bias for part, bias in zip(sums, scores, strict=True)]
        if max(scores) > _MOST_EXP:  # beside that class the last one is nothing
            top = max(scores)
            odds = [*[exp(score - top) for score in scores], 0.0]
        else:
            odds = [*map(exp, scores), 1.0]
        return sum(compress(odds, target.tolist())) / sum(odds)

    def _of_many(self, counts: Mapping[int, int], target: NDArray[np.bool_]) -> float:
        scores = self._bias
        if counts:
            sums = reduce(add, map(self._rows.__getitem__, counts.items()))
            scores = sums[:-1] / (sqrt(sums[-1]) or 1.0) + scores
        odds = np.exp(scores - scores.max())
        return float(odds @ target / odds.sum())

    def relevances(self, many: Sequence[Sequence[str]], target: NDArray[np.bool_]) -> list[float]:
        """The same of many at once: for the links of a page, arrays pay."""
        counted = [self._counts(words) for words in many]
        sizes = np.array([*map(len, counted)], np.intp)
        some = sizes > 0
        scores = np.tile(self._bias, (len(many), 1))
        if some.any():
            ids = np.array([number for counts in counted for number in counts], np.intp)
            times = np.array([count for counts in counted for count in counts.values()], np.float64)
            values = times if self._features.plain else (1 + np.log(times)) * self._features.idf[ids]
            firsts = (np.cumsum(sizes) - sizes)[some]
            sums = np.add.reduceat(self._head.weights[ids] * values[:, None], firsts, axis=0)
            squares = 0.0 if self._features.plain else np.add.reduceat(values * values, firsts)[:, None]
            scores[some] += sums / np.where(squares, np.sqrt(squares), 1.0)
        odds = np.exp(scores - scores.max(axis=1, keepdims=True))
        found: list[float] = (odds @ target / odds.sum(axis=1)).tolist()
        return found
