"""`lycosa urls`: teach, test and try the classifier of URLs that the strategy `publications` uses."""

import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from lycosa.output import terminal
from lycosa.strategy import url_classes, url_training
from lycosa.types import BadInput
from lycosa.urls import from_person

app = typer.Typer(help="The classes of URLs: train, test, classify.", no_args_is_help=True, rich_markup_mode=None)
File = Annotated[
    Path | None, typer.Argument(metavar="[LABELS]", help="url<TAB>class in each line; else the built-in list.")
]
Model = Annotated[Path | None, typer.Option(help="A model; the built-in list if not given.")]


@app.command("train")
def train(
    labels: File = None,
    out: Annotated[Path, typer.Option(help="Where the model is written.")] = Path(url_classes.NAME),
) -> None:
    """Learn from labelled URLs and write a model."""
    model = url_training.train(_labels(labels))
    url_classes.save(model, out)
    typer.echo(f"{out} written: {len(model.classes)} classes, {len(model.weights)} features")


@app.command("test")
def evaluate(
    labels: File = None,
    model: Model = None,
    folds: Annotated[int, typer.Option(help="Without a model: parts of the cross-validation.", min=2)] = 5,
) -> None:
    """Precision and recall of each class, of a model or by cross-validation."""
    pairs = _labels(labels)
    if model:
        known = url_classes.load(model)
        results = [(label, known.class_of(url)) for url, label in pairs]
    else:
        results = [(label, guess) for _, label, guess in url_training.cross_validate(pairs, folds)]
    _draw(Counter(results))


@app.command("classify")
def classify(
    addresses: Annotated[
        list[str] | None, typer.Argument(metavar="[URL]...", help="Read from the input if none.")
    ] = None,
    model: Model = None,
) -> None:
    """The class of each URL, its probability, and the URL."""
    known = url_classes.load(model) if model else url_training.train(url_training.built_in())
    for url in _canonical(addresses or sys.stdin):
        (best, probability), *_ = known.probabilities(url).items()
        typer.echo(f"{best}\t{probability:.3f}\t{url}")


def _labels(path: Path | None) -> url_training.Labels:
    return url_training.read_labels(path) if path else url_training.built_in()


def _canonical(lines: Iterable[str]) -> Iterable[str]:
    for line in filter(str.strip, lines):
        if not (url := from_person(line)):
            raise BadInput(f"{line.strip()[:200]!r} is no web URL")
        yield url


def _draw(results: Counter[tuple[str, str]]) -> None:
    """One row a class; and how many of all were right."""
    table = Table("class", "URLs", "precision", "recall", "taken for")
    for name in sorted({name for pair in results for name in pair}):
        right = results[name, name]
        mine = {guess: count for (label, guess), count in results.items() if label == name}
        guessed = sum(count for (_, guess), count in results.items() if guess == name)
        others = sorted(((count, guess) for guess, count in mine.items() if guess != name), reverse=True)
        shares = [f"{right / whole:.3f}" if whole else "-" for whole in (guessed, sum(mine.values()))]
        cells = [name, str(sum(mine.values())), *shares, ", ".join(f"{guess} {count}" for count, guess in others)]
        table.add_row(*map(escape, cells))
    terminal.console().print(table)
    right = sum(count for (label, guess), count in results.items() if label == guess)
    typer.echo(f"{right / max(1, results.total()):.3f} of {results.total()} URLs were put into their class")
