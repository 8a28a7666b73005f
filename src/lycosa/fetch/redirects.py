"""Follow redirects, one lease per hop: each target is checked against scope and robots.txt, and waits for its host."""

from collections.abc import Callable

from msgspec.structs import replace

from lycosa import urls
from lycosa.fetch.robots import Robots
from lycosa.fetch.shelf import Shelf
from lycosa.types import Link, Reply

_STATUSES = frozenset({301, 302, 303, 307, 308})


class Redirects:
    """Takes a link from hop to hop; in between it waits in the frontier, which knows where it has been redirected."""

    def __init__(
        self, inner: Robots, max_redirects: int, refuses: Callable[[str], str], shelf: Shelf | None = None
    ) -> None:
        self.inner = inner
        self.max_redirects = max_redirects
        self._refuses = refuses  # why a redirect may not lead to a URL; empty if it may
        self._shelf = shelf or Shelf()  # the exchanges so far of each link that is being redirected

    async def fetch(self, link: Link) -> Reply:
        before = self._shelf.pop(link.url)
        if not link.hop:
            before = ()  # it was sent back from a host that has been closed, and starts again
        reply = await self.inner.fetch(replace(link, url=link.hop or link.url))
        if reply.again:
            if before:
                self._shelf.put(link.url, before)
            return replace(reply, link=link)
        reply = replace(reply, link=link, exchanges=before + reply.exchanges)
        if reply.status not in _STATUSES or reply.error in ("robots", "robots-unreachable"):
            return reply
        return self._next(link, reply)

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
        self._shelf.put(link.url, reply.exchanges)
        return replace(reply, link=replace(link, hop=target), url=target, error="", again=True)
