"""Retries, robots.txt and redirects around one request, driven by a real frontier against a real server."""

import asyncio
import errno
import gzip
import socket
import time
from collections.abc import Awaitable, Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from lycosa import build, config, urls
from lycosa.fetch import address
from lycosa.fetch.http import Http
from lycosa.fetch.redirects import Redirects
from lycosa.fetch.retries import Retries
from lycosa.fetch.robots import Robots
from lycosa.fetch.shelf import Shelf
from lycosa.frontier.durable import DurableFrontier
from lycosa.frontier.scope import Scope
from lycosa.store.db import CrawlDb
from lycosa.types import Deferred, Lease, Link, Reply

Pages = dict[str, tuple[str, dict[str, str], bytes]]


class FastClock:
    """The wall's clock with rests cut to nothing, but counted: `rested` is what politeness would have taken."""

    def __init__(self) -> None:
        self.ahead = 0.0

    def now(self) -> float:
        return time.time() + self.ahead

    def call_at(self, when: float, call: Callable[[], None]) -> Any:
        def ring() -> None:
            self.ahead += max(0.0, when - self.now())
            call()

        return asyncio.get_running_loop().call_soon(ring)

    async def sleep(self, seconds: float) -> None:
        self.ahead += seconds


class World:
    """A frontier and all layers of fetching; `crawl` asks everything that waits and returns the final replies."""

    def __init__(self, db: CrawlDb | None = None, scope: dict[str, Any] | None = None, **rules: Any) -> None:
        settings = {
            "allow_private": True,
            "focus": 0.0,
            "retries": 2,
            "backoff_s": 5.0,
            "delay_s": 1.0,
            "total_s": 3.0,
            **rules,
        }
        fetch = config.Fetch(**settings)
        self.clock = FastClock()
        self.db = db or CrawlDb(":memory:").open()
        self.sitemaps: list[str] = []
        rules = config.Scope(max_hosts_per_domain=0, **(scope or {}))
        whole = config.Config(fetch=fetch, scope=rules)
        self.frontier = DurableFrontier(self.db, whole, Scope(rules), SimpleNamespace(merge=max), self.clock)
        self.frontier.load()
        self.http = Http(fetch, self.clock.now, sleep=self.clock.sleep)
        layer = Retries(self.http, fetch)
        offer = lambda _, found: self.sitemaps.extend(found)  # noqa: E731
        robots = Robots(layer, self.db, fetch, self.clock.now, offer, self.frontier.refuses)
        self.shelf = Shelf(most_bytes=2_000)
        self.fetcher = Redirects(robots, fetch.max_redirects, self.frontier.refuses_hop, self.shelf)
        self.leases = 0

    async def crawl(self, *urls: str) -> list[Reply]:
        replies = []
        await self.http.open()
        try:
            self.frontier.push([Link(url) for url in urls], [1.0] * len(urls))
            while lease := await self.frontier.pop():
                self.leases += 1
                reply = await self.fetcher.fetch(lease)
                if not isinstance(reply, Deferred):
                    replies.append(reply)
                self.frontier.done(reply)
        finally:
            await self.http.close()
        return replies


def site(pages: Pages) -> Callable[[str, dict[str, str], asyncio.StreamWriter], Awaitable[None]]:
    """Pages by path; anything else is 404."""

    async def handle(path: str, asked: dict[str, str], writer: asyncio.StreamWriter) -> None:
        status, headers, body = pages.get(path, ("404 Not Found", {}, b"no"))
        lines = {"Content-Type": "text/html", "Content-Length": str(len(body)), **headers}
        head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
        writer.write(f"HTTP/1.1 {status}\r\n{head}\r\n".encode() + body)

    return handle


def robots(text: str) -> tuple[str, dict[str, str], bytes]:
    return "200 OK", {"Content-Type": "text/plain"}, text.encode()


def page(body: bytes = b"<p>hello") -> tuple[str, dict[str, str], bytes]:
    return "200 OK", {}, body


def moved(to: str) -> tuple[str, dict[str, str], bytes]:
    return "301 Moved", {"Location": to}, b""


def paths(server: Any) -> list[str]:
    return [path for path, _ in server.requests]


