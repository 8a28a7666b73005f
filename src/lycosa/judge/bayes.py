"""Multinomial naive Bayes, with temperature scaling to correct its over-confidence."""

import numpy as np
from numpy.typing import NDArray

from lycosa.judge.linear import Linear
from lycosa.judge.sparse import Rows, folds

SMOOTHING = 0.1  # additive, per term and class; chosen by cross-validation from 0.01, 0.1 and 1
FOLDS = 3
MOST_HELD = 2_000  # pages per fold for fitting the temperature, which is a single number
_TEMPERATURES = np.geomspace(1, 1_000, 91)


def fit_bayes(rows: Rows, classes: NDArray[np.intp], size: int) -> Linear:
    """Fit naive Bayes: log P(term | class) as weights, log P(class) as bias."""
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
    """Scale the evidence: P(page | class) to the power of 1 / temperature. The priors stay."""
    return Linear(model.weights / np.float32(temperature), model.bias)


def fit_temperature(rows: Rows, classes: NDArray[np.intp], size: int, seed: int) -> float:
    """Return the temperature, at least 1, that maximises the likelihood of held-out pages.

    Naive Bayes treats every word as independent evidence, so its posteriors crowd at 0 and 1. A few pages are easily
    separated without error and would support any confidence, so the temperature never adds confidence.
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
