"""A crawl ends when it has enough, and a trap cannot keep it from ending."""

from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lycosa import config
from lycosa.frontier.limits import Quota


def quota(limits: config.Limits, **counts: int) -> Quota:
    have: Any = SimpleNamespace(**{"pages": 0, "relevant": 0, "duplicates": 0} | counts)
    return Quota(limits, have).begin(100.0)


@pytest.mark.parametrize(
    ("counts", "reached"),
    [
        ({"pages": 4}, ""),
        ({"pages": 5}, "limit of 5 pages"),
        ({"pages": 4, "duplicates": 4}, ""),
        ({"pages": 1, "duplicates": 5}, "limit of 5 duplicates"),
        ({"pages": 5, "duplicates": 5}, "limit of 5 pages"),
        ({"relevant": 3}, "limit of 3 relevant pages"),
    ],
)
def test_which_limit_is_reached(counts: dict[str, int], reached: str) -> None:
    assert quota(config.Limits(pages=5, relevant=3), **counts).reached(100.0) == reached


def test_no_limit_of_pages_no_limit_of_duplicates() -> None:
    assert quota(config.Limits(pages=0), pages=1_000, duplicates=1_000).reached(100.0) == ""


def test_duplicates_leave_room_for_pages() -> None:
    assert quota(config.Limits(pages=5), pages=2, duplicates=4).admits(in_flight=2)
    assert not quota(config.Limits(pages=5), pages=2, duplicates=4).admits(in_flight=3)


def test_the_time_of_earlier_runs_counts_and_starts_with_the_run() -> None:
    one = quota(config.Limits(pages=0, seconds=10))
    assert one.deadline == 110.0
    assert (one.reached(109.9), one.reached(110.0)) == ("", "limit of 10 seconds")
    again = Quota(config.Limits(pages=0, seconds=10), one.counts)
    assert again.deadline is None, "it has not begun"
    assert again.begin(500.0, spent_s=9.5).deadline == 500.5
    assert quota(config.Limits(pages=5)).begin(500.0, spent_s=9.5).deadline is None


def test_the_estimate_is_asked_last() -> None:
    counts: Any = SimpleNamespace(pages=1, relevant=0, duplicates=0)
    both = Quota(config.Limits(pages=2), counts, lambda: "recall of 80 %")
    assert both.reached(0.0) == "recall of 80 %"
    counts.pages = 2
    assert both.reached(0.0) == "limit of 2 pages"


@given(st.integers(0, 20), st.integers(0, 25), st.integers(0, 30))
def test_as_many_requests_are_admitted_as_pages_are_left(most: int, pages: int, in_flight: int) -> None:
    one = quota(config.Limits(pages=most), pages=pages)
    left = one.remaining()
    assert left == (max(0, most - pages) if most else None)
    assert one.admits(in_flight) == (left is None or in_flight < left)
    assert bool(one.reached(100.0)) == (left == 0)
