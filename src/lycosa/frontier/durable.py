"""The queue of URLs, best first: a working copy in memory as compact arrays, a durable one in crawl.db.

A known URL costs one table entry, a few bytes in arrays and a slot in its host's queue. All changes caused by a visit
are written in the same transaction as the visit, so after a kill the frontier is as it was at the last commit, and URLs
that were in flight are queued again.
"""

from __future__ import annotations  # before Python 3.12, array[int] is valid only in annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import reduce

from msgspec.structs import replace

from lycosa import config, urls
from lycosa.frontier.batch import Batch, Route, group
from lycosa.frontier.changes import Changes
from lycosa.frontier.fetch_list import FetchList
from lycosa.frontier.focus import chosen
from lycosa.frontier.hosts import READY, Host, Hosts
from lycosa.frontier.limits import Quota
from lycosa.frontier.places import Places
from lycosa.frontier.priority import LOWEST, rank_of
from lycosa.frontier.rests import FULL, UNSAVED_S, Rests, least_rest_s
from lycosa.frontier.scope import Scope
from lycosa.frontier.status import Outlook, status_of
from lycosa.frontier.table import LEASED, UrlTable
from lycosa.frontier.view import FrontierView
from lycosa.frontier.waiters import Waiters
from lycosa.store.db import DONE, WAITING, CrawlDb
from lycosa.store.url_rows import UrlRows
from lycosa.types import Band, Clock, Deferred, Effects, Lease, Link, Lists, Opens, Reply, Strategy

