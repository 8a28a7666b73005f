"""How relevant are a few words to a linear model, and a few others, ...? The sums that a page gets too.

The words around a link are some twenty, of which the model knows a handful, and a page has many links: all of them are
judged at once. In double precision, so the last digits of a verdict on the same words may differ.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lycosa.judge.features import Features, bounds
from lycosa.judge.linear import Linear


def relevances(
    features: Features, head: Linear, many: Sequence[Sequence[str]], target: NDArray[np.bool_]
) -> list[float]:
    """The probability of the target's classes; of no word that is known, what it is before a page is seen."""
    rows, ids, times = features.counts_of(many)
    scores = np.empty((len(many), len(head.bias)))
    scores[:] = head.bias
    if rows.size:
        values = times if features.plain else (1 + np.log(times)) * features.idf[ids]
        firsts = bounds(rows)[:-1]
        sums = np.add.reduceat(head.weights[ids] * values[:, None], firsts, axis=0)
        if not features.plain:
            squares = np.add.reduceat(values * values, firsts)[:, None]
            sums /= np.where(squares, np.sqrt(squares), 1.0)
        scores[rows[firsts]] += sums
    odds = np.exp(scores - np.maximum.reduce(scores, axis=1, keepdims=True))
    found: list[float] = (odds @ target / np.add.reduce(odds, axis=1)).tolist()
    return found