async def test_robots_txt_is_asked_once_and_first(server: Any) -> None:
    server.handle = site({"/a": page(), "/b": page()})
    replies = await World().crawl(f"{server.url}/a", f"{server.url}/b")
    assert [reply.error for reply in replies] == ["", ""]
    assert paths(server) == ["/robots.txt", "/a", "/b"]


async def test_what_robots_txt_forbids_is_not_asked(server: Any) -> None:
    server.handle = site({"/robots.txt": robots("User-agent: *\nDisallow: /a\nAllow: /a/b$\n"), "/a/b": page()})
    replies = await World().crawl(*(f"{server.url}{path}" for path in ("/a", "/a/c", "/a/b")))
    assert {reply.link.url.removeprefix(server.url): reply.error for reply in replies} == {
        "/a": "robots",
        "/a/c": "robots",
        "/a/b": "",
    }
    assert paths(server) == ["/robots.txt", "/a/b"]


async def test_our_own_group_of_rules_counts(server: Any) -> None:
    text = "User-agent: lycosa\nDisallow: /no\nCrawl-delay: 7\n\nUser-agent: *\nDisallow: /\n"
    server.handle = site({"/robots.txt": robots(text), "/yes": page(), "/yes2": page()})
    world = World(user_agent="Lycosa/9 (+http://example.org)")
    before = world.clock.now()
    replies = await world.crawl(f"{server.url}/yes", f"{server.url}/yes2", f"{server.url}/no")
    assert sorted(reply.error for reply in replies) == ["", "", "robots"]
    assert world.clock.now() - before >= 14.0  # robots.txt, 7 s, /yes, 7 s, /yes2


@pytest.mark.parametrize("status", ["404 Not Found", "403 Forbidden", "401 Unauthorized", "410 Gone"])
async def test_no_robots_txt_allows_everything(server: Any, status: str) -> None:
    server.handle = site({"/robots.txt": (status, {}, b"User-agent: *\nDisallow: /"), "/a": page()})
    assert [reply.error for reply in await World().crawl(f"{server.url}/a")] == [""]


async def test_a_robots_txt_that_answers_500_forbids_everything_for_now(server: Any) -> None:
    server.handle = site({"/robots.txt": ("500 Oh", {}, b""), "/a": page(), "/b": page()})
    replies = await World(retries=2).crawl(f"{server.url}/a", f"{server.url}/b")
    assert [reply.error for reply in replies] == ["robots-unreachable"] * 2
    assert paths(server) == ["/robots.txt"] * 3


async def test_after_a_while_a_robots_txt_is_asked_again(server: Any) -> None:
    pages = {"/robots.txt": ("500 Oh", {}, b""), "/a": page(), "/b": page()}
    server.handle = site(pages)
    world = World(retries=0)
    assert [reply.error for reply in await world.crawl(f"{server.url}/a")] == ["robots-unreachable"]
    world.clock.ahead += 4_000
    pages["/robots.txt"] = robots("User-agent: *\nDisallow:")
    world.frontier.ended = ""
    assert [reply.error for reply in await world.crawl(f"{server.url}/b")] == [""]
    world.clock.ahead += 90_000  # a day and more: the rules are old
    pages["/robots.txt"] = robots("User-agent: *\nDisallow: /")
    world.frontier.ended = ""
    assert [reply.error for reply in await world.crawl(f"{server.url}/c")] == ["robots"]


async def test_robots_txt_survives_a_restart(server: Any) -> None:
    server.handle = site({"/robots.txt": robots("User-agent: *\nDisallow: /a"), "/b": page()})
    first = World()
    await first.crawl(f"{server.url}/a")
    again = World(first.db)
    await again.crawl(f"{server.url}/b")
    assert paths(server) == ["/robots.txt", "/b"]


async def test_a_moved_robots_txt_is_followed(server: Any) -> None:
    rules = robots("User-agent: *\nDisallow: /a")
    server.handle = site({"/robots.txt": moved("/r1"), "/r1": moved("/r2"), "/r2": rules, "/b": page()})
    replies = await World().crawl(f"{server.url}/a", f"{server.url}/b")
    assert sorted(reply.error for reply in replies) == ["", "robots"]
    assert paths(server) == ["/robots.txt", "/r1", "/r2", "/b"]


