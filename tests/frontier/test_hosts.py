"""One request at a time per host, and a rest after each; the best URL of all hosts that are due comes first."""

from array import array
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lycosa import config
from lycosa.frontier.hosts import BUSY, IDLE, READY, RESTING, UNREACHABLE_BECAUSE, Host, Hosts
from lycosa.frontier.priority import rank_of
from lycosa.types import Link, Reply


class Yard:
    """Hosts, and which URL is queued with which rank."""

    def __init__(self, **rules: Any) -> None:
        self.queued: dict[int, int] = {}
        self.hosts = Hosts(config.Fetch(**{"delay_s": 2.0, "delay_factor": 0.0, **rules}), self.waits, self.among)

    def waits(self, number: int, rank: int) -> bool:
        return self.queued.get(number) == rank

    def among(self, ids: Sequence[int], rank: int) -> list[int]:
        return [number for number in ids if self.waits(number, rank)]

    def push(self, name: str, number: int, score: float, now: float = 0.0) -> Host:
        host, rank = self.hosts.named(name), rank_of(score)
        moved = number in self.queued
        self.queued[number] = rank
        self.hosts.push(host, rank, array("I", [number]), now, moved)
        return host

    def take(self, now: float = 0.0) -> tuple[str, int] | None:
        taken = self.hosts.take(now)
        if taken:
            del self.queued[taken[1]]
        return (taken[0].name, taken[1]) if taken else None

    def end(self, name: str, now: float, **reply: Any) -> Host:
        host = self.hosts.named(name)
        self.hosts.rest(host, Reply(Link(f"http://{name}/"), **{"status": 200, **reply}), now)
        return host


def test_a_host_goes_through_its_states() -> None:
    yard = Yard()
    host = yard.hosts.named("a")
    assert host.state == IDLE
    yard.push("a", 1, 0.5)
    assert host.state == READY
    assert yard.take() == ("a", 1)
    assert host.state == BUSY
    yard.push("a", 2, 0.9)
    assert yard.take() is None, "one request at a time"
    yard.end("a", 1.0)
    assert (host.state, yard.hosts.next_due()) == (RESTING, 3.0)
    assert yard.take(2.9) is None
    assert yard.take(3.0) == ("a", 2)
    yard.end("a", 4.0)
    assert (host.state, yard.hosts.next_due()) == (IDLE, None)
    yard.push("a", 3, 0.1, now=5.0)
    assert host.state == RESTING, "an idle host keeps its rest"


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(1, 30), st.integers(0, 5)), min_size=1))
def test_the_best_url_of_the_hosts_that_are_free_comes_first(pushed: list[tuple[int, int, int]]) -> None:
    yard, best = Yard(), dict[int, tuple[int, int]]()
    for host, number, score in pushed:
        home = number % 5 if number in best else host
        home = best[number][1] if number in best else home
        yard.push(f"h{home}", number, float(score))
        best[number] = score, home
    busy: set[int] = set()
    while free := {number: one for number, one in best.items() if one[1] not in busy}:
        number = min(free, key=lambda number: (-free[number][0], number))
        home = best.pop(number)[1]
        assert yard.take() == (f"h{home}", number)
        busy.add(home)
    assert yard.take() is None


@pytest.mark.parametrize(
    ("rules", "reply", "rest_s"),
    [
        ({}, {}, 2.0),
        ({"delay_factor": 10.0}, {"seconds": 0.5}, 5.0),
        ({"delay_factor": 10.0}, {"seconds": 0.1}, 2.0),
        ({}, {"crawl_delay_s": 7.0}, 7.0),
        ({}, {"crawl_delay_s": 0.5}, 2.0),
        ({"max_delay_s": 60.0}, {"crawl_delay_s": 1e9}, 60.0),
        ({"max_delay_s": 60.0}, {"wait_s": 30.0, "status": 429, "error": "http-429"}, 30.0),
        ({"max_delay_s": 60.0}, {"wait_s": 3_600.0, "status": 503, "error": "http-503"}, 60.0),
    ],
)
def test_a_host_rests_as_long_as_the_longest_that_is_asked(
    rules: dict[str, float], reply: dict[str, Any], rest_s: float
) -> None:
    yard = Yard(**rules)
    yard.push("a", 1, 1.0)
    yard.take()
    assert yard.end("a", 100.0, **reply).due_at == 100.0 + rest_s


def test_a_crawl_delay_is_remembered_and_can_be_lowered() -> None:
    yard = Yard()
    assert yard.end("a", 0.0, crawl_delay_s=9.0).delay_s == 9.0
    assert yard.end("a", 0.0).due_at == 9.0
    assert yard.end("a", 0.0, crawl_delay_s=3.0).due_at == 3.0


def test_a_url_that_was_never_requested_costs_its_host_no_rest() -> None:
    yard = Yard()
    host = yard.push("a", 1, 1.0)
    yard.push("a", 2, 0.5)
    yard.take()
    yard.end("a", 5.0, status=0, error="robots")
    assert (host.state, host.due_at) == (READY, 0.0)
    assert yard.take(5.0) == ("a", 2)


def test_a_host_is_closed_after_failures_in_a_row_and_reopened_for_one_try() -> None:
    yard = Yard(give_up_after=3)
    for _ in range(2):
        assert not yard.end("a", 0.0, status=0, error="timeout").closed
    assert yard.end("a", 0.0, status=0, error="exhausted").failures == 2, "says nothing about the host"
    assert yard.end("a", 0.0).failures == 0
    for _ in range(3):
        host = yard.end("a", 0.0, status=0, error="timeout")
    assert host.closed == f"{UNREACHABLE_BECAUSE} (timeout)"
    yard.push("a", 1, 1.0)
    assert host.state == IDLE
    yard.hosts.reopen(host)
    assert not host.closed
    assert yard.end("a", 0.0, status=0, error="timeout").closed


def test_a_floor_holds_back_what_is_not_good_enough() -> None:
    yard = Yard()
    yard.push("a", 1, 0.3)
    assert yard.hosts.take(0.0, rank_of(0.4)) is None
    assert yard.take() == ("a", 1), "it is still there"


def test_what_is_no_longer_queued_is_skipped() -> None:
    yard = Yard()
    yard.push("a", 1, 0.9)
    yard.push("a", 2, 0.5)
    yard.push("b", 3, 0.7)
    del yard.queued[1]
    assert [yard.take(), yard.take(), yard.take()] == [("b", 3), ("a", 2), None]


def test_a_guest_comes_before_the_queue_and_waits_like_any_other() -> None:
    yard, told = Yard(), list[tuple[str, float]]()
    host = yard.push("a", 1, 0.9)
    yard.hosts.invite(host, lambda due_at: told.append(("first", due_at)), 0.0)
    assert (told, host.state) == ([("first", 0.0)], BUSY)
    assert yard.take() is None, "one request at a time"
    yard.hosts.invite(host, lambda due_at: told.append(("second", due_at)), 0.5)
    yard.end("a", 1.0)
    assert (told[1:], host.state) == ([("second", 3.0)], RESTING)
    assert yard.take(3.0) is None
    assert (told[2:], host.state) == ([("second", 0.0)], BUSY)
    yard.end("a", 4.0)
    assert yard.take(5.9) is None
    assert yard.take(6.0) == ("a", 1)
