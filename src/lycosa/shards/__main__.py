"""The process of one shard: `python -m lycosa.shards`, started by the fleet with its orders as JSON."""

import asyncio
import os
import socket
import sys
from pathlib import Path

import msgspec

from lycosa.errors import LycosaError
from lycosa.process import loop_runner, prepare_process
from lycosa.run import lock
from lycosa.session import Session, naming_state
from lycosa.shards.messages import Failed
from lycosa.shards.objects import open_objects
from lycosa.shards.orders import Orders
from lycosa.shards.packing import get_folder
from lycosa.shards.routing import Routing
from lycosa.shards.shard import Shard
from lycosa.shards.shipping import Shipper, restore
from lycosa.shards.wire import SocketWire


async def serve(orders: Orders) -> int:
    """Crawl until the hub says that all is done; return the exit code."""
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
        await wire.close()
    return 0


def _arrive(orders: Orders) -> Shipper:
    """On a node of a cluster: fetch crawl.toml, what it refers to, and the state of the shard."""
    home, objects = Path(orders.home), open_objects(orders.store)
    get_folder(objects, Path(orders.folder))
    restore(objects, orders.shard, home)
    return Shipper(objects, orders.shard, orders.epoch, home)


def main() -> None:
    os.setsid()  # Ctrl-C is for the fleet, which stops all shards
    prepare_process()
    orders = msgspec.json.decode(sys.argv[1], type=Orders)
    code: int = loop_runner()(serve(orders))
    sys.exit(code)


if __name__ == "__main__":
    main()
