"""Per-host politeness: one request at a time per host, the next one only after its delay.

A host is in one of four states: idle (nothing queued), ready (may be contacted now), resting (until `due_at`), busy (a
request is in flight). `Hosts` knows which ready host has the best URL, and when the next resting one is due.
"""

from __future__ import annotations  # before Python 3.12, array[int] is valid only in annotations

from collections import Counter, deque
from collections.abc import Callable, Sequence
from heapq import heappop, heappush
from typing import Any

from lycosa import config
from lycosa.frontier.crowds import FEW, Crowds
from lycosa.frontier.priority import LOWEST
from lycosa.frontier.queue import Among, HostQueue
from lycosa.outcomes import UNASKED, UNREACHABLE
from lycosa.types import Reply

IDLE, READY, RESTING, BUSY = range(4)
Guest = Callable[[float], None]  # called with the time when its host will be due, and with 0 once it may contact it
UNREACHABLE_BECAUSE = "unreachable"  # prefix of the reason for closing a host that may be reopened


class Host:
    """One host: its queue, and when it may be contacted."""

    __slots__ = (
        *("closed", "delay_s", "due_at", "failures", "id", "is_quick", "name", "offer", "pages", "queue"),
        "state",
    )

    def __init__(self, number: int, name: str) -> None:
        self.id = number
        self.name = name
        self.queue = HostQueue()
        self.state = IDLE
        self.due_at = 0.0
        self.delay_s = 0.0
        self.failures = 0  # in a row
        self.pages = 0
        self.closed = ""  # why no more requests are sent to this host
        self.offer = (0, 0)  # its best URL as recorded in the ready heap
        self.is_quick = True  # whether it is due again soon enough for others to wait for its better URLs


