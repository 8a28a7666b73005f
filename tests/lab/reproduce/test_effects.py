"""A verdict follows from a stated criterion and the data."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lycosa.lab.reproduce.effects import (
    CANNOT,
    NOT_REPRODUCED,
    REPRODUCED,
    Pair,
    alike,
    better,
    cannot,
    is_true,
    undecided,
)

HIGH, LOW = [0.5, 0.6, 0.55, 0.58], [0.4, 0.45, 0.44, 0.5]


def test_clearly_larger_is_reproduced() -> None:
    effect = better("A beats B.", Pair("A", "B", HIGH, LOW))
    assert effect.outcome == REPRODUCED
    assert effect.criterion == "A > B: paired one-tailed t-test, p < 0.05"
    assert effect.measured.startswith("A 0.557, B 0.448: difference +0.110 ±")
    assert "(+25%, n = 4" in effect.measured


def test_the_other_way_round_is_not() -> None:
    assert better("B beats A.", Pair("B", "A", LOW, HIGH)).outcome == NOT_REPRODUCED


def test_all_pairs_must_hold() -> None:
    good, bad = Pair("A", "B", HIGH, LOW), Pair("A", "C", HIGH, HIGH)
    effect = better("A beats all.", good, bad)
    assert effect.outcome == NOT_REPRODUCED
    assert effect.criterion.endswith("in each case")
    assert "A > B, A > C" in effect.criterion


def test_one_task_shows_nothing() -> None:
    effect = better("A beats B.", Pair("A", "B", [0.9], [0.1]))
    assert effect.outcome == CANNOT
    assert effect.measured == "A 0.900, B 0.100"
    assert undecided("They do not differ.", Pair("A", "B", [0.9], [0.1])).outcome == CANNOT


@pytest.mark.parametrize(
    ("ones", "others", "told"),
    [
        ([3.0, 3.2], [1.0, 1.0], "(3.1 times, n"),
        ([1.0, 1.2], [2.0, 2.0], "(-45%, n"),
        ([1.0, 1.1], [0.0, 0.0], "(n = 2"),
        ([1.0, 1.001], [1.0, 1.0], "(n = 2"),
    ],
)
def test_a_difference_is_told_as_documents_put_it(ones: list[float], others: list[float], told: str) -> None:
    assert told in Pair("A", "B", ones, others).shown()


def test_what_was_measured_is_said_once() -> None:
    first, second = Pair("A", "B", HIGH, LOW, what="recall"), Pair("A", "C", HIGH, LOW, what="recall")
    third = Pair("A", "B", HIGH, LOW, what="harvest")
    measured = better("A beats all.", first, second, third).measured
    assert measured.startswith("recall: A 0.557, B")
    assert (measured.count("recall: "), measured.count("harvest: ")) == (1, 1)


def test_the_direction_stands_beside_the_verdict() -> None:
    """What goes as claimed may still be luck, and of several comparisons some may go the other way."""
    up, down = Pair("A", "B", HIGH, LOW), Pair("B", "A", LOW, HIGH)
    lucky = Pair("A", "B", [0.1, 0.9, 0.8], [0.0, 0.1, 0.7])
    level = Pair("A", "B", [0.1, 0.9, 0.5], [0.2, 0.8, 0.49])
    found = [better("x", *pairs) for pairs in ([up], [lucky], [up, down], [up, level], [level], [down])]
    assert [effect.outcome == REPRODUCED for effect in found] == [True, *[False] * 5]
    ways = ["as claimed", "as claimed", "in part", "in part", "no difference", "the opposite"]
    assert [effect.direction for effect in found] == ways
    assert [alike("x", margin, up).direction for margin in (0.2, 0.1)] == ["alike", "not alike"]
    assert undecided("x", up).direction == "not alike"
    assert cannot("x", "y").direction == better("x", Pair("A", "B", [1], [0])).direction == ""
    assert is_true("x", "y", "z", False, "as claimed").direction == "as claimed"


def test_alike_within_a_margin() -> None:
    assert alike("Alike.", 0.2, Pair("A", "B", HIGH, LOW)).outcome == REPRODUCED
    assert alike("Alike.", 0.1, Pair("A", "B", HIGH, LOW)).outcome == NOT_REPRODUCED
    assert "at most 0.1" in alike("Alike.", 0.1, Pair("A", "B", HIGH, LOW)).criterion


def test_undecided_looks_both_ways() -> None:
    assert undecided("No difference.", Pair("A", "B", HIGH, LOW)).outcome == NOT_REPRODUCED
    assert undecided("No difference.", Pair("B", "A", LOW, HIGH)).outcome == NOT_REPRODUCED
    assert undecided("No difference.", Pair("A", "B", [0.1, 0.5, 0.3], [0.2, 0.4, 0.3])).outcome == REPRODUCED


@pytest.mark.parametrize(("held", "outcome"), [(True, REPRODUCED), (False, NOT_REPRODUCED)])
def test_other_criteria(held: bool, outcome: str) -> None:
    assert is_true("It is so.", "it is", "it was", held).outcome == outcome


def test_what_cannot_be_shown_says_why() -> None:
    assert cannot("It is so.", "there is nothing to see").criterion == "there is nothing to see"


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=2, max_size=8))
def test_not_both_directions_at_once(values: list[tuple[float, float]]) -> None:
    ones, others = zip(*values, strict=True)
    forth, back = (better("x", Pair("a", "b", one, other)).outcome for one, other in ((ones, others), (others, ones)))
    assert not forth == back == REPRODUCED
