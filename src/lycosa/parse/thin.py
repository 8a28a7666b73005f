"""Take from a huge page the tags that say nothing to us, so that no page can make the tree parser work for minutes.

The HTML standard lets a page of 50 kB grow to a tree of gigabytes (unclosed <b id=1>, <b id=2>, ... are opened again in
every paragraph), and deep nesting costs the square of its depth. Text and links need none of those tags.
"""

import re

import numpy as np

_MOST_TAGS = 2_000  # the worst page with so many tags takes half a second
_WIDE_BYTES = 200_000  # the worst single tag of that size takes four
_LONGEST_TAG_BYTES = 8_000

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
_NAME = re.compile(rb"<[a-z]{1,20}", re.IGNORECASE)


def thin(html: bytes) -> bytes:
    """The page itself if it is harmless, else without the tags that carry neither text nor links."""
    if len(html) > _MOST_TAGS * 3 and np.count_nonzero(np.frombuffer(html, np.uint8) == ord("<")) > _MOST_TAGS:
        html = _NOISE.sub(b" ", html)
    if len(html) > _WIDE_BYTES:
        html = _TAG.sub(_shorter, html)
    return html


def _shorter(found: re.Match[bytes]) -> bytes:
    """A tag with thousands of attributes, each of which would be compared with all before it, loses them all."""
    whole, text = found[0], found[2] or b""
    name = _NAME.match(whole)
    if len(whole) - len(text) <= _LONGEST_TAG_BYTES or name is None:
        return whole
    return name[0] + b">" + text
