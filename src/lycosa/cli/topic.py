"""Commands on a topic: train, test, show, try."""

import asyncio
import os
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, NamedTuple, Protocol, runtime_checkable

import msgspec
import typer
from rich.markup import escape
from rich.progress import Progress
from rich.table import Table
from rich.text import Text

from lycosa import build, mining, urls
from lycosa.clock import WallClock
from lycosa.judge import model_file, training
from lycosa.judge.classifier import Section
from lycosa.judge.corpus import ReadPages
from lycosa.judge.ontology import Ontology
from lycosa.judge.passages import Passage, best, passages, worst
from lycosa.output import terminal
from lycosa.output.ontology_picture import draw as draw_concepts
from lycosa.output.ontology_picture import tree_lines
from lycosa.output.passages import marked
from lycosa.output.topic_report import draw, measure, tables
from lycosa.pages import check_readable, read_page, read_pages
from lycosa.parse import Parsers
from lycosa.recalling import without_held_out
from lycosa.strategy import rule_base
from lycosa.topics import (
    Topic,
    find_labelled,
    judge_each,
    judge_labelled,
    learner,
    load,
    prepare,
    recall,
    targets,
    with_labels,
    with_target,
)
from lycosa.types import BadInput, Page, Reply, Verdict

app = typer.Typer(help="Train, test, show and try out a topic.", no_args_is_help=True)

