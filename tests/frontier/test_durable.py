"""The frontier: order, leases, politeness, limits, and what is left of it after a kill."""

import asyncio
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lycosa import config
from lycosa.frontier.durable import DurableFrontier
from lycosa.frontier.limits import Quota
from lycosa.frontier.scope import Scope
from lycosa.store.db import CrawlDb
from lycosa.types import Band, Deferred, Exchange, Lease, Link, Origin, Reply

Merge = Callable[[float, float], float]


def make(
    clock: Any,
    path: Path | str = ":memory:",
    merge: Merge = max,
    scope: dict[str, Any] | None = None,
    quota: Quota | None = None,
    **fetch: Any,
) -> DurableFrontier:
    db = CrawlDb(path).open()
    rules = config.Scope(**(scope or {}))
    settings = config.Config(fetch=config.Fetch(**{"delay_s": 1.0, "focus": 0.0, **fetch}), scope=rules)
    frontier = DurableFrontier(db, settings, Scope(rules), SimpleNamespace(merge=merge), clock, quota)
    frontier.load()
    return frontier


def push(frontier: DurableFrontier, *pairs: tuple[str, float], source: str = "") -> None:
    frontier.push([Link(url, source=source) for url, _ in pairs], [score for _, score in pairs])


def done(frontier: DurableFrontier, link: Link, again: bool = False, hop: str = "", **reply: Any) -> None:
    """With `again` it is no answer yet, and the link waits for the host of the reply's URL."""
    answer = Reply(link, **{"url": link.url, "status": 200, **reply})
    frontier.done(Deferred(answer, answer.url, hop) if again else answer)


async def take(frontier: DurableFrontier, clock: Any) -> Link | None:
    lease = await take_lease(frontier, clock)
    return lease.link if lease else None


async def take_lease(frontier: DurableFrontier, clock: Any) -> Lease | None:
    """Pop; while it waits, let time pass to the next moment somebody waits for."""
    task = asyncio.ensure_future(frontier.pop())
    for _ in range(100):
        for _ in range(3):
            await asyncio.sleep(0)
        if task.done():
            return task.result()
        assert clock.next_call is not None, "it waits for nothing"
        clock.advance(max(0.0, clock.next_call - clock.now()))
    raise AssertionError("it never came")


async def drain(frontier: DurableFrontier, clock: Any) -> list[str]:
    order = []
    while link := await take(frontier, clock):
        order.append(link.url)
        done(frontier, link)
    return order


async def test_best_first_over_hosts_that_are_due(clock: Any) -> None:
    frontier = make(clock, delay_s=0.0)
    push(frontier, ("http://a/1", 0.2), ("http://b/1", 0.9), ("http://a/2", 0.5), ("http://c/1", 0.5))
    assert await drain(frontier, clock) == ["http://b/1", "http://a/2", "http://c/1", "http://a/1"]
    assert frontier.ended == "frontier empty"


async def test_a_host_rests_between_two_requests(clock: Any) -> None:
    frontier = make(clock, delay_s=2.0)
    push(frontier, ("http://a/1", 0.9), ("http://a/2", 0.8), ("http://b/1", 0.1))
    first = await take(frontier, clock)
    assert first
    done(frontier, first)
    at = clock.now()
    assert await take(frontier, clock) == Link("http://b/1")
    assert clock.now() == at
    second = await take(frontier, clock)
    assert second == Link("http://a/2")
    assert clock.now() == at + 2.0


async def test_one_request_at_a_time_for_each_host(clock: Any) -> None:
    frontier = make(clock, delay_s=0.0)
    push(frontier, ("http://a/1", 0.9), ("http://a/2", 0.8))
    first = await take(frontier, clock)
    second = asyncio.ensure_future(frontier.pop())
    for _ in range(5):
        await asyncio.sleep(0)
    assert first
    assert not second.done()
    done(frontier, first)
    assert await second == Lease(Link("http://a/2"))


