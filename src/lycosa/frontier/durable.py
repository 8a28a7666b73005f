"""The queue of URLs, best first: a working copy in memory as compact arrays, a durable one in crawl.db.

A known URL costs one table entry, a few bytes in arrays and a slot in its host's queue. All changes caused by a visit
are written in the same transaction as the visit, so after a kill the frontier is as it was at the last commit, and URLs
that were in flight are queued again.
"""

from __future__ import annotations  # before Python 3.12, array[int] is valid only in annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from msgspec.structs import replace

from lycosa import config, urls
from lycosa.frontier.batch import Route
from lycosa.frontier.changes import Changes
from lycosa.frontier.choice import Choice
from lycosa.frontier.fetch_list import FetchList
from lycosa.frontier.focus import chosen
from lycosa.frontier.hosts import Host, Hosts
from lycosa.frontier.intake import Intake
from lycosa.frontier.limits import Quota
from lycosa.frontier.places import Places
from lycosa.frontier.rests import FULL, UNSAVED_S, Rests, least_rest_s
from lycosa.frontier.scope import Scope
from lycosa.frontier.status import Status, sentence_on
from lycosa.frontier.table import LEASED, UrlTable
from lycosa.frontier.view import FrontierView
from lycosa.frontier.waiters import Waiters
from lycosa.store.db import WAITING, CrawlDb
from lycosa.store.url_rows import UrlRows
from lycosa.types import Band, Clock, Deferred, Effects, Lease, Link, Lists, Reply, Strategy


