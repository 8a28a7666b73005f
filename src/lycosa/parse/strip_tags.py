"""Remove tags that carry neither text nor links from huge pages, so that no page can keep the parser busy for minutes.

The HTML standard lets a page of 50 kB grow into a tree of gigabytes (unclosed <b id=1>, <b id=2>, ... are reopened in
every paragraph), and deep nesting costs the square of its depth. The attributes of every <html> and <body> after the
first are merged into the first, which costs the square of their number.
"""

import re

import numpy as np

_MOST_TAGS = 2_000  # the worst page with this many tags takes half a second
_WIDE_BYTES = 200_000  # the worst single tag of that size takes four
_LONGEST_TAG_BYTES = 8_000
_MOST_FRAMING = 16  # <html> and <body> tags; workarounds for old browsers use about ten, mostly in comments
_FRAMING_BYTES = 30_000  # in a smaller page any number of them is harmless

# Up to the end of the tag; a quote counts only after an equals sign. Whatever has no end extends to the end of the
# page, and nothing is tried twice (possessive quantifiers): otherwise the time would be quadratic.
_REST = rb"[^=>]*+(?:=\s*+(?:\"[^\"]*+\"|'[^']*+')?+[^=>]*+)*+(?:>|\Z)"
_COMMENT = rb"<!--(?:-?>|(?:[^-]++|-(?!-!?>))*+(?:--!?>|\Z))"
_UNSEEN = rb"(?=[snt])(script|style|noscript|template|textarea|select|noframes|noembed)\b"
_UNSEEN_TEXT = rb"(?:[^<]++|<(?!/\1))*+"
_KEPT = rb"a(?:rea)?|b(?:ase|ody)|frame(?:set)?|h(?:ead|tml)|i(?:mg|frame)|link|meta|title"  # links and frames

_NOISE = re.compile(
    rb"%b|<(?:%b%b%b|/?+(?!(?:%b)[\s/>])[a-z]%b)" % (_COMMENT, _UNSEEN, _REST, _UNSEEN_TEXT, _KEPT, _REST),
    re.IGNORECASE,
)
_TAG = re.compile(rb"%b|<(?:%b%b(%b)|[a-z]%b)" % (_COMMENT, _UNSEEN, _REST, _UNSEEN_TEXT, _REST), re.IGNORECASE)
_FRAMING = frozenset((b"<html", b"<body"))
_MAYBE_FRAMING = re.compile(rb"<(?:[hH][tT][mM]|[bB][oO][dD])").findall  # the flag IGNORECASE would be slower
_NAME = re.compile(rb"<[a-z]{1,20}", re.IGNORECASE)


def strip_tags(html: bytes) -> bytes:
    """The page itself if it is harmless, otherwise without the tags that carry neither text nor links."""
    if len(html) <= _MOST_TAGS * 3:
        return html
    page = np.frombuffer(html, np.uint8)
    if np.count_nonzero(page == ord("<")) > _MOST_TAGS:
        html = _NOISE.sub(b" ", html)
    if len(html) > _WIDE_BYTES or (len(html) > _FRAMING_BYTES and _framing_tags(html) > _MOST_FRAMING):
        html = _TAG.sub(_Shorter(), html)
    return html


def _framing_tags(html: bytes) -> int:
    """An upper bound on the number of <html> and <body> tags."""
    return len(_MAYBE_FRAMING(html))


class _Shorter:
    """Tag by tag: drop all attributes of very long tags, and every <html> and <body> except the first."""

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