@pytest.mark.parametrize(
    ("reply", "rest_s"),
    [
        ({}, 1.0),
        ({"crawl_delay_s": 7.0}, 7.0),
        ({"seconds": 3.0}, 6.0),
        ({"wait_s": 30.0, "error": "http-503", "status": 503}, 30.0),
        ({"wait_s": 1e9, "error": "http-429", "status": 429}, 100.0),
        ({"error": "robots", "status": 0}, 0.0),
    ],
)
async def test_how_long_a_host_rests(clock: Any, reply: dict[str, Any], rest_s: float) -> None:
    frontier = make(clock, delay_factor=2.0, max_delay_s=100.0)
    push(frontier, ("http://a/1", 0.9), ("http://a/2", 0.8))
    first = await take(frontier, clock)
    assert first
    at = clock.now()
    done(frontier, first, **reply)
    assert await take(frontier, clock)
    assert clock.now() - at == pytest.approx(rest_s)


async def test_found_again_the_higher_score_counts_and_the_path_with_it(clock: Any) -> None:
    frontier = make(clock, delay_s=0.0)
    push(frontier, ("http://seed/", 1e9))
    seed = await take(frontier, clock)
    assert seed
    push(frontier, ("http://a/1", 0.2), ("http://b/1", 0.3), source="http://seed/")
    done(frontier, seed)
    frontier.push([Link("http://a/1", source="http://seed/", anchor="better", depth=1)], [0.9])
    assert await take(frontier, clock) == Link("http://a/1", "http://seed/", "better", 1)


async def test_scores_may_add_up(clock: Any) -> None:
    frontier = make(clock, merge=lambda waiting, found: waiting + found, delay_s=0.0)
    push(frontier, ("http://a/1", 0.2), ("http://b/1", 0.3), ("http://c/1", 0.35))
    push(frontier, ("http://a/1", 0.2))
    assert await drain(frontier, clock) == ["http://a/1", "http://c/1", "http://b/1"]


async def test_a_score_below_zero_is_not_let_in_and_may_come_again(clock: Any) -> None:
    frontier = make(clock)
    push(frontier, ("http://a/1", -1.0))
    assert frontier.status().known == 0
    push(frontier, ("http://a/1", 0.0))
    assert frontier.status().waiting == 1


async def test_a_url_in_flight_or_done_does_not_come_twice(clock: Any) -> None:
    frontier = make(clock, delay_s=0.0)
    push(frontier, ("http://a/1", 0.5))
    link = await take(frontier, clock)
    assert link
    push(frontier, ("http://a/1", 0.9))
    done(frontier, link)
    push(frontier, ("http://a/1", 1.0))
    assert await take(frontier, clock) is None


async def test_what_is_no_answer_yet_comes_again_in_its_place(clock: Any) -> None:
    frontier = make(clock, delay_s=1.0)
    push(frontier, ("http://a/1", 0.5), ("http://a/2", 0.5), ("http://a/3", 0.4))
    first = await take(frontier, clock)
    assert first
    done(frontier, first, again=True)
    assert await drain(frontier, clock) == ["http://a/1", "http://a/2", "http://a/3"]


async def test_a_redirect_waits_for_its_new_host(clock: Any) -> None:
    frontier = make(clock, delay_s=5.0)
    push(frontier, ("http://a/1", 0.5), ("http://b/1", 0.9), ("http://b/2", 0.1))
    first = await take(frontier, clock)
    assert first == Link("http://b/1")
    moved = await take(frontier, clock)
    assert moved == Link("http://a/1")
    done(frontier, moved, url="http://b/moved", again=True, hop="http://b/moved")  # b is busy: the hop waits for it
    at = clock.now()
    done(frontier, first)
    again = await take_lease(frontier, clock)
    assert again == Lease(moved, "http://b/moved", "b")
    assert clock.now() == at + 5.0
    exchanges = tuple(Exchange(url, b"", b"", b"", 0.0) for url in ("http://a/1", "http://b/moved"))
    done(frontier, again.link, url="http://b/moved", exchanges=exchanges)
    assert frontier.refuses("http://b/moved") == "redirect-known"
    push(frontier, ("http://b/moved", 1.0))
    assert await drain(frontier, clock) == ["http://b/2"]


