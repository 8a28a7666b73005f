"""Fetch lists: the best of one moment, in that order, before anything is chosen again."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lycosa.types import Effects, Link, Lists


class Chooses:
    """Notes which scores each list had; between two lists it may offer links of its own."""

    list_size = 2

    def __init__(self) -> None:
        self.lists: list[list[float]] = []
        self.offers: list[tuple[str, float]] = []

    def merge(self, waiting: float, found: float) -> float:
        return max(waiting, found)

    def first(self, found: float) -> float:
        return found / 2

    def begin_list(self, scores: Sequence[float]) -> None:
        self.lists.append(list(scores))

    def end_list(self) -> Effects:
        offers, self.offers = self.offers, []
        return Effects(offers=[Link(url) for url, _ in offers], offered=[score for _, score in offers])


def test_it_is_a_listing() -> None:
    assert isinstance(Chooses(), Lists)


async def test_a_list_is_fetched_before_anything_better_that_came_later(bench: Any) -> None:
    chooses = Chooses()
    one = bench(listing=chooses)
    one.push(("http://a/1", 0.8), ("http://b/1", 0.4), ("http://c/1", 0.2))
    assert await one.take() == "http://a/1"
    one.push(("http://d/1", 1.0), ("http://b/1", 0.9))
    one.done("http://a/1")
    assert await one.take() == "http://b/1"
    one.done("http://b/1")
    assert await one.drain() == ["http://d/1", "http://c/1"]
    assert chooses.lists == [[0.4, 0.2], [0.5, 0.1], []]


async def test_the_next_list_waits_for_the_replies_of_this_one(bench: Any) -> None:
    chooses = Chooses()
    one = bench(listing=chooses)
    one.push(("http://a/1", 0.8), ("http://b/1", 0.4), ("http://c/1", 0.2))
    assert [await one.take(), await one.take()] == ["http://a/1", "http://b/1"]
    one.done("http://a/1")
    one.push(("http://d/1", 1.0))
    assert len(chooses.lists) == 1
    one.done("http://b/1", again=True, status=0)
    assert await one.take() == "http://b/1", "still on the list"
    one.done("http://b/1")
    assert await one.drain() == ["http://d/1", "http://c/1"]


async def test_the_best_of_all_hosts_even_of_one(bench: Any) -> None:
    one = bench(listing=Chooses(), delay_s=1.0)
    one.push(("http://a/1", 0.8), ("http://a/2", 0.7), ("http://b/1", 0.6))
    assert await one.drain() == ["http://a/1", "http://a/2", "http://b/1"]


async def test_between_two_lists_links_may_be_offered(bench: Any) -> None:
    chooses = Chooses()
    one = bench(listing=chooses)
    one.push(("http://a/1", 0.8))
    assert await one.take() == "http://a/1"
    chooses.offers.append(("http://x/", 0.5))
    one.done("http://a/1")
    assert await one.drain() == ["http://x/"]


async def test_a_list_survives_a_kill(bench: Any, tmp_path: Path) -> None:
    one = bench(tmp_path / "crawl.db", listing=Chooses())
    one.push(("http://a/1", 0.8), ("http://b/1", 0.4), ("http://c/1", 0.2))
    assert await one.take() == "http://a/1"
    one.done("http://a/1")
    one.push(("http://d/1", 1.0))
    one.commit()
    one.kill()
    again = Chooses()
    one.open(listing=again)
    assert await one.drain() == ["http://b/1", "http://d/1", "http://c/1"]
    assert again.lists == [[0.5, 0.1], []]


async def test_what_a_redirect_reached_or_a_closed_host_took_leaves_the_list(bench: Any) -> None:
    chooses = Chooses()
    one = bench(listing=chooses, give_up_after=1)
    one.push(("http://a/1", 0.8), ("http://a/2", 0.7), ("http://b/1", 0.4))
    assert await one.take() == "http://a/1"
    one.done("http://a/1", error="connect", status=0)
    assert await one.drain() == ["http://b/1"]
    assert chooses.lists == [[0.4, 0.35], [0.2], []]


async def test_all_scores_shrink_together_and_the_list_stays(bench: Any) -> None:
    chooses = Chooses()
    one = bench(listing=chooses)
    one.push(("http://a/1", 0.8), ("http://b/1", 0.4), ("http://c/1", 0.2), ("http://c/2", 0.1))
    assert await one.take() == "http://a/1"
    one.frontier.apply(Effects(scale=0.5))
    assert one.frontier.score(Link("http://c/1")) == 0.05
    one.push(("http://d/1", 0.12))  # half of it: now between the two that waited with more
    one.done("http://a/1")
    assert await one.drain() == ["http://b/1", "http://d/1", "http://c/1", "http://c/2"]


def test_a_strategy_can_tell_what_may_not_be_fetched(bench: Any) -> None:
    view = bench(listing=Chooses(), scope={"max_depth": 2}).frontier.view
    deep, near = Link("http://a/deep", depth=3), Link("http://a/near", depth=2)
    assert view.refusals([deep, near]) == {deep.url: "too-deep"}
