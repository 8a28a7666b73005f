"""The process of one shard: `python -m lycosa.shards`, started by the fleet with its orders as JSON."""

import os
import socket
import sys
from pathlib import Path

import msgspec
from msgspec import Struct

from lycosa.errors import LycosaError
from lycosa.process import loop_runner, prepare_process
from lycosa.run import lock
from lycosa.session import Session, naming_state
from lycosa.shards.messages import Failed
from lycosa.shards.routing import Routing
from lycosa.shards.shard import Shard
from lycosa.shards.wire import SocketWire


class Orders(Struct, frozen=True):
    """What a shard must know to start."""

    folder: str  # of crawl.toml
    home: str  # of this shard
    shard: int
    shards: int
    socket: int  # the descriptor of the connection to the hub
    overrides: list[str] = []
    seeds: list[str] = []
    retry_failed: bool = False


async def serve(orders: Orders) -> int:
    """Crawl until the hub says that all is done; return the exit code."""
    wire = await SocketWire.open(socket.socket(fileno=orders.socket))
    home = Path(orders.home)
    try:
        with lock(home), naming_state(home):
            shard = Shard(Routing(orders.shard, orders.shards), wire)
            shard.join(Session(orders.folder, orders.overrides, sinks=[shard], home=home))
            await shard.run(orders.seeds, orders.retry_failed)
    except LycosaError as error:
        wire.send(Failed(orders.shard, str(error), error.exit_code))
        return 3
    finally:
        await wire.close()
    return 0


def main() -> None:
    os.setsid()  # Ctrl-C is for the fleet, which stops all shards
    prepare_process()
    orders = msgspec.json.decode(sys.argv[1], type=Orders)
    code: int = loop_runner()(serve(orders))
    sys.exit(code)


if __name__ == "__main__":
    main()