async def test_the_page_limit_is_exact_with_requests_in_flight(clock: Any) -> None:
    counts = SimpleNamespace(pages=0, relevant=0, duplicates=0)
    frontier = make(clock, quota=Quota(config.Limits(pages=2), counts), delay_s=0.0)
    push(frontier, *((f"http://{host}/", 1.0) for host in "abcd"))
    first, second = await take(frontier, clock), await take(frontier, clock)
    assert first
    assert second
    third = asyncio.ensure_future(frontier.pop())
    await asyncio.sleep(0)
    assert not third.done()  # two in flight may be the two pages
    done(frontier, first, error="http-404", status=404)
    assert await third == Lease(Link("http://c/"))
    counts.pages = 2
    done(frontier, second)
    assert await take(frontier, clock) is None
    assert frontier.ended == "limit of 2 pages"


async def test_the_time_limit_wakes_who_waits(clock: Any) -> None:
    quota = Quota(config.Limits(seconds=10, pages=0), SimpleNamespace(pages=0, relevant=0)).begin(clock.now(), 4.0)
    frontier = make(clock, quota=quota, delay_s=100.0)
    push(frontier, ("http://a/1", 1.0), ("http://a/2", 1.0))
    first = await take(frontier, clock)
    assert first
    done(frontier, first)
    at = clock.now()
    assert await take(frontier, clock) is None
    assert clock.now() == at + 6.0
    assert frontier.ended == "limit of 10 seconds"


async def test_all_who_wait_are_sent_home_at_the_end(clock: Any) -> None:
    frontier = make(clock, delay_s=0.0)
    push(frontier, ("http://a/1", 1.0))
    link = await take(frontier, clock)
    others = [asyncio.ensure_future(frontier.pop()) for _ in range(5)]
    await asyncio.sleep(0)
    assert link
    done(frontier, link)
    assert await asyncio.wait_for(asyncio.gather(*others), 5) == [None] * 5


async def test_all_hosts_that_become_ready_at_once_find_a_taker(clock: Any) -> None:
    frontier = make(clock, delay_s=1.0)
    push(frontier, ("http://seed/", 1.0))
    seed = await take(frontier, clock)
    takers = [asyncio.ensure_future(frontier.pop()) for _ in range(10)]
    await asyncio.sleep(0)
    push(frontier, *((f"http://{number}.example/", 0.5) for number in range(10)))
    for _ in range(20):
        await asyncio.sleep(0)
    assert seed
    assert all(taker.done() for taker in takers)


async def test_a_dead_host_is_given_up(clock: Any) -> None:
    frontier = make(clock, give_up_after=3)
    push(frontier, *((f"http://dead/{number}", 0.5) for number in range(10)), ("http://live/", 0.1))
    order = []
    while link := await take(frontier, clock):
        order.append(link.url)
        dead = "dead" in link.url
        done(frontier, link, error="connect" if dead else "", status=0 if dead else 200)
    assert len(order) == 4
    assert frontier.status().waiting == 0
    assert frontier.refused["host-closed"] == 7


async def test_pages_per_host(clock: Any) -> None:
    frontier = make(clock, scope={"max_pages_per_host": 2}, delay_s=0.0)
    push(frontier, *((f"http://a/{number}", 0.5) for number in range(5)), ("http://b/", 0.1))
    assert await drain(frontier, clock) == ["http://a/0", "http://a/1", "http://b/"]


async def test_refusals_are_counted(clock: Any) -> None:
    frontier = make(clock, scope={"domains": ["a.org"], "max_queries_per_path": 1})
    push(frontier, ("http://a.org/?1", 1.0), ("http://a.org/?2", 1.0), ("http://b.org/", 1.0))
    assert frontier.status().refused == {"trap-queries": 1, "out-of-scope": 1}


async def test_after_a_kill_everything_waits_that_was_not_committed_as_done(clock: Any, tmp_path: Path) -> None:
    path = tmp_path / "crawl.db"
    frontier = make(clock, path)
    push(frontier, ("http://a/1", 0.9), ("http://a/2", 0.5), ("http://b/1", 0.7), ("http://c/1", 0.3))
    for _ in range(2):
        link = await take(frontier, clock)
        assert link
        done(frontier, link)
    frontier._db.commit()
    lost = await take(frontier, clock)  # in flight at the kill
    assert lost
    done(frontier, lost)  # even this: it was not committed
    frontier._db.close()
    again = make(clock, path)
    at = clock.now()
    assert again.status().waiting == 2
    assert await drain(again, clock) == ["http://a/2", "http://c/1"]
    assert clock.now() >= at + 1.0  # every host rests one delay first