class Hosts:
    """All hosts of a crawl, ordered by their best URLs and by when they are due."""

    def __init__(
        self, rules: config.Fetch, waits: Callable[[int, int], bool], among: Among, most_per_domain: int = 0
    ) -> None:
        self.rules = rules
        self.all: list[Host] = []
        self._not_before = 0.0  # new hosts are due at this time
        self._crowds = Crowds(most_per_domain, rules.per_ip)
        self._shards = 1
        self._waits = waits  # whether this id is queued with this rank
        self._among = among  # the same for many
        self._by_name: dict[str, Host] = {}
        self.find: Callable[[str], Host | None] = self._by_name.get  # for every new link: no call in between
        self._guests: dict[int, deque[Guest]] = {}  # by host: who will contact it before its queue does
        self._ready: list[tuple[int, int, int]] = []  # minus rank, url id, host id; stale entries are skipped
        self._resting: list[tuple[float, int]] = []

    def named(self, name: str) -> Host:
        host = self._by_name.get(name)
        if host is None:
            host = self._by_name[name] = Host(len(self.all), name)
            host.due_at = self._not_before
            self.all.append(host)
            self._crowds.enter(name)
        return host

    def admits(self, name: str) -> bool:
        """Whether the host is known or may be added."""
        return name in self._by_name or self._crowds.admits(name)

    def push(self, host: Host, rank: int, ids: Sequence[int], now: float, moved: bool = False) -> None:
        """Queue URLs at the host; `moved` if they were queued there before with another rank."""
        if moved:
            host.queue.move(rank, ids, self._among)
        else:
            host.queue.push(rank, ids)
        if host.state == READY:
            if (-rank, ids[0]) < host.offer:
                self._offer(host, -rank, ids[0])
        elif host.state == IDLE:
            self.settle(host, now)

    def take(self, now: float, floor: int = LOWEST) -> tuple[Host, int] | None:
        """Take the best URL of all hosts that are due, if its rank is at least `floor`, and mark its host as busy."""
        while self._resting and self._resting[0][0] <= now:
            host = self.all[heappop(self._resting)[1]]
            if host.state == RESTING:
                self.settle(host, now)
        while self._ready:
            minus, number, host_id = heappop(self._ready)
            host = self.all[host_id]
            if host.state != READY or host.offer != (minus, number):
                continue
            head = host.queue.head(self._waits)
            if head == (minus, number):
                if -minus < floor:
                    heappush(self._ready, (minus, number, host_id))
                    return None
                if self._has_to_share(host, now):
                    continue
                host.state = BUSY
                host.queue.advance()
                return host, number
            self.settle(host, now)  # its offered URL is no longer queued: offer the next
        return None

    def invite(self, host: Host, guest: Guest, now: float) -> None:
        """Let somebody contact the host for something that is not queued; it is then busy until it rests."""
        self._guests.setdefault(host.id, deque()).append(guest)
        if host.state != BUSY:
            self.settle(host, now)

    def _let_in(self, host: Host, now: float) -> None:
        guests = self._guests[host.id]
        if self._has_to_share(host, now):
            crowd = self._crowds.of(host.id, host.name)
            guests[0](crowd.due_at if crowd else now)
            return
        guest = guests.popleft()
        if not guests:
            del self._guests[host.id]
        host.state = BUSY
        guest(0.0)

    def _has_to_share(self, host: Host, now: float) -> bool:
        """Whether the host must rest because another name of the same server was just contacted. If not, it may be
        contacted now."""
        crowd = self._crowds.of(host.id, host.name)
        if crowd and crowd.due_at > now:
            host.state = RESTING
            heappush(self._resting, (crowd.due_at, host.id))
            return True
        if crowd:
            crowd.due_at = now + self.rules.delay_s * self._shards
        return False

    def settle(self, host: Host, now: float) -> None:
        """Update the state of a host that is not busy: idle, resting or ready."""
        head = None if host.closed else host.queue.head(self._waits)
        if head is None and host.id not in self._guests:
            host.state = IDLE
        elif host.due_at > now:
            host.state = RESTING
            heappush(self._resting, (host.due_at, host.id))
            for guest in self._guests.get(host.id, ()):
                guest(host.due_at)
        elif host.id in self._guests:
            self._let_in(host, now)
        elif head:
            host.state = READY
            self._offer(host, *head)

    def rest(self, host: Host, reply: Reply, now: float) -> None:
        """End the request: the host rests as required by its rules, its robots.txt, its speed and its response."""
        rules = self.rules
        if reply.error in UNASKED and not reply.status:
            self.settle(host, now)
            return
        if reply.crawl_delay_s is not None:
            host.delay_s = max(rules.delay_s, min(reply.crawl_delay_s, rules.max_delay_s))
        asked = max(host.delay_s, reply.wait_s, rules.delay_factor * reply.seconds)
        host.due_at = now + max(rules.delay_s, min(asked, rules.max_delay_s))
        if reply.ip:
            self._crowds.answered(host.id, host.name, reply.ip)
        if crowd := self._crowds.of(host.id, host.name):
            crowd.due_at = max(crowd.due_at, now + (host.due_at - now) * self._shards)
        if reply.error in UNREACHABLE:
            host.failures += 1
            if rules.give_up_after and host.failures >= rules.give_up_after:
                host.closed = f"{UNREACHABLE_BECAUSE} ({reply.error})"
        elif reply.error != "exhausted":  # includes outages on our side: earlier failures no longer count
            host.failures = 0
        self.settle(host, now)

    def reopen(self, host: Host) -> None:
        """Try an unreachable host once more: another failure closes it again."""
        host.closed = ""
        host.failures = max(0, self.rules.give_up_after - 1)

    def next_due(self) -> float | None:
        """When the next resting host is due; None if none is resting."""
        while self._resting and self.all[self._resting[0][1]].state != RESTING:
            heappop(self._resting)
        return self._resting[0][0] if self._resting else None

    def rest_new(self, until: float) -> None:
        """A predecessor may have contacted hosts that are not known here."""
        self._not_before = until

    def share(self, shards: int) -> None:
        """Other shards may contact other names of the same servers: each takes its part of the requests."""
        self._shards = shards
        self._crowds.few = max(1, FEW // shards)
        self._crowds.most_hosts = -(-self._crowds.most_hosts // shards)

    def counts(self, floor: int) -> dict[str, Any]:
        """How many hosts are in which state. Those that are ready, but without a URL of this rank, are held back."""
        states = Counter(host.state for host in self.all)
        return {
            "hosts": len(self.all),
            "hosts_due": states[READY] + states[BUSY],
            "hosts_resting": states[RESTING],
            "next_due": self.next_due(),
            "held_back": sum(host.state == READY and -host.offer[0] < floor for host in self.all),
        }

    def _offer(self, host: Host, minus: int, number: int) -> None:
        host.offer = (minus, number)
        heappush(self._ready, (minus, number, host.id))
