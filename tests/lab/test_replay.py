"""A replayed web answers as the network would: the same replies as the real layers give over a real connection."""

from collections.abc import AsyncIterator, Callable
from random import Random
from typing import Any

import pytest
from msgspec.structs import replace

from lycosa import config, urls
from lycosa.fetch.http import Http
from lycosa.fetch.redirects import Redirects
from lycosa.lab.answer import CLOSE, Answer
from lycosa.lab.generated import GeneratedWeb
from lycosa.lab.replay import Replay, ReplayFetcher, SiteWeb
from lycosa.lab.serve import Server
from lycosa.store.db import CrawlDb
from lycosa.types import Deferred, Lease, Link, Reply

HOST = "http://a.example"
RULES = config.Fetch(max_redirects=3, max_bytes=1000, retries=0)


def nothing_refused(url: str) -> str:
    return ""


def known(url: str) -> str:
    return "redirect-known" if url.endswith("/known") else ""


def replay(web: Any, rules: config.Fetch = RULES, **more: Any) -> ReplayFetcher:
    return ReplayFetcher(web, rules, lambda: 5.0, more.pop("refuses", nothing_refused), **more)


async def ask(fetcher: Any, url: str) -> tuple[list[str], Reply]:
    """Ask until there is an answer, as the frontier would; what was asked on the way, and the answer."""
    hops, lease = [], Lease(Link(url, depth=2))
    for _ in range(20):
        reply = await fetcher.fetch(lease)
        if not isinstance(reply, Deferred):
            return hops, reply
        hops.append(reply.at)
        lease = replace(lease, hop=reply.hop, at=urls.host(reply.at))
    raise AssertionError("it never ends")


class Unleased:
    """HTTP without robots.txt."""

    def __init__(self, http: Http) -> None:
        self.http = http

    async def fetch(self, lease: Lease) -> Reply:
        return await self.http.fetch(lease.link)


@pytest.fixture
def pages(warcs: Any) -> dict[str, Any]:
    http, moved = warcs.http, warcs.moved
    given = {
        "/": "<p>home",
        "/empty": "",
        "/untyped": http(b"<p>x", Content_Type=""),
        "/text": http(b"x", Content_Type="text/plain; charset=utf-8"),
        "/xhtml": http(b"<html/>", Content_Type="Application/XHTML+xml"),
        "/nofollow": http(b"<p>x", X_Robots_Tag="nofollow"),
        "/large": http(Random(1).randbytes(1001)),  # does not pack
        "/full": "x" * 1000,
        "/gone": http(b"no", "410 Gone"),
        "/busy": http(b"no", "503 Busy", Retry_After="60"),
        "/moved": moved("/"),
        "/far": moved("http://b.example/"),
        "/twice": moved("/moved"),
        "/loop": moved("/pool"),
        "/pool": moved("/loop"),
        "/self": moved("/self"),
        "/known-soon": moved("/known"),
        "/nowhere": moved("javascript:alert(1)"),
        "/mute": http(b"", "302 Found", Content_Type=""),
        "/lost": moved("/not/recorded"),
        "/choices": http(b"x", "300 Multiple Choices", Location="/"),
        **{f"/{n}": moved(f"/{n + 1}") for n in range(1, 9)},
    }
    return {HOST + path: page for path, page in given.items()} | {"http://b.example/": "<p>far"}


PATHS = (
    "/ /empty /untyped /text /xhtml /nofollow /large /full /gone /busy /moved /far /twice /loop /self /known-soon "
    "/nowhere /mute /lost /choices /1 /6 /not/recorded"
).split()


class TestLikeTheNetwork:
    @pytest.fixture
    async def network(self, warcs: Any, pages: Any) -> AsyncIterator[Callable[[str], Any]]:
        """The real layers, with the recording served behind a real socket."""
        async with Server(warcs.web(pages, "served.warc.gz")) as server:
            http = Http(replace(RULES, proxy=f"http://127.0.0.1:{server.port}"), lambda: 5.0)
            await http.open()
            try:
                layers = Redirects(Unleased(http), RULES.max_redirects, known)
                yield lambda url: ask(layers, url)
            finally:
                await http.close()

    async def test_every_kind_of_answer(self, warcs: Any, pages: Any, network: Callable[[str], Any]) -> None:
        fetcher = replay(warcs.web(pages), refuses=known)
        for path in PATHS:
            (real_hops, real), (hops, ours) = await network(HOST + path), await ask(fetcher, HOST + path)
            assert hops == real_hops
            for field in ("link", "url", "status", "content_type", "body", "error", "robots_tag", "at", "seconds"):
                if (path, field) != ("/not/recorded", "content_type"):  # a recording says nothing about it
                    assert getattr(ours, field) == getattr(real, field), f"{field} of {path}"
            assert [one.url for one in ours.exchanges] == [one.url for one in real.exchanges], path


