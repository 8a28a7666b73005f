"""Which shard a URL belongs to: that of its host, so that one process alone decides when a host may be contacted."""

import xxhash

from lycosa import urls

BUCKETS = 64  # hosts are hashed into these, and shards own whole buckets


def shard_of_host(name: str, shards: int) -> int:
    """With and without `www.`, a name belongs to the same shard: one usually redirects to the other."""
    return xxhash.xxh3_64_intdigest(name.removeprefix("www.").encode()) % BUCKETS % shards


class Routing:
    """The URLs of one shard among several."""

    def __init__(self, me: int, shards: int) -> None:
        self.me = me
        self.shards = shards
        self._owners: dict[str, int] = {}  # by host, as its name stands in a URL

    def owner(self, url: str) -> int:
        host = url.split("/", 3)[2]
        owner = self._owners.get(host)
        if owner is None:
            owner = self._owners[host] = shard_of_host(urls.hostname(url), self.shards)
        return owner

    def is_elsewhere(self, url: str) -> bool:
        return self.owner(url) != self.me

    def decides(self, digest: str) -> int:
        """The shard that knows where a body was first seen."""
        return xxhash.xxh3_64_intdigest(digest.encode()) % self.shards

    def others(self) -> list[int]:
        return [shard for shard in range(self.shards) if shard != self.me]