async def test_a_long_rest_is_kept_across_a_restart(clock: Any, tmp_path: Path) -> None:
    path = tmp_path / "crawl.db"
    frontier = make(clock, path)
    push(frontier, ("http://a/1", 0.9), ("http://a/2", 0.5))
    link = await take(frontier, clock)
    assert link
    done(frontier, link, wait_s=600.0, error="http-503", status=503)
    at = clock.now()
    frontier._db.commit()
    frontier._db.close()
    clock.advance(60.0)
    assert await take(make(clock, path), clock) == Link("http://a/2")
    assert clock.now() == at + 600.0


async def test_the_rest_after_a_slow_reply_is_kept_across_a_kill(clock: Any, tmp_path: Path) -> None:
    """Nobody else commits: the rest itself has to."""
    path = tmp_path / "crawl.db"
    frontier = make(clock, path, delay_factor=2.0)
    push(frontier, ("http://a/1", 0.9), ("http://a/2", 0.5))
    frontier._db.commit()
    link = await take(frontier, clock)
    assert link
    done(frontier, link, seconds=9.0)
    at = clock.now()
    frontier._db.close()
    again = make(clock, path, delay_factor=2.0)
    assert await take(again, clock) == Link("http://a/2")
    assert clock.now() == at + 18.0


@pytest.mark.parametrize("seconds", [0.5, 1.2, 1.5, 1.6, 3.0])
async def test_no_rest_is_forgotten_at_a_kill(clock: Any, tmp_path: Path, seconds: float) -> None:
    """One that is hardly longer than the delay is not worth a commit: every host rests that much after a restart."""
    path = tmp_path / "crawl.db"
    frontier = make(clock, path)
    push(frontier, ("http://a/1", 0.9))
    frontier._db.commit()
    link = await take(frontier, clock)
    assert link
    push(frontier, ("http://a/2", 0.9))
    done(frontier, link, seconds=seconds)
    at = clock.now()
    frontier._db.close()
    assert await take(make(clock, path), clock)
    assert clock.now() >= at + seconds


@pytest.mark.parametrize(("set_by_s", "rest_s"), [(-3_600.0, 600.0), (-60.0, 600.0), (3_600.0, 1.5), (100.0, 500.0)])
async def test_when_the_clock_is_set_between_two_runs(
    clock: Any, tmp_path: Path, set_by_s: float, rest_s: float
) -> None:
    """Back: the rest is what it was. Forward: it cannot be told from time that passed, but one delay is kept."""
    path = tmp_path / "crawl.db"
    clock.advance(10_000.0)
    frontier = make(clock, path)
    push(frontier, ("http://a/1", 0.9), ("http://a/2", 0.5))
    link = await take(frontier, clock)
    assert link
    done(frontier, link, wait_s=600.0, error="http-503", status=503)
    frontier._db.close()
    clock._now += set_by_s
    at = clock.now()
    assert await take(make(clock, path), clock) == Link("http://a/2")
    assert clock.now() - at == pytest.approx(rest_s)


async def test_a_stored_rest_is_never_longer_than_the_longest(clock: Any, tmp_path: Path) -> None:
    path = tmp_path / "crawl.db"
    frontier = make(clock, path)
    push(frontier, ("http://a/1", 0.9))
    frontier._db.execute("INSERT INTO hosts VALUES ('a', ?, 1.0, 0, 0, '')", (clock.now() + 1e9,))
    frontier._db.commit()
    frontier._db.close()
    at = clock.now()
    assert await take(make(clock, path, max_delay_s=100.0), clock) == Link("http://a/1")
    assert clock.now() == at + 100.0