async def test_a_robots_txt_that_moves_for_ever_allows(server: Any) -> None:
    pages = {f"/r{number}": moved(f"/r{number + 1}") for number in range(20)}
    server.handle = site({"/robots.txt": moved("/r0"), **pages, "/b": page()})
    assert [reply.error for reply in await World().crawl(f"{server.url}/b")] == [""]
    assert len(paths(server)) == 7


@pytest.mark.parametrize("packed", [False, True])
async def test_of_a_huge_robots_txt_the_start_counts(server: Any, packed: bool) -> None:
    text = b"User-agent: *\nDisallow: /a\n" + b"# filler\n" * 600_000 + b"Disallow: /b\n"
    headers = {"Content-Encoding": "gzip"} if packed else {}
    body = gzip.compress(text) if packed else text
    server.handle = site({"/robots.txt": ("200 OK", {"Content-Type": "text/plain", **headers}, body), "/b": page()})
    replies = await World().crawl(f"{server.url}/a", f"{server.url}/b")
    assert sorted(reply.error for reply in replies) == ["", "robots"]


async def test_sitemaps_are_offered(server: Any) -> None:
    server.handle = site({"/robots.txt": robots("Sitemap: http://x.example/map.xml\n"), "/a": page()})
    world = World()
    await world.crawl(f"{server.url}/a")
    assert world.sitemaps == ["http://x.example/map.xml"]


async def test_what_fails_for_the_moment_is_asked_again_later(server: Any) -> None:
    answers = iter([("503 Busy", {"Retry-After": "40"}, b""), ("500 Oh", {}, b""), page()])

    async def handle(path: str, asked: dict[str, str], writer: asyncio.StreamWriter) -> None:
        await site({path: next(answers)} if path == "/a" else {})(path, asked, writer)

    server.handle = handle
    world = World()
    before = world.clock.now()
    (reply,) = await world.crawl(f"{server.url}/a")
    assert (reply.error, reply.status) == ("", 200)
    assert 51.0 <= world.clock.now() - before < 55.0  # 1 s after robots.txt, Retry-After 40 s, back-off 10 s


async def test_after_the_last_try_the_failure_stands(server: Any) -> None:
    server.handle = site({"/a": ("429 Slow down", {}, b"")})
    (reply,) = await World(retries=2).crawl(f"{server.url}/a")
    assert reply.error == "http-429"
    assert paths(server).count("/a") == 3


async def test_what_will_not_change_is_not_asked_again(server: Any) -> None:
    server.handle = site({})
    (reply,) = await World().crawl(f"{server.url}/a")
    assert (reply.error, paths(server)) == ("http-404", ["/robots.txt", "/a"])


async def test_redirects_are_followed_and_kept(server: Any) -> None:
    server.handle = site({"/a": moved("/b"), "/b": moved("c?d#e"), "/c?d": page(b"<p>here")})
    (reply,) = await World().crawl(f"{server.url}/a")
    assert (reply.error, reply.body) == ("", b"<p>here")
    assert reply.link.url == f"{server.url}/a"
    assert reply.url == f"{server.url}/c?d"
    assert [exchange.url.removeprefix(server.url) for exchange in reply.exchanges] == ["/a", "/b", "/c?d"]


async def test_each_hop_waits_for_its_host(server: Any) -> None:
    server.handle = site({"/a": moved("/b"), "/b": page()})
    world = World(delay_s=10.0)
    before = world.clock.now()
    await world.crawl(f"{server.url}/a")
    assert world.clock.now() - before >= 20.0  # robots.txt, 10 s, /a, 10 s, /b


async def test_each_hop_asks_its_own_robots_txt(server: Any) -> None:
    other = f"http://127.0.0.2:{server.port}"

    async def handle(path: str, asked: dict[str, str], writer: asyncio.StreamWriter) -> None:
        rules = robots("User-agent: *\nDisallow: /secret")
        await site({"/robots.txt": rules, "/a": moved(f"{other}/secret/x")})(path, asked, writer)

    server.handle = handle
    server2 = await asyncio.start_server(server._serve, "127.0.0.2", server.port)
    try:
        (reply,) = await World().crawl(f"{server.url}/a")
    finally:
        server2.close()
    assert (reply.error, reply.link.url) == ("robots", f"{server.url}/a")
    assert reply.url == f"{other}/secret/x"
    assert paths(server) == ["/robots.txt", "/a", "/robots.txt"]


