"""The part of a cluster's transport that runs where the hub is: `python -m lycosa.shards.bridge`, a process per shard.

To the hub, this process looks like a local shard: it reads and writes the same socket. What it reads goes to an actor
of Ray on some node, which starts the shard. Ray may end a process that has lost its cluster, so it does not run in the
main process, which starts another bridge.
"""

import asyncio
import os
import socket
import sys
import time
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from lycosa import __version__
from lycosa.errors import BadInput, LycosaError
from lycosa.process import loop_runner
from lycosa.shards.lease import HOLD_S, SUCCEED_S, Granted
from lycosa.shards.messages import Failed
from lycosa.shards.node import MOST_BYTES, Node
from lycosa.shards.orders import Orders
from lycosa.shards.wire import SocketWire

NO_CLUSTER_S = 60.0  # how long to try to reach the cluster, and to find a node
ENDED = 40  # exit code: no process of the shard is left, so that a successor may start at once

Call = Callable[..., Awaitable[Any]]  # of a method of the node, by its name


async def carry(call: Call, orders: Orders, end: socket.socket) -> None:
    """Start a shard on a node, and pass bytes on in both directions until one end is gone. When this returns, a
    successor may start."""
    granted = Granted(time.monotonic)
    try:
        number, version = await asyncio.wait_for(call("hello"), NO_CLUSTER_S)
        if version != __version__:
            raise BadInput(f"the node has Lycosa {version}, but here it is {__version__}: install the same everywhere")
        granted.grant()
        if await asyncio.wait_for(call("start", msgspec.json.encode(orders).decode(), number), HOLD_S):
            await _exchange(call, granted, end)
    except (TimeoutError, ConnectionError):
        pass  # the node is out of reach
    end.close()  # the hub need not wait
    await asyncio.sleep(granted.wait_s())


async def _exchange(call: Call, granted: Granted, end: socket.socket) -> None:
    loop = asyncio.get_running_loop()
    is_orphan = False

    async def push() -> None:
        nonlocal is_orphan
        data = b"x"
        while data:
            try:
                data = await loop.sock_recv(end, MOST_BYTES)
            except OSError:
                data = b""
            is_orphan = not data
            await call("push", data)

    pushing = asyncio.ensure_future(push())
    try:
        number = 0
        while True:
            if not is_orphan:  # without a hub, the lease is not renewed: the shard ends, or is stopped
                granted.grant()
            number, data = await asyncio.wait_for(call("pull", -1 if is_orphan else number), SUCCEED_S)
            if data is None:
                granted.end()
                return
            if data and not is_orphan:
                await loop.sock_sendall(end, data)
    finally:
        pushing.cancel()
        await asyncio.gather(pushing, return_exceptions=True)


async def run(orders: Orders) -> None:
    """Carry one shard to the cluster; the hub hears of failures that a restart would not mend."""
    end = socket.socket(fileno=orders.socket)
    end.setblocking(False)
    try:
        await carry(await asyncio.to_thread(connect, orders), orders, end)
    except LycosaError as error:
        wire = await SocketWire.open(end)
        wire.send(Failed(orders.shard, f"{orders.cluster}: {error}"))
        await wire.close()


def connect(orders: Orders) -> Call:
    """Make an actor on a node of the cluster; return what calls its methods."""
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    until = time.monotonic() + NO_CLUSTER_S
    while True:
        try:
            ray.init(orders.cluster, namespace="lycosa", log_to_driver=False, logging_level="ERROR")
            break
        except Exception as error:  # Ray raises all sorts
            if time.monotonic() > until:
                raise BadInput(f"the cluster cannot be reached ({_first_line(error)})") from None
            time.sleep(1.0)
    nodes = sorted((node for node in ray.nodes() if node["Alive"]), key=lambda node: node["NodeID"])
    working = [node for node in nodes if node["Resources"].get("CPU")] or nodes
    node = working[orders.place % len(working)]["NodeID"]
    where = NodeAffinitySchedulingStrategy(node, soft=False)  # otherwise Ray may put all shards on one node
    return caller(ray.remote(Node).options(num_cpus=0, max_restarts=0, scheduling_strategy=where).remote())


def caller(actor: Any) -> Call:
    """Calls the methods of an actor of Ray."""
    from ray.exceptions import RayError

    async def call(method: str, *arguments: Any) -> Any:
        try:
            return await asyncio.wrap_future(getattr(actor, method).remote(*arguments).future())
        except RayError as error:
            raise ConnectionError(_first_line(error)) from None

    return call


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]


def main() -> None:
    os.setsid()  # Ctrl-C is for the fleet, which stops all shards
    loop_runner()(run(msgspec.json.decode(sys.argv[1], type=Orders)))
    sys.stdout.flush()
    os._exit(ENDED)  # Ray would take seconds to take leave


if __name__ == "__main__":
    main()
