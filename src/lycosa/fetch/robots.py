"""Ask robots.txt first (RFC 9309): 4xx allows everything, 5xx forbids everything for now, the rules hold for a day.

The request for a robots.txt is a lease like any other: the link that caused it goes back to the frontier and comes
again when the host is due, so a host never sees two requests at once or too close.
"""

from collections import OrderedDict
from collections.abc import Callable, Sequence

from msgspec.structs import replace
from protego import Protego

from lycosa import config, urls
from lycosa.db import CrawlDb
from lycosa.fetch.http import ANY
from lycosa.fetch.retries import Retries, is_passing
from lycosa.types import Link, Reply

_DAY_S = 86_400.0
_SOON_S = 3_600.0  # how long a robots.txt that could not be had forbids everything
_MOST_BYTES = 512_000  # RFC 9309 asks for at least 500 KiB; the rest is ignored
_MOST_HOPS = 5
_IN_MEMORY = 4_096  # parsed files; the others are parsed again from the database
_FORBIDDEN = b"User-agent: *\nDisallow: /\n"
_BROKEN = frozenset({"incomplete", "protocol", "decode"})  # an answer, but none that tells what is allowed


class Rules:
    """What one robots.txt says to us."""

    __slots__ = ("_agent", "_parsed", "crawl_delay_s", "expires_at", "sitemaps", "unreachable")

    def __init__(self, body: bytes, agent: str, verdict: str, expires_at: float) -> None:
        self._parsed = Protego.parse(body.decode("utf-8", "replace").removeprefix("\ufeff"))
        self._agent = agent
        self.unreachable = verdict == "unreachable"
        self.expires_at = expires_at
        self.crawl_delay_s = float(self._parsed.crawl_delay(agent) or 0.0)
        self.sitemaps: Sequence[str] = tuple(self._parsed.sitemaps)

    def allows(self, url: str) -> bool:
        return bool(self._parsed.can_fetch(url, self._agent))


class Robots:
    """Lets a link through when its robots.txt is known and allows it."""

    def __init__(
        self,
        inner: Retries,
        db: CrawlDb,
        rules: config.Fetch,
        now: Callable[[], float],
        offer: Callable[[str, Sequence[str]], None],
    ) -> None:
        self.inner = inner
        self.agent = rules.user_agent.split("/", 1)[0].split(" ", 1)[0]
        self._db = db
        self._now = now
        self._offer = offer  # takes the sitemaps a robots.txt names
        self._rules: OrderedDict[str, Rules] = OrderedDict()
        self._moved: dict[str, tuple[str, int]] = {}  # origin to where its robots.txt was moved, and hops so far
        self._sent: dict[str, str] = {}  # links that wait at another host than their own, and at which

    async def fetch(self, link: Link) -> Reply:
        leased = self._sent.pop(link.url, urls.host(link.url))  # only this host may be asked now
        origin = urls.origin(link.url)
        rules = self._rules_for(origin)
        url = link.url if rules else self._moved.get(origin, (f"{origin}/robots.txt", 0))[0]
        if urls.host(url) != leased:
            return self._send(link, url, Reply(link, error="robots", at=self._now()))
        if rules is None:
            return await self._ask(origin, url, link)
        if rules.unreachable:
            return Reply(link, url=link.url, error="robots-unreachable", at=self._now())
        if not rules.allows(link.url):
            return Reply(link, url=link.url, error="robots", at=self._now())
        reply = await self.inner.fetch(link)
        return replace(reply, crawl_delay_s=rules.crawl_delay_s)

    def _send(self, link: Link, url: str, reply: Reply) -> Reply:
        """Not yet: the link has to wait until the host of `url` is due."""
        if urls.host(url) != urls.host(link.url):
            self._sent[link.url] = urls.host(url)
        return replace(reply, link=link, url=url, again=True, status=0, exchanges=())

    def _rules_for(self, origin: str) -> Rules | None:
        rules = self._rules.get(origin)
        if rules is None:
            row = self._db.execute("SELECT body, verdict, expires_at FROM robots WHERE origin=?", (origin,)).fetchone()
            if row is None:
                return None
            rules = self._keep(origin, Rules(row[0], self.agent, row[1], row[2]))
        return rules if rules.expires_at > self._now() else None

    async def _ask(self, origin: str, url: str, link: Link) -> Reply:
        """Spend this lease on the robots.txt; the link itself is asked another time."""
        reply = await self.inner.fetch(Link(url), ANY, _MOST_BYTES)
        if reply.again:
            return self._send(link, url, reply)
        _, hops = self._moved.pop(origin, ("", 0))
        target = urls.Base(url).join(reply.detail) if 300 <= reply.status < 400 and reply.detail else ""
        if target and hops < _MOST_HOPS:
            self._moved[origin] = target, hops + 1
            return self._send(link, target, replace(reply, error=""))
        if reply.status == 0 and reply.error not in _BROKEN:
            return replace(reply, link=link, url=link.url)  # the host cannot be reached at all: so neither can the page
        rules = self._learn(origin, reply)
        own = urls.host(url) == urls.host(link.url)  # what it asks for holds for its own host
        return self._send(link, link.url, replace(reply, error="", crawl_delay_s=rules.crawl_delay_s if own else 0.0))

    def _learn(self, origin: str, reply: Reply) -> Rules:
        verdict, body = "rules", b""
        if is_passing(reply.error) or reply.error in _BROKEN:
            verdict, body = "unreachable", _FORBIDDEN
        elif 200 <= reply.status < 300:
            body = reply.body
        rules = Rules(body, self.agent, verdict, self._now() + (_SOON_S if verdict == "unreachable" else _DAY_S))
        self._db.execute("INSERT OR REPLACE INTO robots VALUES (?, ?, ?, ?)", (origin, body, verdict, rules.expires_at))
        if rules.sitemaps:
            self._offer(origin, rules.sitemaps)
        return self._keep(origin, rules)

    def _keep(self, origin: str, rules: Rules) -> Rules:
        self._rules[origin] = rules
        if len(self._rules) > _IN_MEMORY:
            self._rules.popitem(last=False)
        return rules
