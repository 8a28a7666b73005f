"""How relevant are a few words to a linear model, and a few others, ...? The sums that a page gets too.

The words around a link are some twenty, of which the model knows a handful, and a page has many links: all of them are
judged at once. In double precision, so the last digits of a verdict on the same words may differ.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lycosa.judge.features import Features
from lycosa.judge.linear import Linear


def relevances(
    features: Features, head: Linear, many: Sequence[Sequence[str]], target: NDArray[np.bool_]
) -> list[float]:
    """The probability of the target's classes; of no word that is known, what it is before a page is seen."""
    counted = [features.counts(words) for words in many]
    sizes = np.array([*map(len, counted)], np.intp)
    some = sizes > 0
    scores = np.tile(head.bias.astype(np.float64), (len(many), 1))
    if some.any():
        ids = np.array([number for counts in counted for number in counts], np.intp)
        times = np.array([count for counts in counted for count in counts.values()], np.float64)
        values = times if features.plain else (1 + np.log(times)) * features.idf[ids]
        firsts = (np.cumsum(sizes) - sizes)[some]
        sums = np.add.reduceat(head.weights[ids] * values[:, None], firsts, axis=0)
        squares = 0.0 if features.plain else np.add.reduceat(values * values, firsts)[:, None]
        scores[some] += sums / np.where(squares, np.sqrt(squares), 1.0)
    odds = np.exp(scores - scores.max(axis=1, keepdims=True))
    found: list[float] = (odds @ target / odds.sum(axis=1)).tolist()
    return found
