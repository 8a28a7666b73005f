"""`lycosa rejudge`: judge the stored pages of a crawl again."""

import sys

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from lycosa.cli.folder import Dir
from lycosa.locking import lock
from lycosa.output import terminal
from lycosa.rejudge import Report, rejudge_folder
from lycosa.shards.layout import has_learned, homes, unite


def rejudge(directory: Dir) -> None:
    """Judge all stored pages again, after the topic or strategy in crawl.toml has changed.

    Queued URLs get new scores. If it is stopped or fails, nothing is changed.
    """
    if homes(directory):  # judging again starts from one database
        with lock(directory):
            unite(directory)
    console = terminal.console(stderr=True)
    columns = (TextColumn("re-judging"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    try:
        with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
            task = progress.add_task("", total=None)
            report = rejudge_folder(directory, lambda done, total: progress.update(task, completed=done, total=total))
    except KeyboardInterrupt:
        print("lycosa: stopped; nothing was changed", file=sys.stderr)
        raise typer.Exit(130) from None
    has_learned(directory)
    typer.echo(f"{sentence(report)}. Next: lycosa crawl {directory}")


def sentence(report: Report) -> str:
    """Summarise the changes in one line."""
    line = f"{report.pages:,} pages re-judged: {report.now_relevant:,} are now relevant, {report.no_longer:,} no longer"
    line += f"; {report.waiting:,} queued URLs rescored"
    return line + (f", {report.dropped:,} dropped" if report.dropped else "")
