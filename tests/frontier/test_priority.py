"""A rank orders as band and score do, and both can be read back from it."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lycosa.frontier.hosts import Host
from lycosa.frontier.priority import LOWEST, NEVER, band_of, rank_of, score_of
from lycosa.types import Band

SCORES = st.floats(allow_nan=False)
BANDS = st.sampled_from([*Band])


@given(BANDS, SCORES, BANDS, SCORES)
def test_ranks_compare_as_bands_and_then_scores(one: Band, low: float, other: Band, high: float) -> None:
    assert (rank_of(low, one) < rank_of(high, other)) == ((one, low) < (other, high))


@given(BANDS, SCORES)
def test_band_and_score_can_be_read_back(band: Band, score: float) -> None:
    rank = rank_of(score, band)
    assert (band_of(rank), score_of(rank)) == (band, score)
    assert LOWEST < rank < NEVER


def test_zero_has_one_rank() -> None:
    assert rank_of(0.0) == rank_of(-0.0)


@pytest.mark.parametrize("money", [1.0, 1e8, 1e9, 2e9, 1e300, math.inf])
def test_no_score_however_large_reaches_the_next_band(money: float) -> None:
    assert rank_of(money, Band.FOUND) < rank_of(0.0, Band.FIRST) < rank_of(-math.inf, Band.LISTED)


def test_a_host_starts_open_due_and_empty() -> None:
    host = Host(3, "a.test")
    assert (host.due_at, host.delay_s, host.failures, host.pages, host.closed) == (0.0, 0.0, 0, 0, "")
    assert host.queue.head(lambda number, rank: True) is None
