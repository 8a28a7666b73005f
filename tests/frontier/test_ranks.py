"""The place of a score among all, however the scores are scaled."""

from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lycosa.frontier import ranks
from lycosa.frontier.ranks import Ranks, bucket_of, least_of

scores = st.one_of(
    st.floats(0, 1),
    st.floats(-1e12, 1e12),
    st.integers(-50, 0).map(float),  # minus the depth
    st.sampled_from([0.0, 1e9, 0.5, 0.25, -1.0]),
)


@given(scores, scores)
def test_buckets_keep_the_order(one: float, other: float) -> None:
    assert (bucket_of(one) <= bucket_of(other)) or one > other


@given(scores)
def test_a_bucket_is_narrow_and_begins_at_its_least(score: float) -> None:
    least = least_of(bucket_of(score))
    assert least <= score
    assert score - least <= abs(score) * 0.04


@given(st.lists(st.tuples(scores, st.booleans()), max_size=80), st.integers(1, 30))
def test_the_threshold_is_the_score_at_that_place(steps: list[tuple[float, bool]], place: int) -> None:
    found, waiting = Ranks(), []
    for score, is_removed in steps:
        if is_removed and waiting:
            gone = waiting.pop(int(abs(score)) % len(waiting))
            found.add(gone, -1)
        else:
            waiting.append(score)
            found.add(score)
        expected = sorted(waiting, reverse=True)[place - 1] if len(waiting) > place else None
        threshold = found.threshold(place)
        assert found.total == len(waiting)
        assert threshold == (-inf if expected is None else least_of(bucket_of(expected)))


def test_moving_a_score() -> None:
    found = Ranks()
    for score in (0.1, 0.2, 0.3):
        found.add(score)
    found.move(0.1, 0.9)
    assert 0.88 < found.threshold(1) <= 0.9
    assert 0.29 < found.threshold(2) <= 0.3


def test_empty_buckets_are_dropped_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranks, "_MANY", 50)
    found = Ranks()
    for number in range(1, 1_000):
        found.add(float(number))
        found.move(float(number), 0.5)
    assert found.total == 999
    assert len(found._buckets) <= 51
    assert found.threshold(7) == 0.5
