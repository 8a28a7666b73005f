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
