"""`lycosa export`: pages or links as a table, or pages added to the map of the subject."""

from collections.abc import Callable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from lycosa import config, ontology
from lycosa.cli.folder import Dir
from lycosa.output import skos, xtm
from lycosa.output.rows import TEXT, link_columns, page_columns, page_rows
from lycosa.output.subjects import found_pages
from lycosa.output.table import write_table
from lycosa.pages import stored_text
from lycosa.store.db import CrawlDb
from lycosa.store.results import Wanted, link_rows
from lycosa.types import BadInput


class Format(StrEnum):
    jsonl = "jsonl"
    csv = "csv"
    parquet = "parquet"
    xtm = "xtm"
    turtle = "turtle"


def export(  # noqa: PLR0913 - the arguments are the command line's options
    directory: Dir,
    format: Annotated[
        Format, typer.Option(help="A table (jsonl, csv, parquet) or the topic's map (xtm, turtle).")
    ] = Format.jsonl,
    out: Annotated[Path | None, typer.Option(help="The file to write; standard output if not given.")] = None,
    relevant: Annotated[bool, typer.Option("--relevant", help="Only pages on topic.")] = False,
    min_relevance: Annotated[
        float | None, typer.Option(metavar="X", min=0, max=1, help="Only pages with at least this relevance.")
    ] = None,
    columns: Annotated[
        str, typer.Option(metavar="A,B,...", help="These columns in this order; all: every column except text.")
    ] = "",
    text: Annotated[bool, typer.Option("--text", help="Add a column with the main text of each page.")] = False,
    errors: Annotated[bool, typer.Option("--errors", help="Include visits that failed.")] = False,
    links: Annotated[bool, typer.Option("--links", help="One row per link instead of one per page.")] = False,
) -> None:
    """Write a table with one row per page, in fetch order.

    As xtm or turtle: the topic map or thesaurus of an ontology topic, with each relevant page linked to its concepts.
    """
    names = [name.strip() for name in columns.split(",") if name.strip()]
    wanted = Wanted(relevant, min_relevance, errors)
    if format in (Format.xtm, Format.turtle):
        _refuse({"--columns": columns, "--text": text, "--errors": errors, "--links": links}, f"--format {format}")
        count, what = _write_map(directory, format, min_relevance or 0.0, out), "pages"
    elif links:
        filters = {"--relevant": relevant, "--min-relevance": min_relevance is not None}
        _refuse({**filters, "--text": text, "--errors": errors}, "--links")
        chosen = link_columns(names)
        count, what = write_table(link_rows(_open(directory), chosen), chosen, format, out), "links"
    else:
        chosen = page_columns(names, text)
        rows = page_rows(_open(directory), chosen, wanted, _text_reader(directory, TEXT in chosen))
        count, what = write_table(rows, chosen, format, out), "rows"
    if out:
        typer.echo(f"{count} {what} written to {out}", err=True)


def _refuse(options: Mapping[str, object], beside: str) -> None:
    """Reject options that would have no effect."""
    for name, value in options.items():
        if value:
            raise BadInput(f"{name}: cannot be combined with {beside}")


def _open(directory: Path) -> CrawlDb:
    config.load(directory)  # reports what is wrong if this is not a crawl folder
    return CrawlDb(directory / "crawl.db", readonly=True).open()


def _text_reader(directory: Path, is_wanted: bool) -> Callable[[str, int], str]:
    folder = directory / "warc"
    if is_wanted and not folder.is_dir():
        raise BadInput(f"{directory}: text: no page was stored here (store.warc = false)")
    return lambda warc, offset: stored_text(folder / warc, offset)


def _write_map(directory: Path, format: Format, min_relevance: float, out: Path | None) -> int:
    settings, source = config.load(directory)
    if settings.topic.get("kind") != "ontology":
        raise source.blame("topic.kind", "only a topic of kind ontology has a map to write the pages to")
    if out is None:
        raise BadInput(f"--out: name the file for the {format}")
    file = source.path.parent / str(settings.topic.get("file", ""))
    db, concepts = _open(directory), ontology.read(file)
    pages = found_pages(db, concepts, min_relevance)
    if format == Format.turtle:
        return skos.export(concepts, pages, out)
    return xtm.export(file, concepts, pages, out)