@pytest.mark.parametrize(
    ("pages", "error"),
    [
        ({"/a": moved("/b"), "/b": moved("/a")}, "redirect-loop"),
        ({"/a": moved("/a")}, "redirect-loop"),
        ({"/a": ("302 Found", {}, b"")}, "redirect-nowhere"),
        ({"/a": moved("javascript:alert(1)")}, "redirect-nowhere"),
        ({"/a": moved("http://[bad/")}, "redirect-nowhere"),
        ({"/a": moved("http://elsewhere.example/")}, "out-of-scope"),
        ({"/a": moved("/1"), **{f"/{n}": moved(f"/{n + 1}") for n in range(1, 40)}}, "redirect-limit"),
    ],
)
async def test_redirects_that_lead_nowhere(server: Any, pages: Pages, error: str) -> None:
    server.handle = site(pages)
    (reply,) = await World(scope={"hosts": ["127.0.0.1"]}, max_redirects=5).crawl(f"{server.url}/a")
    assert reply.error == error
    assert len(paths(server)) <= 8


async def test_a_redirect_to_a_page_that_was_fetched_is_not_fetched_again(server: Any) -> None:
    server.handle = site({"/a": page(), "/b": moved("/a")})
    replies = await World().crawl(f"{server.url}/a", f"{server.url}/b")
    assert [reply.error for reply in replies] == ["", "redirect-known"]
    assert paths(server).count("/a") == 1


async def test_what_a_redirect_reached_is_not_asked_again(server: Any) -> None:
    server.handle = site({"/a": moved("/b"), "/b": page()})
    world = World()
    await world.crawl(f"{server.url}/a")
    world.frontier.ended = ""
    assert await world.crawl(f"{server.url}/b") == []


async def test_a_redirect_to_a_private_address(server: Any) -> None:
    """The first address is allowed here by a socket factory that knows it; the one redirected to is not."""
    server.handle = site({"/a": moved("http://10.11.12.13/secret")})
    world = World(retries=0)
    await world.http.open()
    world.http._session.connector._socket_factory = (
        lambda info: (  # type: ignore[union-attr]
            socket.socket(*info[:3]) if info[4][0] == "127.0.0.1" else address.public_socket(info)
        )
    )
    world.frontier.push([Link(f"{server.url}/a")], [1.0])
    replies = []
    while lease := await world.frontier.pop():
        reply = await world.fetcher.fetch(lease)
        if not isinstance(reply, Deferred):
            replies.append(reply)
        world.frontier.done(reply)
    await world.http.close()
    assert [reply.error for reply in replies] == ["private-address"]


async def test_a_host_that_cannot_be_reached_is_named_for_each_link(server: Any) -> None:
    port = server.port
    await server.stop()
    await server._server.wait_closed()
    replies = await World(retries=1, give_up_after=0).crawl(f"http://127.0.0.1:{port}/a", f"http://127.0.0.1:{port}/b")
    assert [reply.error for reply in replies] == ["connect", "connect"]


async def test_a_connection_that_was_dropped_is_tried_again_in_its_turn(server: Any) -> None:
    """Servers close kept connections when they like; the second try is a request like any other, with its delay."""
    dropped: list[float] = []
    pages = site({"/a": page(), "/b": page()})

    async def handle(path: str, asked: dict[str, str], writer: asyncio.StreamWriter) -> None:
        if path == "/b" and not dropped:
            dropped.append(1.0)
            writer.close()
        else:
            await pages(path, asked, writer)

    server.handle = handle
    world = World(retries=0, delay_s=7.0)
    before = world.clock.now()
    replies = await world.crawl(f"{server.url}/a", f"{server.url}/b")
    assert [reply.error for reply in replies] == ["", ""]
    assert paths(server) == ["/robots.txt", "/a", "/b", "/b"]
    assert world.clock.now() - before >= 21.0


