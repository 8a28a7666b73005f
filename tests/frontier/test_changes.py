"""A host rests before the visit is over, while another shard decides whether the body is new."""

import asyncio
from collections.abc import Callable
from typing import Any

from lycosa.types import Link, Reply

A, B, C = (f"http://host/{name}" for name in "abc")


def rest(bench: Any, url: str, **reply: Any) -> None:
    answer = Reply(bench.leased[url].link, url=url, status=200, **reply)
    bench.frontier.changes.rest(bench.frontier.leases[url][1], answer)


async def test_the_next_request_comes_after_the_delay_and_not_after_the_visit(
    bench: Callable[..., Any], clock: Any
) -> None:
    one = bench(delay_s=1.0)
    one.push((A, 0.9), (B, 0.8), (C, 0.7))
    assert await one.take() == A
    rest(one, A)
    rested_at = clock.now()
    assert await one.take() == B
    assert clock.now() == rested_at + 1.0
    one.done(A)
    assert one.frontier.status().in_flight == 1
    assert one.frontier.hosts.find("host").state == 3, "the end of the first visit does not end the second request"
    clock.advance(5.0)
    one.done(B)
    ended_at = clock.now()
    assert await one.take() == C
    assert clock.now() == ended_at + 1.0


async def test_a_longer_rest_counts_from_the_answer(bench: Callable[..., Any], clock: Any) -> None:
    one = bench(delay_s=1.0)
    one.push((A, 0.9), (B, 0.8))
    await one.take()
    rest(one, A, crawl_delay_s=20.0)
    rested_at = clock.now()
    clock.advance(3.0)
    one.done(A, crawl_delay_s=20.0)
    assert await one.take() == B
    assert clock.now() == rested_at + 20.0


async def test_a_host_that_closes_meanwhile_is_closed_once(bench: Callable[..., Any]) -> None:
    one = bench(give_up_after=1)
    one.push((A, 0.9), (B, 0.8), (C, 0.7))
    await one.take()
    rest(one, A)
    await one.take()
    one.done(B, status=0, error="connect")
    assert one.frontier.waiting() == 0
    one.done(A)
    assert one.frontier.waiting() == 0
    assert one.frontier.unreachable() == {"host": 1}
    assert await one.take() == ""


async def test_who_asks_for_another_shard_waits_for_the_host_and_makes_it_rest(
    bench: Callable[..., Any], clock: Any
) -> None:
    one = bench(delay_s=1.0)
    one.push((A, 0.9), (B, 0.8))
    assert await one.take() == A
    entering = asyncio.ensure_future(one.frontier.changes.enter("http://host/robots.txt"))
    await asyncio.sleep(0)
    assert not entering.done(), "a request is in flight"
    one.done(A)
    ended_at = clock.now()
    clock.advance(1.0)
    host = await entering
    assert clock.now() == ended_at + 1.0
    taking = asyncio.ensure_future(one.take())
    await asyncio.sleep(0)
    assert not taking.done()
    one.frontier.changes.leave(host, Reply(Link("http://host/robots.txt"), status=200))
    assert await taking == B
    assert clock.now() == ended_at + 2.0
    host.closed = "unreachable"
    assert await one.frontier.changes.enter("http://host/robots.txt") is None
