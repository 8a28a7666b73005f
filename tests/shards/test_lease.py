"""A lease is never held by two, however late messages arrive."""

import random

from lycosa.shards.lease import HOLD_S, RENEW_S, STOP_S, SUCCEED_S, Granted, Held


class Time:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_without_a_grant_there_is_no_lease() -> None:
    held = Held(Time())
    assert not held.is_valid()
    held.granted(held.ask() + 1)  # not what was asked
    assert not held.is_valid()


def test_a_lease_counts_from_when_it_was_asked_for() -> None:
    time = Time()
    held = Held(time)
    number = held.ask()
    time.now += HOLD_S - 1
    held.granted(number)
    assert held.is_valid()
    time.now += 1
    assert not held.is_valid()
    assert not held.is_over()
    time.now += STOP_S - HOLD_S
    assert held.is_over()


def test_a_grant_that_arrives_late_or_twice_does_not_renew_the_lease() -> None:
    time = Time()
    held = Held(time)
    first = held.ask()
    held.granted(first)
    time.now += RENEW_S
    second = held.ask()
    time.now += HOLD_S
    held.granted(first)
    held.granted(second)
    held.granted(second)
    assert not held.is_valid()


def test_a_lease_that_is_renewed_in_time_is_never_lost() -> None:
    time = Time()
    held = Held(time)
    for _ in range(100):
        held.granted(held.ask())
        assert held.is_valid()
        time.now += RENEW_S


def test_a_successor_starts_ten_seconds_after_the_last_grant() -> None:
    time = Time()
    granted = Granted(time)
    assert granted.wait_s() == 0.0, "nobody has held it yet"
    granted.grant()
    time.now += 3
    assert granted.wait_s() == SUCCEED_S - 3
    granted.grant()
    assert granted.wait_s() == SUCCEED_S
    time.now += SUCCEED_S + 1
    assert granted.wait_s() == 0.0
    granted.grant()
    granted.end()
    assert granted.wait_s() == 0.0, "the holder is known to have ended"


def test_the_holder_has_stopped_before_a_successor_may_start() -> None:
    """Whatever the delays of questions and grants are."""
    chance = random.Random(1)
    for _ in range(200):
        time = Time()
        held, granted = Held(time), Granted(time)
        under_way: list[tuple[float, int]] = []
        for _ in range(20):
            number = held.ask()
            time.now += chance.expovariate(1.0)  # the question is on its way
            granted.grant()
            under_way.append((time.now + chance.expovariate(0.3), number))  # and now the answer
            for at, answer in sorted(under_way):
                if at <= time.now:
                    held.granted(answer)
        time.now += granted.wait_s()
        for _, answer in under_way:
            held.granted(answer)
        assert held.is_over()
