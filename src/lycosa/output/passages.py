"""Passages of a page on a terminal, with the words that spoke for and against it marked."""

import re
from collections.abc import Iterator, Mapping

from rich.console import Console
from rich.text import Text

from lycosa.output.terminal import printable

FOR, AGAINST = "bold green", "bold red"
_words = re.compile(r"[^\W_]+").finditer


def marked(text: str, words: Mapping[str, float], console: Console) -> Text:
    """A passage in one line; its telling words are coloured, or stand between stars where there are no colours."""
    found = Text()
    for part, effect in parts(printable(text), words):
        if not effect:
            found.append(part)
        elif console.color_system:
            found.append(part, FOR if effect > 0 else AGAINST)
        else:
            found.append(f"*{part}*" if effect > 0 else f"-{part}-")
    return found


def parts(text: str, words: Mapping[str, float]) -> Iterator[tuple[str, float]]:
    """The text piece by piece, each with its effect."""
    end = 0
    for match in _words(text):
        if effect := words.get(match[0].lower(), 0.0):
            yield text[end : match.start()], 0.0
            yield match[0], effect
            end = match.end()
    yield text[end:], 0.0
