"""Train the link model from links to pages of known classes, with numpy alone.

For each class a logistic regression predicts from the words of a link whether it leads to a page of the class, and a
ridge regression what that page is worth to a crawl that looks for the class (`link_value`).
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from random import Random
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lycosa.strategy.link_words import LinkWords, share
from lycosa.strategy.url_training import minimise

_MOST_TURNS, _CLOSE = 300, 1e-8  # of conjugate gradients

Floats = NDArray[np.float64]
OF_ONE_SITE = 100  # pages that count in full: how one site names its pages says little about others
OF_ONE_PAGE = 20  # links that are used
MOST_PAGES = 20_000  # above this, a random sample is used
LEAST_SITES = 2  # that a word must occur on
LEAST_PAGES = 5  # that a class must have
STRENGTH = 2.0  # of the L2 penalty; half and twice as much rank links equally well
VALUE_STRENGTH = 10.0  # the same for values; with 2 the values on texas are ranked worse, with 30 those of courses
VALUE_OF_ONE_SITE = 1_000  # the same for values: lists can only be seen on sites recorded as a whole


class Linked(NamedTuple):
    """A page that links lead to."""

    label: str
    site: str
    links: Sequence[Sequence[str]]  # the words of each link, as in `link_words`
    address: str = ""


class Trained(NamedTuple):
    """The models by class."""

    links: dict[str, LinkWords]
    values: dict[str, LinkWords]


def sample(pages: Iterable[Linked]) -> list[Linked]:
    """The pages to train on: those with links to them, and not too many."""
    pages = [page for page in pages if page.links]
    return Random(0).sample(pages, MOST_PAGES) if len(pages) > MOST_PAGES else pages  # always the same sample


def train(pages: Iterable[Linked], values: Sequence[Mapping[str, float]] = ()) -> Trained:
    """Train models for each class with enough pages. A page counts once, however many links lead to it.

    `values` are those of the pages, if they are known; the pages must be a `sample` then.
    """
    pages = sample(pages)
    sites: dict[str, set[str]] = {}
    for page in pages:
        for link in page.links[:OF_ONE_PAGE]:
            for word in link:
                sites.setdefault(word, set()).add(page.site)
    columns = {word: at for at, word in enumerate(sorted(word for word in sites if len(sites[word]) >= LEAST_SITES))}
    counts = Counter(page.label for page in pages)
    if not columns:
        return Trained({}, {})
    rows = _rows(pages, columns, OF_ONE_SITE)
    labels = np.array([page.label for page in pages for _ in page.links[:OF_ONE_PAGE]])
    names = [name for name in sorted(counts) if LEAST_PAGES <= counts[name] < len(pages)]
    links = {name: _fit(rows, labels == name, list(columns)) for name in names}
    if not values:
        return Trained(links, {})
    rows = _rows(pages, columns, VALUE_OF_ONE_SITE)
    each = [value for page, value in zip(pages, values, strict=True) for _ in page.links[:OF_ONE_PAGE]]
    wanted = {name: np.array([value.get(name, 0.0) for value in each]) for name in names}
    return Trained(links, {name: _fit_value(rows, wanted[name], list(columns)) for name in names})


def ordering(pages: Sequence[Linked], values: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """By class, the probability that a link worth more than the average is ranked before one worth less, on sites left
    out of training: 0.5 is chance. Only classes for which both halves of the sites have enough pages."""
    halves: list[list[int]] = [[], []]
    half_of = {site: at % 2 for at, site in enumerate(sorted({page.site for page in pages}))}
    for at, page in enumerate(pages):
        halves[half_of[page.site]].append(at)
    trained = [train([pages[at] for at in half], [values[at] for at in half]).values for half in halves]
    found = {}
    for name in sorted(trained[0].keys() & trained[1].keys()):
        both = zip(trained, reversed(halves), strict=True)  # each half is tested with what the other one taught
        tests = [
            _concordance(models[name], [(pages[at], values[at].get(name, 0.0)) for at in half]) for models, half in both
        ]
        found[name] = sum(tests) / len(tests)
    return found


def _concordance(model: LinkWords, tests: Sequence[tuple[Linked, float]]) -> float:
    rows = [
        (model.bias + sum(share(word) * model.words.get(word, 0.0) for word in link), value)
        for page, value in tests
        for link in page.links[:OF_ONE_PAGE]
    ]
    scores, worth = np.array(rows).T
    better = worth > worth.mean()
    low, high = np.sort(scores[~better]), scores[better]
    if not len(low) or not len(high):
        return 0.5
    below = np.searchsorted(low, high, "left") + np.searchsorted(low, high, "right")
    return float(below.mean() / (2 * len(low)))


class _Rows(NamedTuple):
    """Links by words as sparse rows, with a weight for each row."""

    columns: NDArray[np.int64]
    values: Floats
    row_of: NDArray[np.int64]
    shares: Floats
    width: int


def _rows(pages: Sequence[Linked], columns: Mapping[str, int], of_one_site: int) -> _Rows:
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
            shares.append(min(1.0, of_one_site / of_site[page.site]) / len(links))
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


def _fit_value(rows: _Rows, values: Floats, words: Sequence[str]) -> LinkWords:
    """A ridge regression, solved by conjugate gradients; its predictions are in units of their standard deviation."""
    total = rows.shares.sum()
    spread = values - (rows.shares * values).sum() / total

    def predict(point: Floats) -> Floats:
        sums: Floats = np.bincount(rows.row_of, rows.values * point[:-1][rows.columns], len(values)) + point[-1]
        return sums

    def back(errors: Floats) -> Floats:
        shared = rows.shares * errors
        return np.append(np.bincount(rows.columns, rows.values * shared[rows.row_of], rows.width), shared.sum())

    def apply(point: Floats) -> Floats:
        return back(predict(point)) + VALUE_STRENGTH * np.append(point[:-1], 0.0)

    point = solve(apply, back(spread))
    found = predict(point)
    mean = float((rows.shares * found).sum() / total)
    deviation = float(np.sqrt((rows.shares * (found - mean) ** 2).sum() / total)) or 1.0
    weights = np.round(point[:-1] / deviation, 3).tolist()
    kept = {word: weight for word, weight in zip(words, weights, strict=True) if weight}
    return LinkWords(round((float(point[-1]) - mean) / deviation, 3), kept)


def solve(apply: Callable[[Floats], Floats], wanted: Floats) -> Floats:
    """Solve `apply(point) = wanted` for a symmetric, positive definite linear function."""
    point = np.zeros(len(wanted))
    left = wanted.copy()
    way = left.copy()
    size = float(left @ left)
    for _ in range(_MOST_TURNS):
        if size <= _CLOSE * float(wanted @ wanted):
            break
        applied = apply(way)
        step = size / float(way @ applied)
        point += step * way
        left -= step * applied
        before, size = size, float(left @ left)
        way = left + size / before * way
    return point
