"""Ask again later what failed for the moment: the link goes back to the frontier, and its host rests meanwhile."""

from msgspec.structs import replace

from lycosa import config
from lycosa.fetch.http import EXHAUSTED
from lycosa.fetch.outage import OFFLINE, Asks
from lycosa.types import Link, Reply

PASSING = frozenset({"timeout", "connect", "disconnected", "dns", "incomplete", "http-429"})


_DOUBTFUL = frozenset({"timeout", "connect", "disconnected", "dns", "incomplete"})  # perhaps the network's fault


class Retries:
    """Counts the tries of each URL that failed; after the last one the failure stands.

    When the network turns out to be down, what was counted since anything answered last does not count after all.
    """

    def __init__(self, inner: Asks, rules: config.Fetch) -> None:
        self.inner = inner
        self.rules = rules
        self._tries: dict[str, int] = {}
        self._doubtful: set[str] = set()  # URLs whose failures were counted since anything answered last
        self._dropped: set[str] = set()  # asked once more because the server hung up without a word

    async def fetch(self, link: Link, accept: tuple[str, ...] = (), most: int = 0) -> Reply:
        reply = await self.inner.fetch(link, accept, most)
        if reply.error in (EXHAUSTED, OFFLINE):
            if reply.error == OFFLINE:
                self._take_back()
            return replace(reply, again=True)
        if reply.status or reply.error not in _DOUBTFUL:
            self._doubtful.clear()
        if reply.error == "disconnected" and link.url not in self._dropped:
            # a kept connection may be closed at any time: no failure yet, but the next try waits for its turn
            self._dropped.add(link.url)
            return replace(reply, again=True)
        self._dropped.discard(link.url)
        if not is_passing(reply.error):
            self._tries.pop(link.url, None)
            return replace(reply, wait_s=0.0)  # Retry-After means something only beside a failure that passes
        tries = self._tries.pop(link.url, 0)
        wait_s = reply.wait_s or self.rules.backoff_s * 2**tries
        if tries >= self.rules.retries:
            return replace(reply, wait_s=wait_s)
        self._tries[link.url] = tries + 1
        if not reply.status:
            self._doubtful.add(link.url)
        return replace(reply, wait_s=wait_s, again=True)

    def _take_back(self) -> None:
        for url in self._doubtful:
            self._tries.pop(url, None)
        self._doubtful.clear()


def is_passing(error: str) -> bool:
    """May the same request succeed a little later?"""
    return error in PASSING or error.startswith("http-5")
