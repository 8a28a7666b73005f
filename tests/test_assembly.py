"""A crawl is put together in one place, from what is passed in, and stays as it was made."""

import asyncio
from dataclasses import FrozenInstanceError
from typing import Any

import pytest

from lycosa import config
from lycosa.assembly import Assembly
from lycosa.frontier.limits import Quota
from lycosa.frontier.scope import Scope
from lycosa.lab.clock import LabClock
from lycosa.lab.one import LAB
from lycosa.store.db import CrawlDb
from lycosa.store.visits import Totals
from lycosa.strategy import STRATEGIES
from lycosa.types import NOTHING, Deferred, Effects, Lease, Link, Origin, Page, Reply, Verdict, View, Visit

SEED = Link("http://a/", origin=Origin.SEED)
WEB = {"http://a/": ["http://a/1", "http://a/2", "http://a/3"]}


class Stages:
    """A web of a few pages, its parser and its judge."""

    async def fetch(self, lease: Lease) -> Reply | Deferred:
        return Reply(lease.link, url=lease.link.url, status=200, body=lease.link.url.encode())

    def parse(self, reply: Reply) -> Page:
        return Page(reply.url, links=[Link(url, source=reply.url, depth=1) for url in WEB.get(reply.url, [])])

    async def judge(self, page: Page) -> Verdict:
        return Verdict(0.5)


class Log:
    def __init__(self, name: str, written: list[tuple[str, str]]) -> None:
        self.name, self.written = name, written

    def write(self, visit: Visit) -> None:
        self.written.append((self.name, visit.reply.link.url))


class Slow:
    """Gives its work away with each effect, and holds everything back until it is done."""

    def __init__(self) -> None:
        self.done = 0

    def score(self, visit: Visit) -> list[float]:
        return [1.0] * len(visit.page.links)

    def merge(self, waiting: float, found: float) -> float:
        return max(waiting, found)

    def learn(self, visit: Visit) -> None: ...

    def connect(self, view: View) -> Effects:
        return NOTHING

    def effects(self) -> Effects:
        return NOTHING if self.done else Effects(job=self.work)

    def work(self) -> None:
        self.done += 1


def assembly(strategy: Any = None, pages: int = 0, at_once: bool = True) -> tuple[Assembly, Totals]:
    totals, clock = Totals(), LabClock()
    quota = Quota(config.Limits(pages=pages), totals).begin(clock.now())
    db = CrawlDb(":memory:").open()
    made = Assembly(db, LAB, Scope(LAB.scope), strategy or STRATEGIES["breadth-first"](), clock, quota, at_once)
    return made, totals


async def test_sinks_receive_each_visit_in_the_given_order() -> None:
    made, totals = assembly()
    written: list[tuple[str, str]] = []
    stages = Stages()
    await made.crawl(stages, stages, [totals, Log("one", written), Log("two", written)], stages).run([SEED], 1)
    assert written[:4] == [("one", "http://a/"), ("two", "http://a/"), ("one", "http://a/1"), ("two", "http://a/1")]
    assert len(written) == 8


async def test_the_quota_that_was_passed_in_ends_the_crawl() -> None:
    made, totals = assembly(pages=2)
    stages = Stages()
    await made.crawl(stages, stages, [totals], stages).run([SEED], 2)
    assert (totals.pages, made.frontier.ended) == (2, "limit of 2 pages")


async def test_before_a_crawl_ends_it_asks_whether_more_links_will_arrive() -> None:
    made, totals = assembly()
    stages, asked = Stages(), []

    def more() -> bool:
        asked.append(totals.pages)
        if len(asked) > 1:
            return False
        asyncio.get_running_loop().call_soon(made.frontier.bring, [Link("http://b/")], [1.0])
        return True

    await made.crawl(stages, stages, [totals], stages, more=more).run([SEED], 1)
    assert asked == [4, 5]
    assert totals.pages == 5


@pytest.mark.parametrize("at_once", [True, False])
async def test_slow_work_of_a_strategy_is_done_before_the_crawl_ends(at_once: bool) -> None:
    strategy = Slow()
    made, totals = assembly(strategy, at_once=at_once)
    stages = Stages()
    await made.crawl(stages, stages, [totals], stages).run([SEED], 1)
    assert strategy.done >= 1
    assert totals.pages == 4


@pytest.mark.parametrize("name", ["frontier", "fetcher", "parser", "judge", "strategy", "sinks", "digest", "turn"])
def test_a_finished_crawl_cannot_be_changed(name: str) -> None:
    made, totals = assembly()
    crawl = made.crawl(Stages(), Stages(), [totals])
    with pytest.raises(FrozenInstanceError):
        setattr(crawl, name, None)
