"""Links that wait at another host because of a redirect or a robots.txt that has moved.

Only this module knows where a link was redirected. A redirect may only lead to a previously unknown URL, and claims it:
other links to that URL are ignored. When the link is done, so is the URL it reached; URLs it claimed but did not reach
are queued separately. None of this is stored: after a kill, the link starts again from the beginning.
"""

from typing import NamedTuple

from lycosa.frontier.hosts import Host


class Errand(NamedTuple):
    """Where a link waits instead of at its own host, and why."""

    host: Host
    hop: str = ""  # the latest redirect target; empty if only the robots.txt is on another host
    claimed: tuple[str, ...] = ()  # all redirect targets so far


class Errands:
    """All errands, by the id of the link."""

    def __init__(self) -> None:
        self.claimed: set[str] = set()
        self._all: dict[int, Errand] = {}

    def get(self, number: int) -> Errand | None:
        return self._all.get(number)

    def host_of(self, number: int) -> Host | None:
        errand = self._all.get(number)
        return errand.host if errand else None

    def send(self, number: int, host: Host, hop: str) -> None:
        """Make a link wait at a host; a new hop is claimed."""
        before = self._all.get(number)
        claimed = before.claimed if before else ()
        if hop and hop not in claimed:
            claimed = (*claimed, hop)
            self.claimed.add(hop)
        self._all[number] = Errand(host, hop, claimed)

    def end(self, number: int) -> Errand | None:
        """End the errand and release its claims."""
        errand = self._all.pop(number, None)
        if errand:
            self.claimed.difference_update(errand.claimed)
        return errand
