"""Commands on a crawl folder: new, crawl, show, why."""

import logging
import sys
import time
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import msgspec
import typer
from msgspec.structs import replace

from lycosa import build, config, urls
from lycosa.cli.template import TEMPLATE
from lycosa.cli.verbose import VERBOSE, be_verbose
from lycosa.explaining import explain, place_in_queue, remade
from lycosa.fetch.outage import NO_ANSWER
from lycosa.output import terminal
from lycosa.output.ending import ending
from lycosa.output.picture import draw_harvest
from lycosa.output.progress import Progress
from lycosa.output.report import Report, read_report
from lycosa.output.show import draw
from lycosa.output.side_by_side import draw_beside, names, side_by_side
from lycosa.output.why import draw_why
from lycosa.process import prepare_process
from lycosa.recalling import stored_estimate
from lycosa.remote import is_running
from lycosa.shards.start import run_shards
from lycosa.store import orders
from lycosa.store.db import CrawlDb
from lycosa.store.visited import relevance_order
from lycosa.strategy import learned_report
from lycosa.types import BadInput, Reports, Stateful

Dir = Annotated[Path, typer.Argument(metavar="DIR", help="The crawl folder.", show_default=False)]
Cluster = Annotated[
    str | None, typer.Option(metavar="ADDRESS", help='Run the shards on a Ray cluster: "auto", or ray://host:port.')
]
Json = Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")]


def new(directory: Dir) -> None:
    """Create a crawl folder with a commented crawl.toml."""
    path = directory / config.NAME
    if path.exists():
        raise BadInput(f"{path}: already exists")
    try:
        directory.mkdir(parents=True, exist_ok=True)
        path.write_text(TEMPLATE, encoding="utf-8")
    except OSError as error:
        raise BadInput(f"{path}: cannot be written: {error.strerror}") from None
    typer.echo(
        f"{path} written. Edit it to say what to look for and where to start, then run: lycosa crawl {directory}"
    )


class Retry(StrEnum):
    failed = "failed"


def crawl(  # noqa: PLR0913 - the arguments are the command line's options
    directory: Dir,
    pages: Annotated[int | None, typer.Option(help="Stop after this many pages, counted over all runs.", min=0)] = None,
    strategy: Annotated[str | None, typer.Option(help="The strategy that scores links.")] = None,
    proxy: Annotated[str | None, typer.Option(help="HTTP proxy, http://host:port.")] = None,
    cluster: Cluster = None,
    seed: Annotated[list[str] | None, typer.Option(metavar="URL", help="An additional seed; may be repeated.")] = None,
    set_: Annotated[
        list[str] | None, typer.Option("--set", metavar="SECTION.KEY=VALUE", help="Override a key of crawl.toml.")
    ] = None,
    retry: Annotated[
        Retry | None,
        typer.Option(help="Fetch URLs again that failed for a temporary reason: time-outs, failed connections, 5xx."),
    ] = None,
    verbose: Annotated[bool, VERBOSE] = False,
    json: Json = False,
) -> None:
    """Start or continue a crawl; failed seeds are retried. The exit code is 1 if it has no pages or no host answers."""
    for text in seed or []:
        if not urls.from_person(text):
            raise BadInput(f"--seed {text}: not a web URL; write http://host/path")
    given = {"limits.pages": pages, "strategy.kind": strategy, "fetch.proxy": proxy, "run.cluster": cluster}
    overrides = [*(set_ or []), *(f"{key}={value}" for key, value in given.items() if value not in (None, ""))]
    be_verbose(verbose)
    logs = bool(logging.getLogger("lycosa").handlers)  # log lines and a live display would overwrite each other
    console = terminal.console(stderr=json, live=not logs)
    prepare_process()
    with Progress(console, directory.name or str(directory)) as progress:
        summary, session = run_shards(directory, overrides, list(seed or []), progress, retry is not None)
    for line in session.skipped:
        print(f"lycosa: {line}", file=sys.stderr)
    for line in ending(summary, str(directory), session.stopped_by_user):
        typer.echo(line, err=json)
    if json:
        typer.echo(msgspec.json.encode(summary).decode())
    if session.stopped_by_user:
        raise typer.Exit(130)
    if not summary["pages"] or summary["ended"].startswith(NO_ANSWER):
        raise typer.Exit(1)


def show(
    directory: Dir,
    beside: Annotated[
        list[Path] | None, typer.Argument(metavar="DIR...", help="Other crawls to compare with.", show_default=False)
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Plot the harvest against pages fetched, as PNG or SVG by suffix."),
    ] = None,
    json: Json = False,
) -> None:
    """Show totals, harvest curve, best pages, errors, hosts, and why the crawl stopped or what it is waiting for.

    With several folders, show their totals and the relevance of their pages side by side.
    """
    folders = [directory, *(beside or [])]
    databases = [_open(folder) for folder in folders]
    if plot:
        draw_harvest(dict(zip(names(folders), map(relevance_order, databases), strict=True)), plot)
    if beside:
        crawls = side_by_side(folders, [*map(read_report, databases)])
        typer.echo(msgspec.json.encode(crawls).decode()) if json else draw_beside(crawls, terminal.console())
    else:
        report = complete_report(databases[0])
        if json:
            typer.echo(msgspec.json.encode(report).decode())
        else:
            draw(report, terminal.console(), is_running(directory), time.time())
    if plot:
        typer.echo(f"{plot} written", err=True)


def complete_report(db: CrawlDb, top: int = 10) -> Report:
    """The report, with seeds added and hosts excluded since the start, and with what the strategy has learned."""
    report = read_report(db, top)
    excluded = [*map(str, orders.exclusions(db))]
    db_of_first, _ = db.of_shard(0)  # the shards teach each other, so any of them will do
    found = learned_report.learned(db_of_first) if report.strategy == "learned" else _learned(db, report.strategy)
    report = replace(report, added_seeds=orders.added_seeds(db), excluded=excluded, learned=found)
    estimate = stored_estimate(db)
    return replace(report, **estimate.told()) if estimate else report


def _learned(db: CrawlDb, kind: str) -> dict[str, dict[str, float]]:
    kinds = build.strategies()
    if kind not in kinds or not issubclass(kinds[kind], Reports):
        return {}
    strategy = remade(kind, *config.load(Path(db.path).parent))
    with kinds.blaming(kind, "learned"):
        if isinstance(strategy, Stateful) and (state := db.get("state:strategy")):
            strategy.load(msgspec.json.decode(state))
        return {heading: dict(weights) for heading, weights in strategy.learned().items()}


def why(
    directory: Dir,
    url: Annotated[str, typer.Argument(metavar="URL", help="A URL known to the crawl.", show_default=False)],
) -> None:
    """Explain why a URL was fetched or is still queued: path from a seed, score, verdict and reasons."""
    settings, source = config.load(directory)
    db = _open(directory)
    path, explanation = explain(db, settings, source, url)
    draw_why(path, terminal.console(), explanation, place_in_queue(db, settings, path[-1]))


def _open(directory: Path) -> CrawlDb:
    config.load(directory)  # reports what is wrong if this is not a crawl folder
    return CrawlDb(directory / "crawl.db", readonly=True).open()
