"""`lycosa lab reproduce`: repeat published experiments, with the published figures next to ours."""

import os
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from lycosa.lab.reproduce import ALL, EXPERIMENTS
from lycosa.lab.reproduce import reproduce as do
from lycosa.lab.reproduce.report import PAGE, Report
from lycosa.lab.reproduce.testbed import Request
from lycosa.output import terminal
from lycosa.types import BadInput

_COLOURS = {"reproduced": "green", "not reproduced": "red", "cannot be shown here": "yellow"}

Which = Annotated[
    str, typer.Argument(metavar="|".join([*EXPERIMENTS, ALL]), help="Which experiment.", show_default=False)
]
Web = Annotated[Path | None, typer.Option(metavar="WARC", help="A recorded web instead of generated ones.")]
Labels = Annotated[
    Path | None, typer.Option(metavar="TSV", help="url<TAB>label lines for its pages; used only for evaluation.")
]
Train = Annotated[
    list[str] | None,
    typer.Option(metavar="WEB:LABELS", help="Pages to train on; default: half of the labelled ones. May be repeated."),
]
Target = Annotated[
    list[str] | None, typer.Option(metavar="LABEL", help="What to look for; default: every label with enough pages.")
]
Seeds = Annotated[
    list[str] | None,
    typer.Option(metavar="URL", help="publications: where to start; default: the first recorded page."),
]
Map = Annotated[Path | None, typer.Option("--map", metavar="FILE", help="ontology: the map of the subject.")]
Focus = Annotated[list[str] | None, typer.Option(metavar="TOPIC", help="ontology: a focal topic. May be repeated.")]
Pages = Annotated[int | None, typer.Option(min=1, help="Pages for each crawl.  [default: the experiment's own]")]
Out = Annotated[Path | None, typer.Option(metavar="DIR", help="Where to write.  [default: reproduce-NAME]")]
Seed = Annotated[int, typer.Option(help="Random seed of the generated webs and of all sampling.")]
Field = Annotated[
    bool,
    typer.Option("--field", help="With the delays, workers and response times of a real crawl, on the lab's clock."),
]
Jobs = Annotated[int | None, typer.Option(min=1, help="Number of processes.  [default: one per core]")]


def reproduce(  # noqa: PLR0913 - the arguments are the command line's options
    experiment: Which,
    web: Web = None,
    labels: Labels = None,
    train: Train = None,
    target: Target = None,
    seeds: Seeds = None,
    topic_map: Map = None,
    focus: Focus = None,
    pages: Pages = None,
    out: Out = None,
    seed: Seed = 0,
    jobs: Jobs = None,
    field: Field = False,
) -> None:
    """Repeat a published experiment and report which of its effects were reproduced."""
    about_web = {"labels": labels, "train": train, "target": target, "seeds": seeds, "map": topic_map, "focus": focus}
    if not web and (given := [name for name, value in about_web.items() if value]):
        raise BadInput(f"--{given[0]}: this option needs a recorded web: add --web WARC")
    request = Request(
        seed=seed,
        pages=pages or 0,
        web=str(web or ""),
        labels=str(labels or ""),
        train=tuple(map(_pair, train or ())),
        target=tuple(target or ()),
        seeds=tuple(seeds or ()),
        topic_map=str(topic_map or ""),
        focus=tuple(focus or ()),
        field=field,
    )
    folder = out or Path(f"reproduce-{experiment}")
    show(_done(experiment, request, folder, jobs or os.cpu_count() or 1), terminal.console())
    typer.echo(f"{folder / PAGE} written", err=True)


def _done(experiment: str, request: Request, folder: Path, jobs: int) -> list[Report]:
    try:
        with _progress() as progress:
            task = progress.add_task(experiment, total=None)

            def watch(done: int, total: int) -> None:
                progress.update(task, completed=done, total=total)

            return do(experiment, request, folder, jobs, watch)
    except KeyboardInterrupt:
        typer.echo("stopped; nothing was written for unfinished experiments", err=True)
        raise typer.Exit(130) from None


def _progress() -> Progress:
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    return Progress(*columns, console=terminal.console(stderr=True), transient=True)


def _pair(text: str) -> tuple[str, str]:
    web, colon, labels = text.rpartition(":")
    if not (web and colon and labels):
        raise BadInput(f"--train {text}: write WEB:LABELS")
    return web, labels


def show(reports: list[Report], console: Console) -> None:
    """Every claim with its verdict."""
    table = Table(title="published claims", title_justify="left")
    for name in ("experiment", "the paper says", "we measured", "direction", "verdict"):
        table.add_column(name, no_wrap=name == "verdict")
    for report in reports:
        for effect in report.effects:
            outcome = f"[{_COLOURS[effect.outcome]}]{effect.outcome}"
            table.add_row(report.name, effect.claim, effect.measured or effect.criterion, effect.direction, outcome)
        table.add_section()
    console.print(table)
