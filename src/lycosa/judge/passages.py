"""Which passages of a page count for the topic, and which against it: an explanation for readers and labellers.

A page is split at the ends of sentences and blocks into passages of at most fifty words. The effect of a word in a
passage is how much the score falls without it, so this works for every judge that can judge a few words.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from math import ceil
from typing import NamedTuple

from lycosa.judging import text_relevances
from lycosa.text import words
from lycosa.types import Page, TextRelevance

MOST_WORDS = 50  # per passage
MOST_PASSAGES = 1_000  # per page that are scored
MOST_READ = 10  # of the best, and of the worst, whose words are weighed one by one
MOST_TELLING = 8  # words per passage
LEAST_SHARE = 0.1  # of the largest effect in a passage; words below this are not shown
_SAME = 1e-9
_blocks = re.compile(r"\n\s*|\s{2,}").split
_sentences = re.compile(r"(?<=[.!?])\s+").split


class Passage(NamedTuple):
    """A part of a page, verbatim."""

    text: str
    score: float  # relevance of its words, 0 to 1
    words: Mapping[str, float] = {}  # those with most effect, in lower case: what each adds to the score, or subtracts
    neutral: float = 0.0  # the relevance of no words at all


def passages(page: Page, judge: object) -> list[Passage]:
    """Return all passages of a page in order, title first; none if the judge cannot judge a few words."""
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
    """Return the passages most in favour of the topic, best first: more relevant than no words at all."""
    good = [one for one in found if one.score > one.neutral + _SAME]
    return sorted(good, key=lambda one: -one.score)[:number]


def worst(found: Sequence[Passage], number: int = 1) -> list[Passage]:
    """Return the passages most against the topic, worst first: less relevant than no words at all. If there are none,
    as with topics that only look for words, return the least relevant, at most half as relevant as the best, longest
    first."""
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
    """Split a sentence longer than a passage into runs of equal length."""
    size = ceil(len(tokens) / ceil(len(tokens) / MOST_WORDS)) if tokens else 1
    return (" ".join(tokens[at : at + size]) for at in range(0, len(tokens), size))


def _effects(text: Sequence[str], score: float, judge: TextRelevance) -> dict[str, float]:
    """Return the effect of each word, largest first."""
    different = list(dict.fromkeys(text))
    without = text_relevances(judge, [[other for other in text if other != word] for word in different])
    effects = {word: score - rest for word, rest in zip(different, without, strict=True)}
    least = LEAST_SHARE * max(map(abs, effects.values()))
    telling = [word for word in effects if abs(effects[word]) > max(least, _SAME)]
    return {word: effects[word] for word in sorted(telling, key=lambda word: -abs(effects[word]))[:MOST_TELLING]}
