"""The words of a URL: one place for the three ways of reading them, which differ in what their users count.

A `~` is a word, too: it marks the pages of a person.
"""

import re

_ESCAPES = re.compile(r"%[0-9a-f]{2}")
_words = re.compile(r"[^\W\d_]+|~").findall
_long_words = re.compile(r"[^\W\d_]{2,}|~").findall
_long_ascii_words = re.compile(r"[a-z][a-z]+|~").findall  # the same for most URLs, twice as fast
_pieces = re.compile(r"[a-z]+|[0-9]+|~").findall


def path_of(url: str) -> str:
    """What follows the host and its slash, in lower case; empty if there is none."""
    parts = url.split("/", 3)
    return parts[3].lower() if len(parts) > 3 else ""


def words_of(path: str) -> list[str]:
    """All words, without escapes: for judges, which know the words of whole pages."""
    return _words(_ESCAPES.sub(" ", path))


def long_words_of(path: str) -> list[str]:
    """Words of at least two letters, as they are written: for strategies, which read them from every link."""
    return _long_ascii_words(path) if path.isascii() else _long_words(path)


def pieces_of(path: str) -> list[str]:
    """Words and numbers: for classifiers of URLs, to which the length of a number says something."""
    return _pieces(path)
