"""All that goes to a terminal goes through here: nothing from the web may speak to it.

Titles, URLs, labels and names come from strangers. A terminal obeys control characters in them (to write the clipboard,
to hide or forge lines), and bidirectional marks make a text look like another one. Files and pipes get data as it is.
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
    """Without control characters but ends of lines and tabs, and without marks that change the order of letters."""
    return _unsafe.sub(" ", text.replace("\r\n", "\n"))


def printable(text: str) -> str:
    """The same in one line."""
    return text if text.isprintable() else clean(text).replace("\n", " ").replace("\t", " ")


def console(stderr: bool = False, live: bool = True) -> Console:
    """What every command draws with: styles are ours, text is cleaned, and no text is taken for markup. It counts as a
    terminal if it is one, unless it shall not be `live`."""
    stream = sys.stderr if stderr else sys.stdout
    file = stream.stream if isinstance(stream, Clean) else None  # styles are control sequences, so not through Clean
    return _Screen(file=file, stderr=stderr, markup=False, emoji=False, force_terminal=None if live else False)


class _Screen(Console):
    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            if segment.control or segment.text.isprintable():
                yield segment
            else:
                yield Segment(clean(segment.text), segment.style)


class Clean(io.TextIOBase):
    """A stream that cleans what is written to it, as text or as bytes in UTF-8."""

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
        """The stream below stays open."""


def guard_terminal() -> None:
    """From now on what this process prints to a terminal is cleaned."""
    if sys.stdout.isatty() and not isinstance(sys.stdout, Clean):
        sys.stdout = Clean(sys.stdout)
    if sys.stderr.isatty() and not isinstance(sys.stderr, Clean):
        sys.stderr = Clean(sys.stderr)
