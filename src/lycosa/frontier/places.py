"""Which URL waits at which host: its own, the one it was redirected to, or one that is temporarily closed."""

from __future__ import annotations  # before Python 3.12, array[int] is valid only in annotations

from array import array
from collections import Counter
from collections.abc import Sequence
from heapq import heappop, heappush
from math import inf

from lycosa import urls
from lycosa.frontier.errands import Errand, Errands
from lycosa.frontier.fetch_list import FetchList
from lycosa.frontier.focus import Focus
from lycosa.frontier.hosts import IDLE, UNREACHABLE_BECAUSE, Host, Hosts
from lycosa.frontier.priority import band_of, score_of
from lycosa.frontier.rests import FULL
from lycosa.frontier.scope import Scope
from lycosa.frontier.table import LEASED, UrlTable
from lycosa.store.db import DONE, WAITING
from lycosa.types import Band, Deferred, Lease, Link, Origin, Reply

CLOSED_S = 6 * 3_600.0  # an unreachable host is tried again after this time
_NAMED_BY_STRANGERS = (Origin.PAGE, Origin.SITEMAP)


class Places:
    """Moves URLs between the states of the table and the queues of hosts, and counts them."""

    def __init__(
        self, table: UrlTable, hosts: Hosts, refused: Counter[str], focus: float, fetch_list: FetchList | None = None
    ) -> None:
        self.table = table
        self.hosts = hosts
        self.errands = Errands()
        self.focus = Focus(focus, self._ranks_at)
        self.list = fetch_list
        self.waiting = 0  # number of URLs at hosts that are not closed
        self._refused = refused
        self._closed: list[tuple[float, int]] = []  # when each closed host may be reopened

    def rank(self, number: int) -> int:
        """What a URL is ordered by: its position on the fetch list, or else its priority."""
        return (self.list and self.list.places.get(number)) or self.table.rank(number)

    def waits(self, number: int, rank: int) -> bool:
        return self.table.states[number] == WAITING and self.rank(number) == rank

    def among(self, ids: Sequence[int], rank: int) -> list[int]:
        """Those of the ids that are queued with this rank."""
        if self.list:
            return [number for number in ids if self.waits(number, rank)]
        score, band, table = score_of(rank), band_of(rank), self.table
        states, scores, bands = table.states, table.scores, table.bands
        return [n for n in ids if states[n] == WAITING and scores[n] == score and bands[n] == band]

    def admit(self, link: Link, scope: Scope) -> Host | str:
        """The host at which to queue a new URL that the scope does not refuse, or the reason for refusing it."""
        url = link.url
        name = url.split("/", 3)[2]
        host = self.hosts.find(name)
        if host is None:
            if link.origin in _NAMED_BY_STRANGERS and not self.hosts.admits(name):
                return "trap-hosts"
            host = self.hosts.named(name)
        if host.closed == FULL:
            return "host-closed"
        return "trap-queries" if "?" in url and not scope.admits_query(url) else host

    def put(self, number: int, host: Host, now: float) -> None:
        """Queue a URL at a host."""
        self.table.states[number] = WAITING
        self.waiting += not host.closed
        self.focus.add(host, self.table.rank(number))
        self.hosts.push(host, self.rank(number), array("I", [number]), now)

    def prefer(self, number: int, band: Band, now: float) -> None:
        """Move a queued URL to another band."""
        host = self.errands.host_of(number) or self.hosts.named(self.table.host_of(number))
        before = self.table.rank(number)
        self.table.prefer(number, band)
        self.focus.move(host, before, self.table.rank(number))
        if not (self.list and number in self.list.places):
            self.hosts.push(host, self.rank(number), array("I", [number]), now, moved=True)

    def lease(self, number: int, host: Host, now: float) -> Lease:
        """Take a URL from the queue of its host, along with what is known of its errand."""
        self.table.states[number] = LEASED
        self.waiting -= 1
        self.focus.began(host, self.table.rank(number), now)
        link, errand = self.table.take(number), self.errands.get(number)
        return Lease(link, errand.hop, errand.host.name) if errand else Lease(link)

    def send(self, number: int, deferred: Deferred, now: float) -> None:
        """Queue a link again: at the host its redirect or robots.txt leads to, or else at its own."""
        there, home = self.hosts.named(urls.host(deferred.at)), self.hosts.named(urls.host(deferred.reply.link.url))
        if deferred.hop or there is not home:
            self.errands.send(number, there, deferred.hop)
        else:
            self.errands.end(number)
        self.put(number, there, now)

    def finish(self, number: int, reply: Reply, now: float) -> None:
        """Mark the link as done, along with the URL its redirects reached."""
        self._strike(number)
        for url in sorted({exchange.url for exchange in reply.exchanges if exchange.url != reply.link.url}):
            self.reached(url, number)
        errand = self.errands.end(number)
        if errand and reply.url in errand.claimed:  # also settled if it could not or must not be fetched
            self.reached(reply.url, number)
        if errand:
            self._release(number, reply.link.depth, errand, now)

    def reached(self, url: str, source: int) -> None:
        """Mark a URL reached by a redirect as known and done."""
        number = self.table.number(url)
        if not number:
            self.table.insert(Link(url), source, 0.0, DONE)
        elif self.table.states[number] != DONE:
            if self.table.states[number] == WAITING:
                host = self.hosts.named(urls.host(url))
                self.waiting -= not host.closed
                self.focus.add(host, self.table.rank(number), -1)
            self._strike(number)

    def drop(self, number: int, now: float) -> None:
        """Remove a URL from its queue. On disk it remains queued."""
        errand = self.errands.end(number)
        host = errand.host if errand else self.hosts.named(self.table.host_of(number))
        self.table.states[number] = DONE
        self.waiting -= not host.closed
        self.focus.add(host, self.table.rank(number), -1)
        if self.list:
            self.list.strike(number)
        if errand:
            self._release(number, self.table.take(number).depth, errand, now)

    def rest(self, host: Host, reply: Reply, now: float) -> None:
        """A request to the host has ended."""
        self.hosts.rest(host, reply, now)
        self.focus.ended(host, reply.seconds, now)

    def close(self, host: Host, now: float) -> None:
        """Stop fetching from this host: URLs queued there no longer count until the host is reopened. Links that wait
        there on an errand return to their own host and start again."""
        self.focus.ended(host, inf, now)
        left = sorted(host.queue.waiting(self.among))
        host.queue = type(host.queue)()
        host.state = IDLE
        self.waiting -= len(left)
        for number in left:
            errand = self.errands.end(number)
            if errand:
                self._release(number, self.table.take(number).depth, errand, now)
            home = self.hosts.named(self.table.host_of(number)) if errand else host
            self.put(number, home, now)
            if home.closed:
                self._refused["host-closed"] += 1
                if self.list:
                    self.list.strike(number)
        if host.closed.startswith(UNREACHABLE_BECAUSE):
            heappush(self._closed, (now + CLOSED_S, host.id))

    def reopen(self, now: float) -> None:
        """Try unreachable hosts again after a sufficiently long time."""
        while self._closed and self._closed[0][0] <= now:
            self._reopen(self.hosts.all[heappop(self._closed)[1]], now)

    def open(self, host: Host, now: float) -> None:
        """Try an unreachable host again at once; leave others as they are."""
        if host.closed.startswith(UNREACHABLE_BECAUSE):
            self._closed = sorted(closed for closed in self._closed if closed[1] != host.id)
            self._reopen(host, now)

    def _reopen(self, host: Host, now: float) -> None:
        self.hosts.reopen(host)
        self.waiting += len(self._ranks_at(host))
        self.focus.ended(host, 0.0, now)
        self.hosts.settle(host, now)

    def unreachable(self) -> dict[str, int]:
        """Hosts that could not be reached, each with its number of queued URLs."""
        closed = (host for host in self.hosts.all if host.closed.startswith(UNREACHABLE_BECAUSE))
        return {host.name: count for host in closed if (count := len(host.queue.waiting(self.among)))}

    def _release(self, source: int, depth: int, errand: Errand, now: float) -> None:
        """Queue URLs that a redirect claimed but did not reach."""
        for url in errand.claimed:
            number = self.table.number(url)
            if not number:
                number = self.table.insert(Link(url, depth=depth), source, self.table.scores[source], LEASED)
            if self.table.states[number] == LEASED:
                self.put(number, self.hosts.named(urls.host(url)), now)

    def _strike(self, number: int) -> None:
        self.table.finish(number)
        if self.list:
            self.list.strike(number)

    def _ranks_at(self, host: Host) -> list[int]:
        return [self.table.rank(number) for number in host.queue.waiting(self.among)]
