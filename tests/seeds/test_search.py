"""When a search starts, what it asks, what it lets in; and that it finds what no link leads to."""

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from lycosa import config
from lycosa.crawl import Crawl
from lycosa.frontier.durable import DurableFrontier
from lycosa.frontier.scope import Scope
from lycosa.seeds.engines import LocalEngine, Search, make_engine
from lycosa.seeds.ledger import Ledger
from lycosa.seeds.search import SearchStep, Source, Sources, Trigger
from lycosa.store.db import CrawlDb
from lycosa.store.visits import Totals, VisitStore
from lycosa.strategy.best_first import BestFirst
from lycosa.strategy.publications import Publications
from lycosa.types import Band, Lease, Link, Page, Reply, Verdict, Visit
from lycosa.urls import Base

# -- the trigger ------------------------------------------------------------------------------------------------------


def test_ten_decreases_fire() -> None:
    trigger = Trigger(10)
    assert [i for i in range(1, 25) if trigger.step(5, 100 + i, True)] == [11, 21]


def test_no_target_at_all_counts_and_waits_for_the_first_source() -> None:
    trigger = Trigger(10)
    assert [i for i in range(1, 25) if trigger.step(0, 50 + i, i >= 15)] == [15]


def test_an_equal_share_begins_anew() -> None:
    trigger = Trigger(2)
    shares = [(4, 10), (3, 10), (3, 10), (2, 10), (1, 10), (1, 10)]
    assert [i for i, share in enumerate(shares) if trigger.step(*share, True)] == [4]


def test_an_empty_frontier_is_a_decrease() -> None:
    trigger = Trigger(3)
    assert [trigger.step(0, 0, True) for _ in range(6)] == [False, False, True, False, False, True]


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.booleans()), max_size=100), st.integers(1, 6))
def test_it_never_fires_early(steps: list[tuple[int, int, bool]], alpha: int) -> None:
    trigger, quiet = Trigger(alpha), 0
    for part, rest, ready in steps:
        quiet += 1
        if trigger.step(part, part + rest, ready):
            assert ready
            assert quiet >= alpha
            quiet = 0


# -- the sources ------------------------------------------------------------------------------------------------------


def test_of_the_pages_at_hand_the_one_named_last_comes_first() -> None:
    sources = Sources()
    for name in "abcd":
        sources.name(name)
    sources.keep(Source("c"))
    sources.keep(Source("a"))
    sources.keep(Source("e"))
    assert (sources.named, sources.kept) == (5, 3)
    assert [sources.take().url for _ in range(3)] == ["e", "c", "a"]
    assert (sources.named, sources.kept) == (2, 0)
    assert sources.knows("b")
    assert not sources.knows("c")
    sources.drop("b")
    sources.drop("never named")
    assert sources.named == 1


def test_sources_are_bounded() -> None:
    sources = Sources()
    for number in range(20_000):
        sources.name(f"{number}")
        sources.keep(Source(f"{number}"))
    assert sources.kept == 16
    for number in range(20_000):
        sources.name(f"x{number}")
    assert sources.named == 10_000


# -- the step over a real frontier ------------------------------------------------------------------------------------

PUBS = "http://u.org/~ada/pubs.html"
CITATION = "<li>A. Ada (2006) {}, Journal of Things.</li>"


def publications(*titles: str) -> bytes:
    return f"<title>Papers</title><ul>{''.join(map(CITATION.format, titles))}</ul>".encode()


def judged(url: str, body: bytes = b"", links: Sequence[str] = (), **options: Any) -> Visit:
    """A page that was fetched and judged."""
    verdict = msgspec.convert(options, Verdict)
    page = Page(url, "A page", words=("spiders",), links=[Link(link) for link in links])
    return Visit(Reply(Link(url), url=url, body=body), page, verdict, digest=url)