async def test_a_robots_txt_moved_to_another_host_mixes_no_leases(server: Any) -> None:
    """Links of one host wait while its robots.txt is fetched from another: no host sees a request out of turn."""
    other = f"http://127.0.0.2:{server.port}"
    asked_at: list[tuple[str, str]] = []

    async def handle(path: str, headers: dict[str, str], writer: asyncio.StreamWriter) -> None:
        asked_at.append((headers["host"].split(":")[0], path))
        here = headers["host"].startswith("127.0.0.1")
        pages = {f"/{n}": page() for n in range(4)}
        robots_txt = moved(f"{other}/robots.txt") if here else robots("User-agent: *\nDisallow: /3\n")
        await site({"/robots.txt": robots_txt, **pages})(path, headers, writer)

    server.handle = handle
    server2 = await asyncio.start_server(server._serve, "127.0.0.2", server.port)
    try:
        replies = await World().crawl(*(f"{server.url}/{n}" for n in range(4)))
    finally:
        server2.close()
    assert sorted(reply.error for reply in replies) == ["", "", "", "robots"]
    assert asked_at[:2] == [("127.0.0.1", "/robots.txt"), ("127.0.0.2", "/robots.txt")]
    assert sorted(asked_at[2:]) == [("127.0.0.1", f"/{n}") for n in range(3)]


async def test_a_robots_txt_with_a_mark_at_its_start_means_the_same_after_a_restart(server: Any) -> None:
    server.handle = site({"/robots.txt": ("200 OK", {}, b"\xef\xbb\xbfUser-agent: *\nDisallow: /a\n"), "/b": page()})
    first = World()
    assert [reply.error for reply in await first.crawl(f"{server.url}/a")] == ["robots"]
    again = World(first.db)
    assert [reply.error for reply in await again.crawl(f"{server.url}/a/2")] == ["robots"]


