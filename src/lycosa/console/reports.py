"""The reports of the lab below the console's folders: comparisons of strategies, and repeated experiments."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from lycosa.console.folders import Folders, NoSuchCrawl
from lycosa.console.markdown import Block, blocks
from lycosa.errors import BadInput
from lycosa.lab import results as lab_results
from lycosa.lab.reproduce.pictures import Picture
from lycosa.lab.reproduce.report import CURVES, PAGE
from lycosa.lab.results import Results

TABLE = "table.md"
MOST_POINTS = 300  # of a curve
_MOST_BYTES = 50_000_000
_DEPTH = 3
_BETWEEN = "~"  # stands for the slash in names


class NoSuchReport(NoSuchCrawl):
    """The browser asked for a report that is not there."""


class Curve(Struct, frozen=True):
    """One line of a chart."""

    name: str
    x: list[float]
    y: list[float]


class Chart(Struct, frozen=True):
    """Curves on the same axes."""

    title: str
    xlabel: str
    ylabel: str
    curves: list[Curve]
    picture: str = ""  # the image of the report that shows the same


class Summary(Struct, frozen=True):
    """A report in the list."""

    name: str
    title: str
    kind: str  # comparison or experiment


class Report(Struct, frozen=True):
    """A report as text and charts."""

    name: str
    kind: str
    blocks: list[Block]
    charts: list[Chart]


def find_reports(folders: Folders) -> dict[str, Path]:
    """From name to folder."""
    roots, found = folders.roots, {}
    for root in roots:
        prefix = [root.name] if len(roots) > 1 else []
        for path in _below(root, _DEPTH):
            name = _BETWEEN.join([*prefix, *path.relative_to(root).parts]) or root.name
            found[name] = path
    return dict(sorted(found.items()))


def list_reports(folders: Folders) -> list[Summary]:
    return [Summary(name, _title(path), _kind(path)) for name, path in find_reports(folders).items()]


def read_report(folders: Folders, name: str) -> Report:
    path = find_reports(folders).get(name)
    if path is None:
        raise NoSuchReport(f"{name[:100]}: there is no such report here")
    kind = _kind(path)
    text = _read(path / (PAGE if kind == "experiment" else TABLE)).decode(errors="replace")
    charts = _of_pictures(path) if kind == "experiment" else of_results(lab_results.load(path / lab_results.NAME))
    return Report(name, kind, list(blocks(text)), charts)


def image(folders: Folders, name: str, file: str) -> Path:
    """A picture of a report; nothing else is given away."""
    path = find_reports(folders).get(name)
    if path is None or file not in {entry.name for entry in path.glob("*.png")}:
        raise NoSuchReport("there is no such picture here")
    return path / file


def of_results(found: Results) -> list[Chart]:
    """Recall and harvest by pages fetched, each strategy as the mean over its runs."""
    targets = {(task.name, task.repeat): task.targets for task in found.tasks}
    recall: dict[str, list[Sequence[float]]] = {}
    harvest: dict[str, list[Sequence[float]]] = {}
    for run in found.runs:
        most = targets.get((run.task, run.repeat), 0) or 1
        recall.setdefault(run.strategy, []).append([value / most for value in run.found])
        harvest.setdefault(run.strategy, []).append(run.harvest)
    charts = (("Recall", "share of the targets found", recall), ("Harvest", "share of targets among pages", harvest))
    return [
        Chart(title, "pages fetched", label, [_mean(name, runs) for name, runs in curves.items()])
        for title, label, curves in charts
    ]


def _mean(name: str, runs: Sequence[Sequence[float]]) -> Curve:
    """A run that ended early keeps its last value."""
    size = max(map(len, runs), default=0)
    step = max(1, -(-size // MOST_POINTS))
    places = [*range(step, size, step), size] if size else []
    kept = [run for run in runs if run]
    values = [sum(run[min(place, len(run)) - 1] for run in kept) / len(kept) for place in places] if kept else []
    return Curve(name, [*map(float, places[: len(values)])], values)


def _of_pictures(path: Path) -> list[Chart]:
    if not (path / CURVES).exists():
        return []  # written by an earlier version: its images are shown instead
    try:
        found = msgspec.json.decode(_read(path / CURVES), type=dict[str, list[Picture]])["pictures"]
    except (msgspec.MsgspecError, KeyError) as error:
        raise BadInput(f"{path / CURVES}: not the curves of a report: {error}") from None
    return [
        Chart(
            panel.title or picture.title,
            panel.xlabel,
            panel.ylabel,
            [Curve(line.name, *_thinned(line.x, line.y)) for line in panel.lines],
            f"{picture.name}.png",
        )
        for picture in found
        for panel in picture.panels
    ]


def _thinned(x: Sequence[float], y: Sequence[float]) -> tuple[list[float], list[float]]:
    step = max(1, -(-len(x) // MOST_POINTS))
    return list(x[::step]), list(y[::step])


def _kind(path: Path) -> str:
    return "experiment" if (path / PAGE).exists() else "comparison"


def _title(path: Path) -> str:
    name = PAGE if (path / PAGE).exists() else TABLE
    with (path / name).open(encoding="utf-8", errors="replace") as file:
        return file.readline(300).strip("# \n") or path.name


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            found: Any = file.read(_MOST_BYTES + 1)
    except OSError as error:
        raise BadInput(f"{path}: cannot be read: {error.strerror}") from None
    if len(found) > _MOST_BYTES:
        raise BadInput(f"{path}: larger than {_MOST_BYTES // 1_000_000} MB")
    return bytes(found)


def _below(root: Path, depth: int) -> Iterator[Path]:
    """Folders with a report. Links are not followed, so that nothing outside the root is shown."""
    try:
        entries = sorted(os.scandir(root), key=lambda entry: entry.name)
    except OSError:
        return
    names = {entry.name for entry in entries if entry.is_file(follow_symlinks=False)}
    if PAGE in names or {TABLE, lab_results.NAME} <= names:
        yield root
    for entry in entries if depth else ():
        is_hidden = entry.name.startswith(".") or _BETWEEN in entry.name
        if entry.is_dir(follow_symlinks=False) and not is_hidden:
            yield from _below(Path(entry.path), depth - 1)
