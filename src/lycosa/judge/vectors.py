"""Word meanings learned from the pages of the crawl alone: words used on the same pages are close.

A page is a row of TF-IDF weights, and the word vectors are the right singular vectors of all rows (latent semantic
analysis). Pages are made dense in blocks, so that numpy alone is enough, in bounded memory and mostly outside the GIL.
A text is the weighted mean of its words, rare words higher (a / (a + frequency)), minus the mean of the pages off
topic.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from msgspec import Struct, msgpack
from numpy.typing import NDArray

from lycosa.judge.features import Floats
from lycosa.judge.sparse import Rows

DIMENSIONS = 100  # upper bound; fewer with few pages or words, or each word would mean only itself
LEAST_PAGES = 3  # that a word must be on to have a vector
MOST_WORDS = 8_000  # vocabulary: the words on most pages
RARE = 1e-3  # a word of this frequency has half the weight of the rarest
LENGTH = 0.5  # 1: a long page needs proportionally more mentions (cosine); 0: no more than a short one
TYPICAL = 15.0  # length of a page's weights before the first page is seen
TRUSTED_PAGES, TRUSTED_MENTIONS = 2_000, 20  # pages, and pages with a word, at which meaning counts half
_BLOCK = 512  # pages made dense at a time
_ROUNDS = 4  # of the subspace iteration
_SPARE = 10  # extra dimensions computed and discarded: the last ones are least accurate
_TINY = 1e-9


class Space(Struct, frozen=True):
    """The known terms and their meanings. It has one more entry than terms, for all unknown ones."""

    pages: int
    length: float  # mean length of the weights of a page
    terms: list[str]
    words: list[str]  # the terms as a person reads them
    df: Floats  # pages that have the term
    idf: Floats
    weights: Floats  # a / (a + frequency)
    vectors: Floats  # no columns if nothing has been learned yet
    mean: Floats

    @property
    def has_vectors(self) -> bool:
        return bool(self.vectors.shape[1])

    def pack(self) -> bytes:
        vectors = self.vectors.astype(np.float16)
        arrays: list[NDArray[Any]] = [self.df, self.idf, self.weights, vectors, self.mean]
        packed = [(array.shape, array.astype(array.dtype.newbyteorder("<")).tobytes()) for array in arrays]
        return msgpack.encode((self.pages, self.length, "\n".join(self.terms), "\n".join(self.words), packed))

    @classmethod
    def unpack(cls, packed: bytes) -> "Space":
        pages, length, terms, words, arrays = msgpack.decode(packed, type=_Packed)
        types = ("<f4", "<f4", "<f4", "<f2", "<f4")
        found = [
            np.frombuffer(data, kind).reshape(shape).astype(np.float32)
            for (shape, data), kind in zip(arrays, types, strict=True)
        ]
        return cls(pages, length, terms.split("\n") if terms else [], words.split("\n") if words else [], *found)


_Packed = tuple[int, float, str, str, list[tuple[list[int], bytes]]]


def learn(
    rows: Rows,
    terms: list[str],
    words: list[str],
    asked: Mapping[str, str],
    off_topic: NDArray[np.bool_],
    meaning: bool,
) -> Space:
    """Learn the space of some pages, with vectors if there are enough pages for a `meaning`.

    Terms in `asked`, given with their spelling, are always included. Rarity and the mean page are learned from pages
    off topic: in a successful crawl, the topic's words are common.
    """
    new = sorted({*asked}.difference(terms))
    terms, words = [*terms, *new], [*words, *map(asked.__getitem__, new)]
    rows = Rows(rows.starts, rows.columns, rows.values, len(terms))
    chosen = _choose(rows, [place for place, term in enumerate(terms) if term in asked], meaning)
    rows, others = rows.keep(chosen), int(off_topic.sum())
    df = np.bincount(rows.columns, minlength=rows.width)
    frequency = rows.sums() / max(rows.values.sum(), 1)
    weights = np.append(np.where(df, RARE / (RARE + frequency), 0), 0)
    elsewhere = np.bincount(rows.columns[off_topic[rows.row_numbers()]], minlength=rows.width)
    idf = np.log((others + 1) / (np.append(elsewhere, 0) + 1)) + 1
    vectors = _vectors(rows, np.where(df < LEAST_PAGES, 0, idf[:-1] - 1)) if meaning else np.zeros((rows.width, 0))
    vectors = np.vstack([vectors, np.zeros((1, vectors.shape[1]))]).astype(np.float32)
    means = _means(rows, weights, vectors)
    mean = means[off_topic].mean(axis=0) if others else means.sum(axis=0)
    lengths = _lengths(rows, idf[:-1])[1]
    length = float(lengths.mean()) if len(rows) else TYPICAL
    return Space(
        len(rows),
        length,
        [terms[place] for place in chosen.tolist()],
        [words[place] for place in chosen.tolist()],
        np.append(df, 0).astype(np.float32),
        idf.astype(np.float32),
        weights.astype(np.float32),
        vectors,
        mean.astype(np.float32),
    )


def _choose(rows: Rows, asked: list[int], meaning: bool) -> NDArray[np.intp]:
    """Select the terms on most pages, and those asked for."""
    df = np.bincount(rows.columns, minlength=rows.width)
    rank = np.where(df >= (LEAST_PAGES if meaning else 1), df, 0)
    rank[asked] = len(rows) + 1
    return np.sort(np.argsort(-rank, kind="stable")[: min(MOST_WORDS, np.count_nonzero(rank))])


def _lengths(rows: Rows, idf: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the TF-IDF weight of each entry, and the length of each page."""
    values = (1 + np.log(rows.values)) * idf[rows.columns]
    return values, np.sqrt(np.bincount(rows.row_numbers(), values * values, len(rows)))


