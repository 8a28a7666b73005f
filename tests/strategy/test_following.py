"""Scores follow what the judge changes its mind about, where a link waits with the relevance of its page."""

from typing import Any

import pytest

from lycosa.assembly import make_frontier
from lycosa.crawl import Crawl
from lycosa.frontier.scope import Scope
from lycosa.lab.clock import LabClock
from lycosa.lab.one import LAB
from lycosa.store.db import CrawlDb
from lycosa.strategy import STRATEGIES
from lycosa.types import Lease, Link, Origin, Page, Reply, Verdict, Visit

A, B = "http://a.example/", "http://b.example/"


class Toy:
    """Two pages with two links each and one in common; after the second the judge thinks less of the first."""

    async def fetch(self, lease: Lease) -> Reply:
        return Reply(lease.link, url=lease.link.url, status=200, body=lease.link.url.encode())

    def parse(self, reply: Reply) -> Page:
        url = reply.url
        return Page(url, links=[Link(target, url, depth=1) for target in (f"{url}1", f"{url}2", "http://c.example/")])

    async def judge(self, page: Page) -> Verdict:
        return Verdict(0.9 if page.url == A else 0.6, True)

    def learn(self, visit: Visit) -> None:
        self.last = visit.reply.link.url

    def revised(self) -> list[tuple[str, Verdict]]:
        return [(A, Verdict(0.4, False)), ("http://unknown.example/", Verdict(0.1))] if self.last == B else []


@pytest.mark.parametrize("kind", ["best-first", "hard-focus"])
async def test_links_that_wait_get_the_new_relevance_of_their_page(kind: str) -> None:
    db, strategy, toy = CrawlDb(":memory:").open(), STRATEGIES[kind](), Toy()
    frontier = make_frontier(db, LAB, Scope(LAB.scope), strategy, LabClock())
    crawl = Crawl(frontier, toy, toy, toy, strategy, [], lambda body: body.decode(), db.turn)
    crawl.seed([Link(url, origin=Origin.SEED) for url in (A, B)])
    for _ in range(2):
        lease = await frontier.pop()
        assert lease
        crawl.take(await crawl.visit(lease))
    scores: dict[str, Any] = dict(db.execute("SELECT url, score FROM urls WHERE state = 0"))
    assert scores == {f"{A}1": 0.4, f"{A}2": 0.4, f"{B}1": 0.6, f"{B}2": 0.6, "http://c.example/": 0.4}
    db.close()


@pytest.mark.parametrize("relevance", [0.1, 0.9])
async def test_labels_may_raise_what_links_on_a_page_are_worth_but_not_lower_it(relevance: float) -> None:
    db, strategy = CrawlDb(":memory:").open(), STRATEGIES["best-first"]()
    frontier = make_frontier(db, LAB, Scope(LAB.scope), strategy, LabClock())
    strategy.connect(frontier.view)
    verdict, links = Verdict(relevance, uncorrected=0.5), [Link(f"{A}{number}", A, depth=1) for number in range(2)]
    page = Page(A, links=links)
    expected = [max(relevance, 0.5)] * 2
    assert [*strategy.score(Visit(Reply(Link(A)), page, verdict))] == expected
    frontier.push([Link(A, origin=Origin.SEED)], [0.5])
    frontier.push(links, [0.5, 0.5])
    strategy.hear([(A, verdict)])
    frontier.apply(strategy.effects())
    assert [*frontier.view.scores()][2:] == expected
    db.close()
