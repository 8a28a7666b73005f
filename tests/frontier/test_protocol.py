"""What the loop, strategies and sides ask of a frontier, beside order and politeness."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lycosa.types import Effects, Exchange, Lease, Link, Reply

A, B, C = (f"http://{host}/1" for host in "abc")


def reached(*urls: str) -> dict[str, Any]:
    """What a reply says that went along these URLs."""
    return {"url": urls[-1], "exchanges": tuple(Exchange(url, b"", b"", b"", 0.0) for url in urls)}


def counts(frontier: Any) -> tuple[int, int, int]:
    status = frontier.status()
    return status.known, status.waiting, status.in_flight


async def test_what_is_known_and_what_it_is_worth(bench: Any) -> None:
    one = bench()
    one.push()
    assert counts(one.frontier) == (0, 0, 0)
    one.push((A, 0.5), (B, 0.25))
    assert one.frontier.knows(Link(A))
    assert not one.frontier.knows(Link(C))
    assert (one.frontier.score(Link(A)), one.frontier.score(Link(B))) == (0.5, 0.25)
    assert await one.take() == A
    assert counts(one.frontier) == (2, 1, 1)
    one.push((A, 0.75))
    assert one.frontier.score(Link(A)) == 0.75, "in flight, but it may come again"
    one.done(A)
    one.push((A, 0.9))
    assert one.frontier.score(Link(A)) == 0.75
    assert one.frontier.waiting() == 1


async def test_one_score_for_each_link(bench: Any) -> None:
    with pytest.raises(ValueError):
        bench().frontier.push([Link(A), Link(B)], [1.0])


async def test_what_is_brought_from_outside_wakes_who_waits(bench: Any) -> None:
    one = bench()
    one.push((A, 0.5))
    assert await one.take() == A
    waiting = asyncio.ensure_future(one.frontier.pop())
    await asyncio.sleep(0)
    assert not waiting.done()
    one.frontier.bring([Link(B)], [0.5])
    assert await waiting == Lease(Link(B))


async def test_stopped_everybody_goes_home_and_the_first_reason_counts(bench: Any) -> None:
    one = bench()
    one.push((A, 0.5), ("http://a/2", 0.5))
    assert await one.take() == A
    waiting = [asyncio.ensure_future(one.frontier.pop()) for _ in range(3)]
    await asyncio.sleep(0)
    one.frontier.stop("interrupted")
    one.frontier.stop("another reason")
    assert await asyncio.gather(*waiting) == [None] * 3
    assert await one.frontier.pop() is None
    assert one.frontier.status().ended == "interrupted"
    one.done(A)  # what was in flight still ends


async def test_links_found_so_far(bench: Any) -> None:
    one = bench()
    one.push((A, 0.9))
    one.push((B, 0.5), (C, -1.0), (A, 0.1), source=A)
    sources, targets, waiting = one.frontier.view.graph()
    assert (list(sources), list(targets), list(waiting)) == ([1, 1], [2, 1], [1, 2])
    assert await one.take() == A
    assert list(one.frontier.view.graph()[2]) == [2]
    one.push((C, 0.5), source="http://nobody/knows/it")
    assert len(one.frontier.view.graph()[0]) == 2


@pytest.mark.parametrize("hosts", [(), ("a", "b", "c")])
async def test_other_scores_for_what_waits(bench: Any, tmp_path: Path, hosts: tuple[str, ...]) -> None:
    one = bench(tmp_path / "crawl.db")
    one.push(("http://a/0", 0.95), (A, 0.9), (B, 0.5), (C, 0.1))
    assert await one.take() == "http://a/0"
    one.done("http://a/0")
    one.frontier.apply(Effects(ids=[1, 2, 3], scores=[0.0, 0.05, 0.5], hosts=("a", "a", "b") if hosts else ()))
    one.frontier.apply(Effects(ids=[4], scores=[0.8], hosts=("c",) if hosts else ()))
    assert [one.frontier.score(Link(url)) for url in ("http://a/0", A, B, C)] == [0.95, 0.05, 0.5, 0.8]
    one.commit()
    one.kill()
    one.open()
    assert await one.drain() == [C, B, A]


class TestRedirects:
    async def test_what_a_redirect_reached_at_once_does_not_come_again(self, bench: Any, tmp_path: Path) -> None:
        one = bench(tmp_path / "crawl.db")
        one.push((A, 0.9), (B, 0.5), (C, 0.1))
        assert await one.take() == A
        one.done(A, **reached(A, B, "http://d/"))
        assert counts(one.frontier) == (4, 1, 0)
        one.commit()
        one.kill()
        one.open()
        assert one.frontier.refuses("http://d/") == "redirect-known"
        assert await one.drain() == [C]

    async def test_out_of_scope(self, bench: Any) -> None:
        assert bench(scope={"exclude": ["//b/"]}).frontier.refuses(B) == "excluded"
        assert bench().frontier.refuses(B) == ""


class TestClosedHosts:
    async def test_guests_go_home_and_the_rest_is_given_up(self, bench: Any) -> None:
        one = bench(give_up_after=1)
        one.push((A, 0.9), ("http://dead/1", 0.8), ("http://dead/2", 0.7))
        assert await one.take() == A
        assert await one.take() == "http://dead/1"
        one.done(A, url="http://dead/a", status=302, again=True)
        one.done("http://dead/1", error="connect", status=0)
        assert one.frontier.waiting() == 1
        assert await one.take() == A  # to start again, and be told that it leads to a closed host
        one.done(A, url="http://dead/a", error="host-closed", status=0)
        assert one.frontier.status().refused == {"host-closed": 1}
        assert one.frontier.refuses("http://dead/4") == "host-closed"
        assert await one.drain() == []
        assert one.frontier.unreachable() == {"dead": 1}

    async def test_a_host_that_answers_in_between_is_not_given_up(self, bench: Any) -> None:
        one = bench(give_up_after=2)
        one.push(*((f"http://a/{number}", 0.5) for number in range(5)))
        for error in ("connect", "", "timeout", "http-500", "dns"):
            url = await one.take()
            one.done(url, error=error, status=0 if error else 200)
        assert one.frontier.status().refused == {}

    async def test_a_full_host_opens_again_when_more_pages_are_allowed(self, bench: Any, tmp_path: Path) -> None:
        one = bench(tmp_path / "crawl.db", scope={"max_pages_per_host": 1})
        one.push(*((f"http://a/{number}", 0.5) for number in range(5)))
        assert await one.drain() == ["http://a/0"]
        for most, order in ((1, []), (3, ["http://a/1", "http://a/2"]), (0, ["http://a/3", "http://a/4"])):
            one.commit()
            one.kill()
            one.open(scope={"max_pages_per_host": most})
            assert await one.drain() == order

    async def test_another_scope_leaves_out_what_waited(self, bench: Any, tmp_path: Path) -> None:
        one = bench(tmp_path / "crawl.db")
        one.push((A, 0.5), (B, 0.9))
        one.commit()
        one.kill()
        one.open(scope={"exclude": ["//b/"]})
        assert counts(one.frontier) == (2, 1, 0)
        assert await one.drain() == [A]


async def test_a_url_taken_out_of_turn(bench: Any) -> None:
    one = bench()
    one.push((A, 0.9), (B, 0.5))
    for url in (B, C):  # one waits, one is not known
        one.frontier.lease(Link(url, source=A))
        assert one.frontier.knows(Link(url))
        assert one.frontier.status().in_flight == 1
        one.frontier.done(Reply(Link(url), url=url, status=200))
    assert counts(one.frontier) == (3, 1, 0)
    assert await one.drain() == [A]


# -- against a model that looks at everything each time ---------------------------------------------------------------


class Model:
    """URLs and hosts in plain dictionaries."""

    DELAY_S, MAX_DELAY_S, GIVE_UP = 1.0, 50.0, 2

    def __init__(self) -> None:
        self.scores: dict[str, float] = {}  # in the order in which they were found
        self.state: dict[str, str] = {}
        self.due: dict[str, float] = {}
        self.failures: dict[str, int] = {}
        self.delays: dict[str, float] = {}

    def closed(self, host: str) -> bool:
        return self.failures.get(host, 0) >= self.GIVE_UP

    def push(self, url: str, score: float) -> None:
        if url not in self.scores:
            self.scores[url], self.state[url] = score, "lost" if self.closed(url[7]) else "waits"
        elif self.state[url] in ("waits", "flies"):
            self.scores[url] = max(self.scores[url], score)

    def waiting(self) -> list[str]:
        busy = {url[7] for url, state in self.state.items() if state == "flies"}
        return [url for url, state in self.state.items() if state == "waits" and url[7] not in busy]

    def next(self, now: float) -> tuple[str, float]:
        """The URL that comes, and when; empty if somebody must answer first."""
        free = self.waiting()
        if not free:
            return "", now
        at = max(now, min(self.due.get(url[7], 0.0) for url in free))
        due = [url for url in free if self.due.get(url[7], 0.0) <= at]
        return max(due, key=lambda url: self.scores[url]), at  # the first of equals

    def done(self, url: str, now: float, reply: dict[str, Any]) -> None:
        host, error = url[7], reply.get("error", "")
        self.state[url] = "waits" if reply.get("again") else "done"
        if error == "robots":
            return  # nothing was asked
        if "crawl_delay_s" in reply:  # a host keeps what its robots.txt asked for
            self.delays[host] = reply["crawl_delay_s"]
        asked = max(self.delays.get(host, 0.0), reply.get("wait_s", 0.0))
        self.due[host] = now + max(self.DELAY_S, min(asked, self.MAX_DELAY_S))
        self.failures[host] = self.failures.get(host, 0) + 1 if error == "connect" else 0
        if self.closed(host):
            self.state.update({one: "lost" for one, state in self.state.items() if one[7] == host and state == "waits"})

    def counts(self) -> tuple[int, int, int]:
        states = list(self.state.values())
        return len(states), states.count("waits"), states.count("flies")

    def hosts(self) -> int:
        """Those where something waits or is under way."""
        return len({url[7] for url, state in self.state.items() if state in ("waits", "flies")})


REPLIES: list[dict[str, Any]] = [
    {},
    {"crawl_delay_s": 7.0},
    {"wait_s": 1e6, "error": "http-503", "status": 503},
    {"error": "connect", "status": 0},
    {"error": "robots", "status": 0},
    {"again": True, "status": 0},
]
STEPS = st.one_of(
    st.tuples(st.just("push"), st.sampled_from("abc"), st.integers(1, 5), st.sampled_from([0.0, 0.1, 0.5, 0.5, 0.9])),
    st.tuples(st.just("take")),
    st.tuples(st.just("visit"), st.sampled_from(REPLIES)),
    st.tuples(st.just("done"), st.integers(0, 3), st.sampled_from(REPLIES)),
    st.tuples(st.just("wait"), st.sampled_from([0.5, 3.0])),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(STEPS, min_size=25, max_size=60))
def test_order_and_rests_are_those_of_a_naive_model(bench: Any, clock: Any, steps: list[Any]) -> None:
    model = Model()
    rules = {"delay_s": model.DELAY_S, "delay_factor": 0.0, "max_delay_s": model.MAX_DELAY_S}
    one = bench(give_up_after=model.GIVE_UP, **rules)

    async def expect_next() -> str:
        url, at = model.next(clock.now())
        if url:
            assert await one.take() == url
            assert clock.now() == at
            model.state[url] = "flies"
        return url

    def end(url: str, reply: dict[str, Any]) -> None:
        one.done(url, **reply)
        model.done(url, clock.now(), reply)

    async def play() -> None:
        for kind, *step in steps:
            if kind == "push":
                url = f"http://{step[0]}/{step[1]}"
                one.push((url, step[2]))
                model.push(url, step[2])
            elif kind == "take":
                await expect_next()
            elif kind == "visit" and (url := await expect_next()):
                end(url, step[0])
            elif kind == "done" and one.leased:
                end(sorted(one.leased)[step[0] % len(one.leased)], step[1])
            elif kind == "wait":
                clock.advance(step[0])
            assert counts(one.frontier) == model.counts()
            status = one.frontier.status()
            assert status.hosts_due + status.hosts_resting == model.hosts()
        while one.leased or model.waiting():
            for url in list(one.leased):
                end(url, {})
            await expect_next()
        assert await one.take() == ""
        assert one.frontier.status().ended == "frontier empty"

    asyncio.run(play())
    one.kill()
