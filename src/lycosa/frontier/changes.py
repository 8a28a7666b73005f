"""Changes from outside while the crawl runs: which URLs come first or last, which are fetched again, and which pages
of other shards link to URLs of this one."""

import asyncio
from collections.abc import Callable, Iterable, Sequence

from lycosa import urls
from lycosa.frontier.hosts import RESTING, Host
from lycosa.frontier.places import Places
from lycosa.store.db import DONE, ELSEWHERE, WAITING
from lycosa.types import Band, Clock, Link, Reply


class Changes:
    """Applied at once, in memory and in crawl.db. The caller commits."""

    def __init__(self, places: Places, clock: Clock, wake: Callable[[], None]) -> None:
        self._places = places
        self._clock = clock
        self._wake = wake
        self._rested: set[str] = set()  # links whose hosts rest, or are busy again, before the visit is over

    def prefer(self, numbers: Iterable[int], band: Band) -> int:
        """Move queued URLs to a band; return how many are queued."""
        table = self._places.table
        queued = [number for number in numbers if table.states[number] == WAITING]
        for number in queued:
            if table.bands[number] != band:
                self._places.prefer(number, band, self._clock.now())
        self._wake()
        return len(queued)

    def requeue(self, found: Sequence[str]) -> int:
        """Queue URLs again that are done, and open their hosts if those could not be reached; return how many."""
        places, now, count = self._places, self._clock.now(), 0
        for url in found:
            number = places.table.number(url)
            if number and places.table.states[number] == DONE:
                host = places.hosts.named(urls.host(url))
                places.open(host, now)
                places.put(number, host, now)
                count += 1
        self._wake()
        return count

    def rest(self, host: Host, reply: Reply) -> None:
        """Let a host rest before the visit is over."""
        self._places.rest(host, reply, self._clock.now())
        self._rested.add(reply.link.url)
        self._wake()

    async def enter(self, url: str) -> Host | None:
        """Wait until the host of a URL may be contacted; it is then busy until the caller leaves. None if nothing is
        fetched from it any more."""
        host = self._places.hosts.named(urls.host(url))
        if host.closed:
            return None
        hosts, clock, turn = self._places.hosts, self._clock, asyncio.get_running_loop().create_future()

        def knock() -> None:
            if host.state == RESTING:
                hosts.settle(host, clock.now())

        def tell(due_at: float) -> None:
            if due_at:
                clock.call_at(due_at, knock)  # all others may be waiting for something else
            elif not turn.done():
                turn.set_result(None)

        hosts.invite(host, tell, clock.now())
        await turn
        return host

    def leave(self, host: Host, reply: Reply) -> None:
        self._places.rest(host, reply, self._clock.now())
        self._wake()

    def has_rested(self, url: str) -> bool:
        """Whether the host of this link was allowed to rest before; asked once, at the end of the visit."""
        if url not in self._rested:
            return False
        self._rested.remove(url)
        return True

    def meet(self, url: str, reference: int) -> None:
        """Make a page of another shard known, so that URLs found on it have a source."""
        if not self._places.table.number(url):
            self._places.table.insert(Link(url), -reference, 0.0, ELSEWHERE)
