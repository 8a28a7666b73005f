"""Retry temporary failures later: the link returns to the frontier, and its host rests meanwhile."""

from msgspec.structs import replace

from lycosa import config
from lycosa.fetch.outage import Asks
from lycosa.outcomes import DOUBTFUL, OFFLINE, OURS, is_temporary
from lycosa.types import Deferred, Link, Reply


class Retries:
    """Counts the failed attempts of each URL; after the last one the failure is final.

    If the network turns out to be down, what was counted since anything last answered does not count after all.
    """

    def __init__(self, inner: Asks, rules: config.Fetch) -> None:
        self.inner = inner
        self.rules = rules
        self._tries: dict[str, int] = {}
        self._doubtful: set[str] = set()  # URLs whose failures were counted since anything last answered
        self._dropped: set[str] = set()  # tried once more because the server closed the connection without a reply

    async def fetch(self, link: Link, accept: tuple[str, ...] = (), most: int = 0) -> Reply | Deferred:
        reply = await self.inner.fetch(link, accept, most)
        if reply.error in OURS:
            if reply.error == OFFLINE:
                self._take_back()
            return Deferred(reply, link.url)
        if reply.status or reply.error not in DOUBTFUL:
            self._doubtful.clear()
        if reply.error == "disconnected" and link.url not in self._dropped:
            # an idle connection may be closed at any time: not a failure yet, but the next try waits for its turn
            self._dropped.add(link.url)
            return Deferred(reply, link.url)
        self._dropped.discard(link.url)
        if not is_temporary(reply.error):
            self._tries.pop(link.url, None)
            return replace(reply, wait_s=0.0)  # Retry-After is meaningful only with a temporary failure
        tries = self._tries.pop(link.url, 0)
        wait_s = reply.wait_s or self.rules.backoff_s * 2**tries
        if tries >= self.rules.retries:
            return replace(reply, wait_s=wait_s)
        self._tries[link.url] = tries + 1
        if not reply.status:
            self._doubtful.add(link.url)
        return Deferred(replace(reply, wait_s=wait_s), link.url)

    def _take_back(self) -> None:
        for url in self._doubtful:
            self._tries.pop(url, None)
        self._doubtful.clear()
