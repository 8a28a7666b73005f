"""How well does a topic separate pages? Figures, tables and a plot from true labels and verdicts."""

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray
from rich.table import Table
from rich.text import Text

from lycosa.output.terminal import printable
from lycosa.types import BadInput, Verdict

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_CURVES = 10  # more lines cannot be distinguished
_MOST_CELLS = 25  # classes of a confusion matrix that can still be read as numbers


class Measures(Struct, frozen=True):
    """One label, or the target, against the rest. An undefined figure is None, not zero."""

    label: str
    pages: int
    precision: float | None
    recall: float | None
    f1: float | None
    auc: float | None  # the probability that a page with the label is ranked above one without


class Report(Struct, frozen=True):
    """The results of a test."""

    pages: int
    target: Measures  # relevance and on_topic against the target's labels
    classes: list[Measures] = []  # probability and best class against each label
    macro_auc: float | None = None  # the mean over the labels
    accuracy: float | None = None  # best class = label
    labels: list[str] = []  # rows and columns of the confusion matrix
    confusion: list[list[int]] = []  # pages with the row's label that were assigned the column's class


def measure(results: Sequence[tuple[str, Verdict]], target: Iterable[str]) -> Report:
    """Compute figures from labels and verdicts; if the verdicts have no classes, for the target only."""
    truth = np.array([label for label, _ in results])
    verdicts = [verdict for _, verdict in results]
    wanted = np.isin(truth, list(target))
    relevance = np.array([verdict.relevance for verdict in verdicts])
    whole = _measures("target", wanted, np.array([verdict.on_topic for verdict in verdicts], bool), relevance)
    known = sorted({name for verdict in verdicts for name in verdict.classes})
    if not known:
        return Report(len(results), whole)
    given = np.array([verdict.label for verdict in verdicts])
    classes = [_measures(name, truth == name, given == name, _scores(verdicts, name)) for name in known]
    areas = [item.auc for item in classes if item.auc is not None]
    rows = sorted({*truth.tolist(), *given.tolist()} - {""})
    pairs = Counter(zip(truth.tolist(), given.tolist(), strict=True))
    confusion = [[pairs[row, column] for column in rows] for row in rows]
    macro = float(np.mean(areas)) if areas else None
    return Report(len(results), whole, classes, macro, float(np.mean(truth == given)), rows, confusion)


def _scores(verdicts: Sequence[Verdict], name: str) -> NDArray[np.float64]:
    return np.array([verdict.classes.get(name, 0.0) for verdict in verdicts])


def _measures(label: str, truth: NDArray[np.bool_], given: NDArray[np.bool_], scores: NDArray[np.float64]) -> Measures:
    hits, of_label, of_given = int(np.sum(truth & given)), int(truth.sum()), int(given.sum())
    precision = hits / of_given if of_given else None
    recall = hits / of_label if of_label else None
    f1 = 2 * hits / (of_label + of_given) if of_label + of_given else None
    return Measures(label, of_label, precision, recall, f1, roc_auc(truth, scores))


def roc_auc(truth: NDArray[np.bool_], scores: NDArray[np.float64]) -> float | None:
    """The probability that a true page is ranked above a false one, ties counting half; None if one side is empty."""
    positives = int(truth.sum())
    pairs = positives * (len(truth) - positives)
    if not pairs:
        return None
    _, place, count = np.unique(scores, return_inverse=True, return_counts=True)
    rank = (np.cumsum(count) - (count - 1) / 2)[place]  # tied scores share their mean rank
    return float((rank[truth].sum() - positives * (positives + 1) / 2) / pairs)


