"""A topic is known by the company its words keep: which other words stand on pages that are full of the topic's own?

A naive Bayes model over the words of two kinds of pages, strong and weak in the topic's words. Its size is fixed: a
word counts in one of 4,096 places by its hash, so that a crawl of any length saves a few kilobytes.
"""

from base64 import b64decode, b64encode
from collections.abc import Callable, Collection, Sequence
from math import log, sqrt
from typing import Any
from zlib import compress, crc32, decompress

import numpy as np
from numpy.typing import NDArray

from lycosa.text import STEMS, Memo

PLACES = 4_096
LEAST_PAGES = 3  # of each kind, before it says anything
LEAST_SEEN = 2  # a word on fewer pages says nothing
MOST_WORDS = 500  # of a page that are looked at, evenly over its text
MOST_PAGES = 10_000  # then the oldest half is forgotten; no count outgrows 16 bits

_LOGS = np.log(np.arange(1, MOST_PAGES + 2))  # of a count and one

Places = NDArray[np.intp]


class Company:
    """Counts on how many strong and weak pages each word stood; the topic's own words are left out."""

    def __init__(self, own: Collection[str] = ()) -> None:
        self._place = Memo(_placing(frozenset(own))).__getitem__
        self.pages = [0, 0]  # weak, strong
        self.counts = np.zeros((2, PLACES), np.uint16)
        self._told = np.zeros((2, PLACES))  # of each place: is anything known, and the log of strong by weak pages

    def places(self, words: Sequence[str]) -> Places:
        """Where the words of a page are counted; of a long page not all are looked at."""
        found = set(map(self._place, words[:: len(words) // MOST_WORDS + 1]))
        found.discard(-1)
        places = np.fromiter(found, np.intp, len(found))
        places.sort()  # the last digit of a sum must not depend on the order of a set
        return places

    def add(self, places: Places, strong: bool) -> None:
        self.counts[int(strong), places] += 1
        self.pages[strong] += 1
        if sum(self.pages) < MOST_PAGES:
            self._tell(places)
            return
        self.counts //= 2
        self.pages = [number // 2 for number in self.pages]
        self._tell(slice(None))

    def of(self, places: Places) -> float | None:
        """How much the words of a page are those of strong pages: log odds by the root of their number, since words
        that come together do not count one by one. None where nothing can be said."""
        if min(self.pages) < LEAST_PAGES:
            return None
        number, odds = map(float, self._told[:, places].sum(axis=1))
        if not number:
            return None
        prior = log((self.pages[0] + 2) / (self.pages[1] + 2))
        return round((odds + number * prior) / sqrt(number), 3)

    def _tell(self, places: Places | slice) -> None:
        weak, strong = self.counts[:, places]
        known = weak + strong >= LEAST_SEEN
        self._told[0, places] = known
        self._told[1, places] = (_LOGS[strong] - _LOGS[weak]) * known

    def save(self) -> dict[str, Any]:
        counts = compress(self.counts.astype("<u2").tobytes(), 1)
        return {"pages": self.pages[:], "counts": b64encode(counts).decode()}

    def load(self, state: dict[str, Any]) -> None:
        self.pages = list(state["pages"])
        counts = np.frombuffer(decompress(b64decode(state["counts"])), "<u2")
        self.counts = counts.astype(np.uint16).reshape(2, PLACES)
        self._tell(slice(None))


def _placing(own: frozenset[str]) -> Callable[[str], int]:
    def place(word: str) -> int:
        stem = STEMS[word]
        return -1 if not stem or stem in own else crc32(stem.encode()) % PLACES

    return place