async def close(clock: Any, path: Path | str = ":memory:", **fetch: Any) -> DurableFrontier:
    """A frontier with a host that was closed, where two URLs wait."""
    frontier = make(clock, path, **{"give_up_after": 2, **fetch})
    push(frontier, *((f"http://dead/{number}", 0.5) for number in range(4)))
    for _ in range(2):
        link = await take(frontier, clock)
        assert link
        done(frontier, link, error="connect", status=0)
    assert frontier.hosts.named("dead").closed
    assert frontier.status().waiting == 0
    return frontier


async def test_a_host_that_could_not_be_reached_is_tried_again_after_hours(clock: Any) -> None:
    frontier = await close(clock)
    push(frontier, ("http://dead/new", 0.9), ("http://live/", 0.1))  # what is found meanwhile waits too
    assert frontier.unreachable() == {"dead": 3}
    assert frontier.status().waiting == 1
    link = await take(frontier, clock)
    assert link == Link("http://live/")
    clock.advance(7 * 3_600.0)
    assert await take(frontier, clock) == Link("http://dead/new")
    assert frontier.status().waiting == 2
    done(frontier, Link("http://dead/new"))
    done(frontier, link)
    assert await drain(frontier, clock) == ["http://dead/2", "http://dead/3"]


async def test_such_a_host_gets_one_try(clock: Any) -> None:
    frontier = await close(clock)
    push(frontier, ("http://live/", 0.1))
    link = await take(frontier, clock)
    assert link
    clock.advance(7 * 3_600.0)
    again = await take(frontier, clock)
    assert again == Link("http://dead/2")
    done(frontier, again, error="connect", status=0, again=True)
    done(frontier, link)
    assert await take(frontier, clock) is None
    assert (frontier.ended, frontier.status().waiting) == ("frontier empty", 0)


async def test_the_next_run_tries_a_host_that_could_not_be_reached(clock: Any, tmp_path: Path) -> None:
    frontier = await close(clock, tmp_path / "crawl.db")
    frontier._db.commit()
    frontier._db.close()
    again = make(clock, tmp_path / "crawl.db", give_up_after=2)
    assert await drain(again, clock) == ["http://dead/2", "http://dead/3"]


@pytest.mark.parametrize(("error", "failures"), [("offline", 0), ("exhausted", 1)])
async def test_our_own_failures_count_against_no_host(clock: Any, error: str, failures: int) -> None:
    """In an outage those before it may have been its first."""
    frontier = make(clock, give_up_after=2)
    push(frontier, ("http://a/1", 0.5))
    for kind in ("connect", error, error, error):
        link = await take(frontier, clock)
        assert link
        done(frontier, link, error=kind, status=0, again=True)
    assert frontier.hosts.named("a").failures == failures
    assert await drain(frontier, clock) == ["http://a/1"]


async def test_a_link_whose_errand_ends_at_a_closed_host_comes_home(clock: Any) -> None:
    """It waits there for a robots.txt or a redirect; its next turn is one at its own host, and it starts again."""
    frontier = make(clock, give_up_after=1, delay_s=0.0)
    push(frontier, ("http://k/1", 0.9), ("http://a/1", 0.5), ("http://b/1", 0.4))
    at_k, robots, redirect = [await take(frontier, clock) for _ in range(3)]
    assert at_k
    assert robots
    assert redirect
    done(frontier, robots, url="http://k/robots.txt", status=0, again=True)
    done(frontier, redirect, url="http://k/new", status=302, again=True, hop="http://k/new")
    done(frontier, at_k, error="connect", status=0)
    assert [await take(frontier, clock) for _ in range(2)] == [robots, redirect]
    assert frontier.refuses_hop("http://k/new") == "host-closed"
    assert frontier.status().waiting == 0  # but what the redirect claimed is known, and waits for its host
    assert frontier.knows(Link("http://k/new"))


