"""One version of a sentence judge: what it knows about words, and what the sentences mean accordingly.

A text resembles a sentence in two ways: by TF-IDF, that is by the sentence's own words and phrases, and by the meaning
of all its words. For both, the value at which a page is as likely on topic as not was measured, which makes the
relevance a probability, as far as possible without labels.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain, pairwise, repeat
from math import exp
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lycosa.judge.bags import MOST_TIMES, Bag, term_of
from lycosa.judge.features import Floats, bounds
from lycosa.judge.vectors import LENGTH, Direction, Space, direct, pull
from lycosa.text import STEMS, Memo, words
from lycosa.types import Verdict

# Where a page is as likely on topic as not, and how steeply that changes: measured on thirteen topics of two webs.
WORDS_HALF = 0.10  # similarity by words; twice that before the first page, when all words have equal weight
MEANING_HALF = 0.42  # similarity by meaning
SLOPE = 4.0
LEAST_SHARE, LEAST_SCALE = 0.02, 0.5
SHOWN = 10
SHOWN_FROM = 5  # pages a word must be on to be shown as understood
_MOST_WORDS = 200_000
_BREAKS = re.compile(r"[^\w\s'’-]+|\b(?:and|or)\b", re.IGNORECASE)

Judged = list[tuple[str, Verdict]]  # URLs and their verdicts
Query = dict[str, float]  # term -> weight; negative: unwanted


def probability(score: float) -> float:
    """Map a score, which is 1 where a page is as likely on topic as not, to a relevance."""
    return 1 / (1 + exp(-SLOPE * (score - 1)))


def scale_of(scores: Sequence[float]) -> float:
    """Return what counts as a score of 1. Sentences differ in how many of their words one page can have: if fewer than
    one page in fifty reaches 1, the score that one in fifty reaches is enough, but never less than half."""
    if not len(scores):
        return 1.0
    return min(1.0, max(LEAST_SCALE, float(np.quantile(scores, 1 - LEAST_SHARE))))


def phrases_of(sentence: str) -> list[str]:
    """Return pairs of adjacent words, without punctuation or an `and` between them."""
    found: list[str] = []
    for part in _BREAKS.split(sentence):
        telling = [word for word in words(part) if STEMS[word]]
        found += [f"{one} {other}" for one, other in pairwise(telling)]
    return found


def query_of(sentence: str, wanted: Sequence[str] = (), unwanted: Sequence[str] = ()) -> Query:
    """Return the terms of a sentence, its phrases, and the listed terms."""
    stems = Counter(filter(None, map(STEMS.__getitem__, words(sentence))))
    query: Query = {term: float(times) for term, times in stems.items()}
    query |= dict.fromkeys(map(term_of, phrases_of(sentence)), 1.0)
    query |= dict.fromkeys(map(term_of, wanted), 1.0)
    return query | dict.fromkeys(map(term_of, unwanted), -1.0)


@dataclass
class Understanding:
    """Judges texts by their similarity to the sentences in a space."""

    number: int
    seen: int  # pages of the crawl when it was made
    space: Space
    queries: Sequence[Query]
    scale: float = 1.0
    name: str = field(init=False)
    _directions: list[Direction] = field(init=False, repr=False)
    _places: dict[str, int] = field(init=False, repr=False)
    _numbers: Memo[int] = field(init=False, repr=False)
    _phrases: list[tuple[int, list[int]]] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        space, unknown = self.space, len(self.space.terms)
        self.name = f"{'vectors' if space.has_vectors else 'words'} {self.number} ({self.seen:,} pages)"
        self._directions = [direct(space, query) for query in self.queries]
        self._half = WORDS_HALF * (1 + 1 / (1 + self.seen / 3))
        places = self._places = {term: place for place, term in enumerate(space.terms)}
        self._numbers = Memo(lambda word: places.get(stem, unknown) if (stem := STEMS[word]) else -1, _MOST_WORDS)
        asked = {term for query in self.queries for term in query if " " in term and term in places}
        split = {term: [places.get(part, unknown) for part in term.split(" ")] for term in sorted(asked)}
        self._phrases = [(places[term], parts) for term, parts in split.items() if unknown not in parts]

    def verdict(self, bag: Bag) -> Verdict:
        """Return the verdict: relevance by the best-fitting sentence; `why` has what moved its log-odds."""
        if not bag:
            return Verdict(model=self.name)
        ids, moved = self._best(bag)
        relevance = probability(float(moved.sum()))
        most = np.argsort(-np.abs(moved), kind="stable")[:SHOWN].tolist()
        why = {self.space.words[ids[at]]: SLOPE * float(moved[at]) for at in most if moved[at]}
        return Verdict(relevance, relevance >= 0.5, why=why, model=self.name)

    def score(self, bag: Bag) -> float:
        """Return how well the text fits the best-fitting sentence."""
        return float(self._best(bag)[1].sum()) if bag else 0.0

    def _best(self, bag: Bag) -> tuple[NDArray[np.intp], Floats]:
        """Return the terms, and what each adds to the score."""
        ids = np.fromiter(map(self._places.get, bag, repeat(len(self._places))), np.intp, len(bag))
        times = np.minimum(np.fromiter(bag.values(), np.float32, len(bag)), MOST_TIMES)
        parts = [self._moved(one, ids, times) for one in self._directions]
        return ids, parts[0] if len(parts) == 1 else max(parts, key=lambda moved: float(moved.sum()))

    def _moved(self, direction: Direction, ids: NDArray[np.intp], times: NDArray[Any]) -> Floats:
        by_word, by_meaning = pull(self.space, direction, ids, times)
        own, other = self._scales(direction)
        return own * by_word + other * by_meaning

    def _scales(self, direction: Direction) -> tuple[float, float]:
        """Return the weights of similarity by words and similarity by meaning."""
        return (1 - direction.share) / self._half / self.scale, direction.share / MEANING_HALF / self.scale

    def relevances(self, many: Sequence[Sequence[str]]) -> list[float]:
        """Return the relevance of several short texts: all links of a page at once."""
        keys = self._keys(many)
        found = [0.0] * len(many)
        if not keys.size:
            return found
        size = len(self.space.idf)
        ends = bounds(keys)
        keys, times = keys[ends[:-1]], np.diff(ends)
        rows, ids = keys // size, keys % size
        firsts = bounds(rows)[:-1]
        scores = np.max([self._scores(one, ids, times, firsts) for one in self._directions], axis=0)
        for row, score in zip(rows[firsts].tolist(), scores.tolist(), strict=True):
            found[row] = probability(score)
        return found

    def _keys(self, many: Sequence[Sequence[str]]) -> NDArray[np.int64]:
        """Return row and term as one number, sorted, once for each mention."""
        numbers = np.array([*map(self._numbers.__getitem__, chain.from_iterable(many))], np.int64)
        rows = np.arange(len(many)).repeat([*map(len, many)])
        known = numbers >= 0
        numbers, rows = numbers[known], rows[known]
        size = len(self.space.idf)
        keys = [rows * size + numbers]
        for place, parts in self._phrases:
            length = len(numbers) - len(parts) + 1
            if length <= 0:
                continue
            hits = rows[:length] == rows[len(parts) - 1 :]
            for at, part in enumerate(parts):
                hits &= numbers[at : at + length] == part
            keys.append(rows[:length][hits] * size + place)
        return np.sort(np.concatenate(keys))

    def _scores(
        self, direction: Direction, ids: NDArray[np.int64], times: NDArray[np.int64], firsts: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        space, (own, other) = self.space, self._scales(direction)
        tf = 1 + np.log(times)
        tf_idf = tf * space.idf[ids]
        length = (1 - LENGTH) * space.length + LENGTH * np.sqrt(np.add.reduceat(tf_idf * tf_idf, firsts))
        score = own * np.add.reduceat(tf_idf * direction.plain[ids], firsts) / length
        if other:
            strength = (space.weights[ids] * tf).astype(np.float32)
            centre = np.add.reduceat(strength[:, None] * space.vectors[ids], firsts, axis=0)
            centre -= np.add.reduceat(strength, firsts)[:, None] * space.mean
            length = np.sqrt((centre * centre).sum(axis=1))
            score += other * np.add.reduceat(strength * direction.along[ids], firsts) / np.maximum(length, 1e-9)
        return score

    def nearest(self, top: int) -> list[tuple[str, float]]:
        """Return the words nearest in meaning to the sentences, without their own; common words are ranked lower."""
        space = self.space
        if not space.has_vectors:
            return []
        moved = space.vectors[:-1] - space.mean
        length = np.maximum(np.sqrt((moved * moved).sum(axis=1)), 1e-9)
        cosines = np.max([moved @ one.pointing for one in self._directions], axis=0) / length
        own = {term for query in self.queries for term in query}
        order = np.argsort(-cosines * space.weights[:-1] * (space.df[:-1] >= SHOWN_FROM), kind="stable").tolist()
        known = [place for place in order[: top + len(own)] if space.terms[place] not in own]
        return [(space.words[place], float(cosines[place])) for place in known[:top] if cosines[place] > 0]

    def weights(self) -> dict[str, float]:
        """Return the weights of the sentences' terms, rare ones higher; 0 if no page has the term, once there are
        pages."""
        asked = {term: weight for query in self.queries for term, weight in query.items()}
        places = {term: self._places[term] for term in asked}
        seen = (self.space.df > 0) | (self.seen == 0)
        return {
            term: weight * float(self.space.idf[places[term]] * seen[places[term]]) for term, weight in asked.items()
        }
