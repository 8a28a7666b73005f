"""Where does a link lead, by its own words, by those near it and by the title of its page?

    log-odds of a class = bias + sum over words of weight * (1 for its own, NEAR and TITLE for the others)

Learned elsewhere (`link_training`), from links to pages of known classes: a title tells a list of what is sought, and
what stands near a link its entries from the rest of the page.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate
from typing import Annotated

from msgspec import Meta, Struct

from lycosa.strategy.addresses import Names
from lycosa.text import STEMS, words
from lycosa.types import Link, Page

NEAR, TITLE = 0.3, 0.5  # a page's title stands for all its links, and around a link are many words
MOST_TITLE = 8  # words
Weight = Annotated[float, Meta(ge=-1e3, le=1e3)]
Promise = Callable[[Link, Sequence[str]], float]

_in_title = Names(lambda word: f"title {stem}" if (stem := STEMS[word]) else "").__getitem__
_near = Names(lambda word: f"near {stem}" if (stem := STEMS[word]) else "").__getitem__


class LinkWords(Struct, frozen=True, forbid_unknown_fields=True):
    """What words tell of one class."""

    bias: Weight  # log-odds of a link without a known word, over those of any page
    words: dict[str, Weight]


def title_words(page: Page) -> list[str]:
    return [word for word in map(_in_title, words(page.title)[:MOST_TITLE]) if word]


def near_words(link: Link, page: Page) -> list[str]:
    return [word for word in map(_near, page.context(link)) if word]


class Promises:
    """What the words of links promise, for one or more classes that are sought."""

    def __init__(self, models: Sequence[LinkWords]) -> None:
        self._models = [(model, _Near(model.words)) for model in models]

    def on(self, page: Page) -> Promise:
        """For the links of a page, given the words that each of them is counted under: the best over all classes.

        Words that promise less than others say no more than unknown ones: their page may have the list.
        """
        title = title_words(page)
        known = []
        for model, near in self._models:
            start = model.bias + TITLE * _sum(model.words, title)
            known.append((start, model.words, list(accumulate(map(near.__getitem__, page.words), initial=0.0))))

        def promise(link: Link, counted: Sequence[str]) -> float:
            first, last = page.around(link)
            return max((start + sums[last] - sums[first] + _sum(own, counted) for start, own, sums in known), default=0)

        return lambda link, counted: max(0.0, promise(link, counted))


class _Near(dict[str, float]):
    """What a word of a page adds to the links near it; remembered, since most come again and again."""

    def __init__(self, weights: Mapping[str, float]) -> None:
        super().__init__()
        self._weights = weights

    def __missing__(self, word: str) -> float:
        if len(self) >= Names.MOST:
            self.clear()
        found = self[word] = NEAR * self._weights.get(_near(word), 0.0)
        return found


def _sum(weights: Mapping[str, float], many: Sequence[str]) -> float:
    return sum([weights[word] for word in many if word in weights])
