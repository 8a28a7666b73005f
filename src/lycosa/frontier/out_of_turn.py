"""Take a URL whose turn it is not: who goes through stored visits again is told the order, and does not choose it."""

from lycosa import urls
from lycosa.frontier.durable import DurableFrontier
from lycosa.frontier.table import LEASED
from lycosa.store.db import WAITING
from lycosa.types import Link


def lease(frontier: DurableFrontier, link: Link) -> None:
    """Begin the lease that `done` ends. A URL that no page has led to this time is made known."""
    if not frontier.knows(link):
        frontier._places.reached(link.url, frontier.number(link.source))
    number = frontier.number(link.url)
    frontier._places.waiting -= frontier._table.states[number] == WAITING
    frontier._table.states[number] = LEASED
    frontier._leases[link.url] = number, frontier.hosts.named(urls.host(link.url))
