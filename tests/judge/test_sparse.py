"""The sparse table against scipy's, chi-squared against scikit-learn's, and splits that are fair."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.feature_selection import chi2

from lycosa.judge.sparse import Rows, chi_squared, folds


def rows(dense: NDArray[np.int64]) -> Rows:
    matrix = csr_matrix(dense)
    return Rows(matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), matrix.data, matrix.shape[1])


DENSE = hnp.arrays(np.int64, st.tuples(st.integers(1, 6), st.integers(1, 6)), elements=st.integers(0, 3))


@given(DENSE, st.data())
def test_take_and_keep_are_those_of_a_matrix(dense: NDArray[np.int64], data: st.DataObject) -> None:
    chosen = np.array(data.draw(st.lists(st.integers(0, len(dense) - 1))), np.intp)
    columns = np.array(sorted(data.draw(st.sets(st.integers(0, dense.shape[1] - 1)))), np.intp)
    found = rows(dense)
    assert (found.take(chosen).to_scipy().toarray() == dense[chosen]).all()
    kept = found.keep(columns)
    assert kept.width == len(columns)
    assert (kept.to_scipy().toarray() == dense[:, columns]).all()


@given(DENSE)
def test_iteration_sums_and_row_numbers(dense: NDArray[np.int64]) -> None:
    found = rows(dense)
    assert len(found) == len(list(found)) == len(dense)
    for line, (columns, values) in zip(dense, found, strict=True):
        assert line[columns].tolist() == values.tolist()
        assert line.sum() == values.sum()
    assert found.sums().tolist() == dense.sum(axis=0).tolist()
    assert np.bincount(found.row_numbers(), minlength=len(dense)).tolist() == (dense > 0).sum(axis=1).tolist()


def test_chi_squared_of_two_classes_is_the_usual_one() -> None:
    dense = np.random.default_rng(1).integers(0, 4, (30, 12))
    dense[:, 5] = 0
    classes = np.arange(30) % 3 // 2
    usual, _ = chi2(np.delete(dense, 5, axis=1), classes)
    found = chi_squared(rows(dense), classes)
    assert found[5] == 0
    assert np.delete(found, 5) == pytest.approx(usual)


def test_chi_squared_of_many_classes_is_the_best_of_one_against_the_rest() -> None:
    dense = np.random.default_rng(2).integers(1, 5, (40, 6))
    classes = np.arange(40) % 4
    usual = np.max([chi2(dense, classes == number)[0] for number in range(4)], axis=0)
    assert chi_squared(rows(dense), classes) == pytest.approx(usual)


def test_one_class_alone_depends_on_nothing() -> None:
    assert chi_squared(rows(np.ones((3, 2), int)), np.zeros(3, int)).tolist() == [0, 0]


@given(st.lists(st.integers(0, 3), min_size=1, max_size=40), st.integers(2, 6), st.integers(0, 9))
def test_folds_hold_every_page_once_and_share_out_the_classes(labels: list[int], number: int, seed: int) -> None:
    classes = np.array(labels)
    parts = list(folds(classes, number, seed))
    held = np.concatenate([held for _, held in parts])
    assert sorted(held.tolist()) == list(range(len(labels)))
    for chosen, held in parts:
        assert held.size
        assert sorted([*chosen.tolist(), *held.tolist()]) == list(range(len(labels)))
        for label in set(labels):
            mine = np.sum(classes[held] == label)
            assert abs(mine - np.sum(classes == label) / number) < 1


def test_folds_repeat_with_their_seed_and_differ_without() -> None:
    classes = np.zeros(50, int)
    first, again, other = (next(iter(folds(classes, 5, seed)))[1].tolist() for seed in (1, 1, 2))
    assert first == again != other
