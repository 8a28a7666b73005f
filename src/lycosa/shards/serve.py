"""The process of one shard: a fork of the main process, or `python -m lycosa.shards`."""

import asyncio
import os
import socket
from pathlib import Path

from lycosa.errors import LycosaError
from lycosa.locking import lock
from lycosa.parse.memory import keep_memory
from lycosa.process import loop_runner, prepare_process
from lycosa.session import Session, naming_state
from lycosa.shards.messages import Failed
from lycosa.shards.objects import open_objects
from lycosa.shards.orders import Orders
from lycosa.shards.packing import get_folder
from lycosa.shards.routing import Routing
from lycosa.shards.shard import Shard
from lycosa.shards.shipping import Shipper, restore
from lycosa.shards.wire import SocketWire


def run(orders: Orders) -> int:
    """Crawl until the hub says that all is done; return the exit code."""
    os.setsid()  # Ctrl-C is for the fleet, which stops all shards
    keep_memory()
    prepare_process()
    code: int = loop_runner()(serve(orders))
    return code


async def serve(orders: Orders) -> int:
    wire = await SocketWire.open(socket.socket(fileno=orders.socket))
    home = Path(orders.home)
    try:
        with lock(home), naming_state(home):
            shipper = await asyncio.to_thread(_arrive, orders) if orders.store else None
            shard = Shard(Routing(orders.shard, orders.shards), wire, orders, shipper)
            shard.join(Session(orders.folder, orders.overrides, sinks=[shard], home=home))
            await shard.run(orders.seeds, orders.retry_failed)
    except LycosaError as error:
        wire.send(Failed(orders.shard, str(error), error.exit_code))
        return 3
    finally:
        await wire.end()
    return 0


def _arrive(orders: Orders) -> Shipper:
    """On a node of a cluster: fetch crawl.toml, what it refers to, and the state of the shard."""
    home, objects = Path(orders.home), open_objects(orders.store)
    get_folder(objects, Path(orders.folder))
    restore(objects, orders.shard, home)
    return Shipper(objects, orders.shard, orders.epoch, home)