def roc_curve(truth: NDArray[np.bool_], scores: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The shares of false and true pages above each score, from the highest score down."""
    order = np.argsort(-scores, kind="stable")
    last_of_tie = np.append(np.diff(scores[order]) != 0, True)
    hits = np.cumsum(truth[order])[last_of_tie]
    misses = np.cumsum(~truth[order])[last_of_tie]
    return np.append(0, misses / max(1, misses[-1])), np.append(0, hits / max(1, hits[-1]))


def tables(report: Report) -> list[Table]:
    """The tables to print."""
    means = f"mean ROC AUC over the labels {_shown(report.macro_auc)}, accuracy {_shown(report.accuracy)}"
    headings = ("label", "pages", "precision", "recall", "F1", "ROC AUC")
    figures = Table(*headings, title=f"{report.pages} pages", caption=means if report.confusion else None)
    for column in figures.columns[1:]:
        column.justify = "right"
    for item in (*report.classes, report.target):
        numbers = (item.precision, item.recall, item.f1, item.auc)
        style = "bold" if item is report.target else ""
        figures.add_row(Text(item.label), str(item.pages), *map(_shown, numbers), style=style)
    if not report.confusion or len(report.labels) > _MOST_CELLS:
        return [figures]
    columns = [str(number) for number in range(1, len(report.labels) + 1)]
    confusion = Table("label", *columns, title="confusion", caption="confusion matrix (columns: assigned class)")
    for number, label, row in zip(columns, report.labels, report.confusion, strict=True):
        confusion.add_row(Text(f"{number} {label}"), *(str(count) if count else "." for count in row))
    return [figures, confusion]


def _shown(number: float | None) -> str:
    return "-" if number is None else f"{number:.3f}"


def draw(report: Report, results: Sequence[tuple[str, Verdict]], target: Iterable[str], path: Path) -> None:
    """ROC curves and confusion matrix as a PNG."""
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ImportError:
        raise BadInput(f"{path}: a plot needs matplotlib: pip install 'lycosa[plots]'") from None
    with matplotlib.rc_context({"text.parse_math": False}):  # a dollar sign in a label must not start a formula
        figure = Figure(figsize=(12, 5.5) if report.confusion else (6, 5.5), layout="constrained")
        spots = figure.subplots(1, 2 if report.confusion else 1, squeeze=False)[0]
        _draw_curves(spots[0], report, results, set(target))
        if report.confusion:
            _draw_confusion(spots[1], report)
        try:
            figure.savefig(path, format="png", dpi=110)
        except OSError as error:
            raise BadInput(f"{path}: cannot be written: {error.strerror}") from None


def _draw_curves(axes: "Axes", report: Report, results: Sequence[tuple[str, Verdict]], target: set[str]) -> None:
    truth = np.array([label for label, _ in results])
    verdicts = [verdict for _, verdict in results]
    relevance = np.array([verdict.relevance for verdict in verdicts])
    lines = [(report.target, np.isin(truth, list(target)), relevance)]
    lines += [(item, truth == item.label, _scores(verdicts, item.label)) for item in report.classes[:_MOST_CURVES]]
    for item, wanted, scores in lines:
        if item.auc is not None:
            heavy = 2.5 if item is report.target else 1.0
            axes.plot(*roc_curve(wanted, scores), linewidth=heavy, label=f"{printable(item.label)}  {item.auc:.3f}")
    axes.plot([0, 1], [0, 1], color="0.7", linestyle=":", linewidth=1)
    axes.set(title="ROC", xlabel="share of the other pages", ylabel="share of the pages with the label")
    axes.legend(title="area under the curve", loc="lower right", fontsize=8)


def _draw_confusion(axes: "Axes", report: Report) -> None:
    counts = np.array(report.confusion, float)
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    axes.imshow(shares, cmap="Blues", vmin=0, vmax=1)
    if len(report.labels) <= _MOST_CELLS:
        places = range(len(report.labels))
        labels = [printable(label) for label in report.labels]
        axes.set_xticks(places, labels, rotation=45, ha="right", fontsize=8)
        axes.set_yticks(places, labels, fontsize=8)
        for row in places:
            for column in places:
                shade = "white" if shares[row, column] > 0.5 else "black"
                axes.text(column, row, f"{counts[row, column]:.0f}", ha="center", va="center", fontsize=7, color=shade)
    axes.set(title="confusion", xlabel="assigned class", ylabel="label")
