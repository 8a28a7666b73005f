"""The frontier: order, leases, politeness, limits, and what is left of it after a kill."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lycosa import config
from lycosa.db import CrawlDb
from lycosa.frontier.durable import DurableFrontier
from lycosa.frontier.limits import Quota
from lycosa.frontier.polite import Hosts
from lycosa.frontier.scope import Scope
from lycosa.types import Exchange, Link, Reply

Merge = Callable[[float, float], float]


def make(
    clock: Any, path: Path | str = ":memory:", merge: Merge = max, scope: dict[str, Any] | None = None, **fetch: Any
) -> DurableFrontier:
    db = CrawlDb(path).open()
    frontier: DurableFrontier
    hosts = Hosts(config.Fetch(**{"delay_s": 1.0, **fetch}), lambda number, score: frontier.waits(number, score))
    frontier = DurableFrontier(db, hosts, Scope(config.Scope(**(scope or {}))), merge, clock)
    frontier.load()
    return frontier


def push(frontier: DurableFrontier, *pairs: tuple[str, float], source: str = "") -> None:
    frontier.push([Link(url, source=source) for url, _ in pairs], [score for _, score in pairs])


def done(frontier: DurableFrontier, link: Link, **reply: Any) -> None:
    frontier.done(Reply(link, **{"url": link.url, "status": 200, **reply}))


async def take(frontier: DurableFrontier, clock: Any) -> Link | None:
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
    assert await second == Link("http://a/2")


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
    assert frontier.outlook().known == 0
    push(frontier, ("http://a/1", 0.0))
    assert frontier.outlook().waiting == 1


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
    done(frontier, moved, url="http://b/moved", again=True)  # b is busy: the hop waits for it
    at = clock.now()
    done(frontier, first)
    again = await take(frontier, clock)
    assert again == Link("http://a/1")
    assert clock.now() == at + 5.0
    exchanges = tuple(Exchange(url, b"", b"", b"", 0.0) for url in ("http://a/1", "http://b/moved"))
    done(frontier, again, url="http://b/moved", exchanges=exchanges)
    assert frontier.refuses("http://b/moved") == "redirect-known"
    push(frontier, ("http://b/moved", 1.0))
    assert await drain(frontier, clock) == ["http://b/2"]


async def test_the_page_limit_is_exact_with_requests_in_flight(clock: Any) -> None:
    frontier = make(clock, delay_s=0.0)
    counts = SimpleNamespace(pages=0, relevant=0, duplicates=0)
    frontier.quota = Quota(config.Limits(pages=2), counts, 0.0, clock.now())
    push(frontier, *((f"http://{host}/", 1.0) for host in "abcd"))
    first, second = await take(frontier, clock), await take(frontier, clock)
    assert first
    assert second
    third = asyncio.ensure_future(frontier.pop())
    await asyncio.sleep(0)
    assert not third.done()  # two in flight may be the two pages
    done(frontier, first, error="http-404", status=404)
    assert await third == Link("http://c/")
    counts.pages = 2
    done(frontier, second)
    assert await take(frontier, clock) is None
    assert frontier.ended == "limit of 2 pages"


async def test_the_time_limit_wakes_who_waits(clock: Any) -> None:
    frontier = make(clock, delay_s=100.0)
    frontier.quota = Quota(config.Limits(seconds=10, pages=0), SimpleNamespace(pages=0, relevant=0), 4.0, clock.now())
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
    assert frontier.outlook().waiting == 0
    assert frontier.refused["host-closed"] == 7


async def test_pages_per_host(clock: Any) -> None:
    frontier = make(clock, scope={"max_pages_per_host": 2}, delay_s=0.0)
    push(frontier, *((f"http://a/{number}", 0.5) for number in range(5)), ("http://b/", 0.1))
    assert await drain(frontier, clock) == ["http://a/0", "http://a/1", "http://b/"]


async def test_refusals_are_counted(clock: Any) -> None:
    frontier = make(clock, scope={"domains": ["a.org"], "max_queries_per_path": 1})
    push(frontier, ("http://a.org/?1", 1.0), ("http://a.org/?2", 1.0), ("http://b.org/", 1.0))
    assert frontier.outlook().refused == {"trap-queries": 1, "out-of-scope": 1}


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
    assert again.outlook().waiting == 2
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
            elif step[0] == "take" and frontier.outlook().waiting:
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