class Bench:
    """A search step with real neighbours: frontier, ledger, engine."""

    def __init__(self, db: CrawlDb, clock: Any, engine: Any, targets: Any, **options: Any) -> None:
        self.db = db
        self.clock = clock
        rules = msgspec.convert({"alpha": 2, "delay_s": 0.0, "engine": "searxng", **options}, Search)
        settings = config.Config(fetch=config.Fetch(delay_s=0.0, focus=0.0))
        scope = Scope(config.Scope(domains=["u.org"]))
        self.frontier = DurableFrontier(db, settings, scope, SimpleNamespace(merge=max), clock)
        self.ledger = Ledger(engine(rules), db, rules, clock)
        self.pushed: list[list[str]] = []
        self.idle = asyncio.Event()
        self.step = SearchStep(rules, self.ledger, self.push, self.count, self.frontier.refuses, targets, "u.org")

    def push(self, links: Sequence[Link], scores: Sequence[float], band: Band = Band.FOUND) -> None:
        self.pushed.append([link.url for link in links])
        if not self.step._busy:
            self.idle.set()
        self.frontier.push(links, scores, band)

    def count(self) -> int:
        return self.frontier.status().waiting

    def waiting(self) -> dict[str, float]:
        return dict(self.db.execute("SELECT url, score FROM urls WHERE state = 0"))

    async def settle(self) -> None:
        """Let the task work until it is idle."""
        while self.step._busy:
            self.idle.clear()
            await self.idle.wait()


@pytest.fixture
def strategy() -> Publications:
    made = Publications()
    made.prepare(Path(), None)
    return made


@pytest.fixture
async def bench(db: CrawlDb, clock: Any, engine_server: Any, strategy: Publications) -> Any:
    """Makes benches that ask the engine on the loopback."""
    tasks = []

    async def make(classes: bool = True, **options: Any) -> Bench:
        def engine(rules: Search) -> Any:
            return make_engine(rules, "Test/1.0", Path(), lambda path: [])

        options = {"url": engine_server.url, **options}
        one = Bench(db, clock, engine, strategy if classes else None, **options)
        tasks.append(asyncio.ensure_future(one.step.run()))
        await asyncio.sleep(0)  # the engine is opened
        return one

    yield make
    for task in tasks:
        task.cancel()
    results = await asyncio.gather(*tasks, return_exceptions=True)
    assert all(isinstance(result, asyncio.CancelledError) for result in results)


TITLES = ("Soft Pattern Matching Models for Definitional Question Answering", "Focused Crawling of University Webs")


async def test_a_dry_frontier_starts_a_search_that_lets_targets_in(bench: Any, engine_server: Any) -> None:
    one = await bench()
    engine_server.pages["definitional question answering"] = [
        "http://u.org/~bob/publications.html",
        "http://elsewhere.org/~eve/pubs.html",
        "ftp://u.org/pubs",
        "not a url",
        "http://U.org/~bob/publications.html#top",
        "http://u.org/news/",
    ]
    one.step.write(judged(PUBS, publications(*TITLES)))
    assert engine_server.asked == []
    one.step.write(judged("http://u.org/news.html"))
    await one.settle()
    assert engine_server.asked == [
        "Soft Pattern Matching Models site:u.org",
        "Definitional Question Answering site:u.org",
    ], "one at a time, and no more once a target is there"
    assert one.waiting() == {"http://u.org/~bob/publications.html": 1.0, "http://u.org/news/": 0.0}
    assert one.pushed[-1] == [], "at the end the frontier has to look again"
    assert engine_server.most_at_once == 1
    assert one.step.status() == {"steps": 1, "hits": 1, "asked_today": 2, "rests_until": 0.0, "trouble": ""}
    found = one.db.execute("SELECT anchor, depth, source FROM urls WHERE url LIKE '%bob%'").fetchone()
    assert found == ("Definitional Question Answering", 0, 0)


async def test_hits_that_are_known_do_not_end_the_step(bench: Any, engine_server: Any) -> None:
    one = await bench()
    one.frontier.push([Link("http://u.org/~bob/pubs.html")], [1.0])
    lease = await one.frontier.pop()
    one.frontier.done(Reply(lease.link, error="http-404"))
    engine_server.pages[""] = ["http://u.org/~bob/pubs.html"]
    one.step.write(judged(PUBS, publications(*TITLES)))
    one.step.write(judged("http://u.org/a.html"))
    await one.settle()
    assert len(engine_server.asked) == 4, "all pieces of both titles"
    assert one.step.hits == 0


