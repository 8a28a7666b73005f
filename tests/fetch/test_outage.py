"""An outage of our own network: on the lab's clock with made-up hosts, and with a real server that goes away."""

import asyncio
import contextlib
from collections import Counter
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from lycosa import config, urls
from lycosa.assembly import make_frontier
from lycosa.build import make_redirects, make_robots
from lycosa.clock import WallClock
from lycosa.fetch import outage
from lycosa.fetch.outage import Outage
from lycosa.fetch.retries import Retries
from lycosa.frontier.scope import Scope
from lycosa.lab.clock import LabClock, run_in_lab
from lycosa.outcomes import OFFLINE
from lycosa.run import Run
from lycosa.store.db import CrawlDb
from lycosa.strategy.breadth import BreadthFirst
from lycosa.types import Deferred, Exchange, Link, Reply

HOSTS = [f"h{n}.example" for n in range(20)]


class World:
    """Hosts that answer after a while, on the lab's clock; the network and single hosts may be down for a time."""

    def __init__(self, error: str = "connect") -> None:
        self.clock = LabClock()
        self.started = self.clock.now()
        self.error = error
        self.down: list[tuple[float, float]] = []  # of the network, in seconds from the start
        self.dead: set[str] = set()  # hosts, for good
        self.asked: list[tuple[float, str]] = []
        self.tries = 0
        self.told: set[float] = set()
        self.keeps = False  # do connections that exist already go on?
        self.kept: set[str] = set()
        self.accepts = False  # are connections accepted even where nothing is answered?
        self.proxied = False  # by a proxy that says 503 while the network is down
        self.no_route = True  # does the system say so while the network is down?
        self.first_answer = 1e9
        self.hanging: set[str] = set()  # URLs that are never answered
        self.ended: list[str] = []  # why the run was given up

    @property
    def seconds(self) -> float:
        return self.clock.now() - self.started

    @property
    def is_down(self) -> bool:
        return any(start <= self.seconds < end for start, end in self.down)

    async def fetch(self, link: Link, accept: tuple[str, ...] = (), most: int = 0) -> Reply:
        self.asked.append((self.seconds, link.url))
        host, at = urls.host(link.url), self.clock.now()
        await asyncio.sleep(3.0 if self.error == "timeout" else 0.2)
        kept, self.kept = host in self.kept, self.kept | {host}
        if self.proxied and self.is_down:
            return Reply(link, url=link.url, status=503, error="http-503", at=at, seconds=0.2)
        if (self.is_down and not (self.keeps and kept)) or host in self.dead or link.url in self.hanging:
            detail = "Network is unreachable" if self.is_down and self.error == "connect" and self.no_route else ""
            detail = "Timeout on reading data from socket" if self.accepts else detail
            return Reply(link, url=link.url, error=self.error, detail=detail, at=at, seconds=self.clock.now() - at)
        self.first_answer = min(self.first_answer, self.seconds)
        if link.url.endswith("robots.txt"):
            return Reply(link, url=link.url, status=404, error="http-404", at=at, ip=host)
        return Reply(
            link, url=link.url, status=200, body=b"x", at=at, exchanges=(Exchange(link.url, b"", b"", b"", at),)
        )

    async def reaches(self, url: str) -> bool:
        self.tries += 1
        await asyncio.sleep(0.1)
        return self.accepts or (not self.is_down and urls.host(url) not in self.dead)

    async def resolves(self, url: str) -> bool:
        return self.accepts or not self.is_down

    def crawl(self, addresses: list[str], **rules: Any) -> dict[str, str]:
        """The error of each URL."""
        settings = config.Config(fetch=config.Fetch(**{"concurrency": 8, **rules}))
        db = CrawlDb(":memory:").open()
        frontier = make_frontier(db, settings, Scope(settings.scope), BreadthFirst(), self.clock)
        self.frontier = frontier
        self.outage = Outage(self, self, self.clock, self.proxied)
        robots = make_robots(self.outage, db, settings, frontier, self.clock)
        fetcher = make_redirects(robots, db, settings, frontier)
        found: dict[str, str] = {}

        async def work() -> None:
            while lease := await frontier.pop():
                reply = await fetcher.fetch(lease)
                if self.outage.since is not None:
                    self.told.add(self.outage.since)
                if not isinstance(reply, Deferred):
                    found[reply.link.url] = reply.error
                frontier.done(reply)

        async def main() -> None:
            frontier.push([Link(url) for url in addresses], [1.0] * len(addresses))
            working = asyncio.gather(*(work() for _ in range(settings.fetch.concurrency)))
            self.outage.when_nobody_answers(lambda why: (self.ended.append(why), working.cancel()))
            with contextlib.suppress(asyncio.CancelledError):
                await working

        run_in_lab(self.clock, main())
        return found


