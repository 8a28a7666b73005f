"""Keep focus under politeness: what is worth fetching while better hosts rest?

Politeness makes the best hosts rest most of the time. Whoever then fetches whatever is due spends the page budget on
it. So a URL is fetched only if no better one waits anywhere; hosts that have nothing as good stay idle, but for a share
of the requests that may go to the best of what is due. Only hosts that come back soon make others wait, so a slow or
failing host never holds up the crawl.
"""

from collections.abc import Callable, Iterable

from lycosa import config
from lycosa.frontier.hosts import Host
from lycosa.frontier.priority import LOWEST, NEVER
from lycosa.frontier.ranks import Ranks

FOCUSED = 0.9  # by default; see bench/field.py
LEAST = 8  # requests at once, however few pages are left
SHARE = 0.02  # of the pages left that may be under way at once
ENDLESS = 1_000  # pages that count as left where no limit is set
PATIENCE_S = 15.0  # a host that rests longer makes nobody wait
SLOW_S = 5.0  # nor does one that takes longer to answer


def chosen(fetch: config.Fetch, limits: config.Limits) -> float:
    """How focused to be where the user does not say: where only time is limited, pages cost nothing."""
    if fetch.focus is not None:
        return fetch.focus
    return 0.0 if limits.seconds and not (limits.pages or limits.relevant or limits.recall) else FOCUSED


class Focus:
    """Knows the place of every rank among the URLs of hosts that are back soon."""

    def __init__(self, focus: float, ranks_at: Callable[[Host], Iterable[int]]) -> None:
        self.focus = focus  # 1: strictly the best next; 0: whatever is due
        self._ranks_at = ranks_at  # the ranks of all that waits at a host
        self.last_floor = LOWEST  # the rank a URL had to have when it was last asked
        self._spare = 0.0  # requests that may be spent on what is merely due
        self._ranks = Ranks()
        self._asked: dict[Host, float] = {}  # hosts with a request under way and since when, the oldest first

    def add(self, host: Host, rank: int, count: int = 1) -> None:
        """So many URLs more wait at the host; fewer, if `count` is negative."""
        if self.focus and host.is_quick:
            self._ranks.add(rank, count)

    def move(self, host: Host, before: int, after: int) -> None:
        if self.focus and host.is_quick:
            self._ranks.move(before, after)

    def began(self, host: Host, rank: int, now: float) -> None:
        """A URL of the host is being fetched."""
        self.add(host, rank, -1)
        if self.focus:
            self._asked[host] = now

    def ended(self, host: Host, took_s: float, now: float) -> None:
        """The host has answered, and rests now."""
        self._asked.pop(host, None)
        self._set_quick(host, took_s + max(0.0, host.due_at - now) <= PATIENCE_S)

    def earn(self) -> None:
        """One of the best is fetched: a share of a request is spare now."""
        self._spare = min(LEAST, self._spare + (1 - self.focus) / (self.focus or 1))

    def has_spare(self) -> bool:
        """May a request go to the best that is due, though better URLs wait?"""
        return self._spare >= 1 and self.last_floor < NEVER

    def spend(self) -> None:
        self._spare -= 1

    def floor(self, remaining: int | None, now: float) -> int:
        """The rank a URL must have to be fetched now, with so many pages left: that of the best that waits. Even so no
        more than a few are fetched at once, lest many workers run far down the order before replies are back."""
        if self.focus:
            self._give_up_on_slow(now)
            pages = ENDLESS if remaining is None else remaining
            most = max(LEAST, int(SHARE * pages)) if self.focus < 1 else 1
            self.last_floor = self._ranks.threshold(1) if len(self._asked) < most else NEVER
        return self.last_floor

    def _give_up_on_slow(self, now: float) -> None:
        """Hosts that have not answered for a while make nobody wait any longer."""
        for host, asked_at in list(self._asked.items()):
            if asked_at + SLOW_S > now:
                return
            del self._asked[host]
            self._set_quick(host, False)

    def next_change(self) -> float | None:
        """When the next request under way will have taken so long that nobody waits for it any more."""
        return next(iter(self._asked.values())) + SLOW_S if self._asked else None

    def _set_quick(self, host: Host, is_quick: bool) -> None:
        if self.focus and host.is_quick != is_quick:  # who is always busy has no use for the order
            host.is_quick = is_quick
            for rank in self._ranks_at(host):
                self._ranks.add(rank, 1 if is_quick else -1)
