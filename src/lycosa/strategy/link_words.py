"""Where a link leads, predicted from its own words, the words near it and the title of its page.

    log-odds of a class = bias + sum over words of weight * (1 for its own, NEAR and TITLE for the others)
    value for a class     likewise, in standard deviations: how many pages of the class lie just behind the link

Trained by `link_training` on links to pages of known classes: titles identify lists of what is sought, and nearby words
tell the entries of a list from the rest of the page.
"""

from collections.abc import Mapping, Sequence
from itertools import accumulate, chain
from typing import Annotated

import numpy as np
from msgspec import Meta, Struct
from numpy.typing import NDArray

from lycosa.strategy.url_features import words_of
from lycosa.text import STEMS, Memo, words
from lycosa.types import CONTEXT_WORDS, Link, Page

NEAR, TITLE = 0.3, 0.5  # there are many words near a link, and all links of a page share its title
MOST_TITLE = 8  # words
MOST_VALUE = 3.0  # standard deviations
_BESIDE, _ABOVE = "near ", "title "  # prefix of a word in that place
Floats = NDArray[np.float64]
Places = NDArray[np.int64]
Weight = Annotated[float, Meta(ge=-1e3, le=1e3)]

_in_title = Memo(lambda word: f"{_ABOVE}{stem}" if (stem := STEMS[word]) else "").__getitem__
_near = Memo(lambda word: f"{_BESIDE}{stem}" if (stem := STEMS[word]) else "").__getitem__


class LinkWords(Struct, frozen=True, forbid_unknown_fields=True):
    """Word weights for one class: of links to its pages, or of links that are worth much if it is sought."""

    bias: Weight  # of a link without known words, relative to any page
    words: dict[str, Weight]


def title_words(page: Page) -> list[str]:
    return [word for word in map(_in_title, words(page.title)[:MOST_TITLE]) if word]


def near_words(link: Link, page: Page) -> list[str]:
    return [word for word in map(_near, page.context(link)) if word]


def share(word: str) -> float:
    """Return the weight of a word by where it occurs."""
    return NEAR if word.startswith(_BESIDE) else TITLE if word.startswith(_ABOVE) else 1.0


def all_words(page: Page, links: Sequence[Link]) -> list[list[str]]:
    """Return what a page says about each link: its own words, those near it, and the title."""
    title = title_words(page)
    return [[*words_of(link, page)[1], *near_words(link, page), *title] for link in links]


class LinkModel:
    """Predicts from the words of links whether they lead to any of the target classes, and what is behind them."""

    def __init__(self, links: Sequence[LinkWords] = (), values: Sequence[LinkWords] = ()) -> None:
        known = sorted({word for model in (*links, *values) for word in model.words})
        columns = {word: at for at, word in enumerate(known, 1)}  # column 0 is for unknown words
        self._groups = [[(model.bias, _weights(model, columns)) for model in models] for models in (links, values)]
        by_stem = {word.removeprefix(_BESIDE): at for word, at in columns.items() if word.startswith(_BESIDE)}
        self._column = Memo(lambda word: columns.get(word, 0)).__getitem__  # with `map`, twice as fast as the dict
        self._column_near = Memo(lambda word: by_stem.get(STEMS[word], 0)).__getitem__

    def __bool__(self) -> bool:
        return any(self._groups)

    def of(
        self, page: Page, links: Sequence[Link], counted: Sequence[Sequence[str]]
    ) -> tuple[list[float], list[float]]:
        """Score links of a page, given the words each is counted under: the class of the page behind each, and its
        value; the maximum over all target classes.

        Negative scores count as 0, like unknown words: the page behind the link may still contain the list.
        """
        if not self or not links:
            return [0.0] * len(links), [0.0] * len(links)
        ends = [*accumulate(map(len, counted), initial=0)]
        words = chain(map(self._column, chain.from_iterable(counted)), map(self._column_near, page.words))
        columns = np.fromiter(words, np.intp, ends[-1] + len(page.words))
        title = [*map(self._column, title_words(page))]
        spans = np.array(ends), *_around(page, links)
        led, worth = (_best(models, columns, title, spans) for models in self._groups)
        return led.round(3).tolist(), np.minimum(worth, MOST_VALUE).round(3).tolist()


def _weights(model: LinkWords, columns: Mapping[str, int]) -> Floats:
    found = np.zeros(len(columns) + 1)
    for word, weight in model.words.items():
        found[columns[word]] = share(word) * weight
    return found


def _best(
    models: Sequence[tuple[float, Floats]], columns: NDArray[np.intp], title: Sequence[int], spans: Sequence[Places]
) -> Floats:
    """Return the highest sum of weights for each link. Its own words lie between two `ends`, those near it between
    `first` and `last`, counted after all of those."""
    ends, first, last = spans
    best, sums = np.zeros(len(first)), np.zeros(len(columns) + 1)
    near = sums[ends[-1] :]
    for bias, weights in models:
        weights.take(columns).cumsum(out=sums[1:])
        own = sums.take(ends)
        found = own[1:] - own[:-1]
        found += near.take(last)
        found -= near.take(first)
        found += bias + sum([float(weights[column]) for column in title])
        np.maximum(best, found, out=best)
    return best


def _around(page: Page, links: Sequence[Link]) -> tuple[Places, Places]:
    """Return where the words of `Page.context` begin and end, for many links at once."""
    start, end = np.array([link.start for link in links]), np.array([link.end for link in links])
    before = np.maximum(0, CONTEXT_WORDS - (end - start)) // 2
    first = np.maximum(0, np.minimum(start - before, len(page.words) - CONTEXT_WORDS))
    return first, np.minimum(len(page.words), np.maximum(first + CONTEXT_WORDS, end))
