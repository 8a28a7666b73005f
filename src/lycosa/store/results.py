"""What tables of results are read from: the pages of a crawl, or its links, as rows of chosen columns."""

from collections.abc import Generator, Iterable, Sequence
from typing import Any

from msgspec import Struct

from lycosa.store.db import CrawlDb
from lycosa.store.known import links
from lycosa.store.visited import IS_PAGE, IS_RELEVANT

_PAGE_CELLS = {  # where the table visits has no column of that name and meaning
    "warc_offset": "CASE WHEN warc != '' THEN warc_offset END",
    "text": "''",
}
_LINK_CELLS = {
    "source": "from_.url",
    "target": "to_.url",
    "anchor": "CASE WHEN to_.source = from_.id THEN to_.anchor ELSE '' END",
    "score": "CASE WHEN to_.band = 1 OR to_.score != 0 THEN to_.score END",
}
_READABLE = f"CASE WHEN {IS_PAGE} THEN warc ELSE '' END, warc_offset"
Rows = Generator[Sequence[Any], None, None]  # to be closed before the database is


class Wanted(Struct, frozen=True):
    """Which pages."""

    relevant: bool = False
    min_relevance: float | None = None
    errors: bool = False  # also what could not be fetched or read


def page_cells(db: CrawlDb, columns: Iterable[str], wanted: Wanted) -> Rows:
    """In the order of fetching. At the end of each row come the WARC file (empty if this is no page) and the offset.

    The column `text` is left empty: it has to be read from the WARC.
    """
    chosen = ", ".join(_PAGE_CELLS.get(name, name) for name in columns)
    yield from db.execute(f"SELECT {chosen}, {_READABLE} FROM visits WHERE {_condition(wanted)} ORDER BY n")


def _condition(wanted: Wanted) -> str:
    parts = [IS_RELEVANT] * wanted.relevant
    parts += [] if wanted.min_relevance is None else [f"relevance >= {wanted.min_relevance!r}"]
    parts += [] if wanted.errors else ["error = ''"]
    return " AND ".join(parts) or "true"


def link_rows(db: CrawlDb, columns: Iterable[str]) -> Rows:
    """Link after link, by the page they are on. The anchor is known of the link that led to the target first or best;
    the score is what the target is worth now, or was worth when it was fetched."""
    sql = (
        f"SELECT {', '.join(map(_LINK_CELLS.__getitem__, columns))} FROM json_each(?)"
        " JOIN urls to_ ON to_.id = json_each.value JOIN urls from_ ON from_.id = ? ORDER BY json_each.key"
    )
    for source, targets in links(db):
        yield from db.execute(sql, (str(targets.tolist()), source))
