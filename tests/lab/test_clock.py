"""Time that never passes by itself."""

import asyncio
import time

from lycosa.lab.clock import LabClock


async def settle() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


def test_it_stands_still() -> None:
    clock = LabClock(5.0)
    assert clock.now() == clock.now() == 5.0


async def test_a_call_comes_at_once_at_its_own_moment() -> None:
    clock, seen = LabClock(0.0), []
    started = time.monotonic()
    clock.call_at(86_400.0, lambda: seen.append(clock.now()))
    assert seen == []
    await settle()
    assert seen == [86_400.0]
    assert clock.now() == 86_400.0
    assert time.monotonic() - started < 1.0


async def test_calls_come_in_the_order_of_their_moments() -> None:
    clock, seen = LabClock(0.0), []
    for when in (30.0, 10.0, 20.0, 10.0):
        clock.call_at(when, lambda when=when: seen.append((when, clock.now())))
    await settle()
    assert seen == [(10.0, 10.0), (10.0, 10.0), (20.0, 20.0), (30.0, 30.0)]


async def test_time_never_runs_back() -> None:
    clock, seen = LabClock(100.0), []
    clock.call_at(50.0, lambda: seen.append(clock.now()))
    await settle()
    assert seen == [100.0]


async def test_a_cancelled_call_neither_comes_nor_moves_time() -> None:
    clock, seen = LabClock(0.0), []
    timer = clock.call_at(10.0, lambda: seen.append("cancelled"))
    clock.call_at(5.0, lambda: seen.append("kept"))
    timer.cancel()
    await settle()
    assert seen == ["kept"]
    assert clock.now() == 5.0


async def test_a_call_may_ask_for_another() -> None:
    clock, seen = LabClock(0.0), []

    def again() -> None:
        seen.append(clock.now())
        if len(seen) < 4:
            clock.call_at(clock.now() + 2.0, again)

    clock.call_at(1.0, again)
    await settle()
    assert seen == [1.0, 3.0, 5.0, 7.0]
