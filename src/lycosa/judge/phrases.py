"""Count words and phrases in a text, including inflected forms: "topic maps" matches "topic map"."""

from collections import Counter
from collections.abc import Sequence

from lycosa.text import STEMS, STOP_WORDS, words

_MOST_WORDS = 100_000  # a hostile page must not grow the table without bound
_FEW = 6  # up to this many words are counted one by one: each is a search through the text, but in C
_GAP = 2  # stop words allowed between two tokens of a phrase


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
        self._starts = {token[:2] for token in numbers}  # a stem begins like its word, unless that is very short
        self._codes: dict[str, int] = {}  # words seen so far that are in a phrase -> numbers of their tokens
        self._others: set[str] = set()  # words seen so far that are not

    def count(self, text: Sequence[str], telling: set[str] | None = None) -> dict[int, int]:
        """Return the number of matches by position in the list, for the phrases that occur; `text` is words in lower
        case.

        Few words of a page are in a phrase, so the page is checked as a set first, without a step in Python for each
        word. `telling`: what `among` returned for this text and others.
        """
        hits = self.among(set(text)) if telling is None else telling.intersection(text)
        if not hits:
            return {}
        codes = [*map(self._codes.get, text)] if self._longer or len(hits) > _FEW else []  # None: in no phrase
        tally: dict[int, int] = Counter(filter(None, codes)) if codes else {}
        for word in sorted(hits) if not codes else ():  # sums over the result must not depend on the order of a set
            code = self._codes[word]
            tally[code] = tally.get(code, 0) + text.count(word)
        found: dict[int, int] = {}
        for code, times in tally.items():
            if code in self._single:
                found[self._single[code]] = times
            for place, rest in self._longer.get(code, ()):
                if tally.keys() >= set(rest) and (matches := _matches(text, codes, code, rest)):
                    found[place] = matches
        return found

    def among(self, words: set[str]) -> set[str]:
        """Return those of the words that are in a phrase."""
        self._meet(words - self._others)
        return self._codes.keys() & words

    def _meet(self, words: set[str]) -> None:
        """Classify new words by whether they are in a phrase."""
        if len(self._others) + len(words) > _MOST_WORDS:
            self._others.clear()
        for word in words:
            may_match = len(word) <= 5 or word[:2] in self._starts
            code = self._numbers.get(_token(word)) if may_match else None
            if code:
                self._codes[word] = code
            else:
                self._others.add(word)


def _matches(text: Sequence[str], codes: list[int | None], first: int, rest: tuple[int, ...]) -> int:
    """Count how often `first` occurs followed by `rest`."""
    matches = at = 0
    try:
        while True:
            at = codes.index(first, at) + 1
            matches += _follows(text, codes, at, rest)
    except ValueError:  # no more matches; checking with `in` first would search twice
        return matches


def _follows(text: Sequence[str], codes: list[int | None], at: int, rest: tuple[int, ...]) -> bool:
    for code in rest:
        end = min(at + _GAP, len(codes))
        while at < end and text[at] in STOP_WORDS:
            at += 1
        if at == len(codes) or codes[at] != code:
            return False
        at += 1
    return True
