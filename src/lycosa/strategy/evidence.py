"""The evidence for a link as a feature vector: one number for each kind of evidence, in the order of PRIOR.

Links are processed in batches, so that what is known about a page and the yield of its links is computed only once.
"""

from collections.abc import Callable, Iterable, Mapping
from math import log, sqrt

from lycosa.strategy.link_features import Scale, Surpluses
from lycosa.strategy.memory import Memory
from lycosa.strategy.sources import Source

AREA = 0.3  # smoothing, in pages: an area is so small a part of a host that a few failures are enough
LEAST_CASH = 1e-12
_LOGS = [log(1 + number) for number in range(256)]


class Gathering:
    """The evidence for a set of links at one moment; nothing may be learned while it is in use."""

    def __init__(
        self, memory: Memory, surplus: Surpluses, scales: Mapping[str, Scale], leads: Callable[[str], float]
    ) -> None:
        self._links, self._sources = memory.links, memory.sources
        self._surplus, self._scales, self._leads = surplus, scales, leads
        self._pages: dict[int, tuple[float, float, float, float]] = {}
        self._near: dict[tuple[int, int], float] = {}  # by page and spot

    def of(self, rows: Iterable[int]) -> list[list[float]]:
        """Return one number for each kind of evidence; 0 where nothing is known."""
        links, surplus, pages = self._links, self._surplus, self._pages
        in_context, in_own, in_cash = (self._scales[name].of for name in ("context", "own", "cash"))
        surplus_of, tallies, curiosity = surplus.__getitem__, surplus.tallies, surplus.curiosity
        found: list[list[float]] = []
        for row in rows:
            place, best, context, own = links.places[row], links.best[row], links.contexts[row], links.owns[row]
            parent, kind, leads, distance = pages.get(best) or self._page(best)
            siblings, part, near, untested = self._yield(row, place)
            area, words = tallies.get(links.areas[row]), links.words(row)
            found.append(
                [
                    parent,
                    in_context(context) if context >= 0 else 0.0,
                    in_own(own) if own >= 0 else 0.0,
                    links.elsewheres[row],
                    links.values[row],
                    siblings,
                    part,
                    near,
                    untested * curiosity,
                    surplus_of(place),
                    min(0.0, area.surplus(surplus.rate, AREA)) if area else 0.0,
                    surplus_of(links.hosts[row]),
                    kind,
                    leads,
                    sum(map(surplus_of, words)) / sqrt(len(words) or 1),
                    in_cash(log(links.cash[row] + LEAST_CASH)),
                    _log(links.depths[row]),
                    distance,
                    float(links.twins[row]),
                ]
            )
        return found

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

    def _yield(self, row: int, place: int) -> tuple[float, float, float, float]:
        """Return the yield of the link's siblings, of siblings with the same kind of address and of siblings near it,
        and how much there is to learn from trying it."""
        links, rate, siblings, part, near, untested = self._links, self._surplus.rate, 0.0, 0.0, 0.0, 0.0
        count = links.counts[row]
        for at in range(count):
            source = self._sources[links.pages[at][row]]
            untried = source.luck * _log(source.waiting.get(place, 0))
            if (all_ := source.tally) and all_.tried:
                siblings += all_.surplus(rate)
                expected = rate * (all_.good + 1) / (all_.tried * rate + 1)
                near += self._beside(source, links.spots[at][row], expected)
                if tally := source.places.get(place):
                    part += tally.surplus(expected)
                    untried /= sqrt(1 + max(0.0, tally.tried - tally.good))
            if untried > untested:
                untested = untried
        return siblings / count, part / count, near / count, untested

    def _beside(self, source: Source, spot: int, expected: float) -> float:
        key = source.number, spot
        found = self._near.get(key)
        if found is None:
            found = self._near[key] = source.near(spot, expected)
        return found


def _log(number: int) -> float:
    return _LOGS[number] if number < len(_LOGS) else log(1 + number)
