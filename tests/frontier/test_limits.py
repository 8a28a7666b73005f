"""A crawl ends when it has enough, and a trap cannot keep it from ending."""

from types import SimpleNamespace
from typing import Any

import pytest

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
