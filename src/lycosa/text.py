"""From text to words and stems: the one pipeline shared by judges, strategies and queries.

Convert to lower case, split at characters that are not letters or digits, remove stop words and words without a letter,
apply the Porter stemmer.
"""

import re
from collections.abc import Callable
from typing import TypeVar

import Stemmer

T = TypeVar("T")

_ASCII = bytes(range(128))
LOWER_OR_SPACE = bytes(ord(chr(code).lower()) if chr(code).isalnum() else 32 for code in _ASCII) + bytes(
    range(128, 256)
)
_foreign_sign = re.compile(r"[^\w\x00-\x7f]").sub
LONGEST_KEPT = 100  # letters of a word that is remembered: hostile pages contain words of megabytes
_MOST_SIGNS = 64  # kinds of non-ASCII punctuation that are replaced one by one
_porter: Callable[[str], str] = Stemmer.Stemmer("porter", 0).stemWord

STOP_WORDS = frozenset(
    """
    a about above after again against all also am an and any are aren as at be because been before being below between
    both but by can cannot could couldn d did didn do does doesn doing don down during each either else ever few for
    from further had hadn has hasn have haven having he her here hers herself him himself his how however i if in into
    is isn it its itself just ll m may me might mightn more most much must mustn my myself neither no nor not now o of
    off on once only or other our ours ourselves out over own per re s same shall shan she should shouldn since so some
    such t than that the their theirs them themselves then there these they this those though through thus to too under
    until up upon us ve very via was wasn we were weren what when where whether which while who whom whose why will with
    within without won would wouldn y yet you your yours yourself yourselves
    """.split()
)


def words(text: str) -> list[str]:
    """The words of a text in lower case."""
    return spaced(text).split()


def spaced(text: str, table: bytes = LOWER_OR_SPACE) -> str:
    """The text in lower case, with a space for every character that is not a letter or digit; `table` maps ASCII.

    Translating bytes with a table is three times faster than a regex, so non-ASCII punctuation is replaced first: most
    pages are plain ASCII except for a few quotes, dashes and non-breaking spaces.
    """
    if not text.isascii():
        text = _without_signs(text)
        if not text.isascii():
            text = _without_signs(text.lower())  # again: lower-casing may add new signs, such as the dot of a Turkish i
    return text.encode("utf-8", "replace").translate(table).decode()


def _without_signs(text: str) -> str:
    """Replace every non-ASCII character that is not a letter or digit with a space."""
    foreign = set(text.encode("utf-8", "replace").translate(None, _ASCII).decode())
    signs = [char for char in foreign if not char.isalnum()]
    if len(signs) > _MOST_SIGNS:
        return _foreign_sign(" ", text)
    for sign in signs:
        text = text.replace(sign, " ")
    return text


class Memo(dict[str, T]):
    """Caches a function of a word, as words recur across pages."""

    def __init__(self, function: Callable[[str], T], most: int = 100_000) -> None:
        super().__init__()
        self._function = function
        self._most = most  # a page may contain any number of words

    def __missing__(self, word: str) -> T:
        if len(word) > LONGEST_KEPT:
            return self._function(word)
        if len(self) >= self._most:
            self.clear()
        found = self[word] = self._function(word)
        return found


def stem(word: str) -> str:
    """The stem of a lower-case word; empty for a stop word, an overlong word or one without a letter."""
    if word in STOP_WORDS or len(word) > 40 or not (word.isalpha() or any(map(str.isalpha, word))):
        return ""
    return _porter(word)


# Shared. Looking a word up is ten times cheaper than stemming it: `filter(None, map(STEMS.__getitem__, page.words))`.
STEMS = Memo(stem, 500_000)


def stems(text: str) -> list[str]:
    """The stems of a text, without empty ones."""
    return [stem for stem in map(STEMS.__getitem__, words(text)) if stem]