Crawl = Annotated[
    Path, typer.Argument(metavar="DIR|CONFIG", help="A crawl folder, or a .toml file.", show_default=False)
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
PLOT = "topic-test.png"
_FILES = {".htm", ".html", ".xhtml", ".txt", ".text", ".md", ".pdf", ".warc", ".gz", ".toml", ".tsv", ".csv"}


@runtime_checkable
class Describes(Protocol):
    """A judge that can describe what it looks for."""

    def describe(self, top: int) -> list[Section]: ...


class Tried(NamedTuple):
    """A page that somebody wanted to see judged."""

    name: str
    error: str
    verdict: Verdict
    passages: Sequence[Passage]

    def plain(self) -> dict[str, Any]:
        told = {"for": best(self.passages), "against": worst(self.passages)}
        shown = {heading: [passage._asdict() for passage in some] for heading, some in told.items()}
        return {"page": self.name, "error": self.error, **msgspec.to_builtins(self.verdict), **shown}


@app.command()
def train(path: Crawl) -> None:
    """Train the judge on its labelled pages and write topic.model to the crawl folder.

    If these pages are recorded with their links, where links lead is learned too and written to rules.json.
    """
    topic = load(path)
    judge = learner(topic, "does not learn from labelled pages: there is nothing to train")
    with topic.source.placing(), _progress() as progress:
        read = without_held_out(topic.folder, _watched(progress))
        found = training.make(judge, topic.folder, read)
    target = topic.folder / model_file.NAME
    try:
        found.save(target, judge.KIND)
    except OSError as error:
        raise BadInput(f"{target}: cannot be written: {error.strerror}") from None
    facts = found.facts
    typer.echo(f"{target} written: {len(facts.labels)} labels, {len(facts.terms):,} terms")
    with topic.source.placing(), _progress() as progress:
        read = without_held_out(topic.folder, _watched(progress))
        topic.judge.prepare(topic.folder, read)
        rules = mining.prepare(topic.judge, topic.folder, read)
    if rules:
        typer.echo(f"{topic.folder / rule_base.NAME} written: where links lead, learned from {rules.pages:,.0f} pages")


@app.command("test")
def evaluate(
    path: Crawl,
    on: Annotated[
        str,
        typer.Option(metavar="WARC:LABELS|DIR", help="Test on these labelled pages instead of by cross-validation."),
    ] = "",
    target: Annotated[list[str] | None, typer.Option(metavar="LABEL", help="Use this label as the target.")] = None,
    folds: Annotated[int, typer.Option(min=2, max=100, help="Folds of the cross-validation.")] = 5,
    seed: Annotated[int, typer.Option(min=0, help="Random seed of the split into folds.")] = 0,
    plot: Annotated[
        Path | None, typer.Option(metavar="PNG", help=f"The plot to write; default: {PLOT} in the folder.")
    ] = None,
    json: Json = False,
) -> None:
    """Show precision, recall, F1 and ROC AUC for each label and the confusion matrix, and write a plot."""
    topic = with_target(load(path), target or [])
    with topic.source.placing(), _progress() as progress:
        results = list(_on(topic, on, progress) if on else _folds(topic, folds, seed, progress))
    if not results:
        raise BadInput(f"--on {on}: no labelled pages found")
    wanted = targets(topic, [label for label, _ in results], target or [], "--target")
    report = measure(results, wanted)
    if json:
        typer.echo(msgspec.json.encode(report).decode())
    else:
        for table in tables(report):
            terminal.console().print(table)
    if not plot and not find_spec("matplotlib"):
        typer.echo("no plot: pip install 'lycosa[plots]'", err=True)
        return
    picture = plot or topic.folder / PLOT
    draw(report, results, wanted, picture)
    typer.echo(f"{picture} written", err=True)


@app.command()
def show(
    path: Crawl,
    top: Annotated[int, typer.Option(min=1, help="Terms to show for each class.")] = 15,
    picture: Annotated[Path | None, typer.Option(metavar="PNG", help="Draw the map of an ontology.")] = None,
    json: Json = False,
) -> None:
    """Show the strongest terms of each class, or whatever else the topic looks for."""
    topic = _prepared(path)
    if not isinstance(topic.judge, Describes):
        raise BadInput(f"{topic.source.path}: a topic of kind {topic.kind!r} has no terms to show")
    sections = topic.judge.describe(top)
    if picture:
        _draw_map(topic, picture)
    if json:
        typer.echo(msgspec.json.encode(dict(sections)).decode())
        return
    table = Table("", "terms and their weights", show_lines=True)
    for heading, terms in sections:
        table.add_row(Text(heading), Text(", ".join(f"{term} {weight:.2f}" for term, weight in terms)))
    terminal.console().print(table)
    if isinstance(topic.judge, Ontology):
        terminal.console().print(
            Text("\n".join(tree_lines(topic.judge.concepts_, topic.judge.weights_))), soft_wrap=True
        )


@app.command()
def export(
    path: Crawl,
    out: Annotated[Path, typer.Argument(metavar="FILE", help="The file to write.", show_default=False)],
) -> None:
    """Write the current term table of a tids topic, or the concept counts of an ontology topic (for its `idf`)."""
    topic = _prepared(path)
    write = getattr(topic.judge, "write_tsv", None) or getattr(topic.judge, "write_idf", None)
    if not write:
        raise BadInput(f"{topic.source.path}: a topic of kind {topic.kind!r} has no table to write")
    try:
        write(out)
    except OSError as error:
        raise BadInput(f"{out}: cannot be written: {error.strerror}") from None
    typer.echo(f"{out} written", err=True)


def _draw_map(topic: Topic, picture: Path) -> None:
    if not isinstance(topic.judge, Ontology):
        raise BadInput(f"--picture: a topic of kind {topic.kind!r} has no map to draw")
    draw_concepts(topic.judge.concepts_, topic.judge.weights_, picture)
    typer.echo(f"{picture} written", err=True)


@app.command("try")
def try_pages(
    path: Crawl,
    names: Annotated[list[str], typer.Argument(metavar="FILE|URL...", help="Pages to judge.", show_default=False)],
    json: Json = False,
) -> None:
    """Judge some pages as the crawl would, and show why: terms, and the passages that speak for and against."""
    topic = _prepared(path)
    found = list(_gather(topic, names))
    verdicts = asyncio.run(judge_each(with_labels(topic), [page for _, page, _ in found]))
    tried = [
        Tried(name, error, verdict, passages(page, topic.judge))
        for (name, page, error), verdict in zip(found, verdicts, strict=True)
    ]
    if json:
        typer.echo(msgspec.json.encode([one.plain() for one in tried]).decode())
    else:
        for one in tried:
            _print(one)
    if all(one.error for one in tried):
        typer.echo("none of the pages could be judged", err=True)
        raise typer.Exit(2)


def _prepared(path: Path) -> Topic:
    """The topic in its current state, if the crawl has started."""
    topic = load(path)
    with topic.source.placing(), _progress() as progress:
        prepare(topic, _watched(progress))
    recall(topic)
    return topic


def _progress() -> Progress:
    console = terminal.console(stderr=True)
    return Progress(console=console, transient=True, disable=not console.is_terminal)


def _watched(progress: Progress) -> ReadPages:
    def read(path: Path) -> Iterator[tuple[str, Page]]:
        task = progress.add_task(escape(f"reading {path.name}"), total=None)
        for name, page in read_pages(path):
            progress.update(task, advance=1, description=escape(f"reading {path.name}: {name[-40:]}"))
            yield name, page
        progress.update(task, total=1, completed=1, description=escape(f"read {path.name}"))

    return read


def _folds(topic: Topic, number: int, seed: int, progress: Progress) -> Iterator[tuple[str, Verdict]]:
    judge = learner(topic, "does not learn from labelled pages: test it on some with --on WARC:LABELS --target LABEL")
    corpus = judge.corpus(topic.folder, _watched(progress))
    parts = training.cross_validate(judge, corpus, number, seed)
    for part in progress.track(parts, total=number, description="cross-validation"):
        yield from part


def _on(topic: Topic, on: str, progress: Progress) -> list[tuple[str, Verdict]]:
    """Labelled pages, judged as a crawl would judge them."""
    prepare(topic, _watched(progress))
    return asyncio.run(judge_labelled(topic, find_labelled(topic, on, _watched(progress), "--on")))


def _gather(topic: Topic, names: Sequence[str]) -> Iterator[tuple[str, Page, str]]:
    """Name, page and error for files and URLs; URLs are fetched as in a crawl."""
    wanted: list[str] = []
    for name in names:
        if Path(name).is_dir() or name.endswith((".warc", ".warc.gz")):
            yield from ((f"{name}/{inner}", page, "") for inner, page in read_pages(Path(name)))
        elif Path(name).exists():
            check_readable(Path(name))
            yield name, read_page(Path(name)), ""
        elif _is_path(name):
            raise BadInput(f"{name}: no such file (a URL starts with http:// or https://)")
        elif url := urls.from_person(name):
            wanted.append(url)
        else:
            raise BadInput(f"{name}: neither a file nor a URL")
    if wanted:
        for reply in asyncio.run(build.fetch_pages(topic.settings, wanted, WallClock())):
            yield _parsed(reply)


def _is_path(name: str) -> bool:
    """Does the name look like a file, existing or not? Otherwise a host named `page.html` would be contacted."""
    return "://" not in name and ("/" in name or os.sep in name or Path(name).suffix.lower() in _FILES)


def _parsed(reply: Reply) -> tuple[str, Page, str]:
    if reply.error:
        return reply.link.url, Page(), f"{reply.error} {reply.detail}".strip()
    try:
        return reply.link.url, Parsers().parse(reply), ""
    except ValueError as error:
        return reply.link.url, Page(), f"cannot be read: {error}"


def _print(one: Tried) -> None:
    console = terminal.console()
    for line in [f"{one.name}: {one.error}"] if one.error else _lines(one.name, one.verdict):
        console.print(Text(line), soft_wrap=True)
    table = Table.grid(padding=(0, 2))
    for heading, some in (("for", best(one.passages)), ("against", worst(one.passages))):
        for number, passage in enumerate(some):
            shown = marked(passage.text, passage.words, console)
            table.add_row("" if number else f"  {heading}", f"{passage.score:.2f}", shown)
    if table.row_count:
        console.print(table)


def _lines(name: str, verdict: Verdict) -> Iterator[str]:
    about = f", {verdict.label}" if verdict.label else ""
    yield f"{name}: {'on topic' if verdict.on_topic else 'off topic'}, relevance {verdict.relevance:.3f}{about}"
    for term, weight in verdict.why.items():
        yield f"  {weight:+8.3f}  {term}"
