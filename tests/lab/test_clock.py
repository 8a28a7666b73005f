"""Time that never passes by itself."""

import asyncio
import selectors
from typing import Any

import pytest

from lycosa.lab.clock import LabClock, run_in_lab


async def settle() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


def test_it_stands_still() -> None:
    clock = LabClock(5.0)
    assert clock.now() == clock.now() == 5.0


async def test_a_call_comes_at_once_at_its_own_moment() -> None:
    clock, seen = LabClock(0.0), []
    clock.call_at(86_400.0, lambda: seen.append(clock.now()))
    assert seen == []
    await settle()
    assert seen == [86_400.0]
    assert clock.now() == 86_400.0


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


class TestManyWorkers:
    """In a loop of its own time passes only when everybody waits."""

    def test_sleepers_wake_in_order_and_nobody_really_waits(self, monkeypatch: pytest.MonkeyPatch) -> None:
        clock, seen, waits = LabClock(), [], []
        select = selectors.DefaultSelector.select

        def watched(selector: Any, timeout: float | None = None) -> Any:
            waits.append(timeout)
            return select(selector, timeout)

        monkeypatch.setattr(selectors.DefaultSelector, "select", watched)

        async def worker(name: str, pause: float) -> None:
            for _ in range(3):
                await asyncio.sleep(pause)
                seen.append((round(clock.now() - clock.start, 6), name))

        async def work() -> None:
            await asyncio.gather(worker("a", 3_600.0), worker("b", 5_000.0))

        run_in_lab(clock, work())
        assert seen == [(3600, "a"), (5000, "b"), (7200, "a"), (10000, "b"), (10800, "a"), (15000, "b")]
        assert set(waits) == {0}

    def test_a_call_comes_after_all_that_can_be_done_before(self) -> None:
        clock, seen = LabClock(), []

        async def work() -> None:
            clock.call_at(clock.now() + 1.0, lambda: seen.append("called"))
            for number in range(50):  # each turn makes the next one ready: time must stand still meanwhile
                await asyncio.sleep(0)
                seen.append(str(number))
            await asyncio.sleep(2.0)

        run_in_lab(clock, work())
        assert seen == [*map(str, range(50)), "called"]

    def test_a_moment_that_is_already_there(self) -> None:
        """Seconds since the epoch are too coarse for a loop's margin: it would wait for now for ever."""
        clock, seen = LabClock(), []

        async def work() -> None:
            for _ in range(1_000):
                await asyncio.sleep(0.1)
                waiter = asyncio.get_running_loop().create_future()
                clock.call_at(clock.now(), lambda waiter=waiter: waiter.set_result(None))
                await waiter
                seen.append(clock.now())

        run_in_lab(clock, work())
        assert seen == sorted(seen)
        assert round(seen[-1] - clock.start, 3) == 100.0

    def test_what_it_returns_or_raises(self) -> None:
        async def seven() -> int:
            return 7

        async def fail() -> None:
            raise ValueError("no")

        assert run_in_lab(LabClock(), seven()) == 7
        with pytest.raises(ValueError, match="no"):
            run_in_lab(LabClock(), fail())
