"""Take from a huge page the tags that say nothing to us, so that no page can make the tree parser work for minutes.

The HTML standard lets a page of 50 kB grow to a tree of gigabytes (unclosed <b id=1>, <b id=2>, ... are opened again in
every paragraph), and deep nesting costs the square of its depth. Text and links need none of those tags. The attributes
of every <html> and <body> after the first are merged into the first, which costs the square of their number.
"""

import re

import numpy as np

_MOST_TAGS = 2_000  # the worst page with so many tags takes half a second
_WIDE_BYTES = 200_000  # the worst single tag of that size takes four
_LONGEST_TAG_BYTES = 8_000
_MOST_FRAMING = 16  # <html> and <body> tags; the usual tricks for old browsers take ten, most of them in comments
_FRAMING_BYTES = 30_000  # in a smaller page any number of them is harmless

# To the end of the tag; a quote counts only behind an equals sign. Everything that has no end goes on to the end of the
# page, and nothing is tried twice (possessive quantifiers): else the time would be quadratic here.
_REST = rb"[^=>]*+(?:=\s*+(?:\"[^\"]*+\"|'[^']*+')?+[^=>]*+)*+(?:>|\Z)"
_COMMENT = rb"<!--(?:-?>|(?:[^-]++|-(?!-!?>))*+(?:--!?>|\Z))"
_UNSEEN = rb"(?=[snt])(script|style|noscript|template|textarea|select|noframes|noembed)\b"
_UNSEEN_TEXT = rb"(?:[^<]++|<(?!/\1))*+"
_KEPT = (
    rb"a(?:rea)?|b(?:ase|ody)|frame(?:set)?|h(?:ead|tml)|i(?:mg|frame)|link|meta|title"  # links and what frames a page
)

_NOISE = re.compile(
    rb"%b|<(?:%b%b%b|/?+(?!(?:%b)[\s/>])[a-z]%b)" % (_COMMENT, _UNSEEN, _REST, _UNSEEN_TEXT, _KEPT, _REST),
    re.IGNORECASE,
)
_TAG = re.compile(rb"%b|<(?:%b%b(%b)|[a-z]%b)" % (_COMMENT, _UNSEEN, _REST, _UNSEEN_TEXT, _REST), re.IGNORECASE)
_FRAMING = frozenset((b"<html", b"<body"))
_NAME = re.compile(rb"<[a-z]{1,20}", re.IGNORECASE)


def thin(html: bytes) -> bytes:
    """The page itself if it is harmless, else without the tags that carry neither text nor links."""
    if len(html) <= _MOST_TAGS * 3:
        return html
    page = np.frombuffer(html, np.uint8)
    if np.count_nonzero(page == ord("<")) > _MOST_TAGS:
        html = _NOISE.sub(b" ", html)
    if len(html) > _WIDE_BYTES or (len(html) > _FRAMING_BYTES and _framing_tags(html) > _MOST_FRAMING):
        html = _TAG.sub(_Shorter(), html)
    return html


def _framing_tags(html: bytes) -> int:
    """How many <html> and <body> tags are there, at most? In numpy, for this is asked of every second page."""
    page = np.frombuffer(html, np.uint8)
    starts = np.flatnonzero(page[:-5] == ord("<"))
    second = page[starts + 1] | 0x20  # in lower case
    starts = starts[(second == ord("h")) | (second == ord("b"))]
    third, fourth = page[starts + 2] | 0x20, page[starts + 3] | 0x20
    is_html, is_body = (third == ord("t")) & (fourth == ord("m")), (third == ord("o")) & (fourth == ord("d"))
    return int(np.count_nonzero(is_html | is_body))


class _Shorter:
    """Tag by tag: all attributes of a very long one are dropped, and every <html> and <body> but the first."""

    def __init__(self) -> None:
        self._seen: set[bytes] = set()

    def __call__(self, found: re.Match[bytes]) -> bytes:
        whole, text = found[0], found[2] or b""
        name = _NAME.match(whole)
        if name is None:
            return whole
        tag = name[0].lower()
        if tag in _FRAMING:
            if tag in self._seen:
                return b" "
            self._seen.add(tag)
        # each attribute is compared with all before it
        return whole if len(whole) - len(text) <= _LONGEST_TAG_BYTES else name[0] + b">" + text
