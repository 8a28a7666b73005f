"""Obey robots.txt (RFC 9309): 4xx allows everything, 5xx forbids everything for now, rules are cached for a day.

The request for a robots.txt is a lease like any other: the link that caused it returns to the frontier and comes back
when the host is due, so a host never sees two requests at once or too close together.
"""

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence

from msgspec.structs import replace

from lycosa import config, urls
from lycosa.fetch.http import ANY
from lycosa.fetch.retries import Retries
from lycosa.fetch.robots_file import MOST_BYTES, Rules
from lycosa.outcomes import GARBLED, is_temporary
from lycosa.store.db import CrawlDb
from lycosa.store.robots import StoredRobots, store_robots, stored_robots
from lycosa.types import Deferred, Lease, Link, Reply

_DAY_S = 86_400.0
_SOON_S = 3_600.0  # how long a robots.txt that could not be fetched forbids everything
_MOST_HOPS = 5
_MOST_MEMORY_BYTES = 64 << 20  # of parsed files; others are parsed again from the database
_FORBIDDEN = b"User-agent: *\nDisallow: /\n"


class Robots:
    """Lets a link pass if its robots.txt is known and allows it."""

    def __init__(
        self,
        inner: Retries,
        db: CrawlDb,
        rules: config.Fetch,
        now: Callable[[], float],
        offer: Callable[[str, Sequence[str]], None],
        refuses: Callable[[str], str] = lambda url: "",
    ) -> None:
        self.inner = inner
        self.agent = rules.user_agent.split("/", 1)[0].split(" ", 1)[0]
        self._db = db
        self._now = now
        self._offer = offer  # receives the sitemaps that a robots.txt names
        self._refuses = refuses  # why a URL may not be fetched; empty if it may
        self._rules: OrderedDict[str, Rules] = OrderedDict()
        self._memory_bytes = 0
        self._is_elsewhere: Callable[[str], bool] = lambda url: False  # whether its host belongs to another shard
        self._moved: dict[str, tuple[str, int]] = {}  # origin to the new location of its robots.txt, and hops so far

    def join(self, is_elsewhere: Callable[[str], bool], fetch: Callable[[str], Awaitable[Reply]]) -> None:
        """Be part of one shard among several: `fetch` lets another fetch a robots.txt that has moved to its host."""
        self._is_elsewhere, self._fetch_elsewhere = is_elsewhere, fetch

    async def fetch(self, lease: Lease) -> Reply | Deferred:
        link = lease.link
        leased = lease.at or urls.host(link.url)  # only this host may be contacted now
        origin = urls.origin(link.url)
        rules = self._rules_for(origin) or self._settle(origin)
        url = link.url if rules else self._moved.get(origin, (f"{origin}/robots.txt", 0))[0]
        if urls.host(url) != leased:
            return _send(link, url, Reply(link, error="robots", at=self._now()))
        if rules is None:
            return await self._ask(origin, url, link)
        if rules.unreachable:
            return Reply(link, url=link.url, error="robots-unreachable", at=self._now())
        if not rules.allows(link.url):
            return Reply(link, url=link.url, error="robots", at=self._now())
        reply = await self.inner.fetch(link)
        if isinstance(reply, Deferred):
            return Deferred(replace(reply.reply, crawl_delay_s=rules.crawl_delay_s), reply.at)
        return replace(reply, crawl_delay_s=rules.crawl_delay_s)

    def _rules_for(self, origin: str) -> Rules | None:
        rules = self._rules.get(origin)
        if rules is None:
            stored = stored_robots(self._db, origin)
            if stored is None:
                return None
            rules = self._keep(origin, Rules(stored.body, self.agent, stored.verdict, stored.expires_at))
        return rules if rules.expires_at > self._now() else None

    def _settle(self, origin: str) -> Rules | None:
        """Rules for a robots.txt that moved to a closed host, where it will never be fetched: those known from before,
        otherwise it counts as unreachable."""
        target, _ = self._moved.get(origin, ("", 0))
        if not target or self._refuses(target) != "host-closed":
            return None
        del self._moved[origin]
        if known := self._stored(target):
            return self._learn(origin, *known)
        return self._learn(origin, _FORBIDDEN, "unreachable", self._now() + _SOON_S)

    def _stored(self, url: str) -> StoredRobots | None:
        """What is stored under this URL, if it is that of a robots.txt."""
        origin = urls.origin(url)
        known = stored_robots(self._db, origin) if url == f"{origin}/robots.txt" else None
        return known if known and known.expires_at > self._now() else None

    def recall(self, url: str) -> Reply | None:
        """What fetching this robots.txt would result in, if that is known."""
        if not (known := self._stored(url)):
            return None
        is_known = known.verdict == "rules"
        return Reply(Link(url), url, 200 if is_known else 0, body=known.body, error="" if is_known else "timeout")

    def note(self, url: str, reply: Reply) -> None:
        """Remember the response to a request for a robots.txt, if it is final."""
        origin = urls.origin(url)
        if url == f"{origin}/robots.txt" and reply.status and not 300 <= reply.status < 400:
            self._read(origin, reply)

    async def _ask(self, origin: str, url: str, link: Link) -> Reply | Deferred:
        """Use this lease for the robots.txt; the link itself is fetched later."""
        reply = await self.inner.fetch(Link(url), ANY, MOST_BYTES)
        if isinstance(reply, Deferred):
            return _send(link, url, reply.reply)
        _, hops = self._moved.pop(origin, ("", 0))
        target = _target(url, reply)
        if target and hops < _MOST_HOPS and self._is_elsewhere(target):
            return await self._ask_elsewhere(origin, target, hops + 1, link, reply)
        if target and hops < _MOST_HOPS:
            self._moved[origin] = target, hops + 1
            return _send(link, link.url if self._settle(origin) else target, replace(reply, error=""))
        if reply.status == 0 and reply.error not in GARBLED:
            return replace(reply, link=link, url=link.url)  # the host cannot be reached at all, so neither can the page
        rules = self._read(origin, reply)
        own = urls.host(url) == urls.host(link.url)  # its crawl-delay applies to its own host
        return _send(link, link.url, replace(reply, error="", crawl_delay_s=rules.crawl_delay_s if own else None))

    async def _ask_elsewhere(self, origin: str, target: str, hops: int, link: Link, own: Reply) -> Reply | Deferred:
        """Follow a robots.txt through other shards, until it is found or leads back. `own` is the last reply here."""
        there = await self._fetch_elsewhere(target)
        while (following := _target(target, there)) and hops < _MOST_HOPS:
            target, hops = following, hops + 1
            if not self._is_elsewhere(target):
                self._moved[origin] = target, hops
                return _send(link, link.url if self._settle(origin) else target, replace(own, error=""))
            there = await self._fetch_elsewhere(target)
        self._read(origin, there if there.status else replace(there, error="timeout"))
        return _send(link, link.url, replace(own, error="", crawl_delay_s=None))

    def _read(self, origin: str, reply: Reply) -> Rules:
        if is_temporary(reply.error) or reply.error in GARBLED:
            return self._learn(origin, _FORBIDDEN, "unreachable", self._now() + _SOON_S)
        body = reply.body if 200 <= reply.status < 300 else b""
        return self._learn(origin, body, "rules", self._now() + _DAY_S)

    def _learn(self, origin: str, body: bytes, verdict: str, expires_at: float) -> Rules:
        rules = Rules(body, self.agent, verdict, expires_at)
        store_robots(self._db, origin, StoredRobots(body, verdict, expires_at))
        if rules.sitemaps:
            self._offer(origin, rules.sitemaps)
        return self._keep(origin, rules)

    def _keep(self, origin: str, rules: Rules) -> Rules:
        if before := self._rules.pop(origin, None):
            self._memory_bytes -= before.size_bytes
        self._rules[origin] = rules
        self._memory_bytes += rules.size_bytes
        while self._memory_bytes > _MOST_MEMORY_BYTES and len(self._rules) > 1:
            self._memory_bytes -= self._rules.popitem(last=False)[1].size_bytes
        return rules


def _send(link: Link, url: str, reply: Reply) -> Deferred:
    """Not yet: the link waits until the host of `url` is due."""
    return Deferred(replace(reply, link=link, url=url, status=0, exchanges=()), url)


def _target(url: str, reply: Reply) -> str:
    """Where a redirect leads; empty if it is none."""
    return urls.Base(url).join(reply.detail) if 300 <= reply.status < 400 and reply.detail else ""
