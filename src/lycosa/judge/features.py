"""What a trained judge sees of a page: its words, and again those of its title, its start and its URL.

A word counts more where it stands out: on 4,000 university pages, split by university, the three additional fields
raised the ROC AUC of logistic regression from 0.967 to 0.982. The host is left out: a judge that learned hosts would
recognise only the ones in its training data.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Annotated, Literal

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from lycosa.text import STEMS, Memo, words
from lycosa.types import Page
from lycosa.url_words import path_of, words_of

Fields = dict[Literal["title", "start", "url"], Annotated[int, Meta(ge=0)]]
FIELDS: Fields = {"title": 3, "start": 1, "url": 3}  # weight of a word as a term of that field
START_WORDS = 30

Floats = NDArray[np.float32]
Ids = NDArray[np.int32]
Integers = NDArray[np.int64]
_MOST_WORDS = 500_000  # hostile pages must not grow the tables without bound


def url_words(url: str) -> list[str]:
    """Return the words of a web page's path and query, with `~` as a word: it marks a person's pages."""
    return words_of(path_of(url)) if url[:4].lower() == "http" else []


def count(page: Page, fields: Fields) -> Counter[str]:
    """Count the terms of a page. A term is a stem or, with a prefix, a stem in a certain field."""
    title = list(map(STEMS.__getitem__, words(page.title)))
    found = Counter(map(STEMS.__getitem__, page.words))
    found.update(title)
    del found[""]
    places: dict[str, Iterable[str]] = {
        "title": filter(None, title),
        "start": filter(None, map(STEMS.__getitem__, page.words[:START_WORDS])),
        "url": url_words(page.url),
    }
    for name, weight in fields.items():
        found.update([f"{name}:{term}" for term in places[name]] * weight)
    return found


def bounds(ordered: Integers) -> Integers:
    """Return where each run of equal numbers begins, and where the last one ends. Faster than `np.unique` and `np.diff`
    on arrays as small as the words of a page's links: it takes a quarter off `read_few`."""
    changes = np.ones(len(ordered) + 1, np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=changes[1:-1])
    return np.flatnonzero(changes)


@dataclass
class Features:
    """Maps a page to the numbers and weights of the terms selected in training."""

    terms: Sequence[str]
    idf: Floats
    fields: Fields
    plain: bool = False  # use raw counts as weights
    _text: Memo[int] = field(init=False, repr=False)
    _title: Memo[int] = field(init=False, repr=False)
    _start: Memo[int] = field(init=False, repr=False)
    _url: Memo[int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        numbers = {term: number for number, term in enumerate(self.terms)}
        unknown = len(self.terms)
        self._text = Memo(lambda word: numbers.get(STEMS[word], unknown), _MOST_WORDS)
        self._title = Memo(lambda word: numbers.get(f"title:{STEMS[word]}", unknown), _MOST_WORDS)
        self._start = Memo(lambda word: numbers.get(f"start:{STEMS[word]}", unknown), _MOST_WORDS)
        self._url = Memo(lambda word: numbers.get(f"url:{word}", unknown), _MOST_WORDS)

    def read(self, page: Page) -> tuple[Ids, Floats]:
        """Return the terms of a page and their weights, the same as from `count` and `weigh`, only faster."""
        title, weights = words(page.title), self.fields
        found = list(map(self._text.__getitem__, page.words))
        found += map(self._text.__getitem__, title)
        found += list(map(self._title.__getitem__, title)) * weights.get("title", 0)
        found += list(map(self._start.__getitem__, page.words[:START_WORDS])) * weights.get("start", 0)
        found += list(map(self._url.__getitem__, url_words(page.url))) * weights.get("url", 0)
        ids, counts = np.unique(np.array(found, np.int32), return_counts=True)
        if ids.size and ids[-1] == len(self.terms):
            ids, counts = ids[:-1], counts[:-1]
        return ids, self.weigh(ids, counts)

    def counts_of(self, many: Sequence[Sequence[str]]) -> tuple[Integers, Integers, NDArray[np.float64]]:
        """Count the known terms in several short texts: row, term number, times. With raw counts as weights, a term may
        occur more than once in a row."""
        size = len(self.terms)
        numbers = np.array([*map(self._text.__getitem__, chain.from_iterable(many))], np.int64)
        rows = np.arange(len(many)).repeat([*map(len, many)])
        keys = (rows * size + numbers)[numbers != size]
        if self.plain:  # each occurrence adds the same
            return keys // size, keys % size, np.ones(len(keys))
        keys.sort()
        ends = bounds(keys)
        keys, times = keys[ends[:-1]], ends[1:] - ends[:-1]
        return keys // size, keys % size, times.astype(np.float64)

    def read_few(self, few: Sequence[str]) -> tuple[Ids, Floats]:
        """Like `read`, for a short text."""
        _, ids, times = self.counts_of([few])
        return ids.astype(np.int32), self.weigh(ids.astype(np.int32), times.astype(np.int32))

    def weigh(self, ids: Ids, counts: NDArray[np.integer]) -> Floats:
        """Return TF-IDF weights: log counts, rare terms higher, normalised for page length."""
        if self.plain:
            return counts.astype(np.float32)
        values: Floats = np.log(counts, dtype=np.float32)
        values += 1
        values *= self.idf[ids]
        length = np.sqrt(values @ values)
        if length:
            values /= length
        return values
