"""Count words and phrases in a text, including inflected forms: "topic maps" matches "topic map"."""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate, chain, compress

import numpy as np
from numpy.typing import NDArray

from lycosa.text import STEMS, STOP_WORDS, Memo, words

_MOST_WORDS = 100_000  # a hostile page must not grow the table without bound
_GAP = 2  # stop words allowed between two tokens of a phrase
_FEW_WORDS = 64  # a longer text is looked through for the beginnings of tokens first
_THREE_BYTES, _MIXED, _KEPT_BITS = np.uint32(0xFFFFFF), np.uint32(0x9E3779B1), np.uint32(32 - 15)


def tokens(phrase: str) -> tuple[str, ...]:
    """Return what of a phrase has to match: stems in order, numbers as they are ("web 2.0"), no stop words."""
    return tuple(filter(None, map(_token, words(phrase))))


def _token(word: str) -> str:
    return STEMS[word] or ("" if word in STOP_WORDS else word)


class Phrases:
    """A list of phrases, each a tuple of tokens, ready to be counted in many texts.

    A phrase matches where its tokens follow each other, with at most two stop words between any two of them: "state of
    the art". If one phrase is part of another, both count.
    """

    def __init__(self, phrases: Sequence[tuple[str, ...]]) -> None:
        numbers: dict[str, int] = {}
        self._single: dict[int, int] = {}  # token -> the phrase that is this token alone
        self._longer: dict[int, list[tuple[int, tuple[int, ...]]]] = {}  # first token -> phrases and their other tokens
        for place, phrase in enumerate(phrases):
            first, *rest = (numbers.setdefault(token, len(numbers) + 1) for token in phrase)
            if rest:
                self._longer.setdefault(first, []).append((place, tuple(rest)))
            else:
                self._single[first] = place
        self._numbers = numbers
        starts = [_start(token) for token in numbers]
        self._letters = {start[:2] for start in starts}
        self._beginnings = _beginnings(starts)
        self._codes = Memo(self._code, _MOST_WORDS)  # of words seen

    def _code(self, word: str) -> int:
        """Return the number of a word's token; 0 if it is in no phrase."""
        may_match = word[:2] in self._letters or word[:1] in self._letters
        return self._numbers.get(_token(word), 0) if may_match else 0

    def count(self, text: Sequence[str]) -> dict[int, int]:
        """Return the number of matches by position in the list, for the phrases that occur, in the order of the text;
        `text` is words in lower case.

        Few words of a page are in a phrase, and the others are skipped without a step in Python for each.
        """
        tally: dict[int, int] = {}
        for code in filter(None, map(self._codes.__getitem__, self._candidates(text))):
            tally[code] = tally.get(code, 0) + 1
        codes: list[int] = []
        found: dict[int, int] = {}
        for code, times in tally.items():
            if code in self._single:
                found[self._single[code]] = times
            for place, rest in self._longer.get(code, ()):
                if tally.keys() >= set(rest):
                    codes = codes or [*map(self._codes.__getitem__, text)]
                    if matches := _matches(text, codes, code, rest):
                        found[place] = matches
        return found

    def _candidates(self, text: Sequence[str]) -> Sequence[str]:
        """Return, in their order, all words of a text that may be in a phrase, and hardly any others."""
        if len(text) <= _FEW_WORDS:
            return text
        data = f" {' '.join(text)}    ".encode("utf-8", "replace")
        before = np.flatnonzero(np.frombuffer(data, np.uint8, len(data) - 3) == ord(" "))[:-1]
        if len(before) != len(text):  # words with spaces in them
            return text
        four_bytes = np.ndarray((len(data) - 3,), "<u4", data, strides=(1,))  # that begin at every byte
        at = np.flatnonzero(self._beginnings.take(_mixed(four_bytes.take(before + 1))))
        return [text[place] for place in at.tolist()]

    def telling(self, texts: Sequence[Sequence[str]]) -> dict[int, list[int]]:
        """Return, for each of many short texts that has words of a phrase, its place and their codes. If there is no
        phrase of several words, texts with the same codes have the same matches."""
        codes = [*map(self._codes.__getitem__, chain.from_iterable(texts))]
        found: dict[int, list[int]] = {}
        if any(codes):
            ends = [*accumulate(map(len, texts))]
            for at in compress(range(len(codes)), codes):
                found.setdefault(bisect_right(ends, at), []).append(codes[at])
        return found

    @property
    def are_words(self) -> bool:
        """Return whether each phrase is a single word."""
        return not self._longer


def _start(token: str) -> str:
    """Return what every word with this token begins with. A stem begins like its words, except that its last letter may
    be another: y becomes i, and e may be added."""
    return (token[:-1] or token) if token[-1] in "iel" else token


def _beginnings(starts: Iterable[str]) -> NDArray[np.bool_]:
    """Return which words may begin like that, by a hash of their first three bytes."""
    found = np.zeros(1 << 15, np.bool_)
    for start in starts:
        given = start.encode("utf-8", "replace")[:3]
        rest = np.arange(1 << 8 * (3 - len(given)), dtype=np.uint32)  # whatever follows a shorter one
        found[_mixed(np.uint32(int.from_bytes(given, "little")) + (rest << np.uint32(8 * len(given))))] = True
    return found


def _mixed(beginnings: NDArray[np.uint32]) -> NDArray[np.uint32]:
    return ((beginnings & _THREE_BYTES) * _MIXED) >> _KEPT_BITS


def _matches(text: Sequence[str], codes: Sequence[int], first: int, rest: tuple[int, ...]) -> int:
    """Count how often `first` occurs followed by `rest`."""
    matches = at = 0
    try:
        while True:
            at = codes.index(first, at) + 1
            matches += _follows(text, codes, at, rest)
    except ValueError:  # no more matches; checking with `in` first would search twice
        return matches


def _follows(text: Sequence[str], codes: Sequence[int], at: int, rest: tuple[int, ...]) -> bool:
    for code in rest:
        end = min(at + _GAP, len(codes))
        while at < end and text[at] in STOP_WORDS:
            at += 1
        if at == len(codes) or codes[at] != code:
            return False
        at += 1
    return True
