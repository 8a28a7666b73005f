"""The ontology strategy: hard focus, and link analysis that chooses what is fetched next."""

import asyncio
import threading
from array import array
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lycosa import config
from lycosa.assembly import make_frontier
from lycosa.crawl import Crawl
from lycosa.effects import Jobs
from lycosa.frontier.scope import Scope
from lycosa.lab.clock import LabClock
from lycosa.store.db import CrawlDb
from lycosa.strategy.ontology import OntologyStrategy
from lycosa.types import Acts, BadInput, Graph, Lease, Link, Origin, Page, Reply, Sink, Verdict, Visit


class Toy:
    """A web given as a dict from page to links; pages named with a capital are on topic."""

    def __init__(self, web: dict[str, list[str]]) -> None:
        self.web = web
        self.order: list[str] = []

    async def fetch(self, lease: Lease) -> Reply:
        link = lease.link
        return Reply(link, url=link.url, status=200, body=link.url.encode())

    def parse(self, reply: Reply) -> Page:
        links = [Link(url, reply.url, depth=1) for url in self.web.get(reply.url, [])]
        return Page(reply.url, links=links)

    async def judge(self, page: Page) -> Verdict:
        good = page.url.rsplit("/", 1)[1][:1].isupper()
        return Verdict(0.5 if good else 0.001, good)

    def write(self, visit: Visit) -> None:
        self.order.append(visit.reply.link.url)


async def crawl(
    web: dict[str, list[str]],
    strategy: OntologyStrategy,
    clock: Any,
    seed: str,
    at_once: bool = True,
    more: Sequence[Sink] = (),
) -> list[str]:
    db = CrawlDb(":memory:").open()
    settings = config.Config(fetch=config.Fetch(delay_s=0.0, focus=0.0))
    toy, jobs = Toy(web), Jobs(at_once)
    frontier = make_frontier(db, settings, Scope(config.Scope()), strategy, clock, jobs=jobs)
    strategy.prepare(Path(), None)
    loop = Crawl(frontier, toy, toy, toy, strategy, [toy, *more], lambda body: body.decode(), db.turn, jobs)
    await loop.run([Link(seed, origin=Origin.SEED)], workers=1)
    return toy.order


def names(urls: list[str]) -> str:
    return " ".join(url.rsplit("/", 1)[1] for url in urls)


WEB = {
    "http://a/S": ["http://a/x", "http://a/B", "http://a/C", "http://a/D"],
    "http://a/B": ["http://a/E"],
    "http://a/C": ["http://a/E", "http://a/D"],
    "http://a/x": ["http://a/hidden"],
    "http://a/D": [],
}


async def test_links_of_irrelevant_pages_are_dropped_and_much_linked_pages_come_first(clock: Any) -> None:
    order = await crawl(WEB, OntologyStrategy(minimum=2, top=3), clock, "http://a/S")
    assert "hidden" not in names(order)
    assert sorted(names(order).split()) == ["B", "C", "D", "E", "S", "x"]


async def test_unfocused_everything_is_followed(clock: Any) -> None:
    order = await crawl(WEB, OntologyStrategy(focused=False), clock, "http://a/S")
    assert "hidden" in names(order)


async def test_seeds_are_followed_whatever_the_judge_says(clock: Any) -> None:
    order = await crawl({"http://a/s": ["http://a/T"]}, OntologyStrategy(), clock, "http://a/s")
    assert names(order) == "s T"


async def test_what_many_pages_link_to_is_chosen_first(clock: Any) -> None:
    web = {"http://a/S": [f"http://a/P{n}" for n in range(5)] + ["http://a/Z1", "http://a/Z2"]}
    web |= {f"http://a/P{n}": ["http://a/Z2", "http://a/Q"] for n in range(5)}
    order = names(await crawl(web, OntologyStrategy(minimum=1, top=2), clock, "http://a/S")).split()
    assert order.index("Z2") < order.index("Z1")


class Seeing:
    """A view of a crawl with these scores."""

    def __init__(self, scores: list[float], host: Callable[[int], str]) -> None:
        self.known = scores
        self.host = host

    def scores(self) -> list[float]:
        return self.known

    def graph(self) -> Graph:
        return Graph(array("I"), array("I"), array("I"))


@pytest.mark.parametrize("analysis", ["nutch", "pagerank"])
def test_host_cap_and_top(analysis: Any) -> None:
    strategy = OntologyStrategy(analysis=analysis, top=4, per_host=2)
    waiting = array("I", range(2, 12))
    analysed = strategy.analyse(array("I", [1] * 10), array("I", waiting), waiting)
    view = Seeing([0.0] * 12, lambda number: f"h{number // 5}")
    strategy.connect(view)
    ids, scores = strategy.choose(*analysed)
    assert ids == [2, 3, 5, 6]
    assert all(score > 1 for score in scores)
    assert strategy.chosen_ == 4
    view.known = [2.0 if number in ids else 0.0 for number in range(12)]
    again, _ = strategy.choose(*analysed)
    assert again == [10, 11]  # the other hosts hold as many as they may
    assert strategy.chosen_ == 6


def test_by_relevance_the_page_a_link_was_found_on_counts() -> None:
    strategy = OntologyStrategy(by_relevance=True)
    visit = Visit(
        Reply(Link("http://a/", "http://s/")), Page("http://a/", links=[Link("http://b/")]), Verdict(0.4, True)
    )
    assert strategy.score(visit) == [0.4]
    analysed = strategy.analyse(array("I", [1, 1]), array("I", [2, 3]), array("I", [2, 3]))
    strategy.connect(Seeing([0.0, 0.0, 0.1, 0.4], str))
    ids, scores = strategy.choose(*analysed)
    assert ids == [2, 3]
    assert scores[1] - 1 == pytest.approx(4 * (scores[0] - 1))