PAGES = [f"http://{host}/{n}" for n in range(10) for host in HOSTS]


@pytest.mark.parametrize("error", ["connect", "timeout", "dns"])
def test_after_an_outage_every_page_is_there_and_nothing_was_counted(error: str) -> None:
    world = World(error)
    world.down = [(8.0, 250.0)]
    assert world.crawl(PAGES, retries=0, give_up_after=1) == dict.fromkeys(PAGES, "")
    assert len(world.told) == 1
    assert world.outage.since is None
    during = [at for at, _ in world.asked if 15.0 < at < 250.0]
    assert len(during) <= 8  # one request for each try, and they come at growing intervals
    assert world.seconds < 250.0 + outage.LONGEST_PAUSE_S + 60.0


@pytest.mark.parametrize(
    ("error", "accepts"), [("connect", False), ("timeout", False), ("dns", False), ("timeout", True)]
)
def test_four_minutes_without_a_network_cost_no_page_of_1321(error: str, accepts: bool) -> None:
    """With the settings of a new crawl folder; what once ended with 605 pages and 101 closed hosts."""
    pages = [f"http://w{n % 150}.example/{n // 150}" for n in range(1_321)]
    world = World(error)
    world.no_route = False
    world.accepts, world.down = accepts, [(6.0, 246.0)]
    assert world.crawl(pages, concurrency=config.Fetch().concurrency) == dict.fromkeys(pages, "")
    assert not [host.name for host in world.frontier.hosts.all if host.closed]
    assert world.told
    assert world.seconds > 246.0


def test_several_outages() -> None:
    world = World()
    world.down = [(5.0, 20.0), (60.0, 65.0), (70.0, 100.0)]
    assert world.crawl(PAGES, retries=0, give_up_after=1) == dict.fromkeys(PAGES, "")


def test_the_intervals_grow_to_five_minutes() -> None:
    world = World()
    world.down = [(8.0, 5_000.0)]
    assert set(world.crawl(PAGES, retries=0).values()) == {""}
    during = [at for at, _ in world.asked if 15.0 < at < 5_000.0]
    gaps = [round(after - before) for before, after in pairwise(during)]
    assert gaps[:6] == [20, 40, 80, 160, 300, 300]


def test_a_silent_name_service_at_the_start_makes_no_seed_final() -> None:
    world = World("dns")
    world.down = [(0.0, 100.0)]
    assert world.crawl(["http://h1.example/"], retries=0, give_up_after=1) == {"http://h1.example/": ""}


def test_hosts_that_are_addresses_say_nothing_about_the_name_service() -> None:
    world = World("dns")
    layer = Outage(world, world, world.clock)

    async def resolves(url: str) -> bool:
        return "192.0.2." in url

    async def main() -> Reply:
        for n in range(6):
            await layer.fetch(Link(f"http://192.0.2.{n}/robots.txt"))
        world.resolves = resolves  # type: ignore[method-assign]
        world.dead = {HOSTS[5]}
        return await layer.fetch(Link(f"http://{HOSTS[5]}/"))

    assert run_in_lab(world.clock, main()).error == OFFLINE


