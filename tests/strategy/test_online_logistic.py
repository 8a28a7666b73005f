"""The model that learns while it works."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lycosa.strategy.online_logistic import Weights, chance

PRIOR = {"a": 1.0, "b": -0.5, "c": 0.0}


def test_it_starts_with_what_it_was_given() -> None:
    assert Weights(PRIOR, -2.0).log_odds([1.0, 2.0, 5.0]) == -2.0
    assert chance(0.0) == 0.5
    assert 0 < chance(-1e9) < chance(1e9) <= 1


def test_a_step_moves_towards_the_outcome() -> None:
    for outcome in (0.0, 1.0):
        weights = Weights(PRIOR, 0.0)
        before = weights.log_odds([1.0, 1.0, 1.0])
        weights.step([1.0, 1.0, 1.0], outcome, 0.1, 0.2)
        after = weights.log_odds([1.0, 1.0, 1.0])
        assert (after > before) == (outcome == 1.0)


def test_a_rare_success_counts_as_much_as_many_failures() -> None:
    good, bad = Weights(PRIOR, 0.0), Weights(PRIOR, 0.0)
    good.step([1.0, 0.0, 0.0], 1.0, 0.05, 0.2)
    bad.step([1.0, 0.0, 0.0], 0.0, 0.05, 0.2)
    assert good.bias > 2 * abs(bad.bias)


def test_it_learns_which_evidence_to_trust() -> None:
    weights = Weights({"true": 0.0, "noise": 0.0}, 0.0)
    for number in range(400):
        outcome = float(number % 2)
        weights.step([2 * outcome - 1, float(number // 2 % 2) - 0.5], outcome, 0.5, 0.2)
    assert weights.values[0] > 1
    assert abs(weights.values[1]) < 0.2


def test_what_is_left_out_never_counts() -> None:
    weights = Weights(PRIOR, 0.0, without=["a"])
    weights.step([1.0, 1.0, 1.0], 1.0, 0.1, 0.2)
    assert weights.values[0] == 0
    assert weights.values[1] != PRIOR["b"]


@given(st.lists(st.tuples(st.floats(-3, 3), st.floats(0, 1), st.floats(1e-4, 0.99)), max_size=60))
def test_no_surprise_turns_everything_over(steps: list[tuple[float, float, float]]) -> None:
    weights = Weights(PRIOR, 0.0)
    for value, outcome, rate in steps:
        before = list(weights.values)
        weights.step([value, 1.0, 0.0], outcome, rate, 0.2)
        assert max(abs(new - old) for new, old in zip(weights.values, before, strict=True)) < 0.7


def test_it_survives() -> None:
    weights = Weights(PRIOR, -2.0)
    weights.step([1.0, 0.5, 0.0], 1.0, 0.1, 0.2)
    other = Weights(PRIOR, -2.0)
    other.load(weights.save())
    for one in (weights, other):
        one.step([0.3, 0.5, 1.0], 0.0, 0.1, 0.2)
    assert other.save() == weights.save()
    assert other.log_odds([1.0, 1.0, 1.0]) == pytest.approx(weights.log_odds([1.0, 1.0, 1.0]))
