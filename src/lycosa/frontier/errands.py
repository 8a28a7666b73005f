"""Links under way elsewhere: a redirect, or a robots.txt that has moved, sends a link to wait for another host.

This is the only place that knows where a link was led. A redirect may only lead to a URL that nobody knew before, and
claims it: whoever else comes across it leaves it alone. When the link is done, so is what it reached; what it claimed
and did not reach waits in its own right. Nothing of this is stored: after a kill the link simply starts again.
"""

from typing import NamedTuple

from lycosa.frontier.hosts import Host


class Errand(NamedTuple):
    """Where one link waits instead of at its own host, and why."""

    host: Host
    hop: str = ""  # where its redirects have led; empty if only its robots.txt is elsewhere
    claimed: tuple[str, ...] = ()  # all URLs that they led to


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
        """Let a link wait at a host; a hop that is new is claimed."""
        before = self._all.get(number)
        claimed = before.claimed if before else ()
        if hop and hop not in claimed:
            claimed = (*claimed, hop)
            self.claimed.add(hop)
        self._all[number] = Errand(host, hop, claimed)

    def end(self, number: int) -> Errand | None:
        """The errand is over, and so are its claims."""
        errand = self._all.pop(number, None)
        if errand:
            self.claimed.difference_update(errand.claimed)
        return errand
