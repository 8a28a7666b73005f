"""What every transport between shards promises: a local socket, the bridge to a node of a cluster, and the same with
Ray in between."""

import asyncio
import os
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from lycosa.control import Request
from lycosa.shards.bridge import Call, caller, carry
from lycosa.shards.messages import (
    Ack,
    Answered,
    Ask,
    Batch,
    Done,
    Failed,
    Joined,
    Message,
    News,
    Order,
    Over,
    Report,
    Status,
    Told,
    encode,
)
from lycosa.shards.node import Node
from lycosa.shards.orders import Orders
from lycosa.shards.wire import SocketWire, Wire, each

MESSAGES: list[Message] = [
    Batch(0, 1, 7, b"\x00" * 100_000),
    Ack(1, 0, 7),
    Ask(0, 1, "digest", "http://a/"),
    Told(1, 0, "digest", "http://a/", "http://b/"),
    Answered(0, 1, ["http://a/"]),
    Status(0, [(1, 2**64 - 1, 3)], pages=5, sent=[0, 7], applied=[0, 0]),
    News((2, 5), 10, 20, 1, True, 3),
    Joined(1, 5),
    Order(3, Request("add", urls=["http://a/"])),
    Done(1, 3, {"http://a/": "added"}),
    Over("limit of 5 pages"),
    Report(0, {"pages": 5}, True, ["a seed"]),
    Failed(1, "no", 2),
]


@pytest.fixture(scope="module")
def ray() -> Iterator[Any]:
    if not os.environ.get("LYCOSA_CLUSTER_TESTS"):
        pytest.skip("needs Ray: run by make test-cluster")
    import ray

    ray.init(num_cpus=1, include_dashboard=False, object_store_memory=80_000_000, log_to_driver=False)
    yield ray
    ray.shutdown()


@pytest.fixture(params=["socket", "bridge", "ray"])
async def wires(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[tuple[Wire, Wire]]:
    if request.param == "socket":
        ends = socket.socketpair()
        one, other = [await SocketWire.open(end) for end in ends]
        yield one, other
        await one.close()
        await other.close()
        return
    path = str(tmp_path / "far")

    def hand_over(there: socket.socket, orders: str) -> None:
        """In place of the process of a shard: give its end of the connection to the test."""
        with socket.socket(socket.AF_UNIX) as to:
            to.connect(path)
            socket.send_fds(to, [b"x"], [there.fileno()])

    if request.param == "ray":
        ray = request.getfixturevalue("ray")
        call = caller(ray.remote(Node).remote(hand_over))
    else:
        node = Node(hand_over)

        async def call(method: str, *arguments: Any) -> Any:
            return await getattr(node, method)(*arguments)

    async with carried(call, path) as (one, other):
        yield one, other


@asynccontextmanager
async def carried(call: Call, path: str) -> AsyncIterator[tuple[Wire, Wire]]:
    """Both ends of a connection through a node."""
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(path)
        listening.listen()
        here, there = socket.socketpair()
        there.setblocking(False)
        carrying = asyncio.ensure_future(carry(call, Orders("", "", 0, 2, -1), there))
        connection, _ = await asyncio.to_thread(listening.accept)
        with connection:
            _, descriptors, _, _ = await asyncio.to_thread(socket.recv_fds, connection, 1, 1)
    one, other = await SocketWire.open(here), await SocketWire.open(socket.socket(fileno=descriptors[0]))
    yield one, other
    await one.close()
    await other.close()
    await carrying


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


async def test_messages_may_arrive_in_pieces_of_any_length() -> None:
    """A read ends anywhere, even within the length of a message."""
    here, there = socket.socketpair()
    wire = await SocketWire.open(here)
    data = b"".join(len(body).to_bytes(4, "big") + body for body in map(encode, MESSAGES[1:]))
    received: list[Message] = []
    reading = asyncio.ensure_future(each(wire, received.append))
    with there:
        for start in range(0, len(data), 3):
            there.sendall(data[start : start + 3])
            await asyncio.sleep(0)
    await reading
    await wire.close()
    assert received == MESSAGES[1:]


async def test_a_connection_is_not_closed_while_the_other_end_may_send() -> None:
    """Otherwise its writing fails, and it loses what it has not read yet: the last report of a shard."""
    here, hub = socket.socketpair()
    shard = await SocketWire.open(here)
    shard.send(last := Report(0, {"pages": 5}, True))
    ending = asyncio.ensure_future(shard.end())
    for _ in range(20):  # rounds of the loop, each with a look at the sockets
        await asyncio.sleep(0)
    with hub:
        hub.sendall(b"letters of others, which are on their way")
        assert hub.recv(1_000)[4:] == encode(last)
        assert hub.recv(1_000) == b"", "the shard has said that this was all"
        assert not ending.done()
    await ending
