"""What a shard must know to start."""

from msgspec import Struct


class Orders(Struct, frozen=True):
    """Passed on as JSON to the process of a shard, and on a cluster through those in between."""

    folder: str  # of crawl.toml
    home: str  # of this shard
    shard: int
    shards: int
    socket: int  # the descriptor of the connection to the hub
    overrides: list[str] = []
    seeds: list[str] = []
    retry_failed: bool = False
    epoch: int = 0  # higher than that of all predecessors
    is_successor: bool = False  # a predecessor may have contacted hosts that this shard knows nothing of
    store: str = ""  # on a cluster: where the state is kept
    cluster: str = ""  # and its address
    place: int = 0  # the number of its node, round robin
