"""A turn is one thing: what is stored was learned, whoever waits meanwhile, and the crawl needs only the protocols."""

import asyncio
import random
import sqlite3
from pathlib import Path
from typing import Any

import msgspec
import pytest

from lycosa import build, config
from lycosa.assembly import make_frontier
from lycosa.crawl import Crawl
from lycosa.frontier.scope import Scope
from lycosa.judge import JUDGES
from lycosa.lab.clock import LabClock
from lycosa.lab.generated import GeneratedWeb, Links, Oddities, Text
from lycosa.lab.one import LAB, Fetches
from lycosa.lab.replay import ReplayFetcher, SiteWeb
from lycosa.parse import Parsers, content_digest
from lycosa.run import Run
from lycosa.store.db import CrawlDb
from lycosa.store.visits import Totals, VisitStore
from lycosa.strategy import STRATEGIES
from lycosa.types import (
    Acts,
    Band,
    CrawlParser,
    Fetcher,
    Frontier,
    Hears,
    Judge,
    Learns,
    Lease,
    Link,
    Lists,
    Opens,
    Origin,
    Page,
    Prepares,
    Remembers,
    Reply,
    Revises,
    Sink,
    Stateful,
    Strategy,
    Targets,
    TextRelevance,
    Verdict,
    View,
    Visit,
)

WEB = GeneratedWeb(
    pages=200, hosts=10, seed=5, text=Text(size_bytes=(500, 1_000)), links=Links(count=(4, 9)), oddities=Oddities()
)
TOPIC = '[topic]\nkind = "slow"\n[strategy]\nkind = "best-first"\n'


class Slow:
    """Takes its time, a different one for each page, and counts what it has learned."""

    def __init__(self) -> None:
        self.learned: list[str] = []

    async def judge(self, page: Page) -> Verdict:
        for _ in range(hash(page.url) % 7):
            await asyncio.sleep(0)
        return Verdict(0.5, True)

    def learn(self, visit: Visit) -> None:
        self.learned.append(visit.reply.link.url)

    def save(self) -> dict[str, Any]:
        return {"learned": self.learned[:]}

    def load(self, state: dict[str, Any]) -> None:
        self.learned = state["learned"]


class Killed(Exception):
    pass


class Fragile:
    """Commits at any moment between two turns, and dies at one."""

    def __init__(self, inner: Any, db: CrawlDb, lives: int) -> None:
        self.inner, self.db, self.left, self.chance = inner, db, lives, random.Random(lives)

    async def fetch(self, lease: Lease) -> Any:
        for _ in range(self.chance.randrange(5)):
            await asyncio.sleep(0)
        if self.chance.random() < 0.2:
            self.db.commit()
        if self.left == 0:
            raise Killed
        self.left -= 1
        return await self.inner.fetch(lease)


