"""Follow redirects, one lease per hop: each target is checked against scope and robots.txt, and waits for its host."""

from collections.abc import Callable

from msgspec.structs import replace

from lycosa import urls
from lycosa.fetch.shelf import Shelf
from lycosa.types import Deferred, Fetcher, Lease, Reply

_STATUSES = frozenset({301, 302, 303, 307, 308})


class Redirects:
    """Takes a link from hop to hop; in between it waits in the frontier, which knows where it has been redirected."""

    def __init__(
        self, inner: Fetcher, max_redirects: int, refuses: Callable[[str], str], shelf: Shelf | None = None
    ) -> None:
        self.inner = inner
        self.max_redirects = max_redirects
        self._refuses = refuses  # why a redirect may not lead to a URL; empty if it may
        self._shelf = shelf or Shelf()  # the exchanges so far of each link that is being redirected

    async def fetch(self, lease: Lease) -> Reply | Deferred:
        link = lease.link
        before = self._shelf.pop(link.url)
        if not lease.hop:
            before = ()  # it was sent back from a host that has been closed, and starts again
        reply = await self.inner.fetch(replace(lease, link=replace(link, url=lease.hop or link.url)))
        if isinstance(reply, Deferred):
            if before:
                self._shelf.put(link.url, before)
            return Deferred(replace(reply.reply, link=link), reply.at, lease.hop)
        reply = replace(reply, link=link, exchanges=before + reply.exchanges)
        if reply.status not in _STATUSES or reply.error in ("robots", "robots-unreachable"):
            return reply
        return self._next(reply)

    def _next(self, reply: Reply) -> Reply | Deferred:
        target = urls.Base(reply.url).join(reply.detail) if reply.detail else ""
        if not target:
            return replace(reply, error="redirect-nowhere", detail=reply.detail[:200])
        if target in {exchange.url for exchange in reply.exchanges}:
            return replace(reply, error="redirect-loop", detail=target)
        if len(reply.exchanges) > self.max_redirects:
            return replace(reply, error="redirect-limit", detail=target)
        if refusal := self._refuses(target):
            return replace(reply, error=refusal, detail=target)
        self._shelf.put(reply.link.url, reply.exchanges)
        return Deferred(replace(reply, error=""), target, hop=target)
