"""Focus under politeness: good hosts rest, and nothing bad is fetched instead."""

import asyncio
from functools import partial
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import pytest

from lycosa import config
from lycosa.frontier import focus
from lycosa.frontier.durable import DurableFrontier
from lycosa.frontier.limits import Quota
from lycosa.frontier.scope import Scope
from lycosa.store.db import CrawlDb
from lycosa.store.visits import Totals
from lycosa.types import Link, Reply

GOOD, BAD = [f"http://good/{n}" for n in range(40)], [f"http://bad{n}/" for n in range(40)]


def make(clock: Any, focused: float, pages: int = 100, db: CrawlDb | None = None) -> DurableFrontier:
    settings = config.Config(fetch=config.Fetch(delay_s=1.0, focus=focused))
    given = db or CrawlDb(":memory:").open()
    quota = Quota(config.Limits(pages=pages), Totals())
    frontier = DurableFrontier(given, settings, Scope(config.Scope()), SimpleNamespace(merge=max), clock, quota)
    frontier.load()
    return frontier


def fill(frontier: DurableFrontier) -> None:
    frontier.push([Link(url) for url in GOOD], [0.9] * len(GOOD))
    frontier.push([Link(url) for url in BAD], [0.1] * len(BAD))


def answer(waiter: asyncio.Future[None]) -> None:
    if not waiter.done():
        waiter.set_result(None)


async def take_all(frontier: DurableFrontier, clock: Any, most: int, took_s: float = 0.1) -> list[tuple[float, str]]:
    """What eight workers fetch, and when."""
    fetched: list[tuple[float, str]] = []

    def answer(answered: asyncio.Future[None]) -> None:
        if not answered.done():
            answered.set_result(None)

    async def work() -> None:
        while len(fetched) < most and (lease := await frontier.pop()):
            link = lease.link
            fetched.append((clock.now(), link.url))
            answered = asyncio.get_running_loop().create_future()
            clock.call_at(clock.now() + took_s, partial(answer, answered))
            await answered
            frontier.done(Reply(link, url=link.url, status=200, seconds=took_s))

    workers = [asyncio.ensure_future(work()) for _ in range(8)]
    for _ in range(2_000):
        for _ in range(20):
            await asyncio.sleep(0)
        if len(fetched) >= most or clock.next_call is None or all(worker.done() for worker in workers):
            break
        clock.advance(max(0.0, clock.next_call - clock.now()))
    for worker in workers:
        worker.cancel()
    await asyncio.gather(*workers, return_exceptions=True)
    return fetched


async def test_while_a_good_host_rests_nothing_bad_is_fetched(clock: Any) -> None:
    frontier = make(clock, 0.999)
    fill(frontier)
    fetched = await take_all(frontier, clock, 30)
    assert [url for _, url in fetched] == GOOD[:30]
    times = [at for at, _ in fetched]
    assert all(later - sooner >= 1.0 for sooner, later in pairwise(times))


async def test_busy_takes_whatever_is_due(clock: Any) -> None:
    frontier = make(clock, 0.0)
    fill(frontier)
    fetched = await take_all(frontier, clock, 30)
    assert sum(url in GOOD for _, url in fetched) <= 5


async def test_a_share_of_the_requests_may_go_to_what_is_due(clock: Any) -> None:
    frontier = make(clock, 0.75)
    fill(frontier)
    fetched = await take_all(frontier, clock, 40)
    assert 8 <= sum(url in BAD for _, url in fetched) <= 10


async def test_strict_order_fetches_one_at_a_time(clock: Any) -> None:
    frontier = make(clock, 1.0)
    frontier.push([Link(url) for url in BAD], [1.0 - n / 100 for n in range(len(BAD))])
    fetched = await take_all(frontier, clock, 20)
    assert [url for _, url in fetched] == BAD[:20]
    times = [at for at, _ in fetched]
    assert all(later - sooner >= 0.1 for sooner, later in pairwise(times))


