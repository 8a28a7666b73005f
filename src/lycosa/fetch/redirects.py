"""Follow redirects, one lease a hop: each target passes scope and robots.txt, and waits for its own host to be due."""

from collections.abc import Callable

from msgspec.structs import replace

from lycosa import urls
from lycosa.fetch.robots import Robots
from lycosa.fetch.shelf import Exchanges, Shelf
from lycosa.types import Link, Reply

_STATUSES = frozenset({301, 302, 303, 307, 308})


class Redirects:
    """Remembers for each link under way how far its redirects led."""

    def __init__(
        self, inner: Robots, max_redirects: int, refuses: Callable[[str], str], shelf: Shelf | None = None
    ) -> None:
        self.inner = inner
        self.max_redirects = max_redirects
        self._refuses = refuses  # why a URL may not be asked; empty if it may
        self._hops: dict[str, str] = {}  # link to what to ask next
        self._shelf = shelf or Shelf()  # what came so far for each of these links

    async def fetch(self, link: Link) -> Reply:
        url = self._hops.pop(link.url, link.url)
        before = self._shelf.pop(link.url) if url != link.url else ()
        if before and self._refuses(url) == "host-closed":  # it was open when the redirect led there
            return Reply(link, url=before[-1].url, error="host-closed", detail=url, exchanges=before, at=before[-1].at)
        reply = await self.inner.fetch(replace(link, url=url))
        if reply.again:
            if before:
                self._wait(link, url, before)
            return replace(reply, link=link)
        reply = replace(reply, link=link, exchanges=before + reply.exchanges)
        if reply.status not in _STATUSES or reply.error in ("robots", "robots-unreachable"):
            return reply
        return self._next(link, reply)

    def _wait(self, link: Link, url: str, so_far: Exchanges) -> None:
        self._hops[link.url] = url
        self._shelf.put(link.url, so_far)

    def _next(self, link: Link, reply: Reply) -> Reply:
        target = urls.Base(reply.url).join(reply.detail) if reply.detail else ""
        if not target:
            return replace(reply, error="redirect-nowhere", detail=reply.detail[:200])
        if target in {exchange.url for exchange in reply.exchanges}:
            return replace(reply, error="redirect-loop", detail=target)
        if len(reply.exchanges) > self.max_redirects:
            return replace(reply, error="redirect-limit", detail=target)
        if refusal := self._refuses(target):
            return replace(reply, error=refusal, detail=target)
        self._wait(link, target, reply.exchanges)
        return replace(reply, url=target, error="", again=True)
