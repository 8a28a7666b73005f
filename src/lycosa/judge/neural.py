"""A small neural network: one hidden layer of rectified units. Training needs scikit-learn, using it only numpy."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lycosa.judge.features import Floats, Ids
from lycosa.judge.linear import training
from lycosa.judge.sparse import Rows

HIDDEN = 16
ENOUGH_TO_VALIDATE = 1_000  # pages; with fewer, a validation set for early stopping would be missed in training


@dataclass
class Network:
    """Terms to hidden units to classes."""

    weights: Floats  # terms by hidden units
    bias: Floats
    out_weights: Floats  # hidden units by classes
    out_bias: Floats

    def look(self, ids: Ids, values: Floats) -> tuple[Floats, Floats]:
        """Return the score of each class, and what one unit of each term adds to it for this page."""
        rows = self.weights[ids]
        hidden = values @ rows + self.bias
        awake = (hidden > 0).astype(np.float32)
        scores = (hidden * awake) @ self.out_weights + self.out_bias
        return scores.astype(np.float32), rows @ (self.out_weights * awake[:, None])


def fit_network(rows: Rows, classes: NDArray[np.intp], size: int, seed: int) -> Network:
    """Train with early stopping on 30 % of the pages; on few pages, for a fixed number of epochs."""
    smallest = np.bincount(classes)[np.unique(classes)].min()
    validate = len(classes) >= ENOUGH_TO_VALIDATE and smallest >= 10
    with training("mlp"):
        from sklearn.neural_network import MLPClassifier

        model = MLPClassifier(
            (HIDDEN,),
            alpha=1e-3,
            learning_rate_init=0.005,
            max_iter=200,
            early_stopping=validate,
            validation_fraction=0.3,
            n_iter_no_change=10,
            random_state=seed,
        ).fit(rows.to_scipy(), classes)
    (first, second), (bias, last) = model.coefs_, model.intercepts_
    if size == 2:  # scikit-learn has only one output then
        second, last = np.hstack([-second, second]) / 2, np.concatenate([-last, last]) / 2
    return Network(*(np.asarray(part, np.float32) for part in (first, bias, second, last)))
