"""The state of a frontier, described for users."""

from datetime import datetime

from msgspec import Struct


class Outlook(Struct, frozen=True):
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


def status_of(outlook: Outlook) -> str:
    """Why the crawl ended, or what it is waiting for."""
    if outlook.ended:
        return outlook.ended
    if outlook.no_network_since:
        return f"no network since {_time(outlook.no_network_since)}; next try {_time(outlook.next_try)}"
    if outlook.no_answer_since:
        told = f"no host has answered since {_time(outlook.no_answer_since)}"
        return f"{told} ({outlook.last_failure}); next try {_time(outlook.next_try)}"
    if outlook.paused:
        flying = f", {outlook.in_flight:,} request{'s' * (outlook.in_flight != 1)} in flight" * bool(outlook.in_flight)
        return f"paused{flying}"
    due = outlook.hosts_due - outlook.held_back
    if outlook.held_back:
        counts = {"answering": outlook.in_flight, "resting": outlook.hosts_resting}
        good = ", ".join(f"{_hosts(count, good=True)} {what}" for what, count in counts.items() if count)
        others = f"{outlook.held_back:,} other{'s have' if outlook.held_back != 1 else ' has'} nothing good enough"
        return "; ".join(filter(None, [good, others]))
    if due or outlook.in_flight or not outlook.hosts_resting:
        return ""
    return f"{_hosts(outlook.hosts_resting)} resting until {_time(outlook.next_due)}"


def _time(at: float | None) -> str:
    return f"{datetime.fromtimestamp(at):%H:%M:%S}" if at else "later"


def _hosts(count: int, good: bool = False) -> str:
    return f"{count:,} {'good ' * good}host{'s' * (count != 1)}"