class TestWildcardDomains:
    """One machine that answers to any name of its domain."""

    def hosts(self, count: int, domain: str = "trap.example.com") -> list[tuple[str, float]]:
        return [(f"http://x{number}.{domain}/", 0.5) for number in range(count)]

    async def test_a_domain_has_only_so_many_hosts(self, clock: Any) -> None:
        frontier = make(clock, scope={"max_hosts_per_domain": 10})
        push(frontier, *self.hosts(50), ("http://x1.trap.example.com/2", 0.5), source="http://seed/")
        push(frontier, *((f"http://blog{number}.blogspot.com/", 0.5) for number in range(50)), source="http://seed/")
        push(frontier, *((f"http://shop{number}.co.uk/", 0.5) for number in range(50)), source="http://seed/")
        assert frontier.refused == {"trap-hosts": 40}
        assert frontier.status().known == 111
        assert frontier.refuses("http://x77.trap.example.com/") == "trap-hosts"
        assert frontier.refuses("http://x7.trap.example.com/other") == ""

    async def test_seeds_are_not_limited(self, clock: Any) -> None:
        frontier = make(clock, scope={"max_hosts_per_domain": 10})
        frontier.push([Link(url, origin=Origin.SEED) for url, _ in self.hosts(50)], [0.0] * 50, Band.FIRST)
        assert frontier.status().known == 50

    async def requests(self, clock: Any, ip: Callable[[str], str], domain: str) -> list[float]:
        """When each request is made, where every answer takes 0.1 s."""
        frontier, times = make(clock, delay_s=1.0), []
        push(frontier, *self.hosts(40, domain))
        while link := await take(frontier, clock):
            times.append(clock.now())
            clock.advance(0.1)
            done(frontier, link, ip=ip(link.url))
        return times

    async def test_names_of_one_server_share_one_delay(self, clock: Any) -> None:
        times = await self.requests(clock, lambda url: "192.0.2.1", "trap.example.com")
        gaps = [after - before for before, after in pairwise(times[10:])]
        assert min(gaps) >= 1.0

    async def test_a_retry_after_holds_for_all_names(self, clock: Any) -> None:
        frontier = make(clock, delay_s=1.0)
        push(frontier, *self.hosts(12))
        for number in range(8):
            link = await take(frontier, clock)
            assert link
            slow = {"wait_s": 100.0, "error": "http-429", "status": 429} if number == 7 else {}
            done(frontier, link, ip="192.0.2.1", **slow)
        at = clock.now()
        assert await take(frontier, clock)
        assert clock.now() >= at + 100.0

    @pytest.mark.parametrize(
        ("ip", "domain"),
        [
            (str, "big-university.example.com"),
            (lambda url: "192.0.2.1", "blogspot.com"),
            (lambda url: "", "example.com"),
        ],
    )
    async def test_others_do_not(self, clock: Any, ip: Callable[[str], str], domain: str) -> None:
        """Servers of their own, domains of their own on one server, addresses that are not known."""
        times = await self.requests(clock, ip, domain)
        assert times[-1] - times[0] < 5.0


HOSTS, PATHS = st.sampled_from("abc"), st.integers(1, 6)
STEP = st.one_of(
    st.tuples(st.just("push"), HOSTS, PATHS, st.sampled_from([0.1, 0.5, 0.5, 0.9])),
    st.tuples(st.just("take"), st.booleans()),
    st.tuples(st.just("restart")),
)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(STEP, max_size=40))
def test_a_restart_changes_no_order(steps: list[Any], tmp_path_factory: pytest.TempPathFactory, clock: Any) -> None:
    """The same pushes and visits, with and without kills at any moment, come out in the same order."""

    async def play(with_restarts: bool) -> list[str]:
        path = tmp_path_factory.mktemp("frontier") / "crawl.db"
        frontier, order = make(clock, path, delay_s=0.0), []
        for step in steps:
            if step[0] == "push":
                push(frontier, (f"http://{step[1]}/{step[2]}", step[3]))
                frontier._db.commit()
            elif step[0] == "take" and frontier.status().waiting:
                link = await take(frontier, clock)
                assert link
                if step[1]:  # else it was in flight when the kill came, or comes again at once
                    order.append(link.url)
                done(frontier, link, again=not step[1])
                frontier._db.commit()
            elif step[0] == "restart" and with_restarts:
                frontier._db.close()
                frontier = make(clock, path, delay_s=0.0)
        frontier.ended = ""
        order += await drain(frontier, clock)
        frontier._db.close()
        return order

    assert asyncio.run(play(True)) == asyncio.run(play(False))
