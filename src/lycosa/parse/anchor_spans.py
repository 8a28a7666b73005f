"""Where do the anchors stand among a page's words? A mark before and after each goes through the text with it.

So the text of a page is taken and split once, and not once for every anchor. The marks are control characters that no
page holds but a freak; `unmarked` notices, and `without_marks` helps.
"""

import re

from lycosa.text import LOWER_OR_SPACE, spaced, words

START, END = "\x02", "\x03"

Anchor = tuple[str, int, int]  # a link's words as they stand on the page, which are words[start:end] of it

_KEEPING_MARKS = LOWER_OR_SPACE[:2] + b"\x02\x03" + LOWER_OR_SPACE[4:]
_LONGEST_ANCHOR = 300  # characters; an <a> that nobody closed may hold half of the page
_anchors = re.compile(f"{START}([^{START}{END}]*)").findall  # one within another ends the other, as if it had closed it
_references = re.compile(rb"&#(?:0*[23](?!\d)|x0*[23](?![\da-f]));?", re.IGNORECASE)


def unmarked(text: str, marks: int) -> tuple[str, list[str], list[Anchor]] | None:
    """Text, words and anchors without the marks; None if there are not as many as there should be."""
    if text.count(START) != marks or text.count(END) != marks:
        return None
    found, spans = _split(spaced(text, _KEEPING_MARKS))
    anchors = [
        (anchor, start, end) if len(anchor) <= _LONGEST_ANCHOR else _cut(anchor, start)
        for anchor, (start, end) in zip(map(_in_one_line, _anchors(text)), spans, strict=True)
    ]
    return text.encode().translate(None, b"\x02\x03").decode().strip(), found, anchors


def _split(text: str) -> tuple[list[str], list[tuple[int, int]]]:
    """The words of a text that is spaced out but for the marks, and from where to where the anchors are."""
    before, *parts = text.split(START)
    found = before.split()
    spans = []
    for part in parts:
        anchor, _, after = part.partition(END)
        start = len(found)
        found += anchor.split()
        spans.append((start, len(found)))
        if END in after:
            after = after.replace(END, "")
        found += after.split()
    return found, spans


def _in_one_line(text: str) -> str:
    return " ".join(text.split())


def _cut(anchor: str, start: int) -> Anchor:
    """The first words of a long anchor, up to a space: half a word would not be found among the page's words."""
    text = anchor[: _LONGEST_ANCHOR + 1].rpartition(" ")[0]
    return text, start, start + len(words(text))


def without_marks(html: bytes) -> bytes:
    """A page free of characters that look like our marks, written out or as references."""
    return _references.sub(b" ", html.replace(b"\x02", b" ").replace(b"\x03", b" "))
