"""Follow redirects, one lease a hop: each target passes scope and robots.txt, and waits for its own host to be due."""

from collections.abc import Callable

from msgspec.structs import replace

from lycosa import urls
from lycosa.fetch.robots import Robots
from lycosa.types import Exchange, Link, Reply

_STATUSES = frozenset({301, 302, 303, 307, 308})


class Redirects:
    """Remembers for each link under way how far its redirects led."""

    def __init__(self, inner: Robots, max_redirects: int, refuses: Callable[[str], str]) -> None:
        self.inner = inner
        self.max_redirects = max_redirects
        self._refuses = refuses  # why a URL may not be asked; empty if it may
        self._hops: dict[str, tuple[str, tuple[Exchange, ...]]] = {}  # link to what to ask next, and what came so far

    async def fetch(self, link: Link) -> Reply:
        url, before = self._hops.pop(link.url, (link.url, ()))
        if before and self._refuses(url) == "host-closed":  # it was open when the redirect led there
            return Reply(link, url=before[-1].url, error="host-closed", detail=url, exchanges=before, at=before[-1].at)
        reply = await self.inner.fetch(replace(link, url=url))
        if reply.again:
            self._hops[link.url] = url, before
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
        self._hops[link.url] = target, reply.exchanges
        return replace(reply, url=target, error="", again=True)
