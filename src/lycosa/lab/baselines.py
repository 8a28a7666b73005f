"""Between which bounds does every strategy lie? Chance below, and above an oracle that knows every page and label."""

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from heapq import heappop, heappush
from math import inf, log

import xxhash

from lycosa.lab.answer import Graph, Pages
from lycosa.lab.clicks import NEVER, Clicks
from lycosa.types import Link, Origin, Visit

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
        if visit.reply.link.origin == Origin.PAGE:  # seeds come before the clock starts
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
    """The pages to fetch in order, by name: always a target if one waits, else what leads to one on the shortest way.

    Of several as near, the one that leads to most. No more than `pages`, and none after the last target.
    """
    starts = [graph.web.resolve(seed) for seed in seeds]
    made = Plan(Chart(graph, starts), targets)
    made.find(made.chart.addresses[start] for start in starts if start in made.chart.addresses)
    for page in list(made.waiting):
        made.take(page)  # a crawl begins with its seeds, wherever they lead
    while made.missing and len(made.order) < pages and (found := made.next()) is not None:
        made.take(found)
    return [made.chart.names[page] for page in made.order[:pages]]


class Chart:
    """The part of a web that can be reached, in numbers: addresses, the page at each, and the links between them."""

    def __init__(self, graph: Graph, starts: Iterable[str]) -> None:
        self.names: list[str] = []  # of pages
        self.addresses: dict[str, int] = {}
        self.page_at: list[int] = []  # by address
        self.links: list[list[int]] = []  # from address to addresses
        self._web = graph.web
        self._pages: dict[str, int] = {}
        self._queue: list[str] = []
        for start in starts:
            self._number(start)
        for address in self._queue:  # which grows while it is read
            numbers = [self._number(linked) for linked in graph.links(address)]
            self.links.append([number for number in numbers if number is not None])

    def page_links(self) -> list[set[int]]:
        """From page to pages, whichever of its addresses the link stands at."""
        found: list[set[int]] = [set() for _ in self.names]
        for address, linked in enumerate(self.links):
            found[self.page_at[address]].update(self.page_at[other] for other in linked)
        for page, linked_pages in enumerate(found):
            linked_pages.discard(page)
        return found

    def pages(self, names: Iterable[str]) -> set[int]:
        return {self._pages[name] for name in names if name in self._pages}

    def _number(self, address: str) -> int | None:
        """The number of an address; None if no page is there."""
        number = self.addresses.get(address)
        if number is None and (name := self._web.page(address)):
            number = self.addresses[address] = len(self.page_at)
            page = self._pages.setdefault(name, len(self.names))
            if page == len(self.names):
                self.names.append(name)
            self.page_at.append(page)
            self._queue.append(address)
        return number


class Plan:
    """A crawl as one would do it who knows where everything is."""

    def __init__(self, chart: Chart, targets: AbstractSet[str]) -> None:
        self.chart = chart
        self.missing = chart.pages(targets)  # targets not fetched yet
        self.order: list[int] = []
        self.waiting: dict[int, int] = {}  # pages found and not fetched, and the address they were found at
        self._ahead = Clicks(chart.page_links(), self.missing)
        self._known = [False] * len(chart.names)
        self._found = 0
        self._heap: list[tuple[int, float, int, int]] = []  # clicks to a target, minus how many there, when found

    def find(self, addresses: Iterable[int]) -> None:
        for address in addresses:
            page = self.chart.page_at[address]
            if not self._known[page]:
                self._known[page] = True
                self._found += 1
                self._ahead.know(page)
                self.waiting[page] = address
                heappush(self._heap, (0 if page in self.missing else 1, -inf, self._found, page))

    def take(self, page: int) -> None:
        self.order.append(page)
        self.missing.discard(page)
        self.find(self.chart.links[self.waiting.pop(page)])

    def next(self) -> int | None:
        """The best of those that wait; None if no target can be reached from any.

        What a page promises only gets less while others are fetched, so an old promise is at least as good as the true
        one: it is looked into only when its turn comes, and counts if it still holds.
        """
        while self._heap:
            clicks, count, found, page = heappop(self._heap)
            if page not in self.waiting:
                continue
            if clicks == 0:
                return page
            nearest = self._nearest(page)
            if nearest > clicks:
                if nearest < NEVER:
                    heappush(self._heap, (nearest, -inf, found, page))
                continue
            leads_to = self._count(page, clicks)
            if leads_to == -count:
                return page
            if leads_to > 0:
                heappush(self._heap, (clicks, -leads_to, found, page))
            elif leads_to == 0:
                heappush(self._heap, (clicks + 1, -inf, found, page))
        return None

    def _nearest(self, page: int) -> int:
        """No target is nearer to a waiting page than this many clicks."""
        clicks, page_at = self._ahead.clicks, self.chart.page_at
        nearest = min((clicks[page_at[linked]] for linked in self.chart.links[self.waiting[page]]), default=NEVER)
        return min(nearest + 1, NEVER)

    def _count(self, page: int, clicks: int) -> int:
        """How many missing targets, not found yet, lie so many clicks behind a page; -1 if nothing lies so far.

        Ways that cannot lead to a target in time are not followed. Two addresses of a page may show different links;
        the one that is met first counts, so a target can be farther away than the links of all addresses say.
        """
        page_at, links, ahead, known = self.chart.page_at, self.chart.links, self._ahead.clicks, self._known
        edge, seen, is_cut = [self.waiting[page]], {page}, False
        for left in range(clicks - 1, -1, -1):
            beyond: list[int] = []
            for address in edge:
                for linked in links[address]:
                    other = page_at[linked]
                    if ahead[other] <= left:
                        if other not in seen:
                            seen.add(other)
                            beyond.append(linked)
                    elif not known[other]:
                        is_cut = True
            edge = beyond
            if not edge:
                return 0 if is_cut else -1
        return len(edge)
