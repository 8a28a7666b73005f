"""The relevance of several short texts under a linear model, computed with the same sums as that of a page.

A link has about twenty words around it, of which the model knows a handful, and a page has many links, so all of them
are judged at once. This uses double precision, so the last digits may differ from the verdict on the same words.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lycosa.judge.features import Features, bounds
from lycosa.judge.linear import Linear


def relevances(
    features: Features, head: Linear, many: Sequence[Sequence[str]], target: NDArray[np.bool_]
) -> list[float]:
    """Return the probability of the target classes; without known words, it is the prior."""
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
