"""Models with one weight per term and class: logistic regression and the linear support-vector machine.

Training needs scikit-learn; a trained model is a matrix, and using it needs only numpy.
"""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lycosa.errors import ConfigError
from lycosa.judge.features import Floats, Ids
from lycosa.judge.sparse import Rows, folds

INVERSE_PENALTY = 3.0  # logistic regression; in cross-validation 10 was as good within 0.001
SVM_PENALTY = 0.3
CALIBRATION_FOLDS = 5


@dataclass
class Linear:
    """Score of a class = sum over the page's terms of value times weight, plus the bias of the class."""

    weights: Floats  # terms by classes
    bias: Floats

    def look(self, ids: Ids, values: Floats) -> tuple[Floats, Floats]:
        """Return the score of each class, and what one unit of each term adds to it."""
        rows = self.weights[ids]
        return values @ rows + self.bias, rows


@contextmanager
def training(model: str) -> Iterator[None]:
    """Check that scikit-learn, an optional extra, is installed, and silence its warnings."""
    try:
        import sklearn  # noqa: F401
    except ImportError:
        raise ConfigError(
            "topic.model", f"{model!r} is trained with scikit-learn: pip install 'lycosa[train]', or set model = \"nb\""
        ) from None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def fit_logistic(rows: Rows, classes: NDArray[np.intp], size: int) -> Linear:
    """Fit multinomial logistic regression: over all labels at once it ranks better than target against the rest."""
    with training("logistic"):
        from sklearn.linear_model import LogisticRegression

        model = LogisticRegression(C=INVERSE_PENALTY, max_iter=1000).fit(rows.to_scipy(), classes)
    return _linear(model, rows.width, size)


def fit_svm(rows: Rows, classes: NDArray[np.intp], size: int, seed: int) -> Linear:
    """Fit one SVM per label against the rest; a logistic regression on the margins of held-out pages turns them into
    probabilities (Platt's method, for many classes). Both steps are linear, so the result is one matrix."""
    with training("svm"):
        from sklearn.linear_model import LogisticRegression

        matrix = rows.to_scipy()
        margins = np.zeros((len(classes), size), np.float32)
        for chosen, held in folds(classes, CALIBRATION_FOLDS, seed):
            part = _machines(matrix[chosen], classes[chosen], size)
            margins[held] = matrix[held] @ part.weights + part.bias
        machines = _machines(matrix, classes, size)
        squash = _linear(LogisticRegression(C=1.0, max_iter=1000).fit(margins, classes), size, size)
    return Linear(machines.weights @ squash.weights, machines.bias @ squash.weights + squash.bias)


def _machines(matrix: Any, classes: NDArray[np.intp], size: int) -> Linear:
    from sklearn.svm import LinearSVC

    return _linear(LinearSVC(C=SVM_PENALTY, random_state=0).fit(matrix, classes), matrix.shape[1], size)


def _linear(model: Any, width: int, size: int) -> Linear:
    """Return the matrix of a scikit-learn model, which has one column for two classes and none for an unseen class."""
    weights, bias = np.zeros((width, size), np.float32), np.full(size, -1.0, np.float32)
    if len(model.classes_) == 2:
        first, second = model.classes_
        weights[:, second] = model.coef_[0] / 2
        weights[:, first] = -weights[:, second]
        bias[second] = model.intercept_[0] / 2
        bias[first] = -bias[second]
    else:
        weights[:, model.classes_] = model.coef_.T
        bias[model.classes_] = model.intercept_
    return Linear(weights, bias)
