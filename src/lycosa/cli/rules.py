"""`lycosa topic rules`: mine the rules between the classes of a topic, show them, export them, draw them."""

import asyncio
import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import msgspec
import typer
from rich import box
from rich.console import Console
from rich.progress import Progress
from rich.table import Table
from rich.text import Text

from lycosa import build, config
from lycosa.clock import WallClock
from lycosa.judge.corpus import ReadPages
from lycosa.judge.training import Learner
from lycosa.mining import MOST_PAGES, Mine, waves
from lycosa.output import terminal
from lycosa.output.rules_picture import draw_rules
from lycosa.pages import read_pages
from lycosa.strategy import rule_base
from lycosa.strategy.rules import Rules
from lycosa.types import BadInput, Page

_MOST_SHOWN = 100  # rows of a table; an export has all
_MOST_WORDS = 15


class Rule(msgspec.Struct, frozen=True, rename={"source": "from", "target": "to"}):
    """Pages of class `source` link to pages of class `target`."""

    source: str
    target: str
    probability: float
    pages: float


class Export(msgspec.Struct, frozen=True):
    """Everything known, for other programs."""

    targets: list[str]
    rules: list[Rule]
    scores: dict[str, float]  # score of a page's links, by its class
    unruled: list[str]  # classes without a path to the targets: the relevance of the page is used instead
    words: dict[str, dict[str, float]]  # by target: what words in a link, near it and in the title add to its log-odds


class Topic(NamedTuple):
    """A topic with classes, and the options of the rules."""

    judge: Any
    options: Rules
    settings: config.Config
    source: config.Source

    @property
    def folder(self) -> Path:
        return self.source.path.parent


Where = Annotated[
    Path, typer.Argument(metavar="DIR|CONFIG", help="A crawl folder, or a .toml file.", show_default=False)
]
Warcs = Annotated[
    list[Path] | None, typer.Option(metavar="WARC", help="Recorded pages that the examples link to; may be repeated.")
]
Crawls = Annotated[
    list[Path] | None,
    typer.Option(metavar="DIR", help="An earlier crawl to learn from, with the judge's classes; may be repeated."),
]
Most = Annotated[
    int | None,
    typer.Option(min=0, help=f"Fetch at most this many pages.  [default: {MOST_PAGES}, or 0 with a WARC]"),
]
Show = Annotated[bool, typer.Option("--show", help="Show the existing rules.")]
File = Annotated[Path | None, typer.Option(metavar="CSV|JSON", help="Write the existing rules as a table.")]
Picture = Annotated[Path | None, typer.Option(metavar="PNG", help="Draw the existing rules.")]


def rules(
    path: Where,
    warc: Warcs = None,
    crawl: Crawls = None,
    most: Most = None,
    show: Show = False,
    export: File = None,
    draw: Picture = None,
) -> None:
    """Find out which classes link to which, from the topic's examples and their links, and write rules.json."""
    topic = _load(path)
    target = topic.folder / rule_base.NAME
    if not (show or export or draw):
        found, ordering = asyncio.run(_mine(topic, warc or [], crawl or [], most))
        _write(target, found)
        for name in topic.judge.targets(ordering):
            typer.echo(
                f"value of links to {name}: tested on sites left out of training, a link worth more than the average"
                f" comes before one worth less in {ordering[name]:.0%} of all pairs (50% is chance)"
            )
    elif not target.exists():
        raise BadInput(f"{target}: no rules yet; mine them with: lycosa topic rules {path}")
    else:
        found = rule_base.load(target)
        targets = topic.judge.targets(found.classes)
        if not targets:
            raise BadInput(
                f"{target}: made for classes that the topic does not have; mine them again: lycosa topic rules {path}"
            )
        table = tabulate(found, targets, topic.options)
        if show:
            _show(table, terminal.console())
        if export:
            _export(table, export)
        if draw:
            draw_rules(found.rules(), table.scores, table.targets, draw)
            typer.echo(f"{draw} written", err=True)


def _write(target: Path, found: rule_base.RuleBase) -> None:
    rule_base.save(found, target)
    total = sum(map(len, found.rules().values()))
    typer.echo(
        f"{target} written: {total:,} rules between {len(found.classes):,} classes,"
        f" counted on {found.pages:,.0f} pairs of a class and a page it links to;"
        f" link weights of {len(set().union(*(model.words for model in found.links.values()))):,} words"
    )


def _load(path: Path) -> Topic:
    settings, source = config.load(path)
    if not settings.topic:
        raise source.blame("topic", "this section is needed: say what to look for")
    judge = build.make("topic", build.judges(), settings.topic, source)
    if not isinstance(judge, Learner):
        raise source.blame("topic.kind", "rules are mined from classes: use a topic that has some, such as a taxonomy")
    ours = settings.strategy.get("kind") == "rules"
    options = build.make("strategy", {"rules": Rules}, settings.strategy if ours else {"kind": "rules"}, source)
    return Topic(judge, options, settings, source)