_FOUND, _FIRST = int(Band.FOUND), int(Band.FIRST)  # plain numbers compare faster
_LISTED = rank_of(float("-inf"), Band.LISTED)  # the lowest rank of URLs on the fetch list


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
        self._rescores_soon = rescores_soon
        self._db = db
        self._merge = strategy.merge
        self._opens = isinstance(strategy, Opens)  # whether seeds are scored, too
        self._lists = strategy if isinstance(strategy, Lists) else None
        self._clock = clock
        self._table = UrlTable(UrlRows(db))
        self.view = FrontierView(self._table, scope, db)
        self._rests = Rests(db, clock.now)
        focus = chosen(settings.fetch, settings.limits)
        fetch_list = FetchList(self._lists.list_size, db) if self._lists else None
        self._places = Places(self._table, self.hosts, self.refused, focus, fetch_list)
        self._floor = LOWEST  # URLs with a lower rank are held back until nothing else is left
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
        if not links:
            return
        batch = Batch(self.number(links[0].source), band)
        key_of, known, states = urls.key, self._table.ids, self._table.states
        for link, score in zip(links, scores, strict=True):
            if score < 0:
                continue
            key = key_of(link.url)
            number = known.get(key)
            if number is None:
                number = self._enter(link, score, key, batch)
                if not number:
                    continue
            elif states[number] != DONE:
                self._find_again(number, link, score, batch)
            batch.targets.append(number)
        self._write(batch)

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
            if self._nothing_comes() and not self._more():
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
                self._pass_on(number, self.number(reply.detail))
            host.pages += not reply.error
            if self.scope.rules.max_pages_per_host and host.pages >= self.scope.rules.max_pages_per_host:
                host.closed = host.closed or FULL
        self.hosts.rest(host, reply, now)
        self.focus.ended(host, reply.seconds, now)
        self._rests.write(host)
        if host.closed:
            self._places.close(host, now)
        self.turns += 1
        if host.due_at - now > delay_s + UNSAVED_S:
            self._db.commit()  # the host asked for a longer rest than it would get after a kill
        self._waiters.wake()

    def _pass_on(self, number: int, target: int) -> None:
        """Pass the score of a link on to the queued URL it was redirected to."""
        scores = self._table.scores
        if self._table.states[target] == WAITING and self._table.bands[target] == Band.FOUND:
            self._rescore([target], [self._merge(scores[target], scores[number])])

    def number(self, url: str) -> int:
        """The id of a known URL, or 0."""
        return self._table.number(url)

    def score(self, link: Link, reached: Sequence[str] = ()) -> float:
        """The current score of a known URL. If scores are passed on, this includes URLs reached by its redirects that
        were also found elsewhere, as those will not be fetched."""
        scores, own = self._table.scores, self.number(link.url)
        if not self._opens:
            return scores[own]
        others = {*map(self.number, reached)} - {own}
        under_way = [scores[number] for number in sorted(others) if self._table.states[number] != DONE]
        return reduce(self._merge, under_way, scores[own])

    def knows(self, link: Link) -> bool:
        return self.number(link.url) > 0

    def apply(self, effects: Effects) -> None:
        """Apply the changes requested by a strategy."""
        if effects.scale != 1.0:
            self._scale(effects.scale)
        self.push(effects.offers, effects.offered)
        if effects.ids:
            self._rescore(effects.ids, effects.scores, effects.hosts)
        if effects.floor is not None:
            self._floor = rank_of(effects.floor)
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

    def outlook(self) -> Outlook:
        outlook = Outlook(
            known=len(self._table),
            waiting=self.waiting(),
            in_flight=len(self.leases),
            refused=dict(self.refused),
            ended=self.ended,
            paused=self.paused,
            **self.hosts.counts(self.focus.last_floor),
        )
        return replace(outlook, status=status_of(outlook))

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
        if not self._places.list or not self._lists:
            floor = self.focus.floor(self._quota.remaining() if self._quota else None, now)
            if taken := self.hosts.take(now, max(floor, self._floor)):
                self.focus.earn()
            elif self._nothing_comes():
                self._floor = LOWEST
                taken = self.hosts.take(now)
            elif self.focus.has_spare() and (taken := self.hosts.take(now, self._floor)):
                self.focus.spend()
            return taken
        if not self._places.list.places and not self.leases:
            self.apply(self._lists.end_list())
            self._lists.begin_list(self._places.list.choose(self.hosts, self._places.waits, now))
        return self.hosts.take(now, _LISTED) if self._places.list.places else None

    def _has_rank(self, number: int, rank: int) -> bool:
        return self._places.waits(number, rank)

    def _having_rank(self, ids: Sequence[int], rank: int) -> list[int]:
        return self._places.among(ids, rank)

    def _nothing_comes(self) -> bool:
        is_idle = not self.leases and self.hosts.next_due() is None and not self._rescores_soon()
        return is_idle and not self.focus.is_outranked()

    def _rescore(self, ids: Sequence[int], scores: Sequence[float], hosts: Sequence[str] = ()) -> None:
        """Change the scores of queued URLs; skip those no longer queued, and those in a higher band, whose score does
        not matter."""
        batch, table, moves = Batch(0), self._table, Counter[tuple[Host, float, float]]()
        known, states, bands = table.scores, table.states, table.bands
        for at, (number, score) in enumerate(zip(ids, scores, strict=True)):
            before = known[number]
            if before != score and states[number] == WAITING and bands[number] == _FOUND:
                known[number] = score
                batch.rescored.append((score, number))
                host = self._errands.host_of(number) or self.hosts.named(hosts[at] if hosts else table.host_of(number))
                moves[host, before, score] += 1
                group(batch.moved, host, batch.rank(score), number)
        for (host, before, score), count in moves.items():
            self.focus.move(host, batch.rank(before), batch.rank(score), count)
        self._write(batch)

    def _scale(self, factor: float) -> None:
        """Multiply all scores: scores that accumulate along links must not overflow."""
        self._table.scale(factor)
        for host in self.hosts.all:
            host.queue.scale(factor, Band.LISTED)
            if host.state == READY:
                self.hosts.settle(host, self._clock.now())

    def _enter(self, link: Link, score: float, key: int, batch: Batch) -> int:
        """Add a new URL; return 0 if it is refused."""
        host = self._places.admit(link, self.scope)
        if isinstance(host, str):
            self.refused[host] += 1
            return 0
        if self._lists:
            score = self._lists.first(score)
        band, claimed = batch.band, self._errands.claimed
        if claimed and link.url in claimed:  # a redirect is about to fetch it
            number = self._table.enter(key, score, band, LEASED)
        else:
            number = self._table.enter(key, score, band, WAITING)
            self._places.waiting += not host.closed
            rank = batch.rank(score)
            self.focus.add(host, rank)
            group(batch.new, host, rank, number)
        origin = link.origin._value_  # a plain number: converting it in the database is slow
        batch.rows.append((number, link.url, batch.source, link.anchor, link.depth, score, WAITING, band, origin))
        return number

    def _find_again(self, number: int, link: Link, score: float, batch: Batch) -> None:
        table, band = self._table, self._table.bands[number]
        waiting = table.scores[number]
        first = (band == _FIRST or batch.band == _FIRST) and not self._opens
        merged = 0.0 if first else self._merge(waiting, score)  # URLs in the first band need no score
        if (merged == waiting and band >= batch.band) or (not band and batch.band != _FIRST):
            return  # nothing new, or the user put it last
        before = rank_of(waiting, band)
        table.scores[number] = merged
        if band < batch.band or (band == batch.band and merged == score):  # the new link now sets the URL's priority
            table.bands[number] = batch.band
            origin = link.origin._value_
            batch.raised.append((merged, batch.source, link.anchor, link.depth, batch.band, origin, number))
        else:
            batch.rescored.append((merged, number))
        if table.states[number] == WAITING and not (self._places.list and number in self._places.list.places):
            host = self._errands.host_of(number) or self.hosts.named(urls.host(link.url))
            self.focus.move(host, before, rank := table.rank(number))
            group(batch.moved, host, rank, number)

    def _write(self, batch: Batch) -> None:
        now = self._clock.now()
        for (host, rank), ids in batch.new.items():
            self.hosts.push(host, rank, array("I", ids), now)
        for (host, rank), ids in batch.moved.items():
            self.hosts.push(host, rank, array("I", sorted(ids)), now, moved=True)
        self._table.write(batch)
        self._waiters.wake()

    def _lease(self, host: Host, number: int) -> Lease:
        lease = self._places.lease(number, host, self._clock.now())
        self.leases[lease.link.url] = number, host
        return lease
