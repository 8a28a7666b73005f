"""Which URL is fetched next: the best of all hosts that are due, if it is worth a request now."""

from __future__ import annotations  # before Python 3.12, array[int] is valid only in annotations

from collections.abc import Callable

from lycosa.frontier.hosts import Host
from lycosa.frontier.places import Places
from lycosa.frontier.priority import LOWEST, rank_of
from lycosa.types import Band, Effects, Lists

_LISTED = rank_of(float("-inf"), Band.LISTED)  # the lowest rank of URLs on the fetch list


class Choice:
    """Chooses among the queues of all hosts. `rescores_soon` returns whether URLs that are held back may soon get
    another score."""

    def __init__(
        self,
        places: Places,
        lists: Lists | None,
        rescores_soon: Callable[[], bool],
        apply: Callable[[Effects], None],
    ) -> None:
        self._places = places
        self._hosts, self._focus = places.hosts, places.focus
        self._lists = lists
        self._rescores_soon = rescores_soon
        self._apply = apply
        self._floor = LOWEST  # URLs with a lower rank are held back until nothing else is left

    def hold_back(self, below: float) -> None:
        """Hold URLs with a lower score back while any others are queued."""
        self._floor = rank_of(below)

    def take(self, now: float, in_flight: int, pages_left: int | None) -> tuple[Host, int] | None:
        """The best URL, removed from the queue of its host; None if none may be fetched now."""
        if self._lists and self._places.list:
            return self._take_listed(self._lists, now, in_flight)
        floor = self._focus.floor(pages_left, now)
        if taken := self._hosts.take(now, max(floor, self._floor)):
            self._focus.earn()
        elif self.nothing_comes(in_flight):
            self._floor = LOWEST
            taken = self._hosts.take(now)
        elif self._focus.has_spare() and (taken := self._hosts.take(now, self._floor)):
            self._focus.spend()
        return taken

    def nothing_comes(self, in_flight: int) -> bool:
        """Whether waiting is useless: no reply, host or score can make another URL available."""
        is_idle = not in_flight and self._hosts.next_due() is None and not self._rescores_soon()
        return is_idle and not self._focus.is_outranked()

    def _take_listed(self, lists: Lists, now: float, in_flight: int) -> tuple[Host, int] | None:
        listed = self._places.list
        assert listed
        if not listed.places and not in_flight:
            self._apply(lists.end_list())
            lists.begin_list(listed.choose(self._hosts, self._places.waits, now))
        return self._hosts.take(now, _LISTED) if listed.places else None
