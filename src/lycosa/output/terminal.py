"""All terminal output goes through here, so that nothing from the Web can control the terminal.

Titles, URLs, labels and names come from strangers. Terminals obey control characters in them (to write the clipboard,
to hide or forge lines), and bidirectional marks make a text look like another. Files and pipes get the data unchanged.
"""

import codecs
import io
import re
import sys
from collections.abc import Iterable
from typing import Any, TextIO

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

_BIDI = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_HIDDEN = "\u2028\u2029\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f"
_unsafe = re.compile(f"[\x00-\x08\x0b-\x1f\x7f-\x9f{_BIDI}{_HIDDEN}]")


def clean(text: str) -> str:
    """Remove control characters except newlines and tabs, and marks that change the order of letters."""
    return _unsafe.sub(" ", text.replace("\r\n", "\n"))


def printable(text: str) -> str:
    """The same on one line."""
    return text if text.isprintable() else clean(text).replace("\n", " ").replace("\t", " ")


def console(stderr: bool = False, live: bool = True) -> Console:
    """The console that every command prints to: text is cleaned and never interpreted as markup. It counts as a
    terminal if it is one, unless `live` is false."""
    stream = sys.stderr if stderr else sys.stdout
    file = stream.stream if isinstance(stream, Clean) else None  # styles are control sequences, so they bypass Clean
    return _Screen(file=file, stderr=stderr, markup=False, emoji=False, force_terminal=None if live else False)


class _Screen(Console):
    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            if segment.control or segment.text.isprintable():
                yield segment
            else:
                yield Segment(clean(segment.text), segment.style)


class Clean(io.TextIOBase):
    """A stream that cleans what is written to it, as text or as UTF-8 bytes."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.buffer = _CleanBytes(self)

    def write(self, text: str) -> int:
        self.stream.write(clean(text))
        return len(text)

    def flush(self) -> None:
        self.stream.flush()

    def __getattribute__(self, name: str) -> Any:
        if name in ("encoding", "errors", "isatty", "fileno", "closed", "newlines"):
            return getattr(object.__getattribute__(self, "stream"), name)
        return super().__getattribute__(name)


class _CleanBytes(io.RawIOBase):
    def __init__(self, text: Clean) -> None:
        self._text = text
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._text.write(self._decoder.decode(bytes(data)))
        return len(data)

    def flush(self) -> None:
        self._text.flush()

    def close(self) -> None:
        """Leave the wrapped stream open."""


def guard_terminal() -> None:
    """From now on, clean everything that this process prints to a terminal."""
    if sys.stdout.isatty() and not isinstance(sys.stdout, Clean):
        sys.stdout = Clean(sys.stdout)
    if sys.stderr.isatty() and not isinstance(sys.stderr, Clean):
        sys.stderr = Clean(sys.stderr)
