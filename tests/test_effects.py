"""What a strategy changes beside the scores of links: what is applied, what stays, and how slow work is done."""

import asyncio
import threading
from collections.abc import Callable

import pytest

from lycosa import config
from lycosa.assembly import make_frontier
from lycosa.effects import Jobs
from lycosa.frontier.durable import DurableFrontier
from lycosa.frontier.scope import Scope
from lycosa.lab.clock import LabClock
from lycosa.store.db import CrawlDb
from lycosa.types import Band, Effects, Link, Reply, View, Visit

A, B, C, SEED = (Link(f"http://{name}.example/") for name in "abcs")


class Acting:
    """Returns the effects that a test sets."""

    def __init__(self) -> None:
        self.next = [Effects()]
        self.view: View | None = None

    def connect(self, view: View) -> Effects:
        self.view = view
        return Effects()

    def score(self, visit: Visit) -> list[float]:
        return [0.5] * len(visit.page.links)

    def merge(self, waiting: float, found: float) -> float:
        return max(waiting, found)

    def learn(self, visit: Visit) -> None:
        """Nothing."""

    def effects(self) -> Effects:
        return self.next.pop(0) if self.next else Effects()


def make(strategy: Acting) -> DurableFrontier:
    settings = config.Config(fetch=config.Fetch(delay_s=0.0, delay_factor=0.0, focus=0.0))
    return make_frontier(CrawlDb(":memory:").open(), settings, Scope(settings.scope), strategy, LabClock())


async def drain(frontier: DurableFrontier) -> list[Link]:
    order = []
    while lease := await frontier.pop():
        order.append(lease.link)
        frontier.done(Reply(lease.link))
    return order


async def test_scores_are_replaced_up_and_down_but_what_comes_first_stays_first() -> None:
    strategy = Acting()
    frontier = make(strategy)
    assert strategy.view is frontier.view
    frontier.push([A, B, C], [0.3, 0.2, 0.1])
    frontier.push([SEED], [0.0], Band.FIRST)
    stranger = frontier.number("http://stranger.example/")
    ids = [*map(frontier.number, (A.url, C.url, SEED.url)), stranger]
    strategy.next = [Effects(ids=ids, scores=[0.05, 0.9, 7.0, 0.7])]
    Jobs().apply(strategy, frontier)
    assert [frontier.score(link) for link in (A, B, C, SEED)] == [0.05, 0.2, 0.9, 0.0]
    assert await drain(frontier) == [SEED, C, B, A]
    strategy.next = [Effects(ids=[frontier.number(A.url)], scores=[0.8])]
    Jobs().apply(strategy, frontier)
    assert frontier.score(A) == 0.05
    assert frontier.waiting() == 0


async def test_what_is_in_flight_does_not_wait() -> None:
    strategy = Acting()
    frontier = make(strategy)
    frontier.push([A], [0.3])
    number = frontier.number(A.url)
    assert frontier.view.waits(number)
    await frontier.pop()
    assert not frontier.view.waits(number)


async def test_scaling_leaves_the_order_and_comes_before_offers() -> None:
    strategy = Acting()
    frontier = make(strategy)
    frontier.push([A, B], [4.0, 3.0])
    frontier.apply(Effects(scale=0.01, offers=[C, A], offered=[0.035, 0.001]))
    assert [frontier.score(link) for link in (A, B, C)] == pytest.approx([0.04, 0.03, 0.035])
    assert await drain(frontier) == [A, C, B]


@pytest.mark.parametrize("at_once", [True, False])
async def test_a_job_is_done_and_then_the_strategy_is_asked_again(at_once: bool) -> None:
    strategy, done, jobs = Acting(), list[str](), Jobs(at_once)
    frontier = make(strategy)
    frontier.push([A, B], [0.3, 0.2])
    number = frontier.number(B.url)
    where = lambda: done.append(threading.current_thread().name)  # noqa: E731
    strategy.next = [Effects(job=where), Effects(ids=[number], scores=[1.0])]
    jobs.apply(strategy, frontier)
    assert jobs.is_under_way() is not at_once
    while jobs.is_under_way():
        await asyncio.sleep(0)
    assert (done == [threading.current_thread().name]) is at_once
    assert await drain(frontier) == [B, A]


async def test_while_a_job_is_under_way_the_strategy_is_not_asked() -> None:
    strategy, jobs, go_on = Acting(), Jobs(at_once=False), threading.Event()
    frontier = make(strategy)
    strategy.next = [Effects(job=waiting_for(go_on)), Effects(floor=0.5), Effects(floor=0.6)]
    for _ in range(3):
        jobs.apply(strategy, frontier)
    assert len(strategy.next) == 2
    go_on.set()
    while jobs.is_under_way():
        await asyncio.sleep(0)
    assert len(strategy.next) == 1


def waiting_for(event: threading.Event) -> Callable[[], None]:
    def job() -> None:
        assert event.wait(30)

    return job


async def test_a_job_that_fails_is_logged_and_the_crawl_does_without(caplog: pytest.LogCaptureFixture) -> None:
    def broken() -> None:
        raise MemoryError

    strategy, jobs = Acting(), Jobs(at_once=False)
    frontier = make(strategy)
    strategy.next = [Effects(job=broken) for _ in range(4)]
    jobs.apply(strategy, frontier)
    while jobs.is_under_way():
        await asyncio.sleep(0)
    jobs.apply(strategy, frontier)
    assert not jobs.is_under_way()
    assert [record.levelname for record in caplog.records] == ["ERROR"]