async def test_at_most_so_many_queries_from_one_page(bench: Any, engine_server: Any) -> None:
    one = await bench(queries_per_page=3, min_words=2)
    titles = [f"Alpha{n} Beta{n} Gamma{n} of Delta{n}" for n in range(20)]
    one.step.write(judged(PUBS, publications(*titles)))
    one.step.write(judged("http://u.org/a.html"))
    await one.settle()
    assert engine_server.asked == [f"Alpha{n} Beta{n} Gamma{n} site:u.org" for n in range(3)]


async def test_the_page_named_last_is_used_first_and_each_once(bench: Any, engine_server: Any) -> None:
    one = await bench(alpha=1, queries_per_page=1)
    first, last = "http://u.org/~one/pubs.html", "http://u.org/~two/pubs.html"
    one.step.write(judged("http://u.org/", links=[first, last]))
    assert one.step.sources.named == 2
    await one.settle()
    assert engine_server.asked == [], "the trigger fired, but no source has come yet"
    one.step.write(judged(first, publications("Spiders That Hunt on the Ground")))
    await one.settle()
    one.step.write(judged(last, publications("Beetles That Live in Water")))
    await one.settle()
    one.step.write(judged("http://u.org/b.html"))
    await one.settle()
    assert engine_server.asked == ["Spiders site:u.org", "Beetles site:u.org"]
    assert one.step.sources.named == 0


async def test_a_source_that_fails_is_forgotten(bench: Any) -> None:
    one = await bench()
    one.step.write(judged("http://u.org/", links=[PUBS, "http://elsewhere.org/~eve/pubs.html"]))
    assert one.step.sources.named == 1, "what may not be asked is no source"
    one.step.write(Visit(Reply(Link(PUBS), error="http-404")))
    assert one.step.sources.named == 0
    assert not one.step.more()


async def test_what_was_asked_before_is_passed_over_and_an_older_page_taken(bench: Any, engine_server: Any) -> None:
    one = await bench(alpha=1)
    one.step.write(judged(PUBS, publications(TITLES[0])))
    await one.settle()
    asked = len(engine_server.asked)
    one.step.sources.keep(Source("http://u.org/~old/pubs.html", publications("Trapdoor Spiders Under Garden Stones")))
    one.step.write(judged("http://u.org/~new/pubs.html", publications(TITLES[0])))
    await one.settle()
    assert engine_server.asked[asked:] == ["Trapdoor Spiders Under Garden Stones site:u.org"]


async def test_without_lists_the_relevant_pages_are_asked_about(bench: Any, engine_server: Any) -> None:
    one = await bench()
    one.step.write(judged("http://u.org/r.html", relevance=0.9, on_topic=True, why={"spider": 2.0, "car": -1.0}))
    one.step.write(judged(PUBS, b"<p>no list here</p>"))
    await one.settle()
    assert engine_server.asked == ["spiders site:u.org"], "the stem as the page spells it"


async def test_strategies_without_classes_watch_the_harvest(bench: Any, engine_server: Any) -> None:
    one = await bench(classes=False, alpha=3)
    engine_server.pages[""] = ["http://u.org/hit.html", "http://elsewhere.org/"]
    one.step.write(judged("http://u.org/r.html", publications(TITLES[0]), on_topic=True, relevance=1.0))
    for number in range(2):
        one.step.write(judged(f"http://u.org/{number}"))
    one.step.write(Visit(Reply(Link("http://u.org/gone"), error="http-404")))
    assert not one.step._busy, "a failure says nothing about the topic"
    one.step.write(judged("http://u.org/3"))
    await one.settle()
    assert len(engine_server.asked) == 1
    assert one.waiting() == {"http://u.org/hit.html": 0.0}
    assert one.db.execute("SELECT band FROM urls").fetchone() == (Band.FIRST,), "it comes first, like a seed"


