"""The evidence for a link as a feature vector: one number for each kind of evidence, in the order of PRIOR.

Links are processed in batches, so that what is known about a page and the yield of its links is computed only once.
"""

from collections.abc import Callable, Iterable, Mapping
from math import log, sqrt
from typing import NamedTuple

from lycosa.strategy.link_features import PRIOR, Scale, Surpluses
from lycosa.strategy.memory import Memory

AREA = 0.3  # smoothing, in pages: an area is so small a part of a host that a few failures are enough
LEAST_CASH = 1e-12
_AT = {name: at for at, name in enumerate(PRIOR)}
_PARENT, _CLASS, _LEADS, _DISTANCE = (_AT[name] for name in ("parent", "class", "leads", "distance"))
_SIBLINGS, _PART, _NEAR, _UNTESTED = (_AT[name] for name in ("siblings", "part", "near", "untested"))
_PLACE, _HOST, _AREA, _WORDS = (_AT[name] for name in ("place", "host", "area", "words"))
_CONTEXT, _OWN, _ELSEWHERE, _VALUE = (_AT[name] for name in ("context", "own", "elsewhere", "value"))
_CASH, _DEPTH, _TWIN = (_AT[name] for name in ("cash", "depth", "twin"))
_LOGS = [log(1 + number) for number in range(256)]


class Yield(NamedTuple):
    """What the links of a page have brought so far, as far as it matters for those with one kind of address."""

    siblings: float  # surplus of all of them
    part: float  # of those with this kind of address
    untested: float  # how much there is to learn from trying one
    expected: float  # share of good ones among all of them; 0 if none was tried


class Gathering:
    """The evidence for a set of links at one moment; nothing may be learned while it is in use."""

    def __init__(
        self, memory: Memory, surplus: Surpluses, scales: Mapping[str, Scale], leads: Callable[[str], float]
    ) -> None:
        self._links, self._sources = memory.links, memory.sources
        self._surplus, self._scales, self._leads = surplus, scales, leads
        self._pages: dict[int, tuple[float, float, float, float]] = {}
        self._yields: dict[tuple[int, int], Yield] = {}  # by page and kind of address
        self._shared: dict[tuple[int, int], list[float]] = {}  # likewise, of links found on this page only
        self._near: dict[tuple[int, int], float] = {}  # by page and spot
        self._cash: dict[float, float] = {}

    def of(self, rows: Iterable[int]) -> list[list[float]]:
        """Return one number for each kind of evidence; 0 where nothing is known."""
        links, surplus, shared, cash_of = self._links, self._surplus, self._shared, self._cash
        in_context, in_own = self._scales["context"].of, self._scales["own"].of
        surplus_of, tallies = surplus.__getitem__, surplus.tallies
        found: list[list[float]] = []
        for row in rows:
            place, context, own, cash = links.places[row], links.contexts[row], links.owns[row], links.cash[row]
            if links.counts[row] == 1:  # like most links: what those of one page share is computed once
                page = links.best[row]
                one = (shared.get((page, place)) or self._of_page(row, page, place)).copy()
                if one[_NEAR]:
                    one[_NEAR] = self._beside(page, links.spots[0][row], one[_NEAR])
            else:
                one = self._of_pages(row, place)
            if context >= 0:
                one[_CONTEXT] = in_context(context)
            if own >= 0:
                one[_OWN] = in_own(own)
            one[_ELSEWHERE], one[_VALUE] = links.elsewheres[row], links.values[row]
            if area := tallies.get(links.areas[row]):
                one[_AREA] = min(0.0, area.surplus(surplus.rate, AREA))
            words = links.words(row)
            one[_WORDS] = sum(map(surplus_of, words)) / sqrt(len(words) or 1)
            one[_CASH] = cash_of[cash] if cash in cash_of else self._standard(cash)
            one[_DEPTH], one[_TWIN] = _log(links.depths[row]), float(links.twins[row])
            found.append(one)
        return found

    def _of_page(self, row: int, page: int, place: int) -> list[float]:
        """Return what is the same for all links of an address of this kind that were found on this page only; in place
        of `near`, the yield that is expected of its links."""
        siblings, part, untested, expected = self._yield(page, place)
        one = self._shared[page, place] = self._spread(row, page, place, (siblings, part, expected, untested))
        return one

    def _of_pages(self, row: int, place: int) -> list[float]:
        """Return what a link found on several pages has from them: the mean of their yields."""
        links, yields, siblings, part, near, untested = self._links, self._yields, 0.0, 0.0, 0.0, 0.0
        pages, spots, count = links.pages, links.spots, links.counts[row]
        for at in range(count):
            page = pages[at][row]
            of_all, of_part, untried, expected = yields.get((page, place)) or self._yield(page, place)
            siblings += of_all
            part += of_part
            if untried > untested:
                untested = untried
            if expected:
                near += self._beside(page, spots[at][row], expected)
        return self._spread(row, links.best[row], place, (siblings / count, part / count, near / count, untested))

    def _spread(self, row: int, best: int, place: int, yields: tuple[float, float, float, float]) -> list[float]:
        """Return the evidence as far as it follows from a link's pages, host and kind of address."""
        surplus, one = self._surplus, [0.0] * len(PRIOR)
        one[_PARENT], one[_CLASS], one[_LEADS], one[_DISTANCE] = self._pages.get(best) or self._page(best)
        one[_SIBLINGS], one[_PART], one[_NEAR], untested = yields
        one[_UNTESTED] = untested * surplus.curiosity
        one[_PLACE], one[_HOST] = surplus[place], surplus[self._links.hosts[row]]
        return one

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

    def _yield(self, page: int, place: int) -> "Yield":
        source, rate, siblings, part, expected = self._sources[page], self._surplus.rate, 0.0, 0.0, 0.0
        untested = source.luck * _log(source.waiting.get(place, 0))
        if (all_ := source.tally) and all_.tried:
            siblings = all_.surplus(rate)
            expected = rate * (all_.good + 1) / (all_.tried * rate + 1)
            if tally := source.places.get(place):
                part = tally.surplus(expected)
                untested /= sqrt(1 + max(0.0, tally.tried - tally.good))
        found = self._yields[page, place] = Yield(siblings, part, untested, expected)
        return found

    def _beside(self, page: int, spot: int, expected: float) -> float:
        found = self._near.get((page, spot))
        if found is None:
            found = self._near[page, spot] = self._sources[page].near(spot, expected)
        return found

    def _standard(self, cash: float) -> float:
        found = self._cash[cash] = self._scales["cash"].of(log(cash + LEAST_CASH))
        return found


def _log(number: int) -> float:
    return _LOGS[number] if number < len(_LOGS) else log(1 + number)
