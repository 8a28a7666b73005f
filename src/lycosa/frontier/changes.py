"""Changes from outside while the crawl runs: which URLs come first or last, which are fetched again, and which pages
of other shards link to URLs of this one."""

from collections.abc import Callable, Iterable, Sequence

from lycosa import urls
from lycosa.frontier.places import Places
from lycosa.store.db import DONE, ELSEWHERE, WAITING
from lycosa.types import Band, Clock, Link


class Changes:
    """Applied at once, in memory and in crawl.db. The caller commits."""

    def __init__(self, places: Places, clock: Clock, wake: Callable[[], None]) -> None:
        self._places = places
        self._clock = clock
        self._wake = wake

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

    def meet(self, url: str, reference: int) -> None:
        """Make a page of another shard known, so that URLs found on it have a source."""
        if not self._places.table.number(url):
            self._places.table.insert(Link(url), -reference, 0.0, ELSEWHERE)
