"""Fetch from a recorded web instead of the network: the same replies, at once or after a simulated latency. Every
request is recorded."""

import asyncio
from collections.abc import Callable
from typing import Protocol

from msgspec.structs import replace

from lycosa import config
from lycosa.fetch.http import ANY
from lycosa.fetch.redirects import Redirects
from lycosa.fetch.retries import Retries
from lycosa.fetch.robots import Robots
from lycosa.lab.answer import CLOSE, Answer, Pages, Site
from lycosa.store.db import CrawlDb
from lycosa.types import Deferred, Exchange, Fetcher, Lease, Link, Reply

_NOT_RECORDED = Answer(status=404)


class Web(Protocol):
    """A web that can be fetched from without a network."""

    def get(self, url: str) -> Answer | None: ...  # None: there is no such page


class SiteWeb:
    """A site that is made to be served, such as a generated web, accessed directly."""

    def __init__(self, site: Site) -> None:
        self.site = site

    def get(self, url: str) -> Answer | None:
        return self.site.respond(url, {})


class Fenced:
    """A closed web: links that lead out of it are ignored. Otherwise they would be a 404."""

    def __init__(self, web: Pages) -> None:
        self.web = web

    def get(self, url: str) -> Answer | None:
        return self.web.get(url)

    def holds(self, url: str) -> bool:
        """Does the URL exist? A crawler learns only this about a page before fetching it."""
        return bool(self.web.resolve(url))


class ReplayFetcher:
    """Redirects are followed hop by hop, each a lease, as on the network; robots.txt is fetched only with a `db`."""

    def __init__(
        self,
        web: Web,
        rules: config.Fetch,
        now: Callable[[], float],
        refuses: Callable[[str], str],
        db: CrawlDb | None = None,
        latency_s: float = 0.0,
    ) -> None:
        """`refuses` returns why a redirect may not lead to a URL; `db` stores the rules of robots.txt files."""
        self._asked = Replay(web, rules, now, latency_s)
        inner: Fetcher = _WithoutRobots(self._asked)
        if db is not None:
            layer = Retries(self._asked, rules)
            inner = Robots(layer, db, rules, now, lambda origin, sitemaps: None, refuses)
        self._redirects = Redirects(inner, rules.max_redirects, refuses)

    async def fetch(self, lease: Lease) -> Reply | Deferred:
        return await self._redirects.fetch(lease)

    @property
    def accessed(self) -> list[str]:
        """Every requested URL, in order."""
        return self._asked.accessed


class _WithoutRobots:
    """Lets everything through."""

    def __init__(self, inner: "Replay") -> None:
        self._inner = inner

    async def fetch(self, lease: Lease) -> Reply | Deferred:
        return await self._inner.fetch(lease.link)


class Replay:
    """One request, one reply, in place of the network."""

    def __init__(self, web: Web, rules: config.Fetch, now: Callable[[], float], latency_s: float = 0.0) -> None:
        self.web = web
        self.rules = rules
        self.latency_s = latency_s
        self.accessed: list[str] = []
        self._now = now
        self._accepted = tuple(kind.lower() for kind in rules.content_types)

    async def fetch(self, link: Link, accept: tuple[str, ...] = (), most: int = 0) -> Reply:
        """`accept` and `most` override the configured content types and size limit."""
        self.accessed.append(link.url)
        at = self._now()
        answer = self.web.get(link.url) or _NOT_RECORDED
        if self.latency_s:
            await asyncio.sleep(self.latency_s)
        if answer.status == CLOSE:
            return Reply(link, url=link.url, error="disconnected", detail="the host closed the connection", at=at)
        headers = {name.lower(): value for name, value in answer.headers}
        reply = Reply(
            link,
            url=link.url,
            status=answer.status,
            content_type=headers.get("content-type", ""),
            detail=headers.get("location", ""),
            at=at,
            seconds=self._now() - at,
            exchanges=(Exchange(link.url, b"", head_of(answer), answer.body, at),),
            robots_tag=headers.get("x-robots-tag", ""),
        )
        if not 200 <= answer.status < 300:
            return replace(reply, error=f"http-{answer.status}")
        return _taken(reply, answer.body, accept or self._accepted, most or self.rules.max_bytes)


def _taken(reply: Reply, body: bytes, accept: tuple[str, ...], most: int) -> Reply:
    """The reply with its body, unless its content type or size is not accepted."""
    kind = reply.content_type.split(";", 1)[0].strip().lower()
    if kind and accept != ANY and kind not in accept:
        return replace(reply, error="content-type", detail=reply.content_type)
    if len(body) > most:
        return replace(reply, error="too-large", body=body[:most] if accept == ANY else b"")
    return replace(reply, body=body, error="" if body else "empty")


def head_of(answer: Answer) -> bytes:
    """Status line and headers, in the format of an exchange."""
    lines = [f"HTTP/1.1 {answer.status} ", *(f"{name}: {value}" for name, value in answer.headers), "", ""]
    return "\r\n".join(lines).encode()
