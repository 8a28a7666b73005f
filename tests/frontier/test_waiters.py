"""Whoever waits is woken by a change or by the clock, one at a time and in order."""

import asyncio
from typing import Any

from lycosa.frontier.waiters import Waiters


class Room:
    """Tasks that wait, and the order in which they were woken."""

    def __init__(self, clock: Any) -> None:
        self.waiters = Waiters(clock)
        self.woken: list[str] = []
        self.tasks: dict[str, asyncio.Task[None]] = {}

    async def enter(self, name: str, *until: float | None) -> None:
        async def wait() -> None:
            await self.waiters.wait(*until)
            self.woken.append(name)

        self.tasks[name] = asyncio.create_task(wait())
        await settled()


async def settled() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_who_came_first_is_woken_first(clock: Any) -> None:
    room = Room(clock)
    for name in "abc":
        await room.enter(name)
    room.waiters.wake()
    await settled()
    assert room.woken == ["a"]
    room.waiters.wake_all()
    await settled()
    assert room.woken == ["a", "b", "c"]


async def test_a_wake_is_not_spent_on_a_task_that_was_cancelled(clock: Any) -> None:
    room = Room(clock)
    for name in "abc":
        await room.enter(name)
    room.tasks["a"].cancel()
    await settled()
    room.waiters.wake()
    await settled()
    assert room.woken == ["b"]


async def test_a_wake_without_waiters_is_not_kept(clock: Any) -> None:
    room = Room(clock)
    room.waiters.wake()
    await room.enter("a")
    assert room.woken == []
    assert clock.next_call is None
    room.waiters.wake()
    await settled()
    assert room.woken == ["a"]


async def test_the_earliest_moment_counts(clock: Any) -> None:
    room, now = Room(clock), clock.now()
    await room.enter("a", None, now + 9, now + 3)
    assert clock.next_call == now + 3
    await room.enter("b", now + 5)
    assert clock.next_call == now + 3, "the timer that is set comes sooner"
    await room.enter("c", now + 1)
    assert clock.next_call == now + 1
    clock.advance(1)
    await settled()
    assert room.woken == ["a"], "the clock wakes one, which looks for all"
    assert clock.next_call is None


async def test_after_the_clock_rang_the_next_timer_can_be_set(clock: Any) -> None:
    room, now = Room(clock), clock.now()
    await room.enter("a", now + 1)
    clock.advance(1)
    await settled()
    await room.enter("b", now + 10)
    assert clock.next_call == now + 10
    clock.advance(9)
    await settled()
    assert room.woken == ["a", "b"]


async def test_of_several_changes_at_once_only_one_task_is_woken(clock: Any) -> None:
    room = Room(clock)
    for name in "abc":
        await room.enter(name)
    room.waiters.wake()
    room.waiters.wake()
    await settled()
    assert room.woken == ["a"]
    room.waiters.wake()
    await settled()
    assert room.woken == ["a", "b"]


async def test_if_a_task_is_cancelled_after_it_was_woken_the_next_is_woken(clock: Any) -> None:
    room = Room(clock)
    for name in "abc":
        await room.enter(name)
    room.waiters.wake()
    room.tasks["a"].cancel()
    await settled()
    assert room.woken == ["b"]
    room.waiters.wake()
    await settled()
    assert room.woken == ["b", "c"]
