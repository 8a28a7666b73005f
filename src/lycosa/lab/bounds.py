"""Between which bounds does every strategy lie? Chance below, and above an oracle that knows every page and label."""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from heapq import heappop, heappush
from math import inf, log

import xxhash

from lycosa.lab.answer import Graph, Pages
from lycosa.types import Link, Visit

_TOP = 1e6  # scores fall from here as the clock of chance runs


@dataclass
class Random:
    """Each URL that waits is as likely to be next as any other.

    Every URL gets an alarm on a clock that jumps from alarm to alarm. Exponential waiting times have no memory, so
    those found early have neither an advantage nor a disadvantage against those found late.
    """

    seed: int = 0

    now_: float = field(init=False, repr=False, default=0.0)

    def score(self, visit: Visit) -> Sequence[float]:
        return [_TOP - self.now_ - self._waiting(link) for link in visit.page.links]

    def merge(self, waiting: float, found: float) -> float:
        return waiting

    def learn(self, visit: Visit) -> None:
        if visit.score <= _TOP:  # seeds come before the clock starts
            self.now_ = max(self.now_, _TOP - visit.score)

    def _waiting(self, link: Link) -> float:
        chance = xxhash.xxh3_64_intdigest(link.url.encode(), self.seed) / 2**64
        return -log(1 - chance * (1 - 2**-53))


@dataclass
class Oracle:
    """Follows a plan that was made with the whole web in view."""

    places: Mapping[str, int]  # of each page in the plan, by its name
    web: Pages

    asked_: dict[str, str] = field(init=False, repr=False, default_factory=dict)  # of a page's addresses the one to ask

    def score(self, visit: Visit) -> Sequence[float]:
        return [self._worth(link.url) for link in visit.page.links]

    def merge(self, waiting: float, found: float) -> float:
        return max(waiting, found)

    def learn(self, visit: Visit) -> None:
        """There is nothing to learn for one who knows all."""

    def _worth(self, url: str) -> float:
        name = self.web.page(url)
        place = self.places.get(name)
        if place is None or self.asked_.setdefault(name, url) != url:
            return 0.0
        return float(len(self.places) - place)


def oracle(plan: Sequence[str], web: Pages) -> Oracle:
    return Oracle({page: place for place, page in enumerate(plan)}, web)


def plan(graph: Graph, seeds: Sequence[str], targets: AbstractSet[str], pages: int) -> list[str]:
    """The pages to ask in order, by name: always a target if one waits, else what leads to one on the shortest way.

    Of several as near, the one that leads to most. No more than `pages`, and none after the last target.
    """
    made = Plan(graph, set(targets))
    made.find([graph.web.resolve(seed) for seed in seeds])
    for name in list(made.waiting):
        made.take(name)  # a crawl begins with its seeds, wherever they lead
    while made.missing and len(made.order) < pages and (name := made.next()):
        made.take(name)
    return made.order[:pages]


class Plan:
    """A crawl as one would do it who knows where everything is."""

    def __init__(self, graph: Graph, missing: set[str]) -> None:
        self.graph = graph
        self.missing = missing  # targets not fetched yet
        self.order: list[str] = []
        self.waiting: dict[str, str] = {}  # pages found and not fetched, and the address they were found at
        self._known: set[str] = set()
        self._heap: list[tuple[float, float, int, str]] = []  # clicks to a target, minus how many there, when found

    def find(self, addresses: Sequence[str]) -> None:
        for address in addresses:
            name = self.graph.web.page(address)
            if name and name not in self._known:
                self._known.add(name)
                self.waiting[name] = address
                heappush(self._heap, (0.0 if name in self.missing else 1.0, -inf, len(self._known), name))

    def take(self, name: str) -> None:
        self.order.append(name)
        self.missing.discard(name)
        self.find(self.graph.links(self.waiting.pop(name)))

    def next(self) -> str:
        """The best of those that wait; empty if no target can be reached from any.

        What a page promises only gets less while others are fetched, so an old promise is at least as good as the true
        one: it is looked into only when its turn comes, and counts if it still holds.
        """
        while self._heap:
            clicks, count, found, name = heappop(self._heap)
            if name not in self.waiting:
                continue
            if clicks == 0:
                return name
            leads_to = self._count(name, int(clicks))
            if leads_to == -count:
                return name
            if leads_to > 0:
                heappush(self._heap, (clicks, -leads_to, found, name))
            elif leads_to == 0:
                heappush(self._heap, (clicks + 1, -inf, found, name))
        return ""

    def _count(self, name: str, clicks: int) -> float:
        """How many missing targets, not found yet, lie so many clicks behind a page; -1 if nothing lies so far."""
        edge, seen = {name: self.waiting[name]}, {name}
        for _ in range(clicks):
            beyond: dict[str, str] = {}
            for address in edge.values():
                for link in self.graph.links(address):
                    linked = self.graph.web.page(link)
                    if linked not in seen and linked not in self._known:
                        beyond.setdefault(linked, link)
            seen.update(beyond)
            edge = beyond
            if not edge:
                return -1.0
        return float(sum(linked in self.missing for linked in edge))