async def test_workers_do_not_run_down_the_order_before_replies_are_back(clock: Any) -> None:
    """Each host has one page, all are due: no more than the window is fetched at once."""
    frontier = make(clock, 0.9, pages=100)
    frontier.push([Link(url) for url in BAD], [1.0 - n / 100 for n in range(len(BAD))])
    leases = [await frontier.pop() for _ in range(focus.LEAST)]
    first = [lease.link for lease in leases if lease]
    assert [link.url for link in first] == BAD[: focus.LEAST]
    waiting = asyncio.ensure_future(frontier.pop())
    for _ in range(5):
        await asyncio.sleep(0)
    assert not waiting.done()
    frontier.done(Reply(first[0], url=first[0].url, status=200))
    assert (await waiting).link.url == BAD[focus.LEAST]  # type: ignore[union-attr]


async def test_a_good_host_that_rests_long_makes_nobody_wait(clock: Any) -> None:
    frontier = make(clock, 0.999)
    fill(frontier)
    lease = await frontier.pop()
    assert lease
    link = lease.link
    assert link.url == GOOD[0]
    frontier.done(Reply(link, url=link.url, error="http-503", status=503, wait_s=600.0))
    fetched = await take_all(frontier, clock, 20)
    assert {url for _, url in fetched} <= set(BAD)
    assert clock.now() < 1_600


async def test_a_good_host_that_does_not_answer_makes_nobody_wait(clock: Any) -> None:
    frontier = make(clock, 0.999)
    fill(frontier)
    lease = await frontier.pop()  # and no reply comes
    assert lease
    assert lease.link.url == GOOD[0]
    fetched = await take_all(frontier, clock, 20)
    assert {url for _, url in fetched} <= set(BAD)
    assert fetched[0][0] == pytest.approx(1_000.0 + focus.SLOW_S)


async def test_a_good_host_that_fails_and_is_closed_makes_nobody_wait(clock: Any) -> None:
    frontier = make(clock, 0.999)
    fill(frontier)
    for _ in range(10):  # give_up_after
        lease = None
        while lease is None:
            clock.advance(1.0)
            lease = await asyncio.wait_for(frontier.pop(), 1)
        link = lease.link
        assert link.url in GOOD
        frontier.done(Reply(link, url=link.url, error="connect"))
    fetched = await take_all(frontier, clock, 20)
    assert {url for _, url in fetched} <= set(BAD)


async def test_nothing_good_left_the_rest_is_fetched(clock: Any) -> None:
    frontier = make(clock, 0.999)
    fill(frontier)
    fetched = await take_all(frontier, clock, 80)
    assert sorted(url for _, url in fetched) == sorted(GOOD + BAD)


async def test_the_order_survives_a_restart(clock: Any, tmp_path: Any) -> None:
    first = make(clock, 0.999, db=CrawlDb(tmp_path / "crawl.db").open())
    fill(first)
    before = await take_all(first, clock, 10)
    first._db.commit()
    first._db.close()
    again = make(clock, 0.999, db=CrawlDb(tmp_path / "crawl.db").open())
    fetched = await take_all(again, clock, 20)
    assert {url for _, url in before + fetched} <= set(GOOD)


def test_where_only_time_is_limited_pages_cost_nothing() -> None:
    fetch = config.Fetch()
    assert focus.chosen(fetch, config.Limits()) == focus.FOCUSED
    assert focus.chosen(fetch, config.Limits(pages=0)) == focus.FOCUSED
    assert focus.chosen(fetch, config.Limits(pages=0, seconds=60.0)) == 0.0
    assert focus.chosen(fetch, config.Limits(pages=10, seconds=60.0)) == focus.FOCUSED
    assert focus.chosen(config.Fetch(focus=0.5), config.Limits(pages=0, seconds=60.0)) == 0.5


async def test_the_status_says_who_is_held_back(clock: Any) -> None:
    frontier = make(clock, 0.999)
    fill(frontier)
    await take_all(frontier, clock, 5)
    status = frontier.status()
    assert status.held_back == len(BAD)
    assert status.status.endswith("40 others have nothing good enough")
