"""What waits, best first: the hot copy in memory as compact arrays, the durable one in crawl.db.

A known URL costs one entry in a table, a few bytes in arrays and a place in its host's queue. Everything that a visit
changes is written into the transaction that holds the visit, so after a kill the frontier is what it was at the last
commit: what was in flight waits again.
"""

from __future__ import annotations  # array[int] is a type before Python 3.12 only in annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import reduce

from msgspec.structs import replace

from lycosa import config, urls
from lycosa.frontier.batch import Batch, group
from lycosa.frontier.fetch_list import FetchList
from lycosa.frontier.focus import chosen
from lycosa.frontier.hosts import BUSY, READY, RESTING, Host, Hosts
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

_LISTED = rank_of(float("-inf"), Band.LISTED)  # what is on the fetch list has at least this rank


class DurableFrontier:
    """Best-first over the hosts that are due; one lease is one request."""

    def __init__(
        self,
        db: CrawlDb,
        settings: config.Config,
        scope: Scope,
        strategy: Strategy,
        clock: Clock,
    ) -> None:
        self.hosts = Hosts(settings.fetch, self._has_rank, settings.scope.max_hosts_per_domain)
        self.scope = scope
        self.ended = ""  # why the crawl is over
        self.paused = False
        self.refused: Counter[str] = Counter()  # links that were not let in, by reason
        self._quota: Quota | None = None
        self._more: Callable[[], bool] = lambda: False
        self._rescores_soon: Callable[[], bool] = lambda: False
        self._db = db
        self._strategy = strategy
        self._opens = isinstance(strategy, Opens)  # do seeds have a score as well?
        self._lists = strategy if isinstance(strategy, Lists) else None
        self._clock = clock
        self._table = UrlTable(UrlRows(db))
        self.view = FrontierView(self._table, scope, db)
        self._rests = Rests(db, clock.now)
        focus = chosen(settings.fetch, settings.limits)
        self._places = Places(self._table, self.hosts, self.refused, focus)
        self._places.list = FetchList(self._lists.list_size, db) if self._lists else None
        self._floor = LOWEST  # what ranks lower is held back until nothing else is left
        self._leases: dict[str, tuple[int, Host]] = {}
        self.turns = 0  # leases ended: has anything changed since?
        self._waiters = Waiters(clock)
        self._focus = self._places.focus
        self._errands = self._places.errands

    # -- what the loop calls ------------------------------------------------------------------------------------------

    def push(self, links: Sequence[Link], scores: Sequence[float], band: Band = Band.FOUND) -> None:
        """Queue links, or raise those that wait already. All links of one call come from one page."""
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
        """The best URL of all hosts that are due; None when the crawl is over."""
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
            if self._quota and not self._quota.admits(len(self._leases)):
                await self._waiters.wait(deadline)  # a reply decides whether one more may be fetched
                continue
            if taken := self._take(now):
                self._waiters.wake()  # perhaps another host is ready too: each who takes wakes the next
                return self._lease(*taken)
            if self._nothing_comes() and not self._more():
                self.ended = "frontier empty"
                continue
            await self._waiters.wait(self.hosts.next_due(), self._focus.next_change(), deadline)

    def done(self, reply: Reply | Deferred) -> None:
        """End a lease: the URL is done, or waits to be fetched later."""
        deferred, reply = (reply, reply.reply) if isinstance(reply, Deferred) else (None, reply)
        number, host = self._leases.pop(reply.link.url)
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
        self._focus.ended(host, reply.seconds, now)
        self._rests.write(host)
        if host.closed:
            self._places.close(host, now)
        self.turns += 1
        if host.due_at - now > delay_s + UNSAVED_S:
            self._db.commit()  # after a kill the host would rest one delay and this little: it asked for more
        self._waiters.wake()

    def _pass_on(self, number: int, target: int) -> None:
        """What spoke for a link speaks for the waiting URL that it was redirected to."""
        scores = self._table.scores
        if self._table.states[target] == WAITING and self._table.bands[target] == Band.FOUND:
            self._rescore([target], [self._strategy.merge(scores[target], scores[number])])

    def number(self, url: str) -> int:
        """The id of a known URL, else 0."""
        return self._table.number(url)

    def score(self, link: Link, reached: Sequence[str] = ()) -> float:
        """What a known URL is worth now. Where worth is passed on, so is that of the URLs its redirects have reached
        while others found them too: they will not be fetched."""
        scores, own = self._table.scores, self.number(link.url)
        if not self._opens:
            return scores[own]
        others = {*map(self.number, reached)} - {own}
        under_way = [scores[number] for number in sorted(others) if self._table.states[number] != DONE]
        return reduce(self._strategy.merge, under_way, scores[own])

    def knows(self, link: Link) -> bool:
        return self.number(link.url) > 0

    def apply(self, effects: Effects) -> None:
        """Change what a strategy wants to change."""
        if effects.scale != 1.0:
            self._scale(effects.scale)
        self.push(effects.offers, effects.offered)
        if effects.ids:
            self._rescore(effects.ids, effects.scores, effects.hosts)
        if effects.floor is not None:
            self._floor = rank_of(effects.floor)
        self._waiters.wake()

    # -- what the sides ask -------------------------------------------------------------------------------------------

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
        """Why a redirect may not lead to this URL. What is known already has or will have an end of its own."""
        return self.refuses(url) or ("redirect-known" if self.number(url) else "")

    def limit(self, quota: Quota) -> None:
        self._quota = quota

    def ask_for_more(self, more: Callable[[], bool]) -> None:
        """When nothing is left, this tells whether somebody is about to bring more."""
        self._more = more

    def expect_scores(self, soon: Callable[[], bool]) -> None:
        """This tells whether what is held back may get another score before long."""
        self._rescores_soon = soon

    def waiting(self) -> int:
        return self._places.waiting

    def unreachable(self) -> dict[str, int]:
        """Hosts that could not be reached, and how many URLs wait there."""
        return self._places.unreachable()

    def bring(self, links: Sequence[Link] = (), scores: Sequence[float] = (), band: Band = Band.FOUND) -> None:
        """Links from outside the loop, perhaps none: whoever waited for them looks again."""
        self.push(links, scores, band)
        self._waiters.wake()

    def stop(self, why: str) -> None:
        """Let every `pop` return None from now on."""
        self.ended = self.ended or why
        self._waiters.wake_all()

    def pause(self, paused: bool) -> None:
        """While paused no `pop` returns a URL; what is in flight goes on."""
        self.paused = paused
        self._waiters.wake_all()

    def drop(self, numbers: Iterable[int], dry_run: bool = False) -> int:
        """Take those of some URLs that wait out of the queue; how many there were. On disk they go on waiting: it is
        the scope that refuses them."""
        left = [number for number in numbers if self._table.states[number] == WAITING]
        for number in [] if dry_run else left:
            self._places.drop(number, self._clock.now())
        self._waiters.wake_all()
        return len(left)

    def outlook(self) -> Outlook:
        counts = Counter(host.state for host in self.hosts.all)
        floor = self._focus.last_floor
        outlook = Outlook(
            known=len(self._table),
            waiting=self._places.waiting,
            in_flight=len(self._leases),
            hosts=len(self.hosts.all),
            hosts_due=counts[READY] + counts[BUSY],
            hosts_resting=counts[RESTING],
            next_due=self.hosts.next_due(),
            refused=dict(self.refused),
            ended=self.ended,
            held_back=sum(host.state == READY and -host.offer[0] < floor for host in self.hosts.all),
            paused=self.paused,
        )
        return replace(outlook, status=status_of(outlook))

    def load(self) -> None:
        """Take up where the database stands."""
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
            if waits and not host.closed and not self.scope.refuses(url, known.depth):  # it may be another scope
                host.due_at = max(host.due_at, rest_until)
                self._places.waiting += 1
                self._focus.add(host, self._table.rank(number))
                groups.setdefault((host, self._places.rank(number)), array("I")).append(number)
            elif self._places.list:
                self._places.list.strike(number)
        for (host, rank), ids in groups.items():
            self.hosts.push(host, rank, ids, now)

    def lease(self, link: Link) -> Lease:
        """Lease a URL whose turn it is not, as when stored visits are made again in their order. One that no page has
        led to this time is made known."""
        if not self.knows(link):
            self._places.reached(link.url, self.number(link.source))
        number = self.number(link.url)
        self._places.waiting -= self._table.states[number] == WAITING
        self._table.states[number] = LEASED
        self._leases[link.url] = number, self.hosts.named(urls.host(link.url))
        return Lease(replace(link, origin=self._table.take(number).origin))

    # -- inside -------------------------------------------------------------------------------------------------------

    def _take(self, now: float) -> tuple[Host, int] | None:
        if not self._places.list or not self._lists:
            floor = self._focus.floor(self._quota.remaining() if self._quota else None, now)
            if taken := self.hosts.take(now, max(floor, self._floor)):
                self._focus.earn()
            elif self._nothing_comes():
                self._floor = LOWEST
                taken = self.hosts.take(now)
            elif self._focus.has_spare() and (taken := self.hosts.take(now, self._floor)):
                self._focus.spend()
            return taken
        if not self._places.list.places and not self._leases:
            self.apply(self._lists.end_list())
            self._lists.begin_list(self._places.list.choose(self.hosts, self._places.waits, now))
        return self.hosts.take(now, _LISTED) if self._places.list.places else None

    def _has_rank(self, number: int, rank: int) -> bool:
        return self._places.waits(number, rank)

    def _nothing_comes(self) -> bool:
        return not self._leases and self.hosts.next_due() is None and not self._rescores_soon()

    def _rescore(self, ids: Sequence[int], scores: Sequence[float], hosts: Sequence[str] = ()) -> None:
        """Give waiting URLs another score; those that no longer wait, or come first anyway, are passed over."""
        batch, table = Batch(0), self._table
        for at, (number, score) in enumerate(zip(ids, scores, strict=True)):
            before = table.scores[number]
            if table.states[number] == WAITING and before != score and table.bands[number] == Band.FOUND:
                table.scores[number] = score
                batch.rescored.append((score, number))
                host = self._errands.host_of(number) or self.hosts.named(
                    hosts[at] if hosts else self._table.host_of(number)
                )
                rank = rank_of(score)
                self._focus.move(host, rank_of(before), rank)
                group(batch.moved, host, rank, number)
        self._write(batch)

    def _scale(self, factor: float) -> None:
        """Multiply every score: where they grow along links they must not grow out of range."""
        self._table.scale(factor)
        for host in self.hosts.all:
            host.queue.scale(factor, Band.LISTED)
            if host.state == READY:
                self.hosts.settle(host, self._clock.now())

    def _enter(self, link: Link, score: float, key: int, batch: Batch) -> int:
        """Make a new URL known; 0 if it is refused."""
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
            self._focus.add(host, rank)
            group(batch.new, host, rank, number)
        origin = link.origin._value_  # the database would take its time to find out that it is a number
        batch.rows.append((number, link.url, batch.source, link.anchor, link.depth, score, WAITING, band, origin))
        return number

    def _find_again(self, number: int, link: Link, score: float, batch: Batch) -> None:
        table, band = self._table, self._table.bands[number]
        waiting = table.scores[number]
        first = max(band, batch.band) == Band.FIRST and not self._opens
        merged = 0.0 if first else self._strategy.merge(waiting, score)  # who comes first anyway needs no score
        if merged == waiting and band >= batch.band:
            return
        before = rank_of(waiting, band)
        table.scores[number] = merged
        if band < batch.band or (band == batch.band and merged == score):  # the new link speaks for the URL now
            table.bands[number] = batch.band
            origin = link.origin._value_
            batch.raised.append((merged, batch.source, link.anchor, link.depth, batch.band, origin, number))
        else:
            batch.rescored.append((merged, number))
        if table.states[number] == WAITING and not (self._places.list and number in self._places.list.places):
            host = self._errands.host_of(number) or self.hosts.named(urls.host(link.url))
            self._focus.move(host, before, rank := table.rank(number))
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
        self._leases[lease.link.url] = number, host
        return lease
