"""Stores in crawl.db how long each host rests, so that a restarted crawl is as polite as one that never stopped."""

from collections.abc import Callable

from lycosa.frontier.focus import PATIENCE_S
from lycosa.frontier.hosts import UNREACHABLE_BECAUSE, Host, Hosts
from lycosa.store.db import CrawlDb
from lycosa.store.host_rows import HostRow, HostRows

FULL = "max_pages_per_host"  # why a host is closed
UNSAVED_S = 0.5  # a rest that exceeds the host's delay by more than this is saved at once
_SAVED_AT = "saved_at"


def least_rest_s(delay_s: float) -> float:
    """The minimum rest of a host after a restart, as requests in flight and unsaved changes are unknown."""
    return delay_s + UNSAVED_S if delay_s else 0.0


class Rests:
    """Writes a host after each of its replies, and reads all hosts at the start."""

    def __init__(self, db: CrawlDb, now: Callable[[], float]) -> None:
        self._db = db
        self._rows = HostRows(db)
        self._now = now

    def write(self, host: Host) -> None:
        self._rows.write(HostRow(host.name, host.due_at, host.delay_s, host.failures, host.pages, host.closed))

    def load(self, hosts: Hosts, most_pages: int) -> None:
        """Restore all hosts. A host rests no longer than when it was saved, even if the clock has been set back since.
        An unreachable host is tried once more."""
        now = self._now()
        set_back_s = max(0.0, float(self._db.get(_SAVED_AT, "0")) - now)
        for name, due_at, delay_s, failures, pages, closed in self._rows.all():
            host = hosts.named(name)
            host.delay_s, host.failures, host.pages, host.closed = delay_s, failures, pages, closed
            if closed == FULL and not 0 < most_pages <= pages:
                host.closed = ""
            elif closed.startswith(UNREACHABLE_BECAUSE):
                hosts.reopen(host)
            latest = now + hosts.rules.max_delay_s
            host.due_at = max(min(due_at - set_back_s, latest), now + least_rest_s(delay_s))
            host.is_quick = not host.closed and host.due_at - now <= PATIENCE_S
        self._db.before_commit.append(lambda: self._db.put(_SAVED_AT, repr(self._now())))
