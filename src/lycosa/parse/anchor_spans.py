"""Where are the anchors among a page's words? A mark before and after each anchor is carried along with the text.

So the text of a page is extracted and split once, not once per anchor. The marks are control characters that hardly
any page contains; `unmarked` notices if one does, and `without_marks` removes them.
"""

import re

from lycosa.text import LOWER_OR_SPACE, spaced, words

START, END = "\x02", "\x03"

Anchor = tuple[str, int, int]  # the text of a link, and its position: words[start:end] of the page

_KEEPING_MARKS = LOWER_OR_SPACE[:2] + b"\x02\x03" + LOWER_OR_SPACE[4:]
_LONGEST_ANCHOR = 300  # characters; an unclosed <a> may contain half of the page
_anchors = re.compile(f"{START}([^{START}{END}]*)").findall  # an anchor inside another ends the outer one
_references = re.compile(rb"&#(?:0*[23](?!\d)|x0*[23](?![\da-f]));?", re.IGNORECASE)


def unmarked(text: str, marks: int) -> tuple[str, list[str], list[Anchor]] | None:
    """Text, words and anchors without the marks; None if the number of marks is wrong."""
    if text.count(START) != marks or text.count(END) != marks:
        return None
    found, spans = _split(spaced(text, _KEEPING_MARKS))
    anchors = [
        (anchor, start, end) if len(anchor) <= _LONGEST_ANCHOR else _cut(anchor, start)
        for anchor, (start, end) in zip(map(_in_one_line, _anchors(text)), spans, strict=True)
    ]
    return text.encode().translate(None, b"\x02\x03").decode().strip(), found, anchors


def _split(text: str) -> tuple[list[str], list[tuple[int, int]]]:
    """The words of a text that is separated by spaces except at the marks, and the positions of the anchors."""
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
    """The start of a long anchor, up to a space: half a word would not be found among the page's words."""
    text = anchor[: _LONGEST_ANCHOR + 1].rpartition(" ")[0]
    return text, start, start + len(words(text))


def without_marks(html: bytes) -> bytes:
    """The page without characters that look like our marks, literal or as character references."""
    return _references.sub(b" ", html.replace(b"\x02", b" ").replace(b"\x03", b" "))
