"""Commands of the lab: inspect a web, turn a crawl into a web, serve a web, compare strategies."""

import asyncio
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, get_args

import msgspec
import typer
import uvloop
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from lycosa.lab import compare as comparing
from lycosa.lab import record as recording
from lycosa.lab import report, survey, tasks
from lycosa.lab.faults import RECORDED, Faulty
from lycosa.lab.results import Results
from lycosa.lab.serve import Server
from lycosa.lab.tasks import Comparison, Plan, Task
from lycosa.lab.webs import GENERATED, GeneratedPages, graph_of, labels_of, open_web, site_of
from lycosa.lab.writing import writing
from lycosa.mining import from_recordings
from lycosa.output import terminal
from lycosa.output.progress import LINE_EVERY_S
from lycosa.pages import read_pages
from lycosa.process import on_signals
from lycosa.strategy.rule_base import RuleBase
from lycosa.types import BadInput

app = typer.Typer(
    help="Inspect and serve recorded and generated webs, and compare strategies on them.", no_args_is_help=True
)

Web = Annotated[
    str,
    typer.Argument(
        metavar="WEB", help="A WARC, a folder of WARCs, a crawl folder, or generated:pages=10000,hosts=50,..."
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Labels = Annotated[Path | None, typer.Option(metavar="TSV", help="A file of url<TAB>label lines.")]
Seeds = Annotated[list[str] | None, typer.Option(metavar="URL", help="Where to start; may be repeated.")]


@app.command()
def info(web: Web, labels: Labels = None, seeds: Seeds = None, json: Json = False) -> None:
    """Count pages, hosts, links and labels, and how many can be reached from the seeds."""
    opened = open_web(web)
    start = list(seeds or [])
    if isinstance(opened, GeneratedPages) and not start:
        start = opened.seeds()
    with terminal.console(stderr=True).status("reading all pages"):
        found = survey.count(graph_of(opened), start, labels_of(opened, labels))
    if json:
        typer.echo(msgspec.json.encode(found).decode())
        return
    of_seeds = f"{found.reachable:,}" if start else "(give --seeds)"
    rows = [
        ("URLs", found.addresses),
        ("pages", found.pages),
        ("hosts", found.hosts),
        ("internal links", found.links),
    ]
    for name, number in rows:
        typer.echo(f"{name:<24}{number:>10,}")
    typer.echo(f"{'reachable from seeds':<24}{of_seeds:>10}")
    for label, number in found.labels.items():
        reached = f", {found.reachable_labels.get(label, 0):,} reachable" if start else ""
        typer.echo(f"{'label ' + label:<24}{number:>10,}{reached}")


@app.command()
def record(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="A crawl folder.", show_default=False)],
    out: Annotated[Path | None, typer.Option(metavar="WARC", help="Merge everything into one WARC.")] = None,
    json: Json = False,
) -> None:
    """Check and index what a crawl recorded, so that it can be crawled again in the lab."""
    found = recording.check(directory)
    if out:
        recording.merge(directory, out)
    if json:
        typer.echo(msgspec.json.encode(found).decode())
        return
    typer.echo(
        f"{directory}: {found.pages:,} pages on {found.hosts:,} hosts, {found.addresses:,} URLs in"
        f" {len(found.files):,} files, {found.bytes / 1e6:,.1f} MB"
    )
    for damage in found.damage:
        typer.echo(f"damaged: {damage}", err=True)
    web = out or directory
    typer.echo(f"{f'{out} written. ' if out else ''}Use it as a web:")
    typer.echo(f"  lycosa lab info {web} --seeds URL")
    typer.echo(f"  lycosa lab serve {web}")
    typer.echo(f"  lycosa lab compare --web {web} --labels TSV --target LABEL --seeds URL --topic {directory}")


