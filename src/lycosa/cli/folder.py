"""Commands on a crawl folder: new, crawl, show, why."""

import logging
import os
import sys
import time
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer
from msgspec.structs import replace

from lycosa import build, config, urls
from lycosa.cli.template import TEMPLATE
from lycosa.cli.verbose import VERBOSE, be_verbose
from lycosa.db import CrawlDb
from lycosa.fetch.outage import NO_ANSWER
from lycosa.output import terminal
from lycosa.output.ending import ending
from lycosa.output.picture import draw_harvest
from lycosa.output.progress import Progress
from lycosa.output.report import Report, read_report, relevance_order
from lycosa.output.show import draw
from lycosa.output.side_by_side import draw_beside, names, side_by_side
from lycosa.output.waits import read_waits
from lycosa.output.why import draw_why, read_path, scored
from lycosa.process import prepare_process
from lycosa.run import lock
from lycosa.session import run_folder
from lycosa.store import orders
from lycosa.strategy import learned_report
from lycosa.types import SEED_SCORE, BadInput, Explains, Explanation, Scored, Stateful

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


class Retry(StrEnum):
    failed = "failed"


def crawl(  # noqa: PLR0913 - the arguments are the command line's options
    directory: Dir,
    pages: Annotated[int | None, typer.Option(help="Stop after so many pages, all runs together.", min=0)] = None,
    strategy: Annotated[str | None, typer.Option(help="Which strategy orders the frontier.")] = None,
    proxy: Annotated[str | None, typer.Option(help="HTTP proxy, http://host:port.")] = None,
    seed: Annotated[list[str] | None, typer.Option(metavar="URL", help="A further seed; may be repeated.")] = None,
    set_: Annotated[
        list[str] | None, typer.Option("--set", metavar="SECTION.KEY=VALUE", help="Any key of crawl.toml.")
    ] = None,
    retry: Annotated[
        Retry | None,
        typer.Option(help="Fetch again what failed for a reason that may pass: timeouts, failed connections, 5xx."),
    ] = None,
    verbose: Annotated[bool, VERBOSE] = False,
    json: Json = False,
) -> None:
    """Start a crawl, or go on with it; failed seeds are tried again. Exit code 1: no page yet, or no host answers."""
    for text in seed or []:
        if not urls.from_person(text):
            raise BadInput(f"--seed {text}: this is no web URL; write http://host/path")
    overrides = list(set_ or [])
    overrides += [f"limits.pages={pages}"] if pages is not None else []
    overrides += [f"strategy.kind={strategy}"] if strategy else []
    overrides += [f"fetch.proxy={proxy}"] if proxy else []
    be_verbose(verbose)
    logs = bool(logging.getLogger("lycosa").handlers)  # log lines and a live display would overwrite each other
    console = terminal.console(stderr=json, live=not logs)
    prepare_process()
    with Progress(console, directory.name or str(directory)) as progress:
        summary, session = run_folder(directory, overrides, list(seed or []), progress, retry is not None)
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
        list[Path] | None, typer.Argument(metavar="DIR...", help="Further crawls, to compare.", show_default=False)
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw the harvest over the pages, as PNG or SVG by its suffix.")
    ] = None,
    json: Json = False,
) -> None:
    """Totals, harvest curve, best pages, errors, hosts, and why it stopped or what it waits for.

    With several folders: their totals and the relevance of their pages side by side.
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
        typer.echo(f"picture written to {plot}", err=True)


def complete_report(db: CrawlDb, top: int = 10) -> Report:
    """With what the user ordered since it began, and what the strategy has learned, if it does."""
    report = read_report(db, top)
    excluded = [*map(str, orders.exclusions(db))]
    found = learned_report.learned(db) if report.strategy == "learned" else _learned(db, report.strategy)
    return replace(report, added_seeds=orders.added_seeds(db), excluded=excluded, learned=found)


def _learned(db: CrawlDb, kind: str) -> dict[str, dict[str, float]]:
    kinds = build.strategies()
    if kind not in kinds or not hasattr(kinds[kind], "learned"):
        return {}
    strategy = _remade(kind, *config.load(Path(db.path).parent))
    with kinds.blaming(kind, "learned"):
        if isinstance(strategy, Stateful) and (state := db.get("state:strategy")):
            strategy.load(msgspec.json.decode(state))
        return {heading: dict(weights) for heading, weights in strategy.learned().items()}


def why(
    directory: Dir,
    url: Annotated[str, typer.Argument(metavar="URL", help="A URL the crawl knows.", show_default=False)],
) -> None:
    """Why a URL was fetched or still waits: its path from a seed, what made its score, the verdict and its reasons."""
    settings, source = config.load(directory)
    db = _open(directory)
    path = read_path(db, url)
    step = path[-1]
    refused = build.make_scope(settings, orders.exclusions(db)).refuses(step.url, step.depth)
    waits = None if step.is_done else read_waits(db, step.id, time.time(), refused)
    draw_why(path, terminal.console(), _explained(db, settings, source, scored(path)), waits)


def _explained(db: CrawlDb, settings: config.Config, source: config.Source, link: Scored) -> Explanation | None:
    """What the strategy says; it is made from crawl.toml, unless `--strategy` chose another."""
    kind = db.get("strategy")
    kinds = build.strategies()
    if kind not in kinds or link.score >= SEED_SCORE:
        return None
    strategy = _remade(kind, settings, source)
    with kinds.blaming(kind, "explain"):
        return strategy.explain(link, db) if isinstance(strategy, Explains) else None


def _remade(kind: str, settings: config.Config, source: config.Source) -> Any:
    """The strategy of a crawl, as new."""
    options = settings.strategy if settings.strategy.get("kind") == kind else {"kind": kind}
    return build.make("strategy", build.strategies(), options, source)


def _open(directory: Path) -> CrawlDb:
    config.load(directory)  # names what is wrong when this is no crawl folder
    return CrawlDb(directory / "crawl.db", readonly=True).open()


def is_running(directory: Path) -> bool:
    """Is a process at work in this folder?"""
    if not (directory / "crawl.lock").exists() or not os.access(directory / "crawl.lock", os.W_OK):
        return False
    try:
        with lock(directory):
            return False
    except BadInput:
        return True
