"""The stored results of a crawl, for programs: visits with their pages, and rows for tables."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from lycosa import build, config, urls
from lycosa.output.rows import TEXT, link_columns, page_columns, page_rows
from lycosa.output.table import Columns, Row, arrow_table
from lycosa.pages import stored_text
from lycosa.store.db import CrawlDb
from lycosa.store.replies import stored_replies
from lycosa.store.results import Wanted, link_rows
from lycosa.store.warc_reader import MAX_BODY_BYTES, read_record, to_response
from lycosa.types import BadInput, Link, Page, Reply, Verdict, Visit

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

_SEEN = ("error", "detail", "score", "relevance", "on_topic", "label", "classes", "why", "digest", "duplicate_of")


@contextmanager
def opened(folder: Path) -> Iterator[CrawlDb]:
    config.load(folder)  # reports what is wrong if this is not a crawl folder
    db = CrawlDb(folder / "crawl.db", readonly=True).open()
    try:
        yield db
    finally:
        db.close()


def summary(folder: Path) -> dict[str, Any]:
    """The last summary.json; empty before the first crawl."""
    try:
        found: dict[str, Any] = msgspec.json.decode((folder / "summary.json").read_bytes())
    except FileNotFoundError:
        return {}
    return found


def visits(folder: Path) -> Iterator[Visit]:
    """Every visit as it was made, with its body from the WARC and its page parsed again."""
    settings, _ = config.load(folder)
    parsers = build.make_parsers(settings)
    with (
        opened(folder) as db,
        closing(page_rows(db, page_columns(_SEEN), Wanted(errors=True), lambda warc, offset: "")) as rows,
        closing(stored_replies(db, "visits", folder / "warc", MAX_BODY_BYTES)) as replies,
    ):
        for stored, row in zip(replies, rows, strict=True):
            seen = dict(zip(_SEEN, row, strict=True))
            reply = replace(stored.reply, error=seen["error"], detail=seen["detail"])
            is_page = reply.body and not reply.error and not seen["duplicate_of"]
            page = parsers.parse(reply) if is_page else Page()
            yield Visit(
                reply,
                page,
                Verdict(seen["relevance"] or 0.0, seen["on_topic"], seen["label"], seen["classes"], seen["why"]),
                seen["score"] or 0.0,
                seen["digest"],
                seen["duplicate_of"],
            )


def page(folder: Path, url: str) -> Page:
    """The stored copy of one page."""
    address = urls.from_person(url)
    columns = ("url", "final_url", "content_type", "depth", "source", "anchor", "warc", "warc_offset")
    with pages(folder, Wanted(), columns, text=False) as (_, rows):
        for asked, final, content_type, depth, source, anchor, warc, offset in rows:
            if warc and address in (asked, final):
                answer = to_response(read_record(folder / "warc" / warc, offset), offset)
                reply = Reply(Link(asked, source, anchor, depth), final, answer.status, content_type, answer.body)
                return build.make_parsers(config.load(folder)[0]).parse(reply)
    raise BadInput(f"{folder}: {url}: no page with this URL is stored")


@contextmanager
def pages(folder: Path, wanted: Wanted, columns: Sequence[str], text: bool) -> Iterator[tuple[Columns, Iterator[Row]]]:
    chosen = page_columns(columns, text)
    read_text = _text_reader(folder, TEXT in chosen)
    with opened(folder) as db, closing(page_rows(db, chosen, wanted, read_text)) as rows:
        yield chosen, rows


@contextmanager
def links(folder: Path, columns: Sequence[str]) -> Iterator[tuple[Columns, Iterator[Row]]]:
    chosen = link_columns(columns)
    with opened(folder) as db, closing(link_rows(db, chosen)) as rows:
        yield chosen, rows


def _text_reader(folder: Path, is_wanted: bool) -> Callable[[str, int], str]:
    if is_wanted and not (folder / "warc").is_dir():
        raise BadInput(f"{folder}: text: no page was stored here (store.warc = false)")
    return lambda warc, offset: stored_text(folder / "warc" / warc, offset)


class Table:
    """Rows that are read lazily: iterate over them as dicts, or convert them all at once."""

    def __init__(self, open_rows: Callable[[], Any]) -> None:
        self._open = open_rows

    def __iter__(self) -> Iterator[dict[str, Any]]:
        with self._open() as (columns, rows):
            for row in rows:
                yield dict(zip(columns, row, strict=True))

    def to_arrow(self) -> "pa.Table":
        """All rows as a `pyarrow.Table`; needs `pip install 'lycosa[tables]'`."""
        with self._open() as (columns, rows):
            return arrow_table(rows, columns)

    def to_pandas(self) -> "pd.DataFrame":
        """All rows as a `pandas.DataFrame`; needs `pip install 'lycosa[notebook]'`."""
        table = self.to_arrow()
        try:
            return table.to_pandas()
        except ImportError:
            raise BadInput("a DataFrame needs pandas: pip install 'lycosa[notebook]'") from None