@app.command()
def serve(
    web: Web,
    port: Annotated[int, typer.Option(min=0, max=65_535, help="0: any free port.")] = 0,
    latency: Annotated[float, typer.Option(min=0, help="Seconds before each reply.")] = 0.0,
    errors: Annotated[float, typer.Option(min=0, max=1, help="Share of URLs that fail.")] = 0.0,
    robots: Annotated[
        str,
        typer.Option(metavar="none|recorded|FILE", help="robots.txt: none, as recorded, or this file on every host."),
    ] = "none",
    as_http: Annotated[bool, typer.Option("--as-http", help="Rewrite https to http in links and redirects.")] = False,
    every: Annotated[int, typer.Option(min=0, help="Print a line after this many requests; 0: never.")] = 1000,
) -> None:
    """Serve a web as an HTTP proxy on loopback, so that any crawler can be run on it. Ctrl-C stops it."""
    opened = open_web(web)
    site = Faulty(site_of(opened), latency, errors, _rules(robots), as_http)
    log = Log(every)
    loopback = isinstance(opened, GeneratedPages) and opened.site.ip_hosts  # reachable without a proxy as well
    uvloop.run(_serve(Server(site, port, "0.0.0.0" if loopback else "127.0.0.1", log=log), len(opened)))
    typer.echo(f"{log.requests:,} requests served")


def _rules(robots: str) -> str:
    if robots in ("none", RECORDED):
        return "" if robots == "none" else RECORDED
    try:
        return Path(robots).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"--robots {robots}: not none, recorded or a readable file: {error}") from None


class Log:
    """Count requests, and print a line now and then."""

    def __init__(self, every: int) -> None:
        self.every = every
        self.requests = 0

    def __call__(self, at: float, host: str, path: str) -> None:
        self.requests += 1
        if self.every and self.requests % self.every == 0:
            typer.echo(f"{self.requests:,} requests, the last for http://{host}{path}")


async def _serve(server: Server, addresses: int) -> None:
    """Serve until interrupted."""
    enough = asyncio.Event()
    with on_signals(enough.set):
        async with server:
            proxy = f"http://127.0.0.1:{server.port}"
            typer.echo(f"serving {addresses:,} URLs at the proxy {proxy}: lycosa crawl DIR --proxy {proxy}")
            await enough.wait()


@app.command()
def compare(  # noqa: PLR0913
    file: Annotated[Path | None, typer.Argument(metavar="[TOML]", help="Tasks; or describe one by options.")] = None,
    web: Annotated[str, typer.Option(metavar="WEB", help="The web to crawl.")] = "",
    labels: Annotated[str, typer.Option(metavar="TSV", help="The labels of its pages.")] = "",
    target: Annotated[list[str] | None, typer.Option(metavar="LABEL,...", help="Labels to look for.")] = None,
    seeds: Seeds = None,
    train: Annotated[list[str] | None, typer.Option(metavar="WEB:LABELS", help="Pages to train the judge on.")] = None,
    topic: Annotated[str, typer.Option(metavar="CONFIG", help="A crawl folder or .toml file whose topic to use.")] = "",
    examples: Annotated[int, typer.Option(min=0, help="Sample this many targets as examples instead.")] = 0,
    strategies: Annotated[str, typer.Option(metavar="A,B,...", help="Besides breadth-first, random, oracle.")] = "",
    model: Annotated[str, typer.Option(help="The judge's model: logistic, svm, nb, mlp, vote.")] = "",
    pages: Annotated[int, typer.Option(min=0, help="Page budget of each strategy; 0: as in the file, or 400.")] = 0,
    repeat: Annotated[int, typer.Option(min=0, help="Repetitions of runs that depend on chance.")] = 0,
    jobs: Annotated[int, typer.Option(min=1, help="Number of processes.")] = 1,
    out: Annotated[Path, typer.Option(metavar="DIR", help="For results, table and plots.")] = Path("lab-out"),
    no_oracle: Annotated[bool, typer.Option("--no-oracle", help="Leave out the oracle: slow on large webs.")] = False,
    fresh: Annotated[bool, typer.Option("--fresh", help="Repeat runs that are already finished.")] = False,
    field: Annotated[
        bool, typer.Option("--field", help="With the delays, workers and response times of a real crawl.")
    ] = False,
) -> None:
    """Compare strategies on tasks, and write results.json, table.md and plots. A stopped comparison continues."""
    if model and model not in get_args(tasks.Model):
        raise BadInput(f"--model {model}: there are {', '.join(get_args(tasks.Model))}")
    said: dict[str, Any] = {"model": model, "pages": pages, "repeat": repeat, "strategies": _split([strategies])}
    said["field"] = field
    changes = {name: value for name, value in said.items() if value} | ({"oracle": False} if no_oracle else {})
    one = {
        "web": web,
        "labels": labels,
        "target": _split(target or []),
        "seeds": list(seeds or []),
        "train": list(train or []),
        "topic": topic,
        "examples_from_targets": examples,
    }
    plan = _plan(file, {name: value for name, value in one.items() if value}, changes)
    with _progress() as progress:
        results = comparing.compare(plan, out, jobs, _watch(progress), mine, fresh)
    _write(results, out)