def test_it_wants_a_revision_when_few_chosen_are_left_and_there_is_something_new() -> None:
    strategy = OntologyStrategy(minimum=2)
    assert isinstance(strategy, Acts)
    strategy.connect(Seeing([], str))
    page = Page("http://a/", links=[Link("http://b/")])
    assert strategy.effects().job is None
    strategy.learn(Visit(Reply(Link("http://a/")), page))
    assert strategy.effects().job
    strategy.chosen_ = 3
    assert strategy.effects().job is None
    strategy.learn(Visit(Reply(Link("http://b/")), page, score=1.7))
    strategy.learn(Visit(Reply(Link("http://c/")), page, score=0.0))
    assert strategy.chosen_ == 2
    copy = OntologyStrategy(minimum=2)
    copy.load(strategy.save())
    assert (copy.chosen_, copy.fresh_) == (2, True)


def test_a_million_links_are_analysed() -> None:
    chance = np.random.default_rng(1)
    strategy = OntologyStrategy()
    sources = array("I", chance.integers(1, 100_000, 1_000_000, dtype=np.uint32).tobytes())
    targets = array("I", chance.integers(1, 300_000, 1_000_000, dtype=np.uint32).tobytes())
    ids, scores = strategy.analyse(sources, targets, array("I", range(100_000, 300_000)))
    assert len(ids) == 200_000
    assert np.all(np.diff(scores) <= 0)


class Thinker(OntologyStrategy):
    """Its first analysis takes until somebody says that the crawl went on."""

    went_on = threading.Event()

    def analyse(self, *edges: Any) -> Any:
        assert self.went_on.wait(30)
        return super().analyse(*edges)


async def test_the_crawl_goes_on_meanwhile(clock: Any) -> None:
    web = {"http://a/S": [f"http://a/P{n}" for n in range(5)], "http://a/P3": ["http://a/Q"]}

    class Watch:
        def write(self, visit: Visit) -> None:
            if visit.reply.link.url == "http://a/P2":
                Thinker.went_on.set()

    order = await crawl(web, Thinker(minimum=1, hold=False), clock, "http://a/S", at_once=False, more=[Watch()])
    assert len(order) == 7


class Broken(OntologyStrategy):
    def analyse(self, *edges: Any) -> Any:
        raise MemoryError


MANY = {"http://a/S": [f"http://h{n}/P{m}" for n in range(6) for m in range(3)]}
MANY |= {f"http://h{n}/P{m}": ["http://h1/Z", "http://h1/Y", f"http://h{n}/Q"] for n in range(3) for m in range(3)}


async def visited(strategy: OntologyStrategy, delay_s: float, workers: int) -> list[Visit]:
    """A crawl of many hosts by many workers, on the clock of the lab."""
    db = CrawlDb(":memory:").open()
    settings = config.Config(fetch=config.Fetch(delay_s=delay_s, delay_factor=0.0))
    toy, seen, jobs = Toy(MANY), Seen(), Jobs(at_once=False)
    frontier = make_frontier(db, settings, Scope(settings.scope), strategy, LabClock(), jobs=jobs)
    strategy.prepare(Path(), None)
    crawl = Crawl(frontier, toy, toy, toy, strategy, [seen], lambda body: body.decode(), db.turn, jobs)
    await crawl.run([Link("http://a/S", origin=Origin.SEED)], workers)
    assert frontier.ended == "frontier empty"
    assert frontier.waiting() == 0
    return seen.visits


class Seen:
    def __init__(self) -> None:
        self.visits: list[Visit] = []

    def write(self, visit: Visit) -> None:
        self.visits.append(visit)


ALL = {"http://a/S", *MANY["http://a/S"], "http://h1/Z", "http://h1/Y", *(f"http://h{n}/Q" for n in range(3))}


@pytest.mark.parametrize("delay_s", [0.0, 5.0])
async def test_what_was_not_chosen_is_held_back_while_chosen_hosts_rest(delay_s: float) -> None:
    visits = await visited(OntologyStrategy(minimum=2, top=4, per_host=2), delay_s, workers=8)
    assert {visit.reply.link.url for visit in visits} == ALL
    assert min(visit.score for visit in visits[1:]) >= 1, "only what was chosen is fetched"


async def test_if_nothing_is_held_back_free_hosts_are_asked_at_once() -> None:
    visits = await visited(OntologyStrategy(minimum=2, top=4, per_host=2, hold=False), 5.0, workers=8)
    assert {visit.reply.link.url for visit in visits} == ALL
    assert min(visit.score for visit in visits[1:]) < 1


async def test_what_no_analysis_chooses_is_asked_in_the_end() -> None:
    """None comes where few links are new, and one may fail: a crawl must not end before the frontier does."""
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: None)
    visits = await visited(Broken(), 1.0, workers=4)
    assert {visit.reply.link.url for visit in visits} == ALL


@pytest.mark.parametrize("key", ["iterations", "minimum", "top", "per_host"])
def test_numbers_below_one_are_refused(key: str) -> None:
    with pytest.raises(BadInput, match=f"strategy.{key}: 0 is less than 1"):
        OntologyStrategy(**{key: 0}).prepare(Path(), None)
