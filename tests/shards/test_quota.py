"""The allotment of pages of one shard."""

from types import SimpleNamespace
from typing import Any

from lycosa import config
from lycosa.shards.quota import ShardQuota


def make(pages: int = 0) -> tuple[ShardQuota, Any, list[int]]:
    counts, asked = SimpleNamespace(pages=pages, relevant=0, duplicates=0), list[int]()
    return ShardQuota(config.Limits(pages=1_000), counts, lambda: asked.append(counts.pages)), counts, asked


def test_nothing_is_fetched_without_an_allotment() -> None:
    quota, _, asked = make()
    assert not quota.admits(0)
    assert quota.wants_pages
    assert asked == [0]


def test_more_is_requested_once_while_some_is_left() -> None:
    """Otherwise the shard would be idle until the answer arrives."""
    quota, counts, asked = make()
    quota.allot(200, 1)
    for counts.pages in range(200):
        assert quota.admits(0)
    assert asked == [150]
    quota.allot(300, 2)
    assert not quota.wants_pages
    for counts.pages in range(200, 300):
        assert quota.admits(0)
    assert asked == [150, 275]


def test_requests_in_flight_count() -> None:
    quota, _, asked = make(100)
    quota.allot(108, 1)
    assert quota.admits(5)
    assert not asked
    assert quota.admits(6)
    assert asked == [100]
    assert not quota.admits(8)
    assert asked == [100, 100]


def test_what_is_not_in_use_is_given_back() -> None:
    quota, counts, _ = make()
    quota.allot(20, 1)
    counts.pages = 5
    quota.give_back(3)
    assert quota.allotted == 8
