"""Bring the index up to date: pages fetched, judged again or labelled since the last time.

The index is a folder of its own beside crawl.db, derived from it and from the WARC: whoever deletes it loses nothing
but time. `pages.json` says which pages it holds and how they were judged then, so an update reads only the text of
pages that are new or have changed. It is written after the commit; a page that is indexed again replaces itself.
"""

import shutil
from collections.abc import Callable, Iterable
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from lycosa.errors import BadInput
from lycosa.files import write_whole
from lycosa.pages import stored_text
from lycosa.store.db import CrawlDb
from lycosa.store.searchable import Searchable, relevant_rows
from lycosa.urls import host

NAME = "search-index"
FORMAT = 2
BATCH = 500  # pages between two commits: after each, what was added can be found
MOST_TEXT = 200_000  # characters of a page that are indexed
_HEAP_BYTES = 30_000_000
_PAGES = "pages.json"
_STEMMED = "en_stem"  # "dentist" finds "dentists"; other languages are searched as written but for English-like endings
Report = Callable[[int, int], None]  # pages done, and pages to do


class _Indexed(Struct):
    """Which pages are in the index, each with its mark."""

    marks: dict[int, int] = {}
    format: int = FORMAT


class Busy(BadInput):
    """Another process is updating this index."""


def load_tantivy() -> Any:
    try:
        import tantivy
    except ImportError:
        raise BadInput("full-text search needs tantivy: pip install 'lycosa[search]'") from None
    return tantivy


def update(folder: Path, report: Report = lambda done, total: None) -> int:
    """Add pages that became relevant, replace those that changed, remove the others; return how many changed."""
    tantivy = load_tantivy()
    with closing(CrawlDb(folder / "crawl.db", readonly=True).open()) as db:
        rows = {row.n: row for row in relevant_rows(db)}
    where = folder / NAME
    indexed = _read(where)
    changed = [row for n, row in rows.items() if indexed.marks.get(n) != row.mark()]
    gone = [n for n in indexed.marks if n not in rows]
    if not changed and not gone and (where / "meta.json").exists():
        return 0
    try:
        index = _opened(tantivy, where)
        writer = index.writer(heap_size=_HEAP_BYTES, num_threads=1)
    except (ValueError, OSError) as error:
        if "lock" in str(error).lower():
            raise Busy(f"{where}: another process is updating the index") from None
        raise BadInput(f"{where}: cannot be written: {error}") from None
    total = len(changed) + len(gone)
    for done in _write(writer, folder, indexed, changed, gone):
        write_whole(where / _PAGES, msgspec.json.encode(indexed))
        report(done, total)
    writer.wait_merging_threads()
    return total


def _write(
    writer: Any, folder: Path, indexed: _Indexed, changed: list[Searchable], gone: Iterable[int]
) -> Iterable[int]:
    """In batches; after each, the number of pages done so far."""
    done, rest = 0, iter(changed)
    for n in gone:
        writer.delete_documents_by_term("id", str(n))
        del indexed.marks[n]
        done += 1
    while True:
        batch = list(islice(rest, BATCH))
        for row in batch:
            writer.delete_documents_by_term("id", str(row.n))
            writer.add_document(_document(row, _text(folder, row)))
            indexed.marks[row.n] = row.mark()
        writer.commit()
        done += len(batch)
        yield done
        if len(batch) < BATCH:
            return


def schema(tantivy: Any) -> Any:
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("id", tokenizer_name="raw")  # what a page is deleted by: numbers do not work for that
    builder.add_unsigned_field("n", stored=True)
    for name in ("title", "text"):
        builder.add_text_field(name, stored=True, tokenizer_name=_STEMMED)
    for name in ("url", "host", "label", "given"):
        builder.add_text_field(name, stored=True, tokenizer_name="raw")
    builder.add_unsigned_field("at", stored=True, indexed=True, fast=True)
    builder.add_integer_field("simhash", stored=True)
    builder.add_float_field("relevance", stored=True)
    return builder.build()


def _document(row: Searchable, text: str) -> Any:
    document = load_tantivy().Document()
    document.add_text("id", str(row.n))
    document.add_unsigned("n", row.n)
    document.add_text("title", row.title)
    document.add_text("text", text)
    for name, value in (("url", row.url), ("host", host(row.url)), ("label", row.label), ("given", row.given)):
        document.add_text(name, value)
    document.add_unsigned("at", max(0, int(row.fetched_at)))
    document.add_integer("simhash", row.simhash)
    document.add_float("relevance", row.relevance)
    return document


def _text(folder: Path, row: Searchable) -> str:
    """The main text; none if the crawl does not store pages, or cannot read this one any more."""
    try:
        return stored_text(folder / "warc" / row.warc, row.warc_offset)[:MOST_TEXT] if row.warc else ""
    except (BadInput, OSError, ValueError):
        return ""


def _opened(tantivy: Any, where: Path) -> Any:
    where.mkdir(exist_ok=True)
    return tantivy.Index(schema(tantivy), path=str(where), reuse=True)


def _read(where: Path) -> _Indexed:
    """What the index holds; one that is damaged or of another format is deleted and built again."""
    try:
        found = msgspec.json.decode((where / _PAGES).read_bytes(), type=_Indexed)
        if found.format == FORMAT and load_tantivy().Index.exists(str(where)):
            return found
    except (OSError, msgspec.MsgspecError, ValueError):
        pass
    shutil.rmtree(where, ignore_errors=True)
    return _Indexed()
