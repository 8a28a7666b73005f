"""The state of a frontier, described for users."""

from datetime import datetime

from msgspec import Struct


class Status(Struct, frozen=True):
    """Counts at one moment; `ended` is the reason why the crawl is over."""

    known: int
    waiting: int
    in_flight: int
    hosts: int
    hosts_due: int
    hosts_resting: int
    next_due: float | None
    refused: dict[str, int]
    ended: str
    held_back: int = 0  # hosts that are due, but have no URL good enough while better hosts rest
    no_network_since: float | None = None  # when a network outage on our side was detected; None if there is none
    no_answer_since: float | None = None  # when hosts stopped responding, if the hosts may be the cause
    next_try: float | None = None  # when the network is tried again
    last_failure: str = ""  # which host did not respond, and why
    paused: bool = False
    status: str = ""  # one sentence: why little or nothing happens; empty if all is well


def sentence_on(status: Status) -> str:
    """Why the crawl ended, or what it is waiting for."""
    if status.ended:
        return status.ended
    if status.no_network_since:
        return f"no network since {_time(status.no_network_since)}; next try {_time(status.next_try)}"
    if status.no_answer_since:
        told = f"no host has answered since {_time(status.no_answer_since)}"
        return f"{told} ({status.last_failure}); next try {_time(status.next_try)}"
    if status.paused:
        flying = f", {status.in_flight:,} request{'s' * (status.in_flight != 1)} in flight" * bool(status.in_flight)
        return f"paused{flying}"
    due = status.hosts_due - status.held_back
    if status.held_back:
        counts = {"answering": status.in_flight, "resting": status.hosts_resting}
        good = ", ".join(f"{_hosts(count, good=True)} {what}" for what, count in counts.items() if count)
        others = f"{status.held_back:,} other{'s have' if status.held_back != 1 else ' has'} nothing good enough"
        return "; ".join(filter(None, [good, others]))
    if due or status.in_flight or not status.hosts_resting:
        return ""
    return f"{_hosts(status.hosts_resting)} resting until {_time(status.next_due)}"


def _time(at: float | None) -> str:
    return f"{datetime.fromtimestamp(at):%H:%M:%S}" if at else "later"


def _hosts(count: int, good: bool = False) -> str:
    return f"{count:,} {'good ' * good}host{'s' * (count != 1)}"
