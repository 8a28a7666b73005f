"""Commands on a crawl folder: new, crawl, show, why, export."""

import os
import sys
import time
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import msgspec
import typer
from msgspec.structs import replace

from lycosa import config
from lycosa.cli.template import TEMPLATE
from lycosa.db import CrawlDb
from lycosa.output import terminal
from lycosa.output.phases import draw_phases, histograms
from lycosa.output.progress import Progress
from lycosa.output.report import read_report
from lycosa.output.show import draw
from lycosa.output.table import Row, write_table
from lycosa.output.why import draw_path, read_path
from lycosa.output.xtm import export as write_map
from lycosa.run import lock, run_folder
from lycosa.strategy import explained
from lycosa.types import SEED_SCORE, BadInput

Dir = Annotated[Path, typer.Argument(metavar="DIR", help="The crawl folder.", show_default=False)]
Json = Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")]


def new(directory: Dir) -> None:
    """Make a crawl folder with a commented crawl.toml."""
    path = directory / config.NAME
    if path.exists():
        raise BadInput(f"{path}: exists already")
    try:
        directory.mkdir(parents=True, exist_ok=True)
        path.write_text(TEMPLATE, encoding="utf-8")
    except OSError as error:
        raise BadInput(f"{path}: cannot be written: {error.strerror}") from None
    typer.echo(f"{path} written: say there what to look for and where to start, then: lycosa crawl {directory}")


def crawl(
    directory: Dir,
    pages: Annotated[int | None, typer.Option(help="Stop after so many pages, all runs together.", min=0)] = None,
    strategy: Annotated[str | None, typer.Option(help="Which strategy orders the frontier.")] = None,
    proxy: Annotated[str | None, typer.Option(help="HTTP proxy, http://host:port.")] = None,
    seed: Annotated[list[str] | None, typer.Option(metavar="URL", help="A further seed; may be repeated.")] = None,
    set_: Annotated[
        list[str] | None, typer.Option("--set", metavar="SECTION.KEY=VALUE", help="Any key of crawl.toml.")
    ] = None,
    json: Json = False,
) -> None:
    """Start a crawl, or go on with it."""
    overrides = list(set_ or [])
    overrides += [f"limits.pages={pages}"] if pages is not None else []
    overrides += [f"strategy.kind={strategy}"] if strategy else []
    overrides += [f"fetch.proxy={proxy}"] if proxy else []
    console = terminal.console(stderr=json)
    with Progress(console, directory.name or str(directory)) as progress:
        summary, run = run_folder(directory, overrides, list(seed or []), progress)
    for line in run.skipped:
        print(f"lycosa: {line}", file=sys.stderr)
    if json:
        typer.echo(msgspec.json.encode(summary).decode())
    elif console.is_terminal:
        console.print(progress.line(summary), soft_wrap=True, highlight=False)
    if run.stopped_by_user:
        raise typer.Exit(130)


def show(
    directory: Dir,
    beside: Annotated[
        list[Path] | None, typer.Argument(metavar="DIR...", help="Further crawls, to compare.", show_default=False)
    ] = None,
    json: Json = False,
) -> None:
    """Totals, harvest curve, best pages, errors, hosts, and why it stopped or what it waits for.

    With several folders: the relevance of their pages side by side.
    """
    if beside:
        phases = histograms([directory, *beside])
        typer.echo(msgspec.json.encode(phases).decode()) if json else draw_phases(phases, terminal.console())
        return
    db = _open(directory)
    report = read_report(db)
    if report.strategy == "learned":
        report = replace(report, learned=explained.learned(db))
    if json:
        typer.echo(msgspec.json.encode(report).decode())
    else:
        draw(report, terminal.console(), _is_running(directory), time.time())


def why(
    directory: Dir,
    url: Annotated[str, typer.Argument(metavar="URL", help="A URL the crawl knows.", show_default=False)],
) -> None:
    """The path of links from a seed to a URL, each score, the verdict and its reasons."""
    db = _open(directory)
    path = read_path(db, url)
    evidence = explained.explain(db, path[-1].url) if db.get("strategy") == "learned" else {}
    draw_path(path, terminal.console(), evidence)


class Format(StrEnum):
    jsonl = "jsonl"
    csv = "csv"
    parquet = "parquet"
    xtm = "xtm"


def export(
    directory: Dir,
    format: Annotated[Format, typer.Option(help="The form of the table.")] = Format.jsonl,
    out: Annotated[Path | None, typer.Option(help="Where to; the standard output if not given.")] = None,
) -> None:
    """One row for each visit, in the order of fetching; as xtm, the topic map with a topic for each relevant page."""
    if format == Format.xtm:
        count = _write_map(directory, out)
    else:
        count = write_table(_rows(_open(directory)), format, out)
    if out:
        typer.echo(f"{count} {'pages' if format == Format.xtm else 'rows'} written to {out}", err=True)


def _write_map(directory: Path, out: Path | None) -> int:
    settings, source = config.load(directory)
    if settings.topic.get("kind") != "ontology":
        raise source.blame("topic.kind", "only a topic of kind ontology has a map to write the pages to")
    if out is None:
        raise BadInput("--out: say where the topic map goes")
    rows = _open(directory).execute(_RELEVANT)
    return write_map(source.path.parent / str(settings.topic.get("file", "")), rows, out)


_RELEVANT = "SELECT final_url, title, relevance FROM visits WHERE on_topic ORDER BY n"


def _open(directory: Path) -> CrawlDb:
    config.load(directory)  # names what is wrong when this is no crawl folder
    return CrawlDb(directory / "crawl.db", readonly=True).open()


def _is_running(directory: Path) -> bool:
    if not (directory / "crawl.lock").exists() or not os.access(directory / "crawl.lock", os.W_OK):
        return False
    try:
        with lock(directory):
            return False
    except BadInput:
        return True


_ROWS = (
    "SELECT n, url, final_url, status, error, fetched_at, seconds, bytes, content_type, digest, depth, source, anchor,"
    f" CASE WHEN score < {SEED_SCORE} THEN score END, relevance, on_topic, label, title FROM visits ORDER BY n"
)


def _rows(db: CrawlDb) -> Iterator[Row]:
    for *start, on_topic, label, title in db.execute(_ROWS):
        yield Row._make([*start, bool(on_topic), label, title])