def _vectors(rows: Rows, idf: NDArray[np.float64]) -> Floats:
    """Return the strongest directions of the pages, scaled by the square root of their strength, rounded as stored."""
    values, lengths = _lengths(rows, idf)
    values /= np.maximum(lengths, _TINY)[rows.row_numbers()]
    weighted = Rows(rows.starts, rows.columns, values.astype(np.float32), rows.width)
    dimensions = max(2, min(DIMENSIONS, len(rows) // 10, rows.width // 4))
    size = min(dimensions + _SPARE, rows.width)
    basis = np.random.default_rng(0).standard_normal((rows.width, size)).astype(np.float32)
    for _ in range(_ROUNDS):
        basis = np.linalg.qr(_squared(weighted, basis))[0].astype(np.float32)
    strength, turn = np.linalg.eigh(basis.T @ _squared(weighted, basis))
    best = np.argsort(-strength)[:dimensions]
    found = (basis @ turn[:, best]) * np.sqrt(np.maximum(strength[best], 0))
    rounded: Floats = found.astype(np.float16).astype(np.float32)
    return rounded


def _squared(rows: Rows, basis: Floats) -> Floats:
    """Return the transposed matrix times the matrix times the basis."""
    total = np.zeros_like(basis)
    for block in _blocks(rows):
        total += block.T @ (block @ basis)
    return total


def _means(rows: Rows, weights: NDArray[np.float64], vectors: Floats) -> Floats:
    """Return each page as the weighted mean of its words."""
    values = weights[rows.columns] * (1 + np.log(rows.values))
    blocks = _blocks(Rows(rows.starts, rows.columns, values.astype(np.float32), rows.width))
    found = [(block @ vectors[:-1]) / np.maximum(block.sum(axis=1, keepdims=True), _TINY) for block in blocks]
    return np.vstack(found) if found else np.zeros((0, vectors.shape[1]), np.float32)


def _blocks(rows: Rows) -> Iterator[Floats]:
    """Yield the matrix in dense blocks."""
    for first in range(0, len(rows), _BLOCK):
        last = min(first + _BLOCK, len(rows))
        start, end = rows.starts[first], rows.starts[last]
        block = np.zeros((last - first, rows.width), np.float32)
        numbers = np.repeat(np.arange(last - first), np.diff(rows.starts[first : last + 1]))
        block[numbers, rows.columns[start:end]] = rows.values[start:end]
        yield block


class Direction(Struct, frozen=True):
    """One sentence in a space: its weight for each term, and its direction."""

    share: float  # of the meaning in the score; the rest is that of the words themselves
    plain: Floats  # by term, unit length
    pointing: Floats  # unit length, or zero if the sentence has no vector
    along: Floats  # by term: projection of its vector, minus the mean, on the direction


def direct(space: Space, query: dict[str, float]) -> Direction:
    """Place a weighted set of terms in the space. How far meaning is trusted depends on how often the terms were seen:
    the vector of a word on three pages is mostly noise."""
    numbers = {term: number for number, term in enumerate(space.terms)}
    ids = np.array([numbers[term] for term in query], np.int32)
    wanted = np.array([*query.values()], np.float32)
    plain = np.zeros(len(space.idf), np.float32)
    plain[ids] = wanted * space.idf[ids]
    plain /= max(float(np.sqrt(plain @ plain)), _TINY)
    pointing = np.zeros(space.vectors.shape[1], np.float32)
    if not ids.size or not space.has_vectors:
        return Direction(0.0, plain, pointing, np.zeros_like(plain))
    pointing = (space.weights[ids] * wanted) @ (space.vectors[ids] - space.mean)
    pointing /= max(float(np.sqrt(pointing @ pointing)), _TINY)
    df = space.df[ids]
    share = space.pages / (space.pages + TRUSTED_PAGES) * float((df / (df + TRUSTED_MENTIONS)).mean())
    along: Floats = ((space.vectors - space.mean) @ pointing).astype(np.float32)
    return Direction(share, plain, pointing, along)


def pull(space: Space, direction: Direction, ids: NDArray[np.intp], times: NDArray[Any]) -> tuple[Floats, Floats]:
    """Return what each term of a text adds to its similarity to a sentence: by words, and by meaning."""
    tf = 1 + np.log(times)
    tf_idf = tf * space.idf.take(ids)  # `take` costs less than an index, and most texts are short
    length = (1 - LENGTH) * space.length + LENGTH * float(np.sqrt(tf_idf @ tf_idf))
    by_word = tf_idf * direction.plain.take(ids) / length
    if not direction.share:
        return by_word, np.zeros(len(ids), np.float32)
    strength = space.weights.take(ids) * tf
    centre = strength @ space.vectors.take(ids, axis=0) - strength.sum() * space.mean
    return by_word, strength * direction.along.take(ids) / max(float(np.sqrt(centre @ centre)), _TINY)
