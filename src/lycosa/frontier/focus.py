"""Keep focus under politeness: what is worth fetching while better hosts rest?

Because of politeness, the best hosts rest most of the time. A crawler that meanwhile fetches whatever is due spends its
page budget on it. So a URL is fetched only if no better one is queued anywhere; hosts without URLs as good stay idle,
except that a share of the requests may go to the best URLs that are due. Only hosts that are due again soon make others
wait, so a slow or failing host never holds up the crawl.
"""

from collections.abc import Callable, Iterable

from lycosa import config
from lycosa.frontier.hosts import Host
from lycosa.frontier.priority import LOWEST, NEVER
from lycosa.frontier.ranks import Ranks

FOCUSED = 0.9  # the default; see bench/field.py
LEAST = 8  # concurrent requests allowed, however few pages are left
SHARE = 0.02  # share of the remaining pages that may be in flight at once
ENDLESS = 1_000  # pages assumed to be left if there is no limit
PATIENCE_S = 15.0  # a host that rests longer does not make others wait
SLOW_S = 5.0  # nor does one that takes longer to respond


def chosen(fetch: config.Fetch, limits: config.Limits) -> float:
    """The default focus: where only time is limited, pages cost nothing."""
    if fetch.focus is not None:
        return fetch.focus
    return 0.0 if limits.seconds and not (limits.pages or limits.relevant or limits.recall) else FOCUSED


class Focus:
    """Tracks the position of every rank among the URLs of hosts that are due again soon."""

    def __init__(self, focus: float, ranks_at: Callable[[Host], Iterable[int]]) -> None:
        self.focus = focus  # 1: strictly the best next; 0: any URL that is due
        self._ranks_at = ranks_at  # the ranks of all URLs queued at a host
        self.last_floor = LOWEST  # the minimum rank when it was last computed
        self._spare = 0.0  # requests that may be spent on URLs that are merely due
        self._ranks = Ranks()
        self.common: int | None = None  # the minimum rank over all shards, if there are several
        self.shards = 1  # which have a part of the requests each
        self.when_taken: Callable[[], None] | None = None  # called when a request starts
        self._asked: dict[Host, float] = {}  # hosts with a request in flight and its start time, oldest first

    def join(self, shards: int, when_taken: Callable[[], None]) -> None:
        """Keep to one order with other shards; `when_taken` is called when a request starts."""
        self.shards, self.when_taken = shards, when_taken

    def require(self, rank: int) -> None:
        """Set the minimum rank over all shards."""
        self.common = rank

    def add(self, host: Host, rank: int, count: int = 1) -> None:
        """Add `count` URLs queued at the host; remove them if `count` is negative."""
        if self.focus and host.is_quick:
            self._ranks.add(rank, count)

    def move(self, host: Host, before: int, after: int) -> None:
        if self.focus and host.is_quick:
            self._ranks.move(before, after)

    def move_quick(self, before: int, after: int, count: int) -> None:
        """Like `move`, for URLs of any hosts that are due again soon."""
        if self.focus:
            self._ranks.move(before, after, count)

    def began(self, host: Host, rank: int, now: float) -> None:
        """A request to the host has started."""
        self.add(host, rank, -1)
        if self.focus:
            self._asked[host] = now
        if self.when_taken:
            self.when_taken()

    def ended(self, host: Host, took_s: float, now: float) -> None:
        """The host has responded, and now rests."""
        self._asked.pop(host, None)
        self._set_quick(host, took_s + max(0.0, host.due_at - now) <= PATIENCE_S)

    def earn(self) -> None:
        """One of the best URLs was fetched: earn a fraction of a spare request."""
        self._spare = min(LEAST, self._spare + (1 - self.focus) / (self.focus or 1))

    def has_spare(self) -> bool:
        """Whether a request may go to the best URL that is due although better ones are queued."""
        return self._spare >= 1 and self.last_floor < NEVER

    def spend(self) -> None:
        self._spare -= 1

    def floor(self, remaining: int | None, now: float) -> int:
        """The minimum rank for fetching a URL now, given the number of remaining pages: that of the best queued URL.
        Even so, only a few are fetched at once, so that many workers do not run far down the order before replies
        arrive."""
        if self.focus:
            self._give_up_on_slow(now)
            if len(self._asked) >= max(1, self.at_once(remaining) // self.shards):
                self.last_floor = NEVER
            else:
                self.last_floor = self._ranks.threshold(1) if self.common is None else self.common
        return self.last_floor

    def at_once(self, remaining: int | None) -> int:
        """The number of requests that may be in flight."""
        pages = ENDLESS if remaining is None else remaining
        return max(LEAST, int(SHARE * pages)) if self.focus < 1 else 1

    def best(self, most: int) -> list[tuple[int, int]]:
        """The ranks of the best queued URLs, rounded down, and how many have each."""
        return self._ranks.best(most) if self.focus else []

    def is_outranked(self) -> bool:
        """Whether all URLs better than the best queued here are in other shards."""
        return self.common is not None and self._ranks.total > 0 and self.common > self._ranks.best(1)[0][0]

    def _give_up_on_slow(self, now: float) -> None:
        """Stop waiting for hosts that have not responded for a while."""
        for host, asked_at in list(self._asked.items()):
            if asked_at + SLOW_S > now:
                return
            del self._asked[host]
            self._set_quick(host, False)

    def next_change(self) -> float | None:
        """When the oldest request in flight will have taken too long to wait for."""
        return next(iter(self._asked.values())) + SLOW_S if self._asked else None

    def _set_quick(self, host: Host, is_quick: bool) -> None:
        if self.focus and host.is_quick != is_quick:  # without focus, the order is not needed
            host.is_quick = is_quick
            for rank in self._ranks_at(host):
                self._ranks.add(rank, 1 if is_quick else -1)
