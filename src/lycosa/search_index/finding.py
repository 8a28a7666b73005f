"""Find relevant pages by their words: ranked, with snippets, near duplicates folded into one result."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from lycosa.errors import BadInput
from lycosa.search_index.updating import NAME, load_tantivy, schema

MOST = 300  # results that are ranked; nobody reads further
NEAR_BITS = 3  # near duplicates differ in at most this many bits
SNIPPET = 240  # characters
TITLE_BOOST = 2.0  # a word in the title counts as much as several in the text
_ALL_BITS = (1 << 64) - 1
_TOP = 8  # hosts and classes offered as filters


class Wanted(Struct, frozen=True):
    """What to look for. All words must occur; "a phrase", -without and OR work as in search engines."""

    words: str = ""
    host: str = ""
    label: str = ""  # the class that the judge found
    given: str = ""  # what a person said: yes or no
    since: int | None = None  # fetched at this time or later, seconds since the epoch
    until: int | None = None  # fetched before


class Piece(Struct, frozen=True):
    """A part of a snippet, and whether it is one of the words searched for."""

    text: str
    is_hit: bool


class Same(Struct, frozen=True):
    """A near duplicate."""

    n: int
    url: str
    title: str


class Hit(Struct, frozen=True):
    """One result."""

    n: int
    url: str
    title: str
    host: str
    label: str
    given: str
    relevance: float
    at: float
    snippet: Sequence[Piece]
    same: Sequence[Same]


class Results(Struct, frozen=True):
    """Some of the results."""

    pages: int  # that match
    results: int  # after folding near duplicates, of the best few hundred
    hits: Sequence[Hit]
    hosts: Sequence[tuple[str, int]]  # of the best, with the number of pages
    labels: Sequence[tuple[str, int]]


def find(folder: Path, wanted: Wanted, size: int = 10, offset: int = 0) -> Results:
    """The best results from `offset` on."""
    tantivy, where = load_tantivy(), folder / NAME
    try:
        index = tantivy.Index.open(str(where))
    except (ValueError, OSError):
        raise BadInput(f"{folder}: there is no search index yet; make one with: lycosa find {folder} WORDS") from None
    searcher, words = index.searcher(), _words(index, wanted.words)
    found = searcher.search(_query(tantivy, words, wanted), MOST)
    documents = [searcher.doc(address) for _, address in found.hits]
    groups = _folded(documents)
    shown = groups[offset : offset + size]
    snippets = tantivy.SnippetGenerator.create(searcher, words, index.schema, "text")
    snippets.set_max_num_chars(SNIPPET)
    hits = [_hit(first, others, snippets) for first, *others in shown]
    return Results(found.count or 0, len(groups), hits, _counted(documents, "host"), _counted(documents, "label"))


def count_indexed(folder: Path) -> int:
    """The number of pages in the index; 0 if there is none."""
    try:
        return int(load_tantivy().Index.open(str(folder / NAME)).searcher().num_docs)
    except (ValueError, OSError):
        return 0


def _words(index: Any, words: str) -> Any:
    plain = words.replace(":", " ")  # in the query language, what is before a colon names a field
    query, _ = index.parse_query_lenient(
        plain, ["title", "text"], field_boosts={"title": TITLE_BOOST}, conjunction_by_default=True
    )
    return query


def _query(tantivy: Any, words: Any, wanted: Wanted) -> Any:
    made, query, must = schema(tantivy), tantivy.Query, tantivy.Occur.Must
    parts = [(must, words if wanted.words.strip() else query.all_query())]
    for name in ("host", "label", "given"):
        if value := getattr(wanted, name):
            parts.append((must, query.term_query(made, name, value)))
    if wanted.since is not None or wanted.until is not None:
        first, end = max(0, wanted.since or 0), min(wanted.until if wanted.until is not None else 1 << 62, 1 << 62)
        kind = tantivy.FieldType.Unsigned
        parts.append((must, query.range_query(made, "at", kind, first, max(0, end), include_upper=False)))
    return query.boolean_query(parts)


def _folded(documents: Sequence[Any]) -> list[list[Any]]:
    """Groups of near duplicates, the best of each first."""
    groups: list[list[Any]] = []
    hashes: list[int] = []
    for document in documents:
        own = document.get_first("simhash")
        near = (at for at, other in enumerate(hashes) if own and ((own ^ other) & _ALL_BITS).bit_count() <= NEAR_BITS)
        at = next(near, None)
        if at is None:
            groups.append([document])
            hashes.append(own)
        else:
            groups[at].append(document)
    return groups


def _hit(document: Any, others: Sequence[Any], snippets: Any) -> Hit:
    names = ("n", "url", "title", "host", "label", "given", "relevance", "at")
    same = [Same(*(other.get_first(name) for name in ("n", "url", "title"))) for other in others]
    return Hit(*[*(document.get_first(name) for name in names), _pieces(document, snippets), same])


def _pieces(document: Any, snippets: Any) -> list[Piece]:
    """The best passage; the beginning of the text if no word occurs in it."""
    snippet = snippets.snippet_from_doc(document)
    fragment = snippet.fragment().encode()
    if not fragment:
        text = document.get_first("text") or ""
        return [Piece(text[:SNIPPET], False)] if text else []
    pieces, end = [], 0
    for part in snippet.highlighted():  # offsets in bytes
        before, hit = fragment[end : part.start].decode(), fragment[part.start : part.end].decode()
        pieces += [Piece(before, False), Piece(hit, True)]
        end = part.end
    return [piece for piece in [*pieces, Piece(fragment[end:].decode(), False)] if piece.text]


def _counted(documents: Sequence[Any], name: str) -> list[tuple[str, int]]:
    counts = Counter(document.get_first(name) for document in documents)
    return [(value, count) for value, count in counts.most_common(_TOP) if value]