async def test_a_robots_txt_that_is_cut_off_is_not_asked_for_every_link(server: Any) -> None:
    async def handle(path: str, headers: dict[str, str], writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 900\r\n\r\nshort")
        writer.close()

    server.handle = handle
    replies = await World(retries=1).crawl(*(f"{server.url}/{n}" for n in range(5)))
    assert [reply.error for reply in replies] == ["robots-unreachable"] * 5
    assert len(server.requests) == 2


async def test_headers_that_are_no_text_are_survived(server: Any) -> None:
    async def handle(path: str, headers: dict[str, str], writer: asyncio.StreamWriter) -> None:
        location = b"Location: /caf\xe9\r\n" if path == "/a" else b""
        status = b"302 Found" if location else b"200 OK"
        writer.write(b"HTTP/1.1 " + status + b"\r\nContent-Type: text/html; charset=\xff\r\n" + location)
        writer.write(b"X-Robots-Tag: noindex\r\nX-Robots-Tag: nofollow\r\nContent-Length: 2\r\n\r\nhi")

    server.handle = handle
    (reply,) = await World().crawl(f"{server.url}/a")
    assert (reply.error, reply.url) == ("", f"{server.url}/caf%E9")
    assert reply.robots_tag == "noindex, nofollow"
    (reply.content_type + reply.detail).encode()  # what no database takes would fail here


@pytest.fixture
def dead() -> Iterator[str]:
    """A host where nothing accepts connections; nobody else gets the port meanwhile."""
    with socket.socket() as free:
        free.bind(("127.0.0.3", 0))
        yield f"127.0.0.3:{free.getsockname()[1]}"


async def test_links_led_to_a_host_that_is_closed_meanwhile_are_told_so(server: Any, dead: str) -> None:
    server.handle = site({f"/{n}": moved(f"http://{dead}/{n}") for n in range(8)})
    replies = await World(retries=0, give_up_after=2).crawl(*(f"{server.url}/{n}" for n in range(8)))
    assert len(replies) == 8
    assert {reply.error for reply in replies} == {"connect", "host-closed"}


@pytest.mark.parametrize(
    "target",
    [
        *("http://10.1.2.3/", "http://localhost/", "http://[::1]/", "http://127.1/", "http://[fec0::1]/"),
        *("http://localhost./", "http://x.localhost./", "http://127.0.0.1./", "http://0x7f.1/", "http://intranet/"),
    ],
)
async def test_a_proxy_is_not_asked_for_private_addresses(server: Any, target: str) -> None:
    server.handle = site({})
    world = World(proxy=server.url, allow_private=False, give_up_after=0)
    (reply,) = await world.crawl(urls.canonical(target))
    assert reply.error == "private-address"
    assert server.requests == []


async def test_a_link_that_waits_elsewhere_stays_there_when_it_is_found_again(server: Any) -> None:
    """Its redirect leads to another host: a better score must not bring it back to its own host's queue."""
    world = World()
    first, other = Link("http://a.example/1"), Link("http://b.example/2")
    world.frontier.push([first, other], [0.5, 0.4])
    taken = await world.frontier.pop()
    assert taken == Lease(first)
    busy = await world.frontier.pop()
    world.frontier.done(Deferred(Reply(first, status=302), "http://b.example/target", "http://b.example/target"))
    world.frontier.push([first], [0.9])
    world.clock.ahead += 5
    assert world.frontier.hosts.take(world.clock.now()) is None  # b is busy, and nothing waits at a
    assert busy == Lease(other)


async def test_the_rules_of_many_hosts_stay_within_their_memory(server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """What does not fit is read from the database again, not fetched again."""
    monkeypatch.setattr("lycosa.fetch.robots._MOST_MEMORY_BYTES", 100_000)
    text = "User-agent: *\nDisallow: /no\n" + "".join(f"Disallow: /{n}/\n" for n in range(100, 300))
    server.handle = site({"/robots.txt": robots(text), "/a": page(), "/b": page()})
    addresses = [f"127.0.0.{n}" for n in range(2, 12)]
    others = [await asyncio.start_server(server._serve, address, server.port) for address in addresses]
    world = World()
    try:
        hosts = [f"http://{address}:{server.port}" for address in addresses]
        replies = await world.crawl(*(f"{host}/{path}" for path in ("a", "b", "no") for host in hosts))
    finally:
        for other in others:
            other.close()
    assert sorted(reply.error for reply in replies) == [""] * 20 + ["robots"] * 10
    assert paths(server).count("/robots.txt") == 10
    kept = world.fetcher.inner._rules
    assert sum(rules.size_bytes for rules in kept.values()) == world.fetcher.inner._memory_bytes <= 100_000
    assert len(kept) < 10


async def test_a_robots_txt_steers_nobody_to_the_pages_of_others(server: Any) -> None:
    victim = f"http://127.0.0.2:{server.port}"
    named = "".join(f"Sitemap: {victim}/{n}\n" for n in range(20)) + "Sitemap: /map.xml\n"
    server.handle = site({"/robots.txt": robots(named), "/map.xml": page(), "/a": page()})
    other = await asyncio.start_server(server._serve, "127.0.0.2", server.port)
    settings = config.Config(fetch=config.Fetch(allow_private=True), scope=config.Scope(sitemaps=True))
    try:
        replies = await build.fetch_pages(settings, [f"{server.url}/a"], FastClock())
    finally:
        other.close()
    assert [reply.url.removeprefix(server.url) for reply in replies] == ["/a", "/map.xml"]
    assert paths(server) == ["/robots.txt", "/a", "/map.xml"]


class TestARobotsTxtThatMovedToAClosedHost:
    """Nobody fetches it there, so its site must not wait for it."""

    async def test_before_it_moved(self, server: Any, dead: str) -> None:
        world = World(retries=0, give_up_after=2)
        server.handle = site({"/robots.txt": moved(f"http://{dead}/robots.txt"), "/a": page()})
        world.frontier.hosts.named(dead).closed = "unreachable (connect)"
        replies = await world.crawl(f"{server.url}/a", f"{server.url}/b")
        assert [reply.error for reply in replies] == ["robots-unreachable"] * 2
        assert paths(server) == ["/robots.txt"]
        assert world.frontier.waiting() == 0

    async def test_while_links_wait_there(self, server: Any, dead: str) -> None:
        world = World(retries=0, give_up_after=2)
        server.handle = site({"/robots.txt": moved(f"http://{dead}/robots.txt"), "/a": page()})
        replies = await world.crawl(*(f"{server.url}/{n}" for n in range(6)))
        assert sorted(reply.error for reply in replies) == ["connect"] * 2 + ["robots-unreachable"] * 4
        assert world.frontier.waiting() == 0

    async def test_after_an_hour_it_is_looked_for_again(self, server: Any, dead: str) -> None:
        world = World(retries=0, give_up_after=2)
        pages = {"/robots.txt": moved(f"http://{dead}/robots.txt"), "/b": page()}
        server.handle = site(pages)
        world.frontier.hosts.named(dead).closed = "unreachable (connect)"
        await world.crawl(f"{server.url}/a")
        world.clock.ahead += 4_000
        pages["/robots.txt"] = robots("User-agent: *\nDisallow: /a")
        world.frontier.ended = ""
        assert [reply.error for reply in await world.crawl(f"{server.url}/b")] == [""]

    async def test_what_is_known_of_it_counts(self, server: Any, dead: str) -> None:
        """The other host had as many pages as it may have, so it is closed, but its robots.txt was read."""
        there = f"http://127.0.0.2:{server.port}"

        async def handle(path: str, headers: dict[str, str], writer: asyncio.StreamWriter) -> None:
            here = headers["host"].startswith("127.0.0.1")
            text = moved(f"{there}/robots.txt") if here else robots("User-agent: *\nDisallow: /b\n")
            await site({"/robots.txt": text, "/a": page()})(path, headers, writer)

        server.handle = handle
        other = await asyncio.start_server(server._serve, "127.0.0.2", server.port)
        world = World(scope={"max_pages_per_host": 1})
        try:
            await world.crawl(f"{there}/a")
            world.frontier.ended = ""
            replies = await world.crawl(f"{server.url}/b", f"{server.url}/a")
        finally:
            other.close()
        assert {reply.link.url[-1]: reply.error for reply in replies} == {"a": "", "b": "robots"}


async def test_running_out_of_descriptors_counts_against_nobody(server: Any) -> None:
    world = World(retries=0, give_up_after=1)
    sockets = iter(range(100))

    def scarce(info: Any) -> socket.socket:
        if next(sockets) % 10:  # nine of ten fail: one fetch alone does not wait that long
            raise OSError(errno.EMFILE, "Too many open files")
        return socket.socket(*info[:3])

    async def handle(path: str, headers: dict[str, str], writer: asyncio.StreamWriter) -> None:
        world.http._pool._socket_factory = scarce
        await site({"/a": page(), "/b": moved("/c"), "/c": page()})(path, headers, writer)
        writer.close()  # so that each request needs a socket of its own

    server.handle = handle
    replies = await world.crawl(f"{server.url}/a", f"{server.url}/b")
    assert {reply.url.removeprefix(server.url): reply.error for reply in replies} == {"/a": "", "/c": ""}
    assert next(sockets) > 20
    assert paths(server) == ["/robots.txt", "/a", "/b", "/c"]
    assert not world.frontier.hosts.named(server.url.removeprefix("http://")).closed


async def test_what_waits_in_mid_redirect_takes_little_memory(server: Any) -> None:
    """Every link leads to one host, and brings the head of its redirect along."""
    other = f"http://127.0.0.2:{server.port}"
    extra = {f"X-{n}": "a" * 6_000 for n in range(8)}
    pages: Pages = {f"/{n}": ("302 Found", {"Location": f"{other}/to/{n}", **extra}, b"") for n in range(30)}
    server.handle = site(pages | {f"/to/{n}": page() for n in range(30)})
    second = await asyncio.start_server(server._serve, "127.0.0.2", server.port)
    world = World()
    most = 0
    filed = world.shelf.put

    def put(key: str, exchanges: Any) -> None:
        nonlocal most
        filed(key, exchanges)
        most = max(most, world.shelf.memory_bytes)

    world.shelf.put = put  # type: ignore[method-assign]
    try:
        replies = await world.crawl(*(f"{server.url}/{n}" for n in range(30)))
    finally:
        second.close()
    assert [reply.error for reply in replies] == [""] * 30
    assert all(len(reply.exchanges) == 2 and len(reply.exchanges[0].head) > 48_000 for reply in replies)
    assert most <= 2_000
    assert (world.shelf.memory_bytes, world.shelf.file_bytes) == (0, 0)
