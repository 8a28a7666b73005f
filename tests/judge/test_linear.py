"""Logistic regression and support-vector machine as one matrix; what happens without scikit-learn."""

import sys

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression

from lycosa.judge.features import Floats
from lycosa.judge.linear import INVERSE_PENALTY, Linear, fit_logistic, fit_svm
from lycosa.judge.neural import Network, fit_network
from lycosa.judge.sparse import Rows
from lycosa.types import BadInput


def data(size: int, pages: int = 90, terms: int = 12) -> tuple[Rows, NDArray[np.intp], Floats]:
    """Each class has a few terms of its own, and noise."""
    random = np.random.default_rng(size)
    classes = np.arange(pages) % size
    dense = (random.random((pages, terms)) * (random.random((pages, terms)) < 0.4)).astype(np.float32)
    dense[np.arange(pages), classes] += 1
    matrix = csr_matrix(dense)
    return Rows(matrix.indptr.astype(np.int64), matrix.indices, matrix.data, terms), classes, dense


def probabilities(model: Linear | Network, dense: Floats) -> NDArray[np.float64]:
    ids = np.arange(dense.shape[1], dtype=np.int32)
    scores = np.array([model.look(ids, row)[0] for row in dense], np.float64)
    odds = np.exp(scores - scores.max(axis=1, keepdims=True))
    return odds / odds.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("size", [2, 3, 5])
def test_logistic_regression_is_that_of_scikit_learn(size: int) -> None:
    rows, classes, dense = data(size)
    usual = LogisticRegression(C=INVERSE_PENALTY, max_iter=1000).fit(dense, classes).predict_proba(dense)
    assert np.allclose(probabilities(fit_logistic(rows, classes, size), dense), usual, atol=1e-3)


@pytest.mark.parametrize("size", [2, 3, 5])
@pytest.mark.parametrize("kind", ["svm", "mlp"])
def test_the_other_models_learn_the_classes(kind: str, size: int) -> None:
    rows, classes, dense = data(size, pages=240)
    model = fit_svm(rows, classes, size, 0) if kind == "svm" else fit_network(rows, classes, size, 0)
    found = probabilities(model, dense)
    assert found.shape == (240, size)
    assert np.mean(found.argmax(axis=1) == classes) > 0.9


def test_svm_probabilities_are_honest_on_new_pages() -> None:
    """Of the pages given about 80 %, about 80 % have the label."""
    random = np.random.default_rng(0)
    dense = random.normal(size=(4_000, 6)).astype(np.float32)
    chance = 1 / (1 + np.exp(-1.5 * dense[:, 0]))
    classes = (random.random(4_000) < chance).astype(np.intp)
    matrix = csr_matrix(dense[:1_500])
    rows = Rows(matrix.indptr.astype(np.int64), matrix.indices, matrix.data, 6)
    found = probabilities(fit_svm(rows, classes[:1_500], 2, 0), dense[1_500:])[:, 1]
    assert np.mean(np.abs(found - chance[1_500:])) < 0.05


def test_a_label_of_one_page_does_not_stop_the_svm() -> None:
    rows, classes, dense = data(2)
    classes = classes.copy()
    classes[-1] = 2
    found = probabilities(fit_svm(rows, classes, 3, 0), dense)
    assert np.isfinite(found).all()
    assert np.mean(found.argmax(axis=1) == classes) > 0.9


def test_a_few_pages_are_enough_for_every_model() -> None:
    rows, classes, dense = data(2, pages=4)
    for model in (fit_logistic(rows, classes, 2), fit_svm(rows, classes, 2, 0), fit_network(rows, classes, 2, 0)):
        assert np.isfinite(probabilities(model, dense)).all()


def test_slopes_are_what_a_term_adds() -> None:
    rows, classes, dense = data(3)
    ids = np.arange(12, dtype=np.int32)
    for model in (fit_svm(rows, classes, 3, 0), fit_network(rows, classes, 3, 0)):
        scores, slopes = model.look(ids, dense[0])
        moved, _ = model.look(ids, dense[0] + np.float32(1e-3) * (ids == 4))
        assert (moved - scores) / 1e-3 == pytest.approx(slopes[4], abs=0.02)


def test_training_repeats_with_its_seed() -> None:
    rows, classes, _ = data(3)
    assert (fit_svm(rows, classes, 3, 7).weights == fit_svm(rows, classes, 3, 7).weights).all()
    assert (fit_network(rows, classes, 3, 7).weights == fit_network(rows, classes, 3, 7).weights).all()


def test_without_scikit_learn_the_error_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn", None)
    rows, classes, _ = data(2)
    with pytest.raises(
        BadInput, match=r"topic.model: 'logistic' is trained with scikit-learn.*lycosa\[train\].*\"nb\""
    ):
        fit_logistic(rows, classes, 2)
