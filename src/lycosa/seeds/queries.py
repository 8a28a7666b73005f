"""Makes search queries: from pieces of the titles that a page lists, or else from the characteristic words of relevant
pages.

A whole title finds little but the page it was taken from, so it is cut at the most frequent words of the Web into
pieces that also occur on other pages (Publication Spider, 2007).
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

from msgspec import Struct
from selectolax.lexbor import LexborHTMLParser

from lycosa.text import STEMS

FREQUENT = frozenset(
    "the a to of and in s for on this is by with or at all are from e you be that not an as home it i have if new t"
    " your page about com information will can more".split()
)
MOST_BYTES = 1_000_000  # of a page searched for lists
_MOST_ITEMS = 1_000
_MOST_CHARS = 1_000  # of an item: no citation is longer
_LEAST, _MOST = 15, 250  # characters of a title
_TOP_TERMS = 3

_SIGNS = re.compile(r"[.:;?!,()\[\]\"“”]+")
_TITLES = (
    re.compile(rf"[\"“]([^\"“”]{{{_LEAST},{_MOST}}})[\"”]"),
    re.compile(rf"\((?:19|20)\d\d[a-z]?\)[.,:]?\s+([^.,]{{{_LEAST},{_MOST}}}?)(?=[.,]\s|[.,]$)"),  # (2006) Title,
    re.compile(rf"(?:19|20)\d\d[a-z]?\.\s+([^.]{{{_LEAST},{_MOST}}})\."),  # 2006. Title.
)
_SPANS = re.compile(r"[.,](?:\s+|$)")
_CAPITAL = re.compile(r"\b[A-Z][\w-]*")
_VENUE = re.compile(r"^In\b|\b(?:Proceedings|Proc|Journal|Conference|Workshop|Transactions|Press|University)\b")
_PARTS = re.compile(r"\s[-|–—»·:]+\s")  # of a page title: name of the site, of the section, of the page
_BEFORE_SIGN = re.compile(r"\s+([.,;:)\]”])")


class Note(Struct, frozen=True):
    """What is stored of a relevant page to make queries from."""

    title: str
    why: Mapping[str, float] = {}  # terms in its favour, most characteristic first
    words: Sequence[str] = ()  # of its text


def list_items(body: bytes) -> list[str]:
    """The text of every list item of an HTML page, without that of nested lists."""
    nodes = list(islice(LexborHTMLParser(_decode(body[:MOST_BYTES])).css("ul li, ol li"), _MOST_ITEMS))
    items = []
    for node in reversed(nodes):  # inner lists first, so that they are removed before the outer ones are read
        items.append(_tidy(node.text(separator=" ")))
        node.decompose()
    return [item for item in reversed(items) if item]


def _decode(body: bytes) -> str:
    """Good enough here: titles are recognised by Latin capitals."""
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError:
        return body.decode("cp1252", "replace")


def _tidy(text: str) -> str:
    return _BEFORE_SIGN.sub(r"\1", " ".join(text[: 2 * _MOST_CHARS].split()))[:_MOST_CHARS]


def title_of(item: str) -> str:
    """The title in a citation: in quotes, after the year, or the longest part with four capitals; empty if there is
    none."""
    for pattern in _TITLES:
        if found := pattern.search(item):
            return found[1].strip()
    spans = (span.strip() for span in _SPANS.split(item))
    titles = [span for span in spans if _LEAST <= len(span) <= _MOST and _is_title(span)]
    return max(titles, key=len, default="")


def _is_title(span: str) -> bool:
    """Publication venues are capitalised too, and often longer."""
    return len(_CAPITAL.findall(span)) >= 4 and not _VENUE.search(span)


def pieces(title: str, min_words: int = 1) -> list[str]:
    """A title cut at punctuation and at frequent words."""
    found = []
    for part in _SIGNS.split(title):
        piece: list[str] = []
        for word in [*part.split(), "the"]:  # forces a cut at the end
            if word.lower() not in FREQUENT:
                piece.append(word)
            else:
                found.append(piece)
                piece = []
    return [" ".join(piece) for piece in found if piece and len(piece) >= min_words]


def from_items(items: Iterable[str], min_words: int = 1) -> Iterator[str]:
    """Pieces of the titles in list items, in order."""
    for item in items:
        yield from pieces(title_of(item), min_words)


def from_notes(notes: Iterable[Note]) -> Iterator[str]:
    """The most characteristic terms of each page, then the parts of its title, each combined with the most
    characteristic term."""
    for note in notes:
        terms = list(
            islice((_spelled(term, note.words) for term, weight in note.why.items() if weight > 0), _TOP_TERMS)
        )
        if terms:
            yield " ".join(terms)
        for part in _PARTS.split(note.title[:_MOST_CHARS]):
            for piece in pieces(part, min_words=2):
                known = not terms or terms[0].lower() in piece.lower()
                yield piece if known else f"{piece} {terms[0]}"


def _spelled(term: str, words: Sequence[str]) -> str:
    """The first word of the page with this stem, because a stem is not a word to search for."""
    return term if " " in term or term in words else next((word for word in words if STEMS[word] == term), term)


def distinct(queries: Iterable[str]) -> Iterator[str]:
    """Remove duplicates, ignoring case."""
    seen = set()
    for query in queries:
        key = normal(query)
        if key and key not in seen:
            seen.add(key)
            yield query


def normal(query: str) -> str:
    """Normal form: two queries are the same if it is equal."""
    return " ".join(query.casefold().split())
