"""The evidence for a link as a feature vector: one number for each kind of evidence, in the order of PRIOR.

Links are processed in batches, so that what is known about a page and the yield of its links is computed only once.
"""

from collections.abc import Callable, Iterable, Mapping
from math import log, sqrt

from lycosa.strategy.link_features import Scale, Surpluses
from lycosa.strategy.memory import Memory

LEAST_CASH = 1e-12
UNKNOWN = -1.0  # relevance of words that were not judged
_LOGS = [log(1 + number) for number in range(256)]


# What the links of a page have brought so far, as far as it matters for those with one kind of address: the surplus of
# all of them, that of those with this kind of address, how much there is to learn from trying one, and the share of
# good ones among all of them, 0 if none was tried
Yield = tuple[float, float, float, float]


class Gathering:
    """The evidence for a set of links at one moment; nothing may be learned while it is in use."""

    def __init__(
        self, memory: Memory, surplus: Surpluses, scales: Mapping[str, Scale], leads: Callable[[str], float]
    ) -> None:
        surplus.reach(len(memory.names.all))
        self._links, self._sources = memory.links, memory.sources
        self._surplus, self._scales, self._leads = surplus, scales, leads
        self._pages: dict[int, tuple[float, float, float, float]] = {}
        self._tried: dict[int, tuple[float, float]] = {}  # by page
        self._yields: dict[tuple[int, int], Yield] = {}  # by page and kind of address
        self._near: dict[tuple[int, int], float] = {}  # by page and spot
        self._owns: dict[float, float] = {UNKNOWN: 0.0}
        self._cash: dict[float, float] = {}

    def of(self, rows: Iterable[int]) -> list[list[float]]:
        """Return one number for each kind of evidence, in the order of PRIOR; 0 where nothing is known."""
        links, surplus, pages, own_of, cash_of = self._links, self._surplus, self._pages, self._owns, self._cash
        in_context, curiosity, found = self._scales["context"].of, surplus.curiosity, list[list[float]]()
        for row in rows:
            place, context, own, cash = links.places[row], links.contexts[row], links.owns[row], links.cash[row]
            parent, class_, leads, distance = pages.get(links.best[row]) or self._page(links.best[row])
            siblings, part, near, untested = self._of_pages(row, place)
            words = links.words(row)
            found.append(
                [
                    parent,
                    in_context(context) if context >= 0 else 0.0,
                    own_of[own] if own in own_of else self._of_own(own),
                    links.elsewheres[row],
                    links.values[row],
                    siblings,
                    part,
                    near,
                    untested * curiosity,
                    surplus[place],
                    surplus.area(links.areas[row]),
                    surplus[links.hosts[row]],
                    class_,
                    leads,
                    surplus.sum(words) / sqrt(len(words)) if words else 0.0,
                    cash_of[cash] if cash in cash_of else self._of_cash(cash),
                    _log(links.depths[row]),
                    distance,
                    float(links.twins[row]),
                ]
            )
        return found

    def _of_pages(self, row: int, place: int) -> Yield:
        """Return the yields of the pages a link was found on: all, with its kind of address, near it, and untested. Of
        several pages, the mean counts."""
        links, yields, count = self._links, self._yields, self._links.counts[row]
        page = links.pages[0][row]
        siblings, part, untested, expected = yields.get((page, place)) or self._yield(page, place)
        near = self._beside(page, links.spots[0][row], expected) if expected else 0.0
        if count == 1:  # like most links
            return siblings, part, near, untested
        for at in range(1, count):
            page = links.pages[at][row]
            of_all, of_part, untried, expected = yields.get((page, place)) or self._yield(page, place)
            siblings += of_all
            part += of_part
            if untried > untested:
                untested = untried
            if expected:
                near += self._beside(page, links.spots[at][row], expected)
        return siblings / count, part / count, near / count, untested

    def _page(self, page: int) -> tuple[float, float, float, float]:
        """Return what the most relevant page that links to a URL says about it."""
        source = self._sources[page]
        found = self._pages[page] = (
            self._scales["parent"].of(source.relevance),
            self._surplus[source.kind],
            self._leads(source.label),
            min(source.distance, 4.0),
        )
        return found

    def _yield(self, page: int, place: int) -> Yield:
        source, part = self._sources[page], 0.0
        untested = source.luck * _log(source.waiting.get(place, 0))
        siblings, expected = self._tried.get(page) or self._try(page)
        if expected and (tally := source.places.get(place)):
            part = tally.surplus(expected)
            untested /= sqrt(1 + max(0.0, tally.tried - tally.good))
        found = self._yields[page, place] = siblings, part, untested, expected
        return found

    def _try(self, page: int) -> tuple[float, float]:
        """Return the surplus of all links of a page, and the share of good ones that is expected among them."""
        tally, rate, found = self._sources[page].tally, self._surplus.rate, (0.0, 0.0)
        if tally and tally.tried:
            found = tally.surplus(rate), rate * (tally.good + 1) / (tally.tried * rate + 1)
        self._tried[page] = found
        return found

    def _beside(self, page: int, spot: int, expected: float) -> float:
        found = self._near.get((page, spot))
        if found is None:
            found = self._near[page, spot] = self._sources[page].near(spot, expected)
        return found

    def _of_own(self, own: float) -> float:
        found = self._owns[own] = self._scales["own"].of(own)
        return found

    def _of_cash(self, cash: float) -> float:
        found = self._cash[cash] = self._scales["cash"].of(log(cash + LEAST_CASH))
        return found


def _log(number: int) -> float:
    return _LOGS[number] if number < len(_LOGS) else log(1 + number)
