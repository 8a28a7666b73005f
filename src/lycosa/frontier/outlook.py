"""How a frontier stands, told to people."""

from msgspec import Struct


class Outlook(Struct, frozen=True):
    """Counts at one moment; `ended` says why the crawl is over."""

    known: int
    waiting: int
    in_flight: int
    hosts: int
    hosts_due: int
    hosts_resting: int
    next_due: float | None
    refused: dict[str, int]
    ended: str
    no_network_since: float | None = None  # when our own network was found to be down; None while it is not
    next_try: float | None = None  # when the network is tried again
