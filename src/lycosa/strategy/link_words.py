"""Where a link leads, predicted from its own words, the words near it and the title of its page.

    log-odds of a class = bias + sum over words of weight * (1 for its own, NEAR and TITLE for the others)

Trained by `link_training` on links to pages of known classes: titles identify lists of what is sought, and nearby words
tell the entries of a list from the rest of the page.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated

import numpy as np
from msgspec import Meta, Struct
from numpy.typing import NDArray

from lycosa.strategy.url_features import words_of
from lycosa.text import STEMS, Memo, words
from lycosa.types import CONTEXT_WORDS, Link, Page

NEAR, TITLE = 0.3, 0.5  # there are many words near a link, and all links of a page share its title
MOST_TITLE = 8  # words
_BESIDE, _ABOVE = "near ", "title "  # prefix of a word in that place
Weight = Annotated[float, Meta(ge=-1e3, le=1e3)]

_in_title = Memo(lambda word: f"{_ABOVE}{stem}" if (stem := STEMS[word]) else "").__getitem__
_near = Memo(lambda word: f"{_BESIDE}{stem}" if (stem := STEMS[word]) else "").__getitem__


class LinkWords(Struct, frozen=True, forbid_unknown_fields=True):
    """Word weights for one class."""

    bias: Weight  # log-odds of a link without known words, relative to any page
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
    """Predicts from the words of links whether they lead to any of the target classes."""

    def __init__(self, models: Sequence[LinkWords]) -> None:
        self._models = [(model.bias, *_weighers(model.words)) for model in models]

    def __bool__(self) -> bool:
        return bool(self._models)

    def of(self, page: Page, links: Sequence[Link], counted: Sequence[Sequence[str]]) -> list[float]:
        """Score links of a page, given the words each is counted under: the maximum over all classes.

        Negative scores count as 0, like unknown words: the page behind the link may still contain the list.
        """
        if not self._models or not links:
            return [0.0] * len(links)
        title = title_words(page)
        first, last = _around(page, links)
        best = np.zeros(len(links))
        sums = np.zeros(len(page.words) + 1)
        for bias, weight, near in self._models:
            np.cumsum(np.fromiter(map(near, page.words), np.float64, len(page.words)), out=sums[1:])
            own = [sum(map(weight, words)) for words in counted]
            start = bias + TITLE * sum(map(weight, title))
            np.maximum(best, start + sums[last] - sums[first] + own, out=best)
        promised: list[float] = best.round(3).tolist()
        return promised


def _around(page: Page, links: Sequence[Link]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return where the words of `Page.context` begin and end, for many links at once."""
    start, end = np.array([link.start for link in links]), np.array([link.end for link in links])
    before = np.maximum(0, CONTEXT_WORDS - (end - start)) // 2
    first = np.maximum(0, np.minimum(start - before, len(page.words) - CONTEXT_WORDS))
    return first, np.minimum(len(page.words), np.maximum(first + CONTEXT_WORDS, end))


def _weighers(weights: Mapping[str, float]) -> tuple[Callable[[str], float], Callable[[str], float]]:
    """Return two functions: the weight of a counted word, and what a word of the page adds to the links near it."""
    by_stem = {
        word.removeprefix(_BESIDE): NEAR * weight for word, weight in weights.items() if word.startswith(_BESIDE)
    }
    counted = Memo(lambda word: weights.get(word, 0.0))  # with `map`, twice as fast as the dict
    near = Memo(lambda word: by_stem.get(STEMS[word], 0.0))
    return counted.__getitem__, near.__getitem__
