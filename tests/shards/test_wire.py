"""What every transport between shards promises; any other one passes the same tests."""

import asyncio
import socket
from collections.abc import AsyncIterator

import pytest

from lycosa.shards.messages import Ack, Ask, Batch, Failed, Joined, Message, News, Over, Report, Status, Told
from lycosa.shards.wire import SocketWire, Wire, each

MESSAGES: list[Message] = [
    Batch(0, 1, 7, b"\x00" * 100_000),
    Ack(1, 0, 7),
    Ask(0, 1, "digest", "http://a/"),
    Told(1, 0, "digest", "http://a/", "http://b/"),
    Status(0, [(1, 2**64 - 1, 3)], pages=5, sent=[0, 7], applied=[0, 0]),
    News((2, 5), 10, 20, 1, True, 3),
    Joined(1),
    Over("limit of 5 pages"),
    Report(0, {"pages": 5}, True, ["a seed"]),
    Failed(1, "no", 2),
]


@pytest.fixture
async def wires() -> AsyncIterator[tuple[Wire, Wire]]:
    here, there = socket.socketpair()
    one, other = await SocketWire.open(here), await SocketWire.open(there)
    yield one, other
    await one.close()
    await other.close()


async def test_messages_arrive_whole_and_in_order(wires: tuple[Wire, Wire]) -> None:
    one, other = wires
    for message in MESSAGES:
        one.send(message)
    assert [await other.receive() for _ in MESSAGES] == MESSAGES


async def test_both_ends_may_send(wires: tuple[Wire, Wire]) -> None:
    one, other = wires
    one.send(Joined(1))
    other.send(Joined(2))
    assert await asyncio.gather(other.receive(), one.receive()) == [Joined(1), Joined(2)]


async def test_what_was_sent_before_closing_arrives_and_then_the_end(wires: tuple[Wire, Wire]) -> None:
    one, other = wires
    one.send(Over("done"))
    await one.close()
    heard: list[Message] = []
    await each(other, heard.append)
    assert heard == [Over("done")]
    assert await other.receive() is None


async def test_sending_to_an_end_that_is_gone_does_nothing(wires: tuple[Wire, Wire]) -> None:
    one, other = wires
    await other.close()
    assert await one.receive() is None
    one.send(Joined(1))
    await one.close()
    one.send(Joined(2))