async def test_a_relevant_page_begins_anew(bench: Any, engine_server: Any) -> None:
    one = await bench(classes=False, alpha=3)
    for number in range(30):
        one.step.write(judged(f"http://u.org/{number}", on_topic=number % 3 == 0))
    await one.settle()
    assert engine_server.asked == []


async def test_when_nothing_is_left_it_tries_once_more(bench: Any, engine_server: Any) -> None:
    one = await bench(alpha=1_000)
    assert not one.step.more(), "no page to make queries of"
    one.step.write(judged(PUBS, publications(*TITLES)))
    assert one.step.more()
    assert one.step.more(), "still at it"
    await one.settle()
    assert engine_server.asked
    assert not one.step.more(), "the page is used up: the crawl may end"


@pytest.mark.parametrize("fault", ["slow", "429", "500", "garbage", "huge", "cut"])
async def test_a_dead_engine_never_stops_a_crawl(bench: Any, engine_server: Any, faults: Any, fault: str) -> None:
    one = await bench(alpha=1, backoff_s=60.0, max_bytes=100_000)
    engine_server.faults = [faults[fault]] * 3
    one.step.write(judged(PUBS, publications(*TITLES)))
    await one.settle()
    assert len(engine_server.asked) == 1, "after a failure it is left alone"
    for number in range(5):
        one.step.write(judged(f"http://u.org/{number}"))
    assert not one.step.more(), "nobody waits an hour for an engine"
    assert one.step.status()["trouble"]
    assert one.step.status()["rests_until"] > one.clock.now()
    engine_server.faults = []
    engine_server.pages[""] = ["http://u.org/~bob/pubs.html"]
    one.clock.advance(61)
    one.step.write(judged("http://u.org/x.html"))
    await one.settle()
    assert engine_server.asked[1:] == ["Definitional Question Answering site:u.org"], "the same page, the next piece"
    assert "http://u.org/~bob/pubs.html" in one.waiting()


async def test_the_quota_ends_a_step(bench: Any, engine_server: Any) -> None:
    one = await bench(alpha=1, per_day=2)
    one.step.write(judged(PUBS, publications(*TITLES)))
    await one.settle()
    assert len(engine_server.asked) == 2
    one.step.write(judged("http://u.org/x.html"))
    assert not one.step._busy


async def test_after_a_restart_it_goes_on_from_the_visits(bench: Any, db: CrawlDb, engine_server: Any) -> None:
    store = VisitStore(db, None)
    store.open()
    store.write(judged("http://u.org/r.html", on_topic=True, relevance=0.8, why={"wolf spider": 1.0}))
    store.write(judged("http://u.org/s.html"))
    one = await bench(classes=False)
    one.step.load(db)
    assert (one.step._relevant, one.step._pages) == (1, 2)
    assert one.step.more()
    await one.settle()
    assert engine_server.asked == ["wolf spider site:u.org"]


async def test_after_a_restart_the_targets_that_wait_are_counted(bench: Any, db: CrawlDb) -> None:
    one = await bench()
    one.frontier.push([Link(PUBS), Link("http://u.org/a.html"), Link("http://u.org/~ada/papers/")], [1.0, 0.0, 1.0])
    one.frontier.push([Link("http://u.org/~bob/pubs.html")], [1.0], Band.FIRST)
    one.step.load(db)
    assert len(one.step._open) == 2, "seeds wait for another reason"


async def test_a_target_that_was_reached_by_a_redirect_waits_no_longer(bench: Any) -> None:
    one = await bench()
    one.step.write(judged("http://u.org/", links=[PUBS, "http://u.org/~ada/papers.html"]))
    assert len(one.step._open) == 2
    one.step.write(Visit(Reply(Link("http://u.org/~ada/papers.html"), url=PUBS), digest="x"))
    assert len(one.step._open) == 0


# -- a whole crawl ----------------------------------------------------------------------------------------------------