@pytest.mark.parametrize("lives", [5, 40, 111])
async def test_a_judge_that_waits_has_learned_exactly_what_is_stored(
    lives: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(JUDGES, "slow", msgspec.defstruct("Made", []))
    monkeypatch.setattr(build, "make_judge", lambda settings, source, *more: Slow())
    monkeypatch.setattr("lycosa.stamp.make_stamp", lambda judge, kind, folder: None)
    monkeypatch.setattr("lycosa.stamp.what_changed", lambda db, judge, now: [])
    limits = "[limits]\npages = 150\n[fetch]\nconcurrency = 8\ndelay_s = 0.0\ndelay_factor = 0.0\n"
    (tmp_path / "crawl.toml").write_text(f"seeds = {WEB.seeds(80)!r}\n{TOPIC}{limits}")
    for left in (lives, 10_000):
        clock = LabClock()

        def fragile(parts: build.Parts, clock: LabClock = clock, left: int = left) -> Fragile:
            rules, hop = parts.config.fetch, parts.frontier.refuses_hop
            return Fragile(ReplayFetcher(SiteWeb(WEB), rules, clock.now, hop, parts.db), parts.db, left)

        run = Run(tmp_path, *config.load(tmp_path), clock, fetcher=fragile)
        try:
            await run.run([], lambda summary: None)
        except Killed:
            assert left == lives
        with sqlite3.connect(tmp_path / "crawl.db") as db:
            stored = [url for (url,) in db.execute("SELECT url FROM visits ORDER BY n")]
            state = db.execute("SELECT value FROM meta WHERE key = 'state:judge'").fetchone()
        assert (msgspec.json.decode(state[0])["learned"] if state else []) == stored
    assert len(stored) >= 150


def test_a_commit_that_falls_into_a_turn_comes_after_it(tmp_path: Path) -> None:
    db = CrawlDb(tmp_path / "crawl.db").open()
    reader = sqlite3.connect(tmp_path / "crawl.db")
    with db.turn():
        db.put("half", "1")
        db.commit()
        assert reader.execute("SELECT count(*) FROM meta").fetchone() == (0,)
        db.put("whole", "1")
    assert reader.execute("SELECT count(*) FROM meta").fetchone() == (2,)
    db.put("before", "1")
    with pytest.raises(ZeroDivisionError), db.turn():
        db.put("broken", str(1 / 0))
    with pytest.raises(ZeroDivisionError):
        db.commit()
    assert reader.execute("SELECT count(*) FROM meta").fetchone() == (2,), "a turn that broke is never committed"


OPTIONAL = (Stateful, Learns, Revises, Hears, Remembers, TextRelevance, Acts, Lists, Opens, Targets)


def only(part: Any, protocol: type) -> Any:
    """Shows of a part what its protocols name, and nothing else."""
    kinds = [protocol, *(kind for kind in OPTIONAL if isinstance(part, kind))]
    names = {name for kind in kinds for base in kind.__mro__ for name in _names_of(base) if name[0] != "_"}
    shown: dict[str, Any] = {name: property(lambda _, name=name: getattr(part, name)) for name in names}  # type: ignore[misc]
    if isinstance(part, Acts):
        shown["connect"] = lambda _, view: part.connect(only(view, View))
    return type("Only", (), shown)()


def _names_of(kind: type) -> set[str]:
    return {*vars(kind), *vars(kind).get("__annotations__", {})}


async def order(kind: str, narrow: bool) -> list[str]:
    db, clock, sink = CrawlDb(":memory:").open(), LabClock(), Fetches()
    judge: Any = msgspec.convert({"words": ["astronomy", "telescope"]}, JUDGES["keywords"])
    strategy: Any = msgspec.convert({}, STRATEGIES[kind])
    judge.prepare(Path(), lambda path: [])
    if narrow:
        judge = only(judge, Judge)
    if isinstance(strategy, Prepares):
        strategy.prepare(Path(), judge)
    if narrow:
        strategy = only(strategy, Strategy)
    frontier = make_frontier(db, LAB, Scope(LAB.scope), strategy, clock)
    parts = {
        Frontier: frontier,
        Fetcher: ReplayFetcher(SiteWeb(WEB), LAB.fetch, clock.now, frontier.refuses_hop, None, 0.0),
        CrawlParser: Parsers(),
    }
    used: list[Any] = [only(part, kind) if narrow else part for kind, part in parts.items()]
    sinks: list[Any] = [only(sink, Sink) if narrow else sink]
    crawl = Crawl(*used, judge, strategy, sinks, content_digest, db.turn)
    await crawl.run([Link(url, origin=Origin.SEED) for url in WEB.seeds(80)], 1)
    db.close()
    return [fetch.url for fetch in sink.all]


@pytest.mark.parametrize("kind", ["best-first", "hard-focus", "learned", "link-context", "opic", "otie"])
async def test_the_crawl_calls_nothing_beyond_the_protocols(kind: str) -> None:
    """The loop, the frontier and the strategies among themselves, with judges that learn and revise their verdicts."""
    found = await order(kind, narrow=True)
    assert len(found) > 30
    assert found == await order(kind, narrow=False)


# -- what nobody has scored meets the money of OPIC --------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["opic", "otie"])
async def test_search_results_and_sitemaps_come_first_but_bring_no_money(kind: str) -> None:
    strategy = STRATEGIES[kind]()
    strategy.prepare(None, Words())
    db = CrawlDb(":memory:").open()
    frontier = make_frontier(db, LAB, Scope(LAB.scope), strategy, LabClock())
    crawl = Crawl(frontier, Pages(), Pages(), Words(), strategy, [], content_digest, db.turn)
    crawl.seed([Link("http://seed/", origin=Origin.SEED)])
    hit, sitemap = Link("http://hit/", origin=Origin.SEARCH), Link("http://map/sitemap.xml", origin=Origin.ROBOTS)
    frontier.push([hit, sitemap], [0.0, 0.0], Band.FIRST)
    taken = []
    for _ in range(3):
        lease = await frontier.pop()
        assert lease
        taken.append(lease.link.url)
        crawl.take(await crawl.visit(lease))
    assert taken == ["http://hit/", "http://map/sitemap.xml", "http://seed/"]
    worth = {url: frontier.score(Link(url)) for url in ("http://hit/1", "http://map/1", "http://seed/1")}
    assert worth == {"http://hit/1": 0.0, "http://map/1": 0.0, "http://seed/1": pytest.approx(1.0)}


class Words:
    async def judge(self, page: Page) -> Verdict:
        return Verdict(0.5, True)

    def relevance_of(self, words: Any) -> float:
        return 0.5


class Pages:
    """Every page links to one more; a sitemap lists one."""

    async def fetch(self, lease: Lease) -> Reply:
        url = lease.link.url
        return Reply(lease.link, url=url, status=200, body=url.encode())

    def parse(self, reply: Reply) -> Page:
        name = reply.url.removesuffix("sitemap.xml")
        link = Link(f"{name}1", reply.url)
        return Page(reply.url, listed=[link]) if name != reply.url else Page(reply.url, links=[link])


@pytest.mark.parametrize("kind", sorted({*STRATEGIES} - {"opic", "otie", "rules", "ontology", "tids"}))
def test_the_pages_of_a_sitemap_are_scored_like_links_of_a_page_that_nobody_judged(kind: str) -> None:
    """On the strategy's own scale, so neither before everything else nor after."""
    listed, links = Page("http://a/s", listed=[Link("http://a/1")]), Page("http://a/s", links=[Link("http://a/1")])
    reply = Reply(Link("http://a/s"), url="http://a/s", status=200)
    found = []
    for visit in (Visit(reply, listed), Visit(reply, links, Verdict(0.5, True))):
        strategy: Any = msgspec.convert({}, STRATEGIES[kind])
        if hasattr(strategy, "prepare"):
            strategy.prepare(Path(), Words())
        db = CrawlDb(":memory:").open()
        frontier = make_frontier(db, LAB, Scope(LAB.scope), strategy, LabClock())
        crawl = Crawl(frontier, Pages(), Pages(), Words(), strategy, [], content_digest, db.turn)
        found.append(crawl._scored(visit)[1])
    assert found[0] == found[1]


class Doubts:
    """After three pages it thinks otherwise of the first."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    async def judge(self, page: Page) -> Verdict:
        return Verdict(0.9, True, why={"sky": 0.9})

    def learn(self, visit: Visit) -> None:
        self.seen.append(visit.reply.link.url)

    def revised(self) -> list[tuple[str, Verdict]]:
        return [(self.seen[0], Verdict(0.1, False, why={"law": -0.8}))] if len(self.seen) == 3 else []


async def test_what_a_judge_changes_its_mind_about_is_stored_and_counted(tmp_path: Path) -> None:
    db, totals, sink, judge = CrawlDb(tmp_path / "crawl.db").open(), Totals(distinct=True), Fetches(), Doubts()
    strategy: Any = STRATEGIES["best-first"]()
    frontier = make_frontier(db, LAB, Scope(LAB.scope), strategy, LabClock())
    store = VisitStore(db, None, totals)
    store.open()
    crawl = Crawl(frontier, Pages(), Pages(), judge, strategy, [totals, store, sink], content_digest, db.turn)
    crawl.seed([Link(f"http://{name}/", origin=Origin.SEED) for name in "abcd"])
    for _ in range(4):
        lease = await frontier.pop()
        assert lease
        crawl.take(await crawl.visit(lease))
    rows = db.execute("SELECT url, relevance, on_topic, why FROM visits ORDER BY n").fetchall()
    assert rows[0] == ("http://a/", 0.1, 0, '{"law":-0.8}')
    assert {row[1:3] for row in rows[1:]} == {(0.9, 1)}
    assert (totals.relevant, totals.pages) == (3, 4)
    assert [fetch.on_topic for fetch in sink.all] == [False, True, True, True]
