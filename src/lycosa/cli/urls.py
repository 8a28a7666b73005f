"""`lycosa urls`: train, test and try out the URL classifier that the strategy `publications` uses."""

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

app = typer.Typer(help="Train, test and use a classifier of URLs.", no_args_is_help=True, rich_markup_mode=None)
File = Annotated[
    Path | None, typer.Argument(metavar="[LABELS]", help="A file of url<TAB>class lines; default: the built-in list.")
]
Model = Annotated[Path | None, typer.Option(help="A model file; default: trained on the built-in list.")]


@app.command("train")
def train(
    labels: File = None,
    out: Annotated[Path, typer.Option(help="The model file to write.")] = Path(url_classes.NAME),
) -> None:
    """Train a classifier on labelled URLs and write it to a file."""
    model = url_training.train(_labels(labels))
    url_classes.save(model, out)
    typer.echo(f"{out} written: {len(model.classes)} classes, {len(model.weights)} features")


@app.command("test")
def evaluate(
    labels: File = None,
    model: Model = None,
    folds: Annotated[int, typer.Option(help="Folds of the cross-validation, if no model is given.", min=2)] = 5,
) -> None:
    """Show precision and recall of each class, for a model or by cross-validation."""
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
        list[str] | None,
        typer.Argument(metavar="[URL]...", help="URLs to classify; default: read from standard input."),
    ] = None,
    model: Model = None,
) -> None:
    """Print the class of each URL, its probability, and the URL."""
    known = url_classes.load(model) if model else url_training.train(url_training.built_in())
    for url in _canonical(addresses or sys.stdin):
        (best, probability), *_ = known.probabilities(url).items()
        typer.echo(f"{best}\t{probability:.3f}\t{url}")


def _labels(path: Path | None) -> url_training.Labels:
    return url_training.read_labels(path) if path else url_training.built_in()


def _canonical(lines: Iterable[str]) -> Iterable[str]:
    for line in filter(str.strip, lines):
        if not (url := from_person(line)):
            raise BadInput(f"{line.strip()[:200]!r} is not a web URL")
        yield url


def _draw(results: Counter[tuple[str, str]]) -> None:
    """One row per class, and the share of correct classifications."""
    table = Table("class", "URLs", "precision", "recall", "confused with")
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
    typer.echo(f"{right / max(1, results.total()):.3f} of {results.total()} URLs were classified correctly")