def test_no_network_at_the_start_makes_no_seed_final() -> None:
    world = World()
    world.down = [(0.0, 100.0)]
    assert world.crawl(["http://h1.example/"], retries=0, give_up_after=1) == {"http://h1.example/": ""}


def test_connections_that_are_accepted_but_never_answered() -> None:
    world = World("timeout")
    world.accepts, world.down = True, [(8.0, 40.0)]
    assert world.crawl(PAGES, retries=0, give_up_after=1) == dict.fromkeys(PAGES, "")


def test_connections_that_are_accepted_but_never_answered_from_the_start() -> None:
    world = World("timeout")
    world.accepts, world.down = True, [(0.0, 40.0)]
    assert world.crawl(PAGES, retries=0, give_up_after=1) == dict.fromkeys(PAGES, "")


def test_a_page_that_never_comes_does_not_prolong_an_outage() -> None:
    """The request that is let through to find out may be for that very page."""
    world = World("timeout")
    world.accepts, world.down = True, [(0.0, 10.0)]
    world.hanging = {f"http://{host}/robots.txt" for n, host in enumerate(HOSTS) if n % 4 < 3}
    world.crawl(PAGES[:40], retries=0)
    assert world.first_answer < 20.0


@pytest.mark.parametrize(
    ("answered", "again"),
    [
        ([("/a", "timeout"), ("/b", OFFLINE), ("/a", "timeout"), ("/a", "timeout")], [True, True, True, False]),
        ([("/a", "incomplete"), ("/b", OFFLINE), ("/a", "connect"), ("/a", "dns")], [True, True, True, False]),
        ([("/a", "timeout"), ("/c", ""), ("/b", OFFLINE), ("/a", "timeout")], [True, False, True, False]),
    ],
)
async def test_failures_since_the_last_answer_do_not_count_when_it_was_an_outage(
    answered: list[tuple[str, str]], again: list[bool]
) -> None:
    errors = iter([error for _, error in answered])

    async def fetch(link: Link, *_: Any) -> Reply:
        error = next(errors)
        return Reply(link, url=link.url, error=error, status=0 if error else 200)

    layer = Retries(SimpleNamespace(fetch=fetch), config.Fetch(retries=1))
    assert [isinstance(await layer.fetch(Link(url)), Deferred) for url, _ in answered] == again


def test_without_a_route_it_does_not_count_that_connections_made_before_still_answer() -> None:
    world = World()
    world.keeps, world.down = True, [(0.7, 40.0)]
    assert world.crawl(PAGES, retries=0, give_up_after=1, concurrency=4) == dict.fromkeys(PAGES, "")


def test_one_host_without_a_route_is_no_outage() -> None:
    """It has an address of a family that this machine has no network for."""
    world = World()
    layer = Outage(world, world, world.clock)

    async def main() -> Reply:
        for host in HOSTS[:3]:
            await layer.fetch(Link(f"http://{host}/robots.txt"))
        reply = Reply(
            Link("http://v6.example/"), url="http://v6.example/", error="connect", detail="Network is unreachable"
        )
        layer.inner = SimpleNamespace(fetch=lambda *_: asyncio.sleep(0.1, reply))
        return await layer.fetch(reply.link)

    assert run_in_lab(world.clock, main()).error == "connect"


def test_hosts_that_accept_connections_and_never_answer_again_are_given_up_in_the_end() -> None:
    world = World("timeout")
    world.accepts, world.down = True, [(30.0, 1e9)]
    found = world.crawl(PAGES, retries=0)
    assert set(found.values()) == {"", "timeout"}
    assert world.frontier.ended == "frontier empty"


def test_dead_hosts_alone_are_no_outage() -> None:
    """They are all that is left at the end, but those who answered before still accept connections."""
    world = World()
    world.dead = set(HOSTS[10:])
    found = world.crawl(PAGES, retries=0)
    assert Counter(found.values())[""] == 100
    assert not world.told
    assert world.frontier.ended == "frontier empty"