async def _mine(
    topic: Topic, further: list[Path], crawls: list[Path], most: int | None
) -> tuple[rule_base.RuleBase, dict[str, float]]:
    judge = build.make_judge(topic.settings, topic.source)
    mine = Mine(judge, topic.folder)
    with Progress(console=terminal.console(stderr=True), transient=True) as progress:
        read = _watched(progress)
        await mine.read_examples(read)
        warcs = [*mine.warcs(), *further]
        for crawl in crawls:
            await mine.read_crawl(crawl, read)
        for warc in warcs:
            await mine.read_warc(warc, read)
        missing = mine.missing((0 if warcs or crawls else MOST_PAGES) if most is None else most)
        if missing:
            task = progress.add_task("fetching", total=len(missing))
            for wave in waves(missing):
                for reply in await build.fetch_pages(topic.settings, wave, WallClock()):
                    await mine.read_reply(reply)
                progress.advance(task, len(wave))
        if not mine.classes:
            places = ", ".join(map(str, warcs)) or "the fetched pages"
            raise BadInput(f"topic.examples: no page that the examples link to is in {places}; give --warc or --most")
        progress.add_task("training link weights", total=None)
        return mine.rules(), mine.ordering()


def _watched(progress: Progress) -> ReadPages:
    def read(path: Path) -> Iterator[tuple[str, Page]]:
        task = progress.add_task(f"reading {path.name}", total=None)
        for name, page in read_pages(path):
            progress.advance(task)
            yield name, page
        progress.update(task, total=1, completed=1)

    return read


def tabulate(found: rule_base.RuleBase, targets: list[str], options: Rules) -> Export:
    """Rules by class, most probable first; classes by the score of their links."""
    rows = [
        Rule(source, target, chance, found.counts[source][target])
        for source, row in sorted(found.rules().items())
        for target, chance in sorted(row.items(), key=lambda rule: (-rule[1], rule[0]))
    ]
    scores = found.scores(targets, options.max_depth, options.paths)
    ordered = dict(sorted(scores.items(), key=lambda item: (-item[1], item[0])))
    words = {
        name: dict(sorted(found.links[name].words.items(), key=lambda item: (-item[1], item[0])))
        for name in targets
        if name in found.links
    }
    return Export(targets, rows, ordered, [name for name in found.classes if name not in scores], words)


def _show(found: Export, console: Console) -> None:
    table = Table("from", "to", title="pages of one class link to pages of another", box=box.SIMPLE_HEAD)
    for name in ("probability", "linked pages"):
        table.add_column(name, justify="right")
    for rule in found.rules[:_MOST_SHOWN]:
        bold = "bold" if rule.target in found.targets else ""
        cells = Text(rule.source), Text(rule.target), f"{rule.probability:.3f}", f"{rule.pages:,.0f}"
        table.add_row(*cells, style=bold)
    console.print(table)
    worth = Table("class", title="score of a page's links, by its class", box=box.SIMPLE_HEAD)
    worth.add_column("score", justify="right")
    for name, score in list(found.scores.items())[:_MOST_SHOWN]:
        worth.add_row(Text(name), f"{score:.3f}", style="bold" if name in found.targets else "")
    for name in found.unruled[: max(0, _MOST_SHOWN - len(found.scores))]:
        worth.add_row(Text(name), "-", style="bold" if name in found.targets else "")
    console.print(worth)
    if found.unruled:
        console.print("-: no path to the target; the relevance of the page is used instead")
    for name, weights in found.words.items():
        best = ", ".join([word for word, weight in weights.items() if weight > 0][:_MOST_WORDS]) or "none"
        console.print(f"words of links to {name}: {best}", markup=False, soft_wrap=True)
    left = max(0, len(found.rules) - _MOST_SHOWN)
    if left:
        console.print(f"{left:,} more rules: --export FILE.csv writes them all")
    console.print(f"target: {', '.join(found.targets)}", markup=False, soft_wrap=True)


def _export(found: Export, out: Path) -> None:
    if out.suffix.lower() not in (".csv", ".json"):
        raise BadInput(f"{out}: the file name must end in .csv or .json")
    try:
        if out.suffix.lower() == ".json":
            out.write_bytes(msgspec.json.format(msgspec.json.encode(found), indent=1) + b"\n")
        else:
            with out.open("w", encoding="utf-8", newline="") as file:
                writer = csv.writer(file)
                writer.writerow(["from", "to", "probability", "pages"])
                writer.writerows((rule.source, rule.target, rule.probability, rule.pages) for rule in found.rules)
    except OSError as error:
        raise BadInput(f"{out}: cannot be written: {error.strerror}") from None
    typer.echo(f"{out} written", err=True)