class TestReplies:
    async def test_a_page(self, warcs: Any, pages: Any) -> None:
        _, reply = await ask(replay(warcs.web(pages)), f"{HOST}/")
        assert (reply.status, reply.body, reply.error, reply.url) == (200, b"<p>home", "", f"{HOST}/")
        assert reply.link.depth == 2
        (exchange,) = reply.exchanges
        assert exchange.head.startswith(b"HTTP/1.1 200 \r\n")
        assert exchange.payload == b"<p>home"

    async def test_not_recorded(self, warcs: Any, pages: Any) -> None:
        _, reply = await ask(replay(warcs.web(pages)), f"{HOST}/not/recorded")
        assert (reply.status, reply.error) == (404, "http-404")

    async def test_hops_become_exchanges(self, warcs: Any, pages: Any) -> None:
        hops, reply = await ask(replay(warcs.web(pages)), f"{HOST}/twice")
        assert hops == [f"{HOST}/moved", f"{HOST}/"]
        assert [one.url for one in reply.exchanges] == [f"{HOST}/twice", *hops]
        assert (reply.link.url, reply.url) == (f"{HOST}/twice", f"{HOST}/")

    async def test_nothing_takes_time(self, warcs: Any, pages: Any) -> None:
        _, reply = await ask(replay(warcs.web(pages)), f"{HOST}/busy")
        assert (reply.seconds, reply.wait_s, reply.error) == (0.0, 0.0, "http-503")

    async def test_a_host_that_hangs_up(self) -> None:
        class Silent:
            def get(self, url: str) -> Answer:
                return Answer(CLOSE)

        _, reply = await ask(replay(Silent()), f"{HOST}/")
        assert (reply.status, reply.error, reply.exchanges) == (0, "disconnected", ())

    async def test_all_that_is_asked_is_on_the_record(self, warcs: Any, pages: Any) -> None:
        fetcher = replay(warcs.web(pages))
        for path in ("/", "/moved", "/gone", "/"):
            await ask(fetcher, HOST + path)
        assert fetcher.accessed == [HOST + path for path in ("/", "/moved", "/", "/gone", "/")]

    async def test_whatever_comes_up_to_a_size(self, warcs: Any, pages: Any) -> None:
        """As a robots.txt is requested."""
        one = Replay(warcs.web(pages), RULES, lambda: 5.0)
        assert (await one.fetch(Link(f"{HOST}/text"), ("*",), 10)).body == b"x"
        cut = await one.fetch(Link(f"{HOST}/large"), ("*",), 10)
        assert (cut.body, cut.error) == (Random(1).randbytes(1001)[:10], "too-large")

    async def test_a_generated_web(self) -> None:
        web = GeneratedWeb(pages=20, hosts=2)
        (seed,) = web.seeds(80, 1)
        _, reply = await ask(replay(SiteWeb(web), config.Fetch()), seed)
        assert (reply.status, reply.error) == (200, "")
        assert reply.body


class TestRobots:
    ROBOTS = "User-agent: *\nDisallow: /private/\n"

    @pytest.fixture
    def web(self, warcs: Any) -> Any:
        rules = warcs.http(self.ROBOTS.encode(), Content_Type="text/plain")
        return warcs.web({f"{HOST}/robots.txt": rules, f"{HOST}/private/x": "secret", f"{HOST}/open": "open"})

    async def test_ignored(self, web: Any) -> None:
        fetcher = replay(web)
        assert (await ask(fetcher, f"{HOST}/private/x"))[1].body == b"secret"
        assert fetcher.accessed == [f"{HOST}/private/x"]

    async def test_obeyed_when_asked_for(self, web: Any) -> None:
        db = CrawlDb(":memory:").open()
        fetcher = replay(web, db=db)
        assert (await ask(fetcher, f"{HOST}/private/x"))[1].error == "robots"
        assert (await ask(fetcher, f"{HOST}/open"))[1].body == b"open"
        assert fetcher.accessed == [f"{HOST}/robots.txt", f"{HOST}/open"]
        db.close()
