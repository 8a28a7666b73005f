"""Which passages of a page speak for the topic, and which against it? For whoever wants to see why, or has to label.

A page is cut where sentences and blocks end, into passages of fifty words at most. What a word does in a passage is how
much the score falls when it is left out; so it works for every judge that can judge a few words.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from math import ceil
from typing import NamedTuple

from lycosa.text import words
from lycosa.types import Page, TextRelevance, text_relevances

MOST_WORDS = 50  # of a passage
MOST_PASSAGES = 1_000  # of a page that are looked at
MOST_READ = 10  # of the best, and of the worst, whose words are weighed one by one
MOST_TELLING = 8  # words of one passage
LEAST_SHARE = 0.1  # of the largest effect in a passage: a word that does less is not worth showing
_SAME = 1e-9
_blocks = re.compile(r"\n\s*|\s{2,}").split
_sentences = re.compile(r"(?<=[.!?])\s+").split


class Passage(NamedTuple):
    """A part of a page, as it stands there."""

    text: str
    score: float  # relevance of its words, 0 to 1
    words: Mapping[str, float] = {}  # those that moved it most, in lower case: what each adds to the score, or takes
    neutral: float = 0.0  # the relevance of no words at all


def passages(page: Page, judge: object) -> list[Passage]:
    """All passages of a page in their order, title first; none if the judge cannot judge a few words."""
    if not isinstance(judge, TextRelevance):
        return []
    texts = [text for text in _cut(page.title, page.text) if words(text)][:MOST_PASSAGES]
    scores = text_relevances(judge, [words(text) for text in texts])
    neutral = judge.relevance_of(())
    order = sorted(range(len(texts)), key=scores.__getitem__)
    read = {*order[:MOST_READ], *order[-MOST_READ:]}
    return [
        Passage(text, score, _effects(words(text), score, judge) if place in read else {}, neutral)
        for place, (text, score) in enumerate(zip(texts, scores, strict=True))
    ]


def best(found: Sequence[Passage], number: int = 3) -> list[Passage]:
    """The passages that speak most for the topic, best first: more relevant than no words at all."""
    good = [one for one in found if one.score > one.neutral + _SAME]
    return sorted(good, key=lambda one: -one.score)[:number]


def worst(found: Sequence[Passage], number: int = 1) -> list[Passage]:
    """The passages that speak most against it, worst first: less relevant than no words at all. Where there is none,
    as with topics that only look for words, those that say least, at most half of the best, the longest first."""
    bad = [one for one in found if one.score < one.neutral - _SAME]
    if not bad:
        most = max((one.score for one in found), default=0.0)
        bad = [one for one in found if one.score <= most / 2 and one not in best(found)]
    return sorted(bad, key=lambda one: (one.score, -len(one.text)))[:number]


def _cut(title: str, text: str) -> Iterator[str]:
    if title and not text.startswith(title):
        yield title
    waiting: list[str] = []
    for block in _blocks(text):
        if len(waiting) > MOST_WORDS / 2:  # a menu has many short blocks
            yield from _runs(waiting)
            waiting = []
        for sentence in _sentences(block):
            tokens = sentence.split()
            if len(waiting) + len(tokens) > MOST_WORDS:
                yield from _runs(waiting)
                waiting = []
            waiting += tokens
    yield from _runs(waiting)


def _runs(tokens: Sequence[str]) -> Iterator[str]:
    """Runs of equal length where a sentence is longer than a passage."""
    size = ceil(len(tokens) / ceil(len(tokens) / MOST_WORDS)) if tokens else 1
    return (" ".join(tokens[at : at + size]) for at in range(0, len(tokens), size))


def _effects(text: Sequence[str], score: float, judge: TextRelevance) -> dict[str, float]:
    """What each word does, largest effect first."""
    different = list(dict.fromkeys(text))
    without = text_relevances(judge, [[other for other in text if other != word] for word in different])
    effects = {word: score - rest for word, rest in zip(different, without, strict=True)}
    least = LEAST_SHARE * max(map(abs, effects.values()))
    telling = [word for word in effects if abs(effects[word]) > max(least, _SAME)]
    return {word: effects[word] for word in sorted(telling, key=lambda word: -abs(effects[word]))[:MOST_TELLING]}