def university() -> dict[str, str]:
    """Thirty people, of whom only ten are linked from anywhere; their papers share words."""
    web = {"http://u.org/": "<a href=/people.html>people</a>" + "".join(f"<a href=/n{n}.html>n</a>" for n in range(40))}
    web |= {f"http://u.org/n{n}.html": f"<title>News {n}</title>nothing" for n in range(40)}
    web["http://u.org/people.html"] = "".join(f"<a href=/~p{n}/>p{n}</a>" for n in range(10))
    for n in range(30):
        web[f"http://u.org/~p{n}/"] = f"<a href=pubs.html>my papers</a> person{n}"
        shared = [f"Topic{chr(97 + n % 10)} Methods Under Study", f"Topic{chr(97 + (n + 3) % 10)} Theory Made Simple"]
        items = "".join(CITATION.format(title) for title in shared)
        events = "".join(f"<a href=/e{n}{k}.html>e</a>" for k in range(6))
        web[f"http://u.org/~p{n}/pubs.html"] = f"<title>Papers of p{n}</title><ul>{items}</ul>{events}"
        web |= {f"http://u.org/e{n}{k}.html": f"<title>Event {n} {k}</title>nothing" for k in range(6)}
    return web


class WebFetcher:
    def __init__(self, web: Mapping[str, str]) -> None:
        self.web = web

    async def fetch(self, lease: Lease) -> Reply:
        link = lease.link
        await asyncio.sleep(0)
        body = self.web.get(link.url)
        return Reply(link, url=link.url, status=200, body=body.encode()) if body else Reply(link, error="http-404")


class TestParser:
    __test__ = False

    def parse(self, reply: Reply) -> Page:
        tree, base = LexborHTMLParser(reply.body.decode()), Base(reply.url)
        links = [Link(base.join(str(node.attributes["href"])), reply.url) for node in tree.css("a[href]")]
        title = tree.css_first("title")
        return Page(reply.url, title.text() if title else "", tree.text(separator=" "), links=links)


class PapersJudge:
    async def judge(self, page: Page) -> Verdict:
        hit = "pubs" in page.url
        return Verdict(float(hit), hit, why={"papers": 1.0} if hit else {})


class Agrees:
    """A sink that compares the step's count of waiting targets with the frontier's own table."""

    def __init__(self, one: Bench, strategy: Publications) -> None:
        self.one = one
        self.strategy = strategy

    def write(self, visit: Visit) -> None:
        left = set(self.one.waiting()) - {visit.reply.link.url}  # its lease has not ended yet
        assert len(self.one.step._open) == sum(map(self.strategy.is_target, left))


def pages_of(web: Mapping[str, str]) -> Iterator[tuple[str, Page]]:
    return ((url, TestParser().parse(Reply(Link(url), url=url, body=html.encode()))) for url, html in web.items())


async def crawl(db: CrawlDb, clock: Any, strategy: Any, searching: bool) -> list[str]:
    """URLs of the target pages in the order of fetching."""
    pytest.importorskip("tantivy")
    web = university()
    classes = strategy if isinstance(strategy, Publications) else None
    one = Bench(db, clock, lambda _: LocalEngine(Path(), lambda _: pages_of(web)), classes, alpha=3)
    sinks: list[Any] = [Totals(), store := VisitStore(db, None), *([one.step] if searching else [])]
    sinks += [Agrees(one, classes)] if searching and classes else []
    store.open()
    made = Crawl(one.frontier, WebFetcher(web), TestParser(), PapersJudge(), strategy, sinks, lambda b: str(hash(b)))
    task = asyncio.ensure_future(one.step.run())
    await made.run([Link("http://u.org/")], workers=2)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert json.loads(db.get("search", "{}")).get("asked", 0) > 0 if searching else True
    return [
        url for (url,) in db.execute("SELECT url FROM visits WHERE url LIKE '%pubs.html' AND error = '' ORDER BY n")
    ]


@pytest.mark.parametrize("kind", ["publications", "best-first"])
async def test_a_crawl_finds_what_no_link_leads_to(
    tmp_path: Path, clock: Any, strategy: Publications, kind: str
) -> None:
    found = []
    for searching in (False, True):
        db = CrawlDb(tmp_path / f"{searching}.db").open()
        found.append(await crawl(db, clock, strategy if kind == "publications" else BestFirst(), searching))
        db.close()
    assert len(found[0]) == 10
    assert len(found[1]) > 20