class DurableFrontier:
    """Best-first over the hosts that are due; one lease is one request."""

    def __init__(
        self,
        db: CrawlDb,
        settings: config.Config,
        scope: Scope,
        strategy: Strategy,
        clock: Clock,
        quota: Quota | None = None,
        rescores_soon: Callable[[], bool] = lambda: False,
    ) -> None:
        """`rescores_soon` returns whether URLs that are held back may soon get another score."""
        self.hosts = Hosts(settings.fetch, self._has_rank, self._having_rank, settings.scope.max_hosts_per_domain)
        self.scope = scope
        self.ended = ""  # why the crawl is over
        self.paused = False
        self.refused: Counter[str] = Counter()  # number of refused links, by reason
        self._route: Route | None = None  # passes links on to other shards, and returns the others
        self.elsewhere: Callable[[str], bool] = lambda url: False  # whether a URL belongs to another shard
        self._quota = quota
        self._more: Callable[[], bool] = lambda: False
        self._db = db
        lists = strategy if isinstance(strategy, Lists) else None
        self._clock = clock
        self._table = UrlTable(UrlRows(db))
        self.view = FrontierView(self._table, scope, db)
        self._rests = Rests(db, clock.now)
        focus = chosen(settings.fetch, settings.limits)
        fetch_list = FetchList(lists.list_size, db) if lists else None
        self._places = Places(self._table, self.hosts, self.refused, focus, fetch_list)
        self._intake = Intake(self._places, scope, self.refused, strategy, clock)
        self._choice = Choice(self._places, lists, rescores_soon, self.apply)
        self.leases: dict[str, tuple[int, Host]] = {}
        self.turns = 0  # number of completed leases, to detect changes
        self._waiters = Waiters(clock)
        self.changes = Changes(self._places, clock, self._waiters.wake_all)
        self.focus = self._places.focus
        self._errands = self._places.errands

    # -- called by the loop

    def push(self, links: Sequence[Link], scores: Sequence[float], band: Band = Band.FOUND) -> None:
        """Queue links, or raise the priority of those already queued. All links of one call come from the same page."""
        links, scores = self._route(links, scores, band) if self._route else (links, scores)
        if links:
            self._intake.push(links, scores, band)
            self._waiters.wake()

    async def pop(self) -> Lease | None:
        """Lease the best URL of all hosts that are due; None when the crawl is over."""
        while True:
            now = self._clock.now()
            if not self.ended and self._quota:
                self.ended = self._quota.reached(now)
            if self.ended:
                self._waiters.wake_all()
                return None
            self._places.reopen(now)
            deadline = self._quota.deadline if self._quota else None
            if self.paused:
                await self._waiters.wait(deadline)
                continue
            if self._quota and not self._quota.admits(len(self.leases)):
                await self._waiters.wait(deadline)  # the next reply decides whether one more may be fetched
                continue
            if taken := self._take(now):
                self._waiters.wake()  # another host may be ready too: each waiter that succeeds wakes the next
                return self._lease(*taken)
            if self._choice.nothing_comes(len(self.leases)) and not self._more():
                self.ended = "frontier empty"
                continue
            await self._waiters.wait(self.hosts.next_due(), self.focus.next_change(), deadline)

    def done(self, reply: Reply | Deferred) -> None:
        """End a lease: the URL is done, or is queued again for a later request."""
        deferred, reply = (reply, reply.reply) if isinstance(reply, Deferred) else (None, reply)
        number, host = self.leases.pop(reply.link.url)
        now, delay_s = self._clock.now(), max(self.hosts.rules.delay_s, host.delay_s)
        if deferred:
            self._places.send(number, deferred, now)
        else:
            self._places.finish(number, reply, now)
            if reply.error == "redirect-known":
                self._intake.pass_on(number, self.number(reply.detail))
            host.pages += not reply.error
            if self.scope.rules.max_pages_per_host and host.pages >= self.scope.rules.max_pages_per_host:
                host.closed = host.closed or FULL
        if was_busy := not self.changes.has_rested(reply.link.url):
            self._places.rest(host, reply, now)
        self._rests.write(host)
        if host.closed and was_busy:
            self._places.close(host, now)
        self.turns += 1
        if host.due_at - now > delay_s + UNSAVED_S:
            self._db.commit()  # the host asked for a longer rest than it would get after a kill
        self._waiters.wake()

    def number(self, url: str) -> int:
        """The id of a known URL, or 0."""
        return self._table.number(url)

    def score(self, link: Link, reached: Sequence[str] = ()) -> float:
        """The current score of a known URL. If scores are passed on, this includes URLs reached by its redirects that
        were also found elsewhere, as those will not be fetched."""
        return self._intake.score(self.number(link.url), reached)

    def knows(self, link: Link) -> bool:
        return self.number(link.url) > 0

    def apply(self, effects: Effects) -> None:
        """Apply the changes requested by a strategy."""
        if effects.scale != 1.0:
            self._intake.scale(effects.scale)
        self.push(effects.offers, effects.offered)
        if effects.ids:
            self._intake.rescore(effects.ids, effects.scores, effects.hosts)
        if effects.floor is not None:
            self._choice.hold_back(effects.floor)
        self._waiters.wake()

    # -- called by other components

    def refuses(self, url: str) -> str:
        """Why a URL may not be fetched now; empty if it may."""
        name = urls.host(url)
        host = self.hosts.find(name)
        if host and host.closed:
            return "host-closed"
        number = self.number(url)
        if url in self._errands.claimed or (number and self._table.states[number] != WAITING):
            return "redirect-known"
        return self.scope.refuses(url) or ("" if host or self.hosts.admits(name) else "trap-hosts")

    def refuses_hop(self, url: str) -> str:
        """Why a redirect to this URL may not be followed. A known URL was or will be fetched on its own."""
        return self.refuses(url) or ("redirect-known" if self.number(url) or self.elsewhere(url) else "")

    def join(self, route: Route, elsewhere: Callable[[str], bool], quota: Quota) -> None:
        """Be the frontier of one shard among several."""
        self._route, self.elsewhere, self._quota = route, elsewhere, quota

    def ask_for_more(self, more: Callable[[], bool]) -> None:
        """Set a callback for when the frontier is empty: whether more links are about to arrive."""
        self._more = more

    def waiting(self) -> int:
        return self._places.waiting

    def unreachable(self) -> dict[str, int]:
        """Hosts that could not be reached, each with its number of queued URLs."""
        return self._places.unreachable()

    def bring(self, links: Sequence[Link] = (), scores: Sequence[float] = (), band: Band = Band.FOUND) -> None:
        """Add links from outside the loop, possibly none, and wake a waiting task."""
        self.push(links, scores, band)
        self._waiters.wake()

    def stop(self, why: str) -> None:
        """Make every `pop` return None from now on."""
        self.ended = self.ended or why
        self._waiters.wake_all()

    def pause(self, paused: bool) -> None:
        """While paused, no `pop` returns a URL; requests in flight continue."""
        self.paused = paused
        self._waiters.wake_all()

    def drop(self, numbers: Iterable[int], dry_run: bool = False) -> int:
        """Remove those of the given URLs that are queued and return their number. On disk they remain queued: the scope
        excludes them."""
        left = [number for number in numbers if self._table.states[number] == WAITING]
        for number in [] if dry_run else left:
            self._places.drop(number, self._clock.now())
        self._waiters.wake_all()
        return len(left)

    def status(self) -> Status:
        status = Status(
            known=len(self._table),
            waiting=self.waiting(),
            in_flight=len(self.leases),
            refused=dict(self.refused),
            ended=self.ended,
            paused=self.paused,
            **self.hosts.counts(self.focus.last_floor),
        )
        return replace(status, status=sentence_on(status))

    def load(self) -> None:
        """Restore the state from the database."""
        now = self._clock.now()
        rest_until = now + least_rest_s(self.hosts.rules.delay_s)
        self._rests.load(self.hosts, self.scope.rules.max_pages_per_host)
        if self._places.list:
            self._places.list.load()
        groups: dict[tuple[Host, int], array[int]] = {}
        for known in self._table.load():
            number, url = known.number, known.url
            self.scope.admits_query(url)
            host = self.hosts.named(urls.host(url))
            waits = known.state == WAITING
            if waits and not host.closed and not self.scope.refuses(url, known.depth):  # the scope may have changed
                host.due_at = max(host.due_at, rest_until)
                self._places.waiting += 1
                self.focus.add(host, self._table.rank(number))
                groups.setdefault((host, self._places.rank(number)), array("I")).append(number)
            elif self._places.list:
                self._places.list.strike(number)
        for (host, rank), ids in groups.items():
            self.hosts.push(host, rank, ids, now)

    def lease(self, link: Link) -> Lease:
        """Lease a URL out of order, for example to replay stored visits in their original order. A URL not found on any
        page this time is added."""
        if not self.knows(link):
            self._places.reached(link.url, self.number(link.source))
        number = self.number(link.url)
        self._places.waiting -= self._table.states[number] == WAITING
        self._table.states[number] = LEASED
        self.leases[link.url] = number, self.hosts.named(urls.host(link.url))
        return Lease(replace(link, origin=self._table.take(number).origin))

    # -- internal

    def _take(self, now: float) -> tuple[Host, int] | None:
        return self._choice.take(now, len(self.leases), self._quota.remaining() if self._quota else None)

    def _has_rank(self, number: int, rank: int) -> bool:
        return self._places.waits(number, rank)

    def _having_rank(self, ids: Sequence[int], rank: int) -> list[int]:
        return self._places.among(ids, rank)

    def _lease(self, host: Host, number: int) -> Lease:
        lease = self._places.lease(number, host, self._clock.now())
        self.leases[lease.link.url] = number, host
        return lease
