"""Choose the pages a person should label: half the most uncertain, a quarter the best, a quarter at random.

The random ones are sampled first, from the pages called relevant, so that the sample is unbiased: the share of them
that the person confirms estimates the precision of the crawl.
"""

import heapq
import random
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import NamedTuple

from lycosa.judge.correction import boundary
from lycosa.store.labels import Judged, simhashes

NEAR_BITS = 3  # near duplicates differ in at most this many bits
_FIRST = 200  # pages sorted before the others
_ALL_BITS = (1 << 64) - 1


class Question(NamedTuple):
    """A page to ask about, and why this one."""

    page: Judged
    chosen: str


def choose(pages: Sequence[Judged], labelled: Collection[str], count: int, seed: int = 0) -> list[Question]:
    """Return at most `count` unlabelled pages, none a near duplicate of another or of a labelled page."""
    left = [page for page in pages if page.url not in labelled]
    asked = _Asked(simhashes(pages, labelled))
    middle = _line(pages)
    drawn = asked.take(_shuffled([page for page in left if page.on_topic], random.Random(seed)), count // 4)
    best = asked.take(_ordered(left, lambda page: -page.relevance), count // 4)
    uncertain = asked.take(_ordered(left, lambda page: abs(page.relevance - middle)), count - len(drawn) - len(best))
    return [*_mixed(uncertain, best, drawn)]


def _shuffled(pages: list[Judged], chance: random.Random) -> Iterator[Judged]:
    """In random order. Only a few are taken, of perhaps a hundred thousand, so the rest is not shuffled."""
    for place in range(len(pages)):
        other = chance.randrange(place, len(pages))
        pages[place], pages[other] = pages[other], pages[place]
        yield pages[place]


def _ordered(pages: Sequence[Judged], key: Callable[[Judged], float]) -> Iterator[Judged]:
    """The smallest first; the rest is sorted only if the first ones do not suffice."""
    first = heapq.nsmallest(_FIRST, pages, key)
    yield from first
    if len(first) == _FIRST:
        yield from sorted(pages, key=key)[_FIRST:]


def _line(pages: Sequence[Judged]) -> float:
    """Return the relevance that separates pages on topic from the others."""
    least = min((page.relevance for page in pages if page.on_topic), default=1.0)
    return boundary(least, max((page.relevance for page in pages if not page.on_topic), default=0.0))


class _Asked:
    """Picks pages, skipping near duplicates of earlier ones."""

    def __init__(self, before: Sequence[int]) -> None:
        self._hashes = list(before)
        self._urls: set[str] = set()

    def take(self, pages: Iterable[Judged], number: int) -> list[Judged]:
        taken: list[Judged] = []
        for page in pages:
            if len(taken) >= number:
                break
            if page.url in self._urls or self._is_near(page.simhash):
                continue
            taken.append(page)
            self._urls.add(page.url)
            self._hashes += [page.simhash] if page.simhash else []
        return taken

    def _is_near(self, simhash: int) -> bool:
        """A page without words has no simhash; the database stores them as signed integers."""
        return bool(simhash) and any(((simhash ^ one) & _ALL_BITS).bit_count() <= NEAR_BITS for one in self._hashes)


def _mixed(uncertain: Sequence[Judged], best: Sequence[Judged], drawn: Sequence[Judged]) -> Iterator[Question]:
    """Interleave the kinds, so that whoever stops early has answered some of each."""
    for first, second, third, fourth in zip_longest(uncertain[::2], best, uncertain[1::2], drawn):
        for page, chosen in ((first, "uncertain"), (second, "best"), (third, "uncertain"), (fourth, "random")):
            if page:
                yield Question(page, chosen)