@pytest.mark.parametrize("hosts", [1, 3, 20])
def test_a_proxy_that_has_no_network(hosts: int) -> None:
    world = World()
    world.proxied, world.accepts, world.down = True, True, [(8.0, 200.0)]
    pages = [f"http://{host}/{n}" for n in range(20) for host in HOSTS[:hosts]]
    assert world.crawl(pages, backoff_s=1.0) == dict.fromkeys(pages, "")


@pytest.mark.parametrize(("hosts", "concurrency"), [(1, 1), (2, 1), (2, 8), (5, 1)])
def test_connections_that_few_hosts_accept_but_never_answer(hosts: int, concurrency: int) -> None:
    """With all the tries that a page has by default, no page is given up before it is clear that nobody answers."""
    world = World("timeout")
    world.accepts, world.down = True, [(8.0, 128.0)]
    pages = [f"http://{host}/{n}" for n in range(20) for host in HOSTS[:hosts]]
    assert world.crawl(pages, concurrency=concurrency, backoff_s=1.0) == dict.fromkeys(pages, "")


def test_on_a_site_with_many_pages_that_never_come_little_time_is_lost() -> None:
    world = World("timeout")
    world.accepts = True
    pages = [f"http://h1.example/{n}" for n in range(40)]
    world.hanging = set(pages[::2])
    found = world.crawl(pages, backoff_s=0.0)
    assert found == dict.fromkeys(pages, "") | dict.fromkeys(pages[::2], "timeout")
    waited = sum(seconds for seconds in (315, 35, 5))
    assert world.seconds < waited + len(world.asked) * (3.0 + 3.0) + 60.0  # an answer takes 3 s, and its host rests 3 s


@pytest.mark.parametrize("hosts", [1, 2, 5])
def test_a_page_that_never_comes_is_given_up_and_its_host_is_not(hosts: int) -> None:
    """It is the best of all, so that little else is fetched before it has come to its end."""
    world = World("timeout")
    world.accepts = True
    pages = [f"http://{host}/{n}" for n in range(20) for host in HOSTS[:hosts]]
    world.hanging = {pages[hosts]}
    found = world.crawl(pages, backoff_s=0.0, delay_factor=0.0, concurrency=2)
    assert found == dict.fromkeys(pages, "") | {pages[hosts]: "timeout"}
    assert sum(url in world.hanging for _, url in world.asked) <= 15
    assert not [host.name for host in world.frontier.hosts.all if host.closed]


class TestTooFewHostsToCompare:
    """A dead server and a dead network look the same."""

    @pytest.mark.parametrize("error", ["connect", "timeout", "dns"])
    @pytest.mark.parametrize("hosts", [1, 2])
    def test_an_outage_in_the_middle_destroys_nothing(self, error: str, hosts: int) -> None:
        pages = [f"http://{host}/{n}" for n in range(30) for host in HOSTS[:hosts]]
        world = World(error)
        world.no_route = False
        world.down = [(8.0, 250.0)]
        assert world.crawl(pages, retries=0, give_up_after=1) == dict.fromkeys(pages, "")
        assert not world.ended

    @pytest.mark.parametrize("error", ["connect", "timeout", "dns"])
    @pytest.mark.parametrize("seeds", [HOSTS[:1], HOSTS[:2], HOSTS])
    def test_an_outage_at_the_start_makes_no_seed_final(self, error: str, seeds: list[str]) -> None:
        pages = [f"http://{host}/" for host in seeds]
        world = World(error)
        world.no_route = False
        world.down = [(0.0, 200.0)]
        assert world.crawl(pages, retries=0, give_up_after=1) == dict.fromkeys(pages, "")

    @pytest.mark.parametrize("error", ["connect", "timeout", "dns"])
    def test_when_nobody_answers_for_minutes_the_run_ends_and_nothing_is_final(self, error: str) -> None:
        world = World(error)
        world.down = [(0.0, 1e9)]
        assert world.crawl([f"http://{host}/" for host in HOSTS[:5]], retries=0, give_up_after=1) == {}
        assert world.ended[0] == "no host has answered for 5 minutes"
        assert world.outage.last_failure.endswith(f".example: {error}")
        assert outage.PATIENCE_S <= world.seconds < 2 * outage.PATIENCE_S

    def test_a_dead_server_alone(self) -> None:
        world = World()
        world.dead = {"h1.example"}
        assert world.crawl(["http://h1.example/"], retries=0) == {}
        assert world.ended

    @pytest.mark.parametrize("concurrency", [1, 8])
    def test_any_number_of_dead_seeds_does_not_keep_the_living_one_waiting(self, concurrency: int) -> None:
        world = World()
        world.dead = set(HOSTS[:-1])
        pages = [f"http://{host}/" for host in HOSTS]
        found = world.crawl(pages, retries=0, concurrency=concurrency)
        assert found == dict.fromkeys(pages, "connect") | {pages[-1]: ""}
        assert world.seconds < 2 * len(HOSTS)

    def test_a_host_that_accepts_connections_is_to_blame_itself(self) -> None:
        """One page never comes: the crawl of a single site does not take that for an outage."""
        world = World("timeout")
        world.hanging = {"http://h1.example/1"}
        pages = [f"http://h1.example/{n}" for n in range(3)]
        assert world.crawl(pages, retries=0) == dict.fromkeys(pages, "") | {pages[1]: "timeout"}
        assert not world.told


