"""The rows of an exported table: one per visited page, or one per link."""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from lycosa.output.table import Columns, Kind
from lycosa.store.db import CrawlDb
from lycosa.store.results import Rows, Wanted, page_cells
from lycosa.types import BadInput

TEXT = "text"
_PAGES: dict[str, Kind] = {
    "n": "whole",
    "url": "text",
    "final_url": "text",
    "status": "whole",
    "error": "text",
    "fetched_at": "date",
    "seconds": "real",
    "bytes": "whole",
    "content_type": "text",
    "digest": "text",
    "depth": "whole",
    "source": "text",
    "anchor": "text",
    "score": "real",
    "relevance": "real",
    "on_topic": "yes",
    "label": "text",
    "title": "text",
    "language": "text",
    "duplicate_of": "text",
    "why": "shares",
    "classes": "shares",
    "detail": "text",
    "warc": "text",
    "warc_offset": "whole",
    TEXT: "text",
}
_PLAIN = list(_PAGES)[: list(_PAGES).index("why")]
_LINKS: dict[str, Kind] = {
    "source": "text",
    "target": "text",
    "anchor": "text",
    "score": "real",
}
ALL = "all"  # every column except the text, which has to be read from the WARC


def page_columns(names: Sequence[str], text: bool = False) -> Columns:
    """The named columns, or the default ones; plus the text if wanted."""
    return _chosen([*(names or _PLAIN), *([TEXT] if text else [])], _PAGES)


def link_columns(names: Sequence[str]) -> Columns:
    return _chosen(names or [ALL], _LINKS)


def _chosen(names: Sequence[str], known: dict[str, Kind]) -> Columns:
    found: dict[str, Kind] = {}
    for name in names:
        if name != ALL and name not in known:
            raise BadInput(f"--columns: there is no column {name!r} (there are: {', '.join(known)}; or {ALL})")
        found |= {one: known[one] for one in (known if name == ALL else [name]) if one != TEXT or name == TEXT}
    return found


def page_rows(db: CrawlDb, columns: Columns, wanted: Wanted, text_of: Callable[[str, int], str]) -> Rows:
    """Pages in fetch order. `text_of` reads the text of a page, given its WARC file and offset."""
    kinds = [(at, kind) for at, kind in enumerate(columns.values()) if kind in ("yes", "shares")]
    text = list(columns).index(TEXT) if TEXT in columns else -1
    for found in page_cells(db, columns, wanted):
        *cells, warc, offset = found
        for at, kind in kinds:
            cells[at] = bool(cells[at]) if kind == "yes" else _shares(cells[at])
        if text >= 0 and warc:
            cells[text] = text_of(warc, offset)
        yield cells


def _shares(text: str) -> dict[str, Any]:
    return msgspec.json.decode(text) if text else {}
