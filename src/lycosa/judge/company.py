"""A topic is known by the company its words keep: the other words on pages full of the topic's own words.

A naive Bayes model over the words of two kinds of pages, strong and weak in the topic's words. Its size is fixed: words
are hashed into 4,096 places, so that a crawl of any length saves only a few kilobytes.
"""

from base64 import b64decode, b64encode
from collections.abc import Collection
from math import log, sqrt
from typing import Any
from zlib import compress, decompress

import numpy as np

from lycosa.judge.hashed_words import PLACES, Places, hashed

LEAST_PAGES = 3  # of each kind before it returns anything
LEAST_SEEN = 2  # words on fewer pages are ignored
MOST_PAGES = 10_000  # above this, counts are halved; no count exceeds 16 bits

_LOGS = np.log(np.arange(1, MOST_PAGES + 2))  # log of a count plus one


class Company:
    """Counts on how many strong and weak pages each word occurs; the topic's own words say nothing."""

    def __init__(self, own: Collection[str] = ()) -> None:
        """`own`: the stems of the topic's words."""
        self._own = np.array(sorted(map(hashed, own)), np.uint16)
        self.pages = [0, 0]  # weak, strong
        self.counts = np.zeros((2, PLACES), np.uint16)
        self._told = np.zeros((2, PLACES))  # per place: is anything known, and log(strong / weak)

    def add(self, places: Places, strong: bool) -> None:
        self.counts[int(strong)][places] += 1
        self.pages[strong] += 1
        if sum(self.pages) < MOST_PAGES:
            self._tell(places)
            return
        self.counts //= 2
        self.pages = [number // 2 for number in self.pages]
        self._tell(slice(None))

    def of(self, places: Places) -> float | None:
        """Return how much the words of a page resemble those of strong pages: log odds divided by the square root of
        their number, since co-occurring words are not independent. None if nothing is known."""
        if min(self.pages) < LEAST_PAGES:
            return None
        number, odds = map(float, self._told.take(places, axis=1).sum(axis=1))
        if not number:
            return None
        prior = log((self.pages[0] + 2) / (self.pages[1] + 2))
        return round((odds + number * prior) / sqrt(number), 3)

    def _tell(self, places: Places | slice) -> None:
        weak, strong = self.counts[0][places], self.counts[1][places]
        known = weak + strong >= LEAST_SEEN
        self._told[0, places] = known
        self._told[1, places] = (_LOGS[strong] - _LOGS[weak]) * known
        self._told[:, self._own] = 0.0

    def save(self) -> dict[str, Any]:
        counts = compress(self.counts.astype("<u2").tobytes(), 1)
        return {"pages": self.pages[:], "counts": b64encode(counts).decode()}

    def load(self, state: dict[str, Any]) -> None:
        self.pages = list(state["pages"])
        counts = np.frombuffer(decompress(b64decode(state["counts"])), "<u2")
        self.counts = counts.astype(np.uint16).reshape(2, PLACES)
        self._tell(slice(None))
