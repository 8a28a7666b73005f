"""What waits, best first: the hot copy in memory as compact arrays, the durable one in crawl.db.

A known URL costs one entry in a table, a few bytes in arrays and a place in its host's queue. Everything that a visit
changes is written into the transaction that holds the visit, so after a kill the frontier is what it was at the last
commit: what was in flight waits again.
"""

from __future__ import annotations  # array[int] is a type before Python 3.12 only in annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from msgspec.structs import replace

from lycosa import urls
from lycosa.frontier.batch import Batch, group
from lycosa.frontier.fetch_list import FLOOR, FetchList, Listing
from lycosa.frontier.hosts import BUSY, READY, RESTING, Host, Hosts
from lycosa.frontier.limits import Quota
from lycosa.frontier.places import Places
from lycosa.frontier.rests import FULL, UNSAVED_S, Rests, least_rest_s
from lycosa.frontier.scope import Scope
from lycosa.frontier.status import Outlook, status_of
from lycosa.frontier.table import LEASED, UrlTable
from lycosa.frontier.waiters import Waiters
from lycosa.store.db import DONE, WAITING, CrawlDb
from lycosa.types import Clock, Link, Reply


class DurableFrontier:
    """Best-first over the hosts that are due; one lease is one request."""

    def __init__(
        self,
        db: CrawlDb,
        hosts: Hosts,
        scope: Scope,
        merge: Callable[[float, float], float],
        clock: Clock,
        focus: float = 0.0,
    ) -> None:
        self.hosts = hosts
        self.scope = scope
        self.ended = ""  # why the crawl is over
        self.paused = False
        self.quota: Quota | None = None
        self.listing: Listing | None = None  # a strategy that chooses by lists
        self.refused: Counter[str] = Counter()  # links that were not let in, by reason
        self.more: Callable[[], bool] = lambda: False  # asked when nothing is left: is somebody about to bring more?
        self.floor = 0.0  # what is worth less is held back until nothing else is left
        self.pending: Callable[[], bool] = lambda: False  # may what is held back soon be worth more?
        self._db = db
        self._merge = merge
        self._clock = clock
        self._table = UrlTable(db)
        self._rests = Rests(db, clock.now)
        self._places = Places(self._table, hosts, self.refused, focus)
        self._leases: dict[str, tuple[int, Host]] = {}
        self.turns = 0  # leases ended: has anything changed since?
        self._waiters = Waiters(clock)
        self._focus = self._places.focus
        self._errands = self._places.errands

    # -- what the loop calls ------------------------------------------------------------------------------------------

    def push(self, links: Sequence[Link], scores: Sequence[float]) -> None:
        """Let links in, or raise those that wait already. All links of one call come from one page."""
        if not links:
            return
        batch = Batch(self.number(links[0].source))
        key_of, known, states = urls.key, self._table.ids, self._table.states
        for link, score in zip(links, scores, strict=True):
            if score < 0:
                continue
            key = key_of(link.url)
            number = known.get(key)
            if number is None:
                number = self._let_in(link, score, key, batch)
                if not number:
                    continue
            elif states[number] != DONE:
                self._find_again(number, link, score, batch)
            batch.targets.append(number)
        self._write(batch)

    async def pop(self) -> Link | None:
        """The best URL of all hosts that are due; None when the crawl is over."""
        while True:
            now = self._clock.now()
            if not self.ended and self.quota:
                self.ended = self.quota.reached(now)
            if self.ended:
                self._waiters.wake_all()
                return None
            self._places.reopen(now)
            deadline = self.quota.deadline if self.quota else None
            if self.paused:
                await self._waiters.wait(deadline)
                continue
            if self.quota and not self.quota.admits(len(self._leases)):
                await self._waiters.wait(deadline)  # a reply decides whether one more may be fetched
                continue
            if taken := self._take(now):
                self._waiters.wake()  # perhaps another host is ready too: each who takes wakes the next
                return self._lease(*taken)
            if self._nothing_comes() and not self.more():
                self.ended = "frontier empty"
                continue
            await self._waiters.wait(self.hosts.next_due(), self._focus.next_change(), deadline)

    def done(self, reply: Reply) -> None:
        """End a lease: the URL is done, or, when the reply is no answer yet, waits to be fetched later."""
        number, host = self._leases.pop(reply.link.url)
        now, delay_s = self._clock.now(), max(self.hosts.rules.delay_s, host.delay_s)
        if reply.again:
            self._places.send(number, reply, now)
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
        if self._table.states[target] == WAITING:
            self.rescore([target], [self._merge(scores[target], scores[number])])

    def score(self, link: Link) -> float:
        """What a known URL is worth now."""
        return self._table.scores[self.number(link.url)]

    def knows(self, link: Link) -> bool:
        return self.number(link.url) > 0

    def waits(self, number: int, score: float) -> bool:
        """Does this id wait with this score?"""
        return self._places.waits(number, score)

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

    def waiting(self) -> int:
        return self._places.waiting

    def unreachable(self) -> dict[str, int]:
        """Hosts that could not be reached, and how many URLs wait there."""
        return self._places.unreachable()

    def bring(self, links: Sequence[Link], scores: Sequence[float]) -> None:
        """Links from outside the loop, perhaps none: whoever waited for them looks again."""
        self.push(links, scores)
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
        hosts = Counter(host.state for host in self.hosts.all)
        floor = self._focus.last_floor
        outlook = Outlook(
            known=len(self._table),
            waiting=self._places.waiting,
            in_flight=len(self._leases),
            hosts=len(self.hosts.all),
            hosts_due=hosts[READY] + hosts[BUSY],
            hosts_resting=hosts[RESTING],
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
        groups: dict[tuple[Host, float], array[int]] = {}
        for number, url, depth in self._table.load():
            self.scope.admits_query(url)
            host = self.hosts.named(urls.host(url))
            waits = self._table.states[number] == WAITING
            if waits and not host.closed and not self.scope.refuses(url, depth):  # it may be another scope
                host.due_at = max(host.due_at, rest_until)
                self._places.waiting += 1
                self._focus.add(host, self._table.scores[number])
                groups.setdefault((host, self._places.rank(number)), array("I")).append(number)
            elif self._places.list:
                self._places.list.strike(number)
        for (host, rank), ids in groups.items():
            self.hosts.push(host, rank, ids, now)

    def edges(self) -> tuple[array[int], array[int], array[int]]:
        """All links found so far, as ids of sources and of targets, and the ids that wait."""
        return self._table.edges()

    def waits_with(self, number: int) -> float:
        """The score of a known URL by its id."""
        return self._table.scores[number]

    def host_of(self, number: int) -> str:
        return self._table.host_of(number)

    def rescore(self, ids: Sequence[int], scores: Sequence[float], hosts: Sequence[str] = ()) -> None:
        """Give waiting URLs another score; those that are no longer waiting are passed over. Who knows their hosts
        saves looking them up."""
        batch = Batch(0)
        for at, (number, score) in enumerate(zip(ids, scores, strict=True)):
            before = self._table.scores[number]
            if self._table.states[number] == WAITING and before != score:
                self._table.scores[number] = score
                batch.rescored.append((score, number))
                host = self._errands.host_of(number) or self.hosts.named(hosts[at] if hosts else self.host_of(number))
                self._focus.move(host, before, score)
                group(batch.moved, host, score, number)
        self._write(batch)

    def choose_by_lists(self, listing: Listing) -> None:
        """Ask the best N of one moment before choosing again."""
        self.listing = listing
        self._places.list = FetchList(listing.list_size, self._db)
        listing.connect(self._db, self.scope.refuses, self.scale)

    def scale(self, factor: float) -> None:
        """Multiply every score: where they grow along links they must not grow out of range."""
        self._table.scale(factor)
        for host in self.hosts.all:
            host.queue.scale(factor, FLOOR)
            if host.state == READY:
                self.hosts.settle(host, self._clock.now())

    # -- inside -------------------------------------------------------------------------------------------------------

    def _take(self, now: float) -> tuple[Host, int] | None:
        if not self._places.list or not self.listing:
            floor = self._focus.floor(self.quota.remaining() if self.quota else None, now)
            if taken := self.hosts.take(now, max(floor, self.floor)):
                self._focus.earn()
            elif self._nothing_comes():
                self.floor = 0.0
                taken = self.hosts.take(now)
            elif self._focus.has_spare() and (taken := self.hosts.take(now, self.floor)):
                self._focus.spend()
            return taken
        if not self._places.list.places and not self._leases:
            self.push(*self.listing.end_list())
            self.listing.begin_list(self._places.list.choose(self.hosts, self.waits, now))
        return self.hosts.take(now, FLOOR) if self._places.list.places else None

    def _nothing_comes(self) -> bool:
        return not self._leases and self.hosts.next_due() is None and not self.pending()

    def number(self, url: str) -> int:
        """The id of a known URL, else 0."""
        return self._table.number(url)

    def _let_in(self, link: Link, score: float, key: int, batch: Batch) -> int:
        """Make a new URL known; 0 if it is refused."""
        url = link.url
        if refusal := self.scope.refuses(url, link.depth):
            self.refused[refusal] += 1
            return 0
        name = url.split("/", 3)[2]
        host = self.hosts.find(name)
        if host is None:
            if link.source and not self.hosts.admits(name):
                self.refused["trap-hosts"] += 1
                return 0
            host = self.hosts.named(name)
        if host.closed == FULL:
            self.refused["host-closed"] += 1
            return 0
        if "?" in url and not self.scope.admits_query(url):
            self.refused["trap-queries"] += 1
            return 0
        if self.listing:
            score = self.listing.first(score)
        if self._errands.claimed and url in self._errands.claimed:  # a redirect is about to fetch it
            number = self._table.enter(key, score, LEASED)
            batch.rows.append((number, url, batch.source, link.anchor, link.depth, score, WAITING))
            return number
        number = self._table.enter(key, score, WAITING)
        self._places.waiting += not host.closed
        batch.rows.append((number, url, batch.source, link.anchor, link.depth, score, WAITING))
        self._focus.add(host, score)
        group(batch.new, host, score, number)
        return number

    def _find_again(self, number: int, link: Link, score: float, batch: Batch) -> None:
        waiting = self._table.scores[number]
        merged = self._merge(waiting, score)
        if merged == waiting:
            return
        self._table.scores[number] = merged
        if merged == score:  # the new link speaks for the URL now
            batch.raised.append((merged, batch.source, link.anchor, link.depth, number))
        else:
            batch.rescored.append((merged, number))
        if self._table.states[number] == WAITING and not (self._places.list and number in self._places.list.places):
            host = self._errands.host_of(number) or self.hosts.named(urls.host(link.url))
            self._focus.move(host, waiting, merged)
            group(batch.moved, host, merged, number)

    def _write(self, batch: Batch) -> None:
        now = self._clock.now()
        for (host, score), ids in batch.new.items():
            self.hosts.push(host, score, array("I", ids), now)
        for (host, score), ids in batch.moved.items():
            self.hosts.push(host, score, array("I", sorted(ids)), now, moved=True)
        self._table.write(batch)
        self._waiters.wake()

    def _lease(self, host: Host, number: int) -> Link:
        link = self._places.lease(number, host, self._clock.now())
        self._leases[link.url] = number, host
        return link
