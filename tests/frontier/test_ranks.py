"""The place of a score among all, however the scores are scaled."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lycosa.frontier import ranks
from lycosa.frontier.priority import LOWEST, band_of, rank_of, score_of
from lycosa.frontier.ranks import Ranks, bucket_of, least_of
from lycosa.types import Band

scores = st.one_of(
    st.floats(0, 1),
    st.floats(-1e12, 1e12),
    st.integers(-50, 0).map(float),  # minus the depth
    st.sampled_from([0.0, 1e9, 0.5, 0.25, -1.0]),
)


@given(scores, scores, st.sampled_from(Band), st.sampled_from(Band))
def test_a_rank_orders_by_band_then_by_score(one: float, other: float, first: Band, second: Band) -> None:
    assert (rank_of(one, first) < rank_of(other, second)) == ((first, one) < (second, other))
    assert rank_of(one, first) > LOWEST
    assert (band_of(rank_of(one, first)), score_of(rank_of(one, first))) == (first, one)


near_one = st.floats(0, 1e-3).map(lambda missing: 1 - missing)


@given(st.one_of(scores, near_one), st.one_of(scores, near_one), st.sampled_from(Band))
def test_buckets_keep_the_order_and_begin_at_their_lowest_rank(one: float, other: float, band: Band) -> None:
    first, second = sorted((rank_of(one, band), rank_of(other, band)))
    assert bucket_of(first) <= bucket_of(second)
    least = least_of(bucket_of(first))
    assert least <= first
    assert bucket_of(least) == bucket_of(first)


def test_near_one_what_is_missing_to_one_counts() -> None:
    assert len({bucket_of(rank_of(score)) for score in (0.99, 0.991, 0.999, 0.9991, 0.99995, 1.0)}) == 6


@given(scores, st.sampled_from(Band))
def test_a_threshold_is_just_below_the_rank_it_stands_for(score: float, band: Band) -> None:
    found = Ranks()
    found.add(rank_of(score, band), 2)
    least = found.threshold(1)
    assert least <= rank_of(score, band)
    assert band_of(least) == band
    assert score - score_of(least) <= abs(score) * 0.04 or abs(score) < 1e-300


@given(st.lists(st.tuples(scores, st.booleans()), max_size=80), st.integers(1, 30))
def test_the_threshold_is_the_rank_at_that_place(steps: list[tuple[float, bool]], place: int) -> None:
    found, waiting = Ranks(), []
    for score, is_removed in steps:
        if is_removed and waiting:
            gone = waiting.pop(int(abs(score)) % len(waiting))
            found.add(gone, -1)
        else:
            waiting.append(rank_of(score))
            found.add(waiting[-1])
        expected = sorted(waiting, reverse=True)[place - 1] if len(waiting) > place else LOWEST
        assert found.total == len(waiting)
        assert found.threshold(place) == (least_of(bucket_of(expected)) if expected else LOWEST)


def test_moving_a_rank() -> None:
    found = Ranks()
    for score in (0.1, 0.2, 0.3):
        found.add(rank_of(score))
    found.move(rank_of(0.1), rank_of(0.9))
    assert 0.88 < score_of(found.threshold(1)) <= 0.9
    assert 0.29 < score_of(found.threshold(2)) <= 0.3


def test_empty_buckets_are_dropped_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranks, "_MANY", 50)
    found = Ranks()
    for number in range(1, 1_000):
        found.add(rank_of(number))
        found.move(rank_of(number), rank_of(0.5))
    assert found.total == 999
    assert len(found._buckets) <= 51
    assert found.threshold(7) == rank_of(0.5)
