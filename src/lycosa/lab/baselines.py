"""The bounds of all strategies: random choice below, and above it an oracle that knows every page and label."""

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from heapq import heappop, heappush
from math import inf, log

import xxhash

from lycosa.lab.answer import Graph, Pages
from lycosa.lab.clicks import NEVER, Clicks
from lycosa.types import Link, Origin, Visit

_TOP = 1e6  # scores fall from here as the random clock runs


@dataclass
class Random:
    """Every queued URL is equally likely to be next.

    Every URL gets an alarm on a clock that jumps from alarm to alarm. Exponential waiting times have no memory, so
    URLs found early have neither an advantage nor a disadvantage.
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
    """Follows a plan made with knowledge of the whole web."""

    places: Mapping[str, int]  # of each page in the plan, by its name
    web: Pages

    asked_: dict[str, str] = field(init=False, repr=False, default_factory=dict)  # which of a page's URLs to fetch

    def score(self, visit: Visit) -> Sequence[float]:
        return [self._worth(link.url) for link in visit.page.links]

    def merge(self, waiting: float, found: float) -> float:
        return max(waiting, found)

    def learn(self, visit: Visit) -> None:
        """Nothing to learn."""

    def _worth(self, url: str) -> float:
        name = self.web.page(url)
        place = self.places.get(name)
        if place is None or self.asked_.setdefault(name, url) != url:
            return 0.0
        return float(len(self.places) - place)


def oracle(plan: Sequence[str], web: Pages) -> Oracle:
    return Oracle({page: place for place, page in enumerate(plan)}, web)


def plan(graph: Graph, seeds: Sequence[str], targets: AbstractSet[str], pages: int) -> list[str]:
    """The names of the pages to fetch, in order: a target if one is queued, otherwise what leads to the nearest one.

    If several are equally near, the one that leads to most targets. At most `pages`, and none after the last target.
    """
    starts = [graph.web.resolve(seed) for seed in seeds]
    made = Plan(Chart(graph, starts), targets)
    made.find(made.chart.addresses[start] for start in starts if start in made.chart.addresses)
    for page in list(made.waiting):
        made.take(page)  # a crawl starts with its seeds, wherever they lead
    while made.missing and len(made.order) < pages and (found := made.next()) is not None:
        made.take(found)
    return [made.chart.names[page] for page in made.order[:pages]]


class Chart:
    """The reachable part of a web as integers: URLs, the page at each, and the links between them."""

    def __init__(self, graph: Graph, starts: Iterable[str]) -> None:
        self.names: list[str] = []  # of pages
        self.addresses: dict[str, int] = {}
        self.page_at: list[int] = []  # by URL
        self.links: list[list[int]] = []  # URL to URLs
        self._web = graph.web
        self._pages: dict[str, int] = {}
        self._queue: list[str] = []
        for start in starts:
            self._number(start)
        for address in self._queue:  # grows while it is iterated
            numbers = [self._number(linked) for linked in graph.links(address)]
            self.links.append([number for number in numbers if number is not None])

    def page_links(self) -> list[set[int]]:
        """Links from page to page, merged over the URLs of each page."""
        found: list[set[int]] = [set() for _ in self.names]
        for address, linked in enumerate(self.links):
            found[self.page_at[address]].update(self.page_at[other] for other in linked)
        for page, linked_pages in enumerate(found):
            linked_pages.discard(page)
        return found

    def pages(self, names: Iterable[str]) -> set[int]:
        return {self._pages[name] for name in names if name in self._pages}

    def _number(self, address: str) -> int | None:
        """The number of a URL; None if it is not a page."""
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
    """A crawl that knows where everything is."""

    def __init__(self, chart: Chart, targets: AbstractSet[str]) -> None:
        self.chart = chart
        self.missing = chart.pages(targets)  # targets not fetched yet
        self.order: list[int] = []
        self.waiting: dict[int, int] = {}  # pages found and not fetched, and the URL they were found at
        self._ahead = Clicks(chart.page_links(), self.missing)
        self._known = [False] * len(chart.names)
        self._found = 0
        self._heap: list[
            tuple[int, float, int, int]
        ] = []  # clicks to the nearest target and minus the number of targets there, when the page was found

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
        """The best queued page; None if no target can be reached from any.

        The value of a page only falls while others are fetched, so an old value is an upper bound: it is recomputed
        only when the page comes first, and used if it has not changed.
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
        """A lower bound on the clicks from a queued page to a target."""
        clicks, page_at = self._ahead.clicks, self.chart.page_at
        nearest = min((clicks[page_at[linked]] for linked in self.chart.links[self.waiting[page]]), default=NEVER)
        return min(nearest + 1, NEVER)

    def _count(self, page: int, clicks: int) -> int:
        """How many targets that have not been found are this many clicks behind a page; -1 if nothing is that far.

        Paths that cannot reach a target in time are not followed. Two URLs of a page may show different links; the one
        met first counts, so a target can be farther away than the links of all URLs suggest.
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
