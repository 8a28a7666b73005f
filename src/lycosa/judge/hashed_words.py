"""The words of a page as numbers of a fixed range: their stems, hashed into 4,096 places.

So a model of words has a fixed size, however long the crawl. What calibrates `keywords` and what labels teach use the
same places, and each page is hashed once for both.
"""

from collections.abc import Callable, Mapping, Sequence
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from lycosa.text import Memo, stem

PLACES = 4_096
MOST_WORDS = 500  # per page, sampled evenly over its text

Places = NDArray[np.uint16]


def hashed(stemmed: str) -> int:
    return crc32(stemmed.encode()) % PLACES


def _place(word: str) -> int:
    found = stem(word)  # not remembered twice
    return hashed(found) if found else -1


place_of: Callable[[str], int] = Memo(_place).__getitem__  # -1 for a word that says nothing


class _Last:
    """The latest page: a page is learned from right after it was judged."""

    words: Sequence[str] = ()
    found: Mapping[int, None] = {}
    places: Places = np.zeros(0, np.uint16)


def places_of(words: Sequence[str], title: Sequence[str] = ()) -> Places:
    """Return the places of the words of a page, each once, in the order of the text, since the last digit of a sum
    depends on it; a long page is sampled."""
    if _Last.words is not words:
        found = dict.fromkeys(map(place_of, words[:: len(words) // MOST_WORDS + 1]))
        found.pop(-1, None)
        _Last.words, _Last.found, _Last.places = words, found, np.fromiter(found, np.uint16, len(found))
    more = [place for place in dict.fromkeys(map(place_of, title)) if place not in _Last.found and place >= 0]
    return np.concatenate([_Last.places, np.array(more, np.uint16)]) if more else _Last.places