def _split(items: list[str]) -> list[str]:
    return [part.strip() for item in items for part in item.split(",") if part.strip()]


def _plan(file: Path | None, one: dict[str, Any], changes: dict[str, Any]) -> Plan:
    if file:
        if one:
            raise BadInput(f"--{min(one).split('_')[0]}: the tasks are in {file}; give either the file or options")
        return tasks.load(file, **changes)
    if "web" not in one:
        raise BadInput("give a TOML file with tasks, or --web and what to look for")
    name = Path(one["web"]).name if not one["web"].startswith(GENERATED) else "generated"
    name = " ".join([name.removesuffix(".gz").removesuffix(".warc"), *one.get("target", [])])
    try:
        found = msgspec.convert({**changes, "task": [msgspec.convert({"name": name, **one}, Task)]}, Comparison)
    except msgspec.ValidationError as error:
        raise BadInput(str(error)) from None
    return tasks.complete(found, Path())


def mine(judge: Any, folder: Path) -> RuleBase:
    """The rules between the classes of a judge, from the recordings it was trained on."""
    return from_recordings(judge, folder, read_pages)


def _progress() -> Progress:
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    console = terminal.console(stderr=True)
    return Progress(*columns, console=console, transient=True, disable=not console.is_terminal)


def _watch(progress: Progress) -> comparing.Watch:
    """A bar on a terminal, a line every few seconds elsewhere."""
    if progress.disable:
        return Lines()
    bar = progress.add_task("", total=None)
    return lambda what, done, total: progress.update(bar, description=what, completed=done, total=total)


class Lines:
    """Print the progress of a comparison: each new step, and the current one now and then."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._said = ("", 0.0)

    def __call__(self, what: str, done: int, total: int) -> None:
        step, at = self._said
        if what != step or done == total or self._clock() - at >= LINE_EVERY_S:
            self._said = (what, self._clock())
            typer.echo(f"{what}: {done:,} of {total:,}", err=True)


def _write(results: Results, out: Path) -> None:
    with writing(out / report.TABLE):
        (out / report.TABLE).write_text(report.table(results), encoding="utf-8")
    written = [out / "results.json", out / report.TABLE]
    if find_spec("matplotlib"):
        written += report.draw(results, out)
    else:
        typer.echo("no plots: pip install 'lycosa[plots]'", err=True)
    runs = report.Runs(results)
    shown = Table("strategy", "area under recall", "recall", "harvest rate", title=f"{len(runs.tasks)} tasks")
    for column in shown.columns[1:]:
        column.justify = "right"
    for row in report.summary(runs):
        shown.add_row(*map(Text, row))
    terminal.console().print(shown)
    typer.echo(f"{', '.join(map(str, written))} written", err=True)
