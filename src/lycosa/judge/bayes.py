"""Multinomial naive Bayes, and the temperature that takes back its over-confidence."""

import numpy as np
from numpy.typing import NDArray

from lycosa.judge.linear import Linear
from lycosa.judge.sparse import Rows, folds

SMOOTHING = 0.1  # what each term is seen in a class before the first page; by cross-validation over 0.01, 0.1, 1
FOLDS = 3
MOST_HELD = 2_000  # pages a fold that the temperature is fitted on: it is one number
_TEMPERATURES = np.geomspace(1, 1_000, 91)


def fit_bayes(rows: Rows, classes: NDArray[np.intp], size: int) -> Linear:
    """The logarithm of P(term | class) as weights, of P(class) as bias."""
    weights = np.empty((rows.width, size), np.float32)
    of_class = classes[rows.row_numbers()]
    for number in range(size):
        mine = of_class == number
        seen = np.bincount(rows.columns[mine], rows.values[mine], rows.width) + SMOOTHING
        weights[:, number] = np.log(seen / seen.sum())
    pages = np.bincount(classes, minlength=size)
    prior = np.log((pages + SMOOTHING) / (pages + SMOOTHING).sum())
    return Linear(weights, prior.astype(np.float32))


def cool(model: Linear, temperature: float) -> Linear:
    """The same evidence, each word worth less: P(page | class) to the power of 1 / temperature. The priors stay."""
    return Linear(model.weights / np.float32(temperature), model.bias)


def fit_temperature(rows: Rows, classes: NDArray[np.intp], size: int, seed: int) -> float:
    """The temperature under which pages that were not trained on are most probable; 1 or more.

    Naive Bayes counts every word as an independent witness, so its posteriors crowd at 0 and 1. A few pages are easily
    all told apart and would speak for any confidence, so none is added.
    """
    losses = np.zeros(len(_TEMPERATURES))
    for chosen, held in folds(classes, FOLDS, seed):
        model = fit_bayes(rows.take(chosen), classes[chosen], size)
        held = held[:: -(-len(held) // MOST_HELD)]
        evidence = np.array([values @ model.weights[ids] for ids, values in rows.take(held)], np.float64)
        truth = classes[held]
        losses += [_loss(evidence / heat + model.bias, truth) for heat in _TEMPERATURES]
    return float(_TEMPERATURES[np.argmin(losses)])


def _loss(scores: NDArray[np.float64], truth: NDArray[np.intp]) -> float:
    whole = np.logaddexp.reduce(scores, axis=1)
    return float(np.sum(whole - scores[np.arange(len(truth)), truth]))
