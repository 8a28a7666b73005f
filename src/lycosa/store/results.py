"""The rows behind tables of results: the pages of a crawl, or its links, with chosen columns."""

from collections.abc import Generator, Iterable, Sequence
from typing import Any

from msgspec import Struct

from lycosa.store.db import CrawlDb
from lycosa.store.known import links
from lycosa.store.visited import IS_PAGE, IS_RELEVANT

_PAGE_CELLS = {  # where the table visits has no column of the same name and meaning
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
Rows = Generator[Sequence[Any], None, None]  # must be closed before the database


class Wanted(Struct, frozen=True):
    """Which pages to include."""

    relevant: bool = False
    min_relevance: float | None = None
    errors: bool = False  # include those that could not be fetched or parsed


def page_cells(db: CrawlDb, columns: Iterable[str], wanted: Wanted) -> Rows:
    """In the order of fetching. Each row ends with the WARC file (empty if this is not a page) and the offset.

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
    """All links, grouped by source page. The anchor is known for the link that led to the target first or best; the
    score is the current score of the target, or its score when it was fetched."""
    sql = (
        f"SELECT {', '.join(map(_LINK_CELLS.__getitem__, columns))} FROM json_each(?)"
        " JOIN urls to_ ON to_.id = json_each.value JOIN urls from_ ON from_.id = ? ORDER BY json_each.key"
    )
    for source, targets in links(db):
        yield from db.execute(sql, (str(targets.tolist()), source))
