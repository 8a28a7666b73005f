"""The clock of a crawl is steady, whatever happens to the wall's."""

import asyncio
import time

import pytest

from lycosa.clock import WallClock


def test_it_begins_with_the_wall(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "time", lambda: 5_000.0)
    assert WallClock(lambda: 70.0).now() == 5_000.0


@pytest.mark.parametrize("jump_s", [-3_600.0, 3_600.0])
def test_it_does_not_follow_when_the_wall_is_set(jump_s: float, monkeypatch: pytest.MonkeyPatch) -> None:
    elapsed = [70.0]
    monkeypatch.setattr(time, "time", lambda: 5_000.0)
    clock = WallClock(lambda: elapsed[0])
    monkeypatch.setattr(time, "time", lambda: 5_000.0 + jump_s)
    elapsed[0] += 2.5
    assert clock.now() == 5_002.5


async def test_a_call_comes_in_steady_time(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = WallClock()
    when = clock.now() + 0.02
    monkeypatch.setattr(time, "time", lambda: 0.0)
    called = asyncio.get_running_loop().create_future()
    clock.call_at(when, lambda: called.set_result(clock.now()))
    assert await called >= when - 0.001


def test_the_time_a_computer_sleeps_counts_where_the_system_tells(monkeypatch: pytest.MonkeyPatch) -> None:
    readings = {7: 100.0}
    monkeypatch.setattr(time, "CLOCK_BOOTTIME", 7, raising=False)
    monkeypatch.setattr(time, "clock_gettime", readings.__getitem__)
    monkeypatch.setattr(time, "time", lambda: 5_000.0)
    clock = WallClock()
    readings[7] += 3_600.0
    assert clock.now() == 8_600.0
