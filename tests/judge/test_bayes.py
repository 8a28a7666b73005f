"""Naive Bayes by hand and against scikit-learn's; a temperature that makes posteriors honest."""

from math import log

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.naive_bayes import MultinomialNB

from lycosa.judge.bayes import SMOOTHING, cool, fit_bayes, fit_temperature
from lycosa.judge.sparse import Rows


def rows(dense: NDArray[np.int64]) -> Rows:
    matrix = csr_matrix(dense)
    return Rows(matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), matrix.data, matrix.shape[1])


def test_two_pages_by_hand() -> None:
    model = fit_bayes(rows(np.array([[3, 1], [0, 2]])), np.array([0, 1]), 2)
    assert model.weights[0, 0] == pytest.approx(log(3.1 / 4.2))
    assert model.weights[1, 0] == pytest.approx(log(1.1 / 4.2))
    assert model.weights[0, 1] == pytest.approx(log(0.1 / 2.2))
    assert model.bias == pytest.approx([log(0.5)] * 2)


def test_it_is_the_textbook_model() -> None:
    random = np.random.default_rng(3)
    dense, classes = random.integers(0, 5, (60, 9)), np.arange(60) % 3
    ours = fit_bayes(rows(dense), classes, 3)
    usual = MultinomialNB(alpha=SMOOTHING).fit(dense, classes)
    assert np.allclose(ours.weights.T, usual.feature_log_prob_, atol=1e-5)
    assert np.allclose(ours.bias, usual.class_log_prior_, atol=1e-5)


def test_a_class_without_pages_is_improbable_not_impossible() -> None:
    model = fit_bayes(rows(np.array([[1, 0], [0, 1]])), np.array([0, 0]), 2)
    assert np.isfinite(model.weights).all()
    assert model.bias[1] < model.bias[0]


def test_cooling_divides_the_evidence_and_keeps_the_prior() -> None:
    model = fit_bayes(rows(np.array([[3, 1], [0, 2], [1, 1]])), np.array([0, 1, 1]), 2)
    cooled = cool(model, 4.0)
    assert np.allclose(cooled.weights * 4, model.weights)
    assert (cooled.bias == model.bias).all()


def test_repeated_witnesses_raise_the_temperature() -> None:
    """Each word written four times as often is no more evidence; the temperature finds the four."""
    random = np.random.default_rng(4)
    classes = np.arange(400) % 2
    chance = np.where(classes[:, None] == np.arange(6) % 2, 0.7, 0.3)
    once = (random.random((400, 6)) < chance).astype(int)
    few, many = (fit_temperature(rows(once * times), classes, 2, seed=0) for times in (5, 20))
    assert few > 1
    assert many / few == pytest.approx(4, rel=0.2)


def test_no_confidence_is_added() -> None:
    """Pages that are all told apart would speak for any."""
    dense = np.repeat(np.eye(2, dtype=int), 10, axis=0)
    assert fit_temperature(rows(dense), np.repeat([0, 1], 10), 2, seed=0) == 1.0


def test_temperature_repeats_with_its_seed() -> None:
    dense, classes = np.random.default_rng(5).integers(0, 3, (40, 8)), np.arange(40) % 2
    assert fit_temperature(rows(dense), classes, 2, 1) == fit_temperature(rows(dense), classes, 2, 1)
