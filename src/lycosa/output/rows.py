"""The rows of an exported table: one per visited page, or one per link."""

from array import array
from collections.abc import Callable, Generator, Sequence
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct

from lycosa.db import CrawlDb
from lycosa.output.table import Columns, Kind, Row
from lycosa.types import SEED_SCORE, BadInput


class _Column(NamedTuple):
    kind: Kind
    sql: str = ""  # if crawl.db has no column with this name and meaning


def _score(table: str) -> str:
    return f"CASE WHEN {table}.score < {SEED_SCORE} THEN {table}.score END"


Rows = Generator[Row, None, None]  # to be closed before the database is
TEXT = "text"
_PAGES = {
    "n": _Column("whole"),
    "url": _Column("text"),
    "final_url": _Column("text"),
    "status": _Column("whole"),
    "error": _Column("text"),
    "fetched_at": _Column("date"),
    "seconds": _Column("real"),
    "bytes": _Column("whole"),
    "content_type": _Column("text"),
    "digest": _Column("text"),
    "depth": _Column("whole"),
    "source": _Column("text"),
    "anchor": _Column("text"),
    "score": _Column("real", _score("visits")),
    "relevance": _Column("real"),
    "on_topic": _Column("yes"),
    "label": _Column("text"),
    "title": _Column("text"),
    "language": _Column("text"),
    "duplicate_of": _Column("text"),
    "why": _Column("shares"),
    "classes": _Column("shares"),
    "detail": _Column("text"),
    "warc": _Column("text"),
    "warc_offset": _Column("whole", "CASE WHEN warc != '' THEN warc_offset END"),
    TEXT: _Column("text", "''"),
}
_PLAIN = list(_PAGES)[: list(_PAGES).index("why")]
_LINKS = {
    "source": _Column("text", "from_.url"),
    "target": _Column("text", "to_.url"),
    "anchor": _Column("text", "CASE WHEN to_.source = from_.id THEN to_.anchor ELSE '' END"),
    "score": _Column("real", _score("to_")),
}
ALL = "all"  # every column except the text, which has to be read from the WARC


class Wanted(Struct, frozen=True):
    """Which pages to export."""

    relevant: bool = False
    min_relevance: float | None = None
    errors: bool = False  # include failed visits

    def condition(self) -> str:
        parts = ["on_topic"] * self.relevant
        parts += [] if self.min_relevance is None else [f"relevance >= {self.min_relevance!r}"]
        parts += [] if self.errors else ["error = ''"]
        return " AND ".join(parts) or "true"


def page_columns(names: Sequence[str], text: bool = False) -> Columns:
    """The named columns, or the default ones; plus the text if wanted."""
    return _chosen([*(names or _PLAIN), *([TEXT] if text else [])], _PAGES)


def link_columns(names: Sequence[str]) -> Columns:
    return _chosen(names or [ALL], _LINKS)


def _chosen(names: Sequence[str], known: dict[str, _Column]) -> Columns:
    found: dict[str, Kind] = {}
    for name in names:
        if name != ALL and name not in known:
            raise BadInput(f"--columns: there is no column {name!r} (there are: {', '.join(known)}; or {ALL})")
        found |= {one: known[one].kind for one in (known if name == ALL else [name]) if one != TEXT or name == TEXT}
    return found


def page_rows(db: CrawlDb, columns: Columns, wanted: Wanted, text_of: Callable[[str, int], str]) -> Rows:
    """Pages in fetch order. `text_of` reads the text of a page, given its WARC file and offset."""
    chosen = [_PAGES[name].sql or name for name in columns]
    where = "CASE WHEN error = '' AND digest != '' THEN warc ELSE '' END, warc_offset"
    sql = f"SELECT {', '.join(chosen)}, {where} FROM visits WHERE {wanted.condition()} ORDER BY n"
    kinds = [(at, kind) for at, kind in enumerate(columns.values()) if kind in ("yes", "shares")]
    text = list(columns).index(TEXT) if TEXT in columns else -1
    for found in db.execute(sql):
        *cells, warc, offset = found
        for at, kind in kinds:
            cells[at] = bool(cells[at]) if kind == "yes" else _shares(cells[at])
        if text >= 0 and warc:
            cells[text] = text_of(warc, offset)
        yield cells


def link_rows(db: CrawlDb, columns: Columns) -> Rows:
    """Links, by the page they are on. The anchor is known only for the link that gave the target its score; the score
    is the current one of the target, or the one it had when it was fetched."""
    chosen = [_LINKS[name].sql for name in columns]
    sql = (
        f"SELECT {', '.join(chosen)} FROM json_each(?) JOIN urls to_ ON to_.id = json_each.value"
        " JOIN urls from_ ON from_.id = ? ORDER BY json_each.key"
    )
    for source, blob in db.execute("SELECT source, targets FROM links ORDER BY source"):
        yield from db.execute(sql, (str(array("I", blob).tolist()), source))


def _shares(text: str) -> dict[str, Any]:
    return msgspec.json.decode(text) if text else {}
