"""Parsers, sinks, engines, fetch layers and the frontier keep to their protocols; the checks catch what does not."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from lycosa import config, contract, plugins
from lycosa.assembly import make_frontier
from lycosa.contract import check_engine, check_fetcher, check_frontier, check_parser, check_sink
from lycosa.contract.samples import web
from lycosa.fetch.redirects import Redirects
from lycosa.fetch.retries import Retries
from lycosa.fetch.robots import Robots
from lycosa.frontier.scope import Scope
from lycosa.lab.clock import LabClock
from lycosa.lab.one import LAB, Fetches
from lycosa.output.recent import Recent
from lycosa.pages import read_pages
from lycosa.parse import HtmlParser, Parsers, SitemapParser
from lycosa.plugins import Plugins
from lycosa.seeds.engines import EngineFailure, Search, make_engine
from lycosa.store.db import CrawlDb
from lycosa.store.visits import Totals, VisitStore
from lycosa.store.warc import WarcWriter
from lycosa.strategy import STRATEGIES
from lycosa.types import Deferred, Exchange, Fetcher, Lease, Link, Page, Reply, Visit

HTML = (
    b'<title>Silk</title><p>Spider <a href="/silk?b=2&a=1">silk</a>, <a href="../web">web</a>, <a href="/web#x">web</a>'
)
SITEMAP = b'<?xml version="1.0"?><urlset><url><loc>http://a.example/1</loc></url></urlset>'


@pytest.mark.parametrize(
    ("make", "kind", "body"),
    [
        (HtmlParser, "text/html", HTML),
        (SitemapParser, "application/xml", SITEMAP),
        (Parsers, "text/html; charset=utf-8", HTML),
        (Parsers, "text/xml", SITEMAP),
    ],
)
def test_parser(make: Callable[[], Any], kind: str, body: bytes) -> None:
    check_parser(make, kind, body)


class Parser:
    """Returns the page that a test sets."""

    def __init__(self, **facts: Any) -> None:
        self.page = Page(**{"url": "http://a.example/folder/document", "text": "silk", "words": ("silk",), **facts})

    def parse(self, reply: Reply) -> Page:
        return self.page


class Breaks(Parser):
    def parse(self, reply: Reply) -> Page:
        if reply.body != HTML:
            raise KeyError("header")
        return self.page


def link(url: str, **facts: Any) -> Link:
    return Link(**{"url": url, "source": "http://a.example/folder/document", "depth": 3, **facts})


@pytest.mark.parametrize(
    ("make", "complaint"),
    [
        (lambda: Parser(url="http://b.example/"), "has the URL"),
        (lambda: Parser(words=()), "words and text do not match"),
        (lambda: Parser(text="", words=()), "nothing was extracted"),
        (lambda: Parser(words=("Silk!",)), "not a word"),
        (lambda: Parser(links=[link("http://A.example/x#y")]), "not canonical"),
        (lambda: Parser(links=[link("http://a.example/x")] * 2), "occurs twice"),
        (lambda: Parser(links=[link("http://a.example/x", source="")]), "its source is ''"),
        (lambda: Parser(links=[link("http://a.example/x", depth=0)]), "its depth is 0"),
        (lambda: Parser(links=[link("http://a.example/x", start=3, end=5)]), "not among the words"),
        (Breaks, "KeyError for a damaged document"),
    ],
)
def test_a_bad_parser(make: Callable[[], Any], complaint: str) -> None:
    with pytest.raises(AssertionError, match=complaint):
        check_parser(make, "text/html", HTML)


class Stored(VisitStore):
    """The store as a crawl opens it."""

    def __init__(self, folder: Path) -> None:
        self.db = CrawlDb(folder / "crawl.db").open()
        super().__init__(self.db, WarcWriter(folder / "warc", "test"))
        super().open()

    def open(self, folder: Path) -> None:  # type: ignore[override]
        """It is."""

    def close(self) -> None:
        self.db.commit()
        super().close()
        self.db.close()


def test_sinks(tmp_path: Path) -> None:
    for make in (Totals, Recent, Fetches, lambda: Stored(tmp_path)):
        check_sink(make)
    db = CrawlDb(tmp_path / "crawl.db", readonly=True).open()
    assert db.execute("SELECT count(*) FROM visits").fetchone() == (len(web()),)
    db.close()


class Lines:
    def open(self, folder: Path) -> None:
        self.file = (folder / "lines").open("a")

    def write(self, visit: Visit) -> None:
        self.file.write(f"{visit.reply.link.url}\n")

    def close(self) -> None:
        self.file.close()


def test_what_a_sink_left_can_be_looked_at() -> None:
    seen: list[int] = []
    check_sink(Lines, lambda folder: seen.append(len((folder / "lines").read_text().splitlines())))
    assert seen == [len(web())]


def test_bad_sinks() -> None:
    class Mute:
        pass

    class Async:
        async def write(self, visit: Visit) -> None:
            """Never awaited."""

    with pytest.raises(AssertionError, match="no method write"):
        check_sink(Mute)  # type: ignore[arg-type]
    with pytest.raises(AssertionError, match="it must not be async"):
        check_sink(Async)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", ["searxng", "template"])
async def test_engines_over_http(kind: str, server: Any, answer: Callable[..., Any]) -> None:
    server.handle = answer(b'{"results": [{"url": "http://a.example/1"}, {"url": "http://a.example/2"}]}')
    rules = Search(kind, f"{server.url}/{'?q={query}' if kind == 'template' else ''}")
    await asyncio.to_thread(check_engine, lambda: make_engine(rules, "Test/1.0", Path(), read_pages), "silk")


def test_the_local_engine(tmp_path: Path) -> None:
    record = WarcWriter(tmp_path, "test")
    record.open()
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
    record.write([Exchange("http://a.example/silk", b"", head, HTML, 5.0)])
    record.close()
    rules = Search("local", pages=next(tmp_path.glob("*.warc.gz")).name)
    check_engine(lambda: make_engine(rules, "Test/1.0", tmp_path, read_pages), "spider")


class Engine:
    def __init__(self, *found: Any) -> None:
        self.found = found

    async def search(self, query: str, site: str, k: int) -> Any:
        return list(self.found)[:k]


class Refuses(Engine):
    async def search(self, query: str, site: str, k: int) -> Any:
        if query != "silk":
            raise EngineFailure("only silk")
        return ["http://a.example/"]


def test_an_engine_may_refuse_but_not_answer_nonsense() -> None:
    check_engine(Refuses, "silk")
    twice = lambda: Engine("http://a.example/", "http://a.example/")  # noqa: E731
    for make, complaint in ((Engine, "nothing found"), (lambda: Engine(7), "returned 7"), (twice, "twice")):
        with pytest.raises(AssertionError, match=complaint):
            check_engine(make, "silk")
    Engine.search, kept = (lambda self, query, site, k: _give(tuple(self.found))), Engine.search
    try:
        with pytest.raises(AssertionError, match="returned a tuple, not a list"):
            check_engine(lambda: Engine("http://a.example/"), "silk")
    finally:
        Engine.search = kept  # type: ignore[method-assign]


async def _give(value: Any) -> Any:
    return value


def test_fetch_layers(clock: Any) -> None:
    rules, db = config.Fetch(), CrawlDb(":memory:").open()
    check_fetcher(lambda inner: Undeferred(Retries(inner, rules)))  # type: ignore[arg-type]
    check_fetcher(lambda inner: Leased(Redirects(Unleased(inner), 5, lambda url: "")))
    check_fetcher(lambda inner: Leased(Robots(inner, db, rules, clock.now, lambda origin, sitemaps: None)))  # type: ignore[arg-type]
    db.close()


class Leased:
    """A fetcher as a layer: what is not an answer yet counts as what came instead."""

    def __init__(self, inner: Fetcher) -> None:
        self.inner = inner

    async def fetch(self, link: Link) -> Reply:
        reply = await self.inner.fetch(Lease(link))
        return replace(reply.reply, error=reply.reply.error or "later") if isinstance(reply, Deferred) else reply


class Undeferred(Leased):
    """The same for what takes links."""

    async def fetch(self, link: Link) -> Reply:
        reply = await self.inner.fetch(link)  # type: ignore[arg-type]
        return reply.reply if isinstance(reply, Deferred) else reply


class Unleased:
    def __init__(self, inner: Any) -> None:
        self.inner = inner

    async def fetch(self, lease: Lease) -> Reply:
        return await self.inner.fetch(lease.link)  # type: ignore[no-any-return]


class Layer:
    def __init__(self, inner: Fetcher) -> None:
        self.inner = inner
        self.last = Link("")

    async def fetch(self, link: Link) -> Reply:
        return await self.inner.fetch(link)


class Mixes(Layer):
    async def fetch(self, link: Link) -> Reply:
        self.last = link
        reply = await self.inner.fetch(link)
        return replace(reply, link=self.last)


class Raises(Layer):
    async def fetch(self, link: Link) -> Reply:
        reply = await self.inner.fetch(link)
        if reply.error:
            raise RuntimeError(reply.error)
        return reply


class Empties(Layer):
    async def fetch(self, link: Link) -> Reply:
        return replace(await self.inner.fetch(link), body=b"")


def test_bad_fetch_layers() -> None:
    check_fetcher(Layer)
    for make, complaint in ((Mixes, "belongs to"), (Raises, "raised RuntimeError"), (Empties, "no body and no error")):
        with pytest.raises(AssertionError, match=complaint):
            check_fetcher(make)


class Frontiers:
    """The real frontier, as the lab has it."""

    def __init__(self) -> None:
        self.databases: list[CrawlDb] = []

    def make(self) -> Any:
        self.databases.append(CrawlDb(":memory:").open())
        return make_frontier(self.databases[-1], LAB, Scope(LAB.scope), STRATEGIES["best-first"](), LabClock())


def test_the_frontier() -> None:
    frontiers = Frontiers()
    check_frontier(frontiers.make)
    for db in frontiers.databases:
        db.close()


def test_a_bad_frontier() -> None:
    class Impatient:
        async def pop(self) -> Lease | None:
            return Lease(Link("http://a.example/"))

    with pytest.raises(AssertionError, match="empty frontier returned a link"):
        check_frontier(Impatient)  # type: ignore[arg-type]


def test_every_kind_of_plug_in_has_a_suite() -> None:
    suites = {"judge", "strategy", "parser", "sink", "engine", "fetcher", "frontier"}
    assert set(contract.__all__) == {f"check_{name}" for name in suites}
    assert len(plugins.KINDS) == len(suites) - 1
    assert all(isinstance(Plugins(kind), Plugins) for kind in plugins.KINDS)


def test_search_rules_take_any_engine_name() -> None:
    assert msgspec.convert({"engine": "anything"}, Search).engine == "anything"