def test_while_others_answer_hardly_anything_is_tried() -> None:
    world = World()
    world.dead = {HOSTS[3]}
    world.crawl(PAGES, retries=0, give_up_after=2)
    assert world.tries <= 6  # once, when nothing else was under way


def test_what_fails_for_want_of_a_network_says_so() -> None:
    world = World()
    layer = Outage(world, world, world.clock)

    async def main() -> list[Reply]:
        for host in HOSTS[:3]:
            await layer.fetch(Link(f"http://{host}/robots.txt"))
        world.down = [(world.seconds, world.seconds + 30.0)]
        return [await layer.fetch(Link(f"http://{HOSTS[5]}/")) for _ in range(2)]

    first, second = run_in_lab(world.clock, main())
    assert first.error == OFFLINE
    assert second.error == OFFLINE
    assert layer.next_try > layer.since if layer.since else False


async def test_a_real_server_that_goes_away_and_comes_back(
    server: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All hosts refuse connections for a while: the same run fetches every page."""
    monkeypatch.setattr(outage, "FIRST_PAUSE_S", 0.05)
    hosts = [f"127.0.0.{n}" for n in range(2, 8)]
    listening: list[asyncio.Server] = []
    writers: set[asyncio.StreamWriter] = set()
    served: set[str] = set()

    async def up() -> None:
        for host in hosts:
            listening.append(await asyncio.start_server(server._serve, host, server.port))

    async def down() -> None:
        for one in listening:
            one.close()
        listening.clear()
        for writer in writers:
            writer.transport.abort()

    async def handle(path: str, headers: dict[str, str], writer: asyncio.StreamWriter) -> None:
        writers.add(writer)
        body = f"<title>{headers['host']}{path}</title>".encode()
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        served.add(headers["host"] + path)
        if len(served) == 20:
            await down()
            asyncio.get_running_loop().call_later(0.5, lambda: asyncio.ensure_future(up()))

    server.handle = handle
    seeds = [f"http://{host}:{server.port}/{n}" for n in range(8) for host in hosts]
    (tmp_path / "crawl.toml").write_text(
        f"seeds = {seeds!r}\n[topic]\nkind = 'keywords'\nwords = ['x']\n[strategy]\nkind = 'breadth-first'\n"
        "[fetch]\nallow_private = true\ndelay_s = 0.01\nretries = 0\nbackoff_s = 0.0\ngive_up_after = 1\n"
    )
    await up()
    run = Run(tmp_path, *config.load(tmp_path), WallClock())
    try:
        summary = await run.run([], lambda told: None)
    finally:
        await down()
    assert summary["pages"] == len(seeds)
    assert not summary["errors"]
