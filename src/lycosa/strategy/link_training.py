"""Train the link model from links to pages of known classes: one logistic regression per class, with numpy alone."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from random import Random
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lycosa.strategy.link_words import LinkWords, share
from lycosa.strategy.url_training import minimise

Floats = NDArray[np.float64]
OF_ONE_SITE = 100  # pages that count in full: how one site names its pages says little about others
OF_ONE_PAGE = 20  # links that are used
MOST_PAGES = 20_000  # above this, a random sample is used
LEAST_SITES = 2  # that a word must occur on
LEAST_PAGES = 5  # that a class must have
STRENGTH = 2.0  # of the L2 penalty; half and twice as much rank links equally well


class Linked(NamedTuple):
    """A page that links lead to."""

    label: str
    site: str
    links: Sequence[Sequence[str]]  # the words of each link, as in `link_words`


def train(pages: Iterable[Linked]) -> dict[str, LinkWords]:
    """Train a model for each class with enough pages. A page counts once, however many links lead to it."""
    pages = [page for page in pages if page.links]
    if len(pages) > MOST_PAGES:
        pages = Random(0).sample(pages, MOST_PAGES)  # fixed seed: the same pages give the same sample
    sites: dict[str, set[str]] = {}
    for page in pages:
        for link in page.links[:OF_ONE_PAGE]:
            for word in link:
                sites.setdefault(word, set()).add(page.site)
    columns = {word: at for at, word in enumerate(sorted(word for word in sites if len(sites[word]) >= LEAST_SITES))}
    counts = Counter(page.label for page in pages)
    if not columns:
        return {}
    rows = _rows(pages, columns)
    labels = np.array([page.label for page in pages for _ in page.links[:OF_ONE_PAGE]])
    names = [name for name in sorted(counts) if LEAST_PAGES <= counts[name] < len(pages)]
    return {name: _fit(rows, labels == name, list(columns)) for name in names}


class _Rows(NamedTuple):
    """Links by words as sparse rows, with a weight for each row."""

    columns: NDArray[np.int64]
    values: Floats
    row_of: NDArray[np.int64]
    shares: Floats
    width: int


def _rows(pages: Sequence[Linked], columns: Mapping[str, int]) -> _Rows:
    of_site = Counter(page.site for page in pages)
    found: list[int] = []
    values: list[float] = []
    row_of: list[int] = []
    shares: list[float] = []
    for page in pages:
        links = page.links[:OF_ONE_PAGE]
        for link in links:
            for word in link:
                if (column := columns.get(word)) is not None:
                    found.append(column)
                    values.append(share(word))
                    row_of.append(len(shares))
            shares.append(min(1.0, OF_ONE_SITE / of_site[page.site]) / len(links))
    weights = np.array(shares) * (len(pages) / sum(shares))  # total weight is independent of the number of sites
    return _Rows(np.array(found), np.array(values), np.array(row_of), weights, len(columns))


def _fit(rows: _Rows, truth: NDArray[np.bool_], words: Sequence[str]) -> LinkWords:
    def loss(point: Floats) -> tuple[float, Floats]:
        weights, bias = point[:-1], point[-1]
        sums = np.bincount(rows.row_of, rows.values * weights[rows.columns], len(truth)) + bias
        error = rows.shares * (np.exp(-np.logaddexp(0, -sums)) - truth)  # does not overflow for large sums
        value = float((rows.shares * (np.logaddexp(0, sums) - truth * sums)).sum())
        slope = np.bincount(rows.columns, rows.values * error[rows.row_of], rows.width) + STRENGTH * weights
        return value + STRENGTH / 2 * float((weights**2).sum()), np.append(slope, error.sum())

    share = float((rows.shares * truth).sum() / rows.shares.sum())
    usual = float(np.log(share / (1 - share)))
    point = minimise(loss, np.append(np.zeros(rows.width), usual))
    weights = {word: weight for word, weight in zip(words, np.round(point[:-1], 3).tolist(), strict=True) if weight}
    return LinkWords(round(float(point[-1]) - usual, 3), weights)
