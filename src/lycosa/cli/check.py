"""`lycosa check` and `lycosa repair`: is everything that the crawl stored still there, and how to continue if not?"""

from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer

from lycosa import config
from lycosa.cli.folder import Dir
from lycosa.locking import lock
from lycosa.parse import content_digest
from lycosa.shards.layout import homes
from lycosa.store import check as store
from lycosa.store.db import CrawlDb
from lycosa.store.secret import Digests
from lycosa.store.warc import WarcWriter
from lycosa.types import BadInput

_MOST_LINES = 20


def check(
    directory: Dir,
    all_: Annotated[
        bool, typer.Option("--all", help=f"Print every problem, not only the first {_MOST_LINES}.")
    ] = False,
) -> None:
    """Read the whole WARC and compare it with crawl.db; exit code 1 if anything is missing or damaged."""
    config.load(directory)
    found = [_check(home) for home in homes(directory) or [directory]]
    problems = [*dict.fromkeys(problem for one in found for problem in one.problems)]
    _print(problems, None if all_ else _MOST_LINES)
    visits = sum(one.visits for one in found)
    records = sum({path: count for one in found for path, count in one.records.items()}.values())  # shards share files
    typer.echo(f"{visits:,} visits, {records:,} records: " + (_count(len(problems)) if problems else "no problems"))
    if problems:
        raise typer.Exit(1)


def repair(
    directory: Dir,
    keep_visits: Annotated[
        bool,
        typer.Option("--keep-visits", help="Keep visits whose record is lost instead of fetching their URLs again."),
    ] = False,
) -> None:
    """Make a crawl usable again that lost part of its WARC: URLs whose records are lost or damaged are queued again."""
    config.load(directory)
    with lock(directory):
        problems, lost = [], 0
        for home in homes(directory) or [directory]:
            found = _check(home)
            if any(problem.startswith("crawl.db: ") for problem in found.problems):
                raise BadInput(f"{home / 'crawl.db'}: is damaged; {_from_warc(directory)}")
            with closing(CrawlDb(home / "crawl.db").open()) as db:
                store.repair(db, found, WarcWriter(home / "warc"), not keep_visits)
            problems += found.problems
            lost += len(found.lost)
    _print(problems, _MOST_LINES)
    done = "visits kept without their records" if keep_visits else "URLs to be fetched again"
    typer.echo(f"{_count(len(problems))}; {done}: {lost:,}" if problems else "no problems")


def _check(directory: Path) -> store.Findings:
    if not (directory / "crawl.db").exists() and any((directory / "warc").glob("*.warc.gz")):
        raise BadInput(f"{directory / 'crawl.db'}: is missing; {_from_warc(directory)}")
    db = CrawlDb(directory / "crawl.db", readonly=True).open()
    try:
        return store.check(db, directory / "warc", Digests(db, content_digest))
    finally:
        db.close()


def _from_warc(directory: Path) -> str:
    return (
        f"crawl the recording into a new folder: run `lycosa lab serve {directory}`, then `lycosa crawl` with the"
        " --proxy it prints"
    )


def _count(problems: int) -> str:
    return "1 problem" if problems == 1 else f"{problems:,} problems"


def _print(problems: list[str], most: int | None) -> None:
    for problem in problems[:most]:
        typer.echo(problem)
    if most is not None and len(problems) > most:
        typer.echo(f"... and {len(problems) - most:,} more")
