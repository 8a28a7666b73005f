"""Report a comparison: a table in Markdown with standard errors and significance tests, and plots of the curves."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lycosa.lab.results import SHARES, Results, Run, value_at
from lycosa.lab.significance import mean, paired_t_test, standard_error
from lycosa.lab.writing import writing
from lycosa.output.terminal import printable
from lycosa.types import BadInput

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TABLE, PICTURES = "table.md", ("recall", "harvest")
LEVEL = 0.05
_MOST_PANELS = 12  # tasks that are plotted individually; the mean is over all
_POINTS = 200  # per mean curve
_COLOURS = ("#1b6ca8", "#d1495b", "#3b8b5d", "#8d5aa8", "#c77f1a", "#2aa5a0", "#7a4a2b", "#e377c2", "#556b2f")
_BOUNDS = {"breadth-first": ("#888888", "-"), "random": ("#888888", ":"), "oracle": ("#222222", "--")}

_STRICT = "In strict order, with one worker and no delays: an upper bound for a crawl of the live Web."
_IN_FIELD = "With the delays, workers and response times of a real crawl, on the lab's clock."

Value = Callable[[Run], float]


class Runs:
    """The runs of a comparison by strategy and task, averaged over repetitions."""

    def __init__(self, results: Results) -> None:
        self.strategies = list(results.strategies)
        self.tasks = list(dict.fromkeys(task.name for task in results.tasks))
        self.targets = {(task.name, task.repeat): task.targets for task in results.tasks}
        self.pages = {task.name: task.pages for task in results.tasks}
        self._runs: dict[tuple[str, str], list[Run]] = {}
        for run in results.runs:
            self._runs.setdefault((run.strategy, run.task), []).append(run)

    @property
    def in_field(self) -> bool:
        return any(run.seconds for runs in self._runs.values() for run in runs)

    def longest_s(self, task: str) -> float:
        """The seconds that the slowest strategy took for a task: the time scale."""
        return max((run.hours * 3600 for (_, name), runs in self._runs.items() if name == task for run in runs))

    def estimates(self) -> list[str]:
        """The kinds of recall estimates, if they were compared with the truth."""
        each = [[one.kind for one in run.estimates] for runs in self._runs.values() for run in runs]
        return min(each, key=len, default=[])  # a run without pages has none

    def of(self, strategy: str, task: str) -> list[Run]:
        return self._runs.get((strategy, task), [])

    def value(self, strategy: str, task: str, value: Value) -> float | None:
        runs = self.of(strategy, task)
        return mean([value(run) for run in runs]) if runs else None

    def values(self, strategy: str, value: Value) -> list[float]:
        """One value per task."""
        found = (self.value(strategy, task, value) for task in self.tasks)
        return [number for number in found if number is not None]

    def pairs(self, one: str, other: str, value: Value) -> tuple[list[float], list[float]]:
        """One value per task; if there is only one task, one per repetition."""
        if len(self.tasks) == 1:
            first, second = self._repeats(one, value), self._repeats(other, value)
            shared = [repeat for repeat in first if repeat in second]
            return [first[repeat] for repeat in shared], [second[repeat] for repeat in shared]
        return self.values(one, value), self.values(other, value)

    def _repeats(self, strategy: str, value: Value) -> dict[int, float]:
        return {run.repeat: value(run) for run in self.of(strategy, self.tasks[0])}


def table(results: Results) -> str:
    """Areas, recall, harvest and tests, as Markdown."""
    runs = Runs(results)
    parts = [_heading(runs, results), _areas(runs), _by_hours(runs), _figures(runs), _estimates(runs), _tests(runs)]
    parts.append(_about(results))
    return "\n\n".join(filter(None, parts)) + "\n"


def summary(runs: Runs) -> list[list[str]]:
    """For each strategy its area, recall and harvest rate at the end."""
    values: list[Value] = [_area, lambda run: run.recall["100"], lambda run: run.harvest_rate]
    return [[name, *(_with_error(runs.values(name, value)) for value in values)] for name in runs.strategies]


def _heading(runs: Runs, results: Results) -> str:
    pages = sorted(set(runs.pages.values()))
    limit = f"{pages[0]:,}" if len(pages) == 1 else f"{pages[0]:,} to {pages[-1]:,}"
    repeats = max((run.repeat for run in results.runs), default=0) + 1
    again = f", {repeats} repetitions of what depends on chance" if repeats > 1 else ""
    above = "; `oracle` knows every page, label and link" if "oracle" in runs.strategies else ""
    return (
        f"# {len(runs.strategies)} strategies on {len(runs.tasks)} task{'s' * (len(runs.tasks) != 1)}\n\n"
        f"{limit} pages each{again}. `breadth-first` and `random` know nothing of the topic{above}."
        " Mean ± standard error over the tasks." + (f" {_IN_FIELD}" if runs.in_field else f" {_STRICT}")
    )


def _areas(runs: Runs) -> str:
    lines = [
        "## Area under recall",
        "",
        "The mean, over all pages fetched, of the share of reachable targets found by then: 1 if found all at once.",
        "",
        _row("strategy", "mean", *runs.tasks),
        _row("---", *["--:"] * (len(runs.tasks) + 1)),
    ]
    for strategy in runs.strategies:
        each = [runs.value(strategy, task, _area) for task in runs.tasks]
        cells = ["-" if number is None else f"{number:.3f}" for number in each]
        lines.append(_row(strategy, f"**{_with_error(runs.values(strategy, _area))}**", *cells))
    return "\n".join(lines)


def _by_hours(runs: Runs) -> str:
    """Empty for a comparison in strict order, where no time passes."""
    if not runs.in_field:
        return ""
    lines = [
        "## By hours",
        "",
        "Hours on the lab's clock until the crawl ended, and the area under recall by time: the mean"
        " recall over the hours that the slowest strategy of the task took.",
        "",
        _row("strategy", "area by time", "hours", *runs.tasks),
        _row("---", *["--:"] * (len(runs.tasks) + 2)),
    ]
    for strategy in runs.strategies:
        areas = runs.values(strategy, lambda run: _area_by_time(run, runs))
        each = [runs.value(strategy, task, lambda run: run.hours) for task in runs.tasks]
        hours = [number for number in each if number is not None]
        cells = ["-" if number is None else f"{number:.3f} h" for number in each]
        lines.append(_row(strategy, f"**{_with_error(areas)}**", f"{mean(hours):.3f}" if hours else "-", *cells))
    return "\n".join(lines)


def _area_by_time(run: Run, runs: Runs) -> float:
    """The mean recall over the time that the slowest strategy took."""
    end = runs.longest_s(run.task)
    recall = _recall(run, runs)
    steps = zip(recall, run.seconds, [*run.seconds[1:], end], strict=True)
    return sum(found * (until - since) for found, since, until in steps) / end if end else 0.0


def _figures(runs: Runs) -> str:
    lines = [
        "## Recall and harvest",
        "",
        "Recall after a percentage of the pages; harvest rate: share of the fetched pages that have a target's"
        " label; harvest ratio: mean relevance of the fetched pages according to the judge; F1: of its verdicts on the"
        " fetched pages at the end; labels: given by a simulated person.",
        "",
        _row("strategy", *(f"recall {share} %" for share in SHARES), "harvest rate", "harvest ratio", "F1", "labels"),
        _row("---", *["--:"] * (len(SHARES) + 4)),
    ]
    values: list[Value] = [lambda run, share=str(share): run.recall[share] for share in SHARES]  # type: ignore[misc]
    values += [lambda run: run.harvest_rate, lambda run: run.harvest_ratio, lambda run: run.f1]
    for strategy in runs.strategies:
        labels = runs.values(strategy, lambda run: run.labels)
        cells = [_with_error(runs.values(strategy, value)) for value in values]
        lines.append(_row(strategy, *cells, f"{mean(labels):g}" if labels else "-"))
    return "\n".join(lines)


def _estimates(runs: Runs) -> str:
    """How far the estimates of recall were from the truth; empty if none were made."""
    kinds = runs.estimates()
    if not kinds:
        return ""
    lines = [
        "## Estimates of recall",
        "",
        "The mean absolute error of the estimated recall, over equally spaced points of the crawl and after a"
        " percentage of its pages, and how often the interval held the truth. Held-out pages are random samples of the"
        " targets.",
        "",
        _row("strategy", "estimate", "error", "interval holds", *(f"after {share} %" for share in SHARES)),
        _row("---", "---", *["--:"] * (len(SHARES) + 2)),
    ]
    for strategy in runs.strategies:
        for place, kind in enumerate(kinds):
            values: list[Value] = [lambda run, place=place: run.estimates[place].error]  # type: ignore[misc]
            values += [
                lambda run, place=place, share=str(share): run.estimates[place].at[share]  # type: ignore[misc]
                for share in SHARES
            ]
            error, *at = (_with_error(runs.values(strategy, value)) for value in values)
            covered = mean(runs.values(strategy, lambda run, place=place: run.estimates[place].covered))  # type: ignore[misc]
            lines.append(_row(strategy, kind, error, f"{covered:.0%}", *at))
    return "\n".join(lines)


def _tests(runs: Runs) -> str:
    """Paired one-tailed t-tests: is the row's strategy better than the column's?"""
    lines = [
        "## Significance",
        "",
        "The probability of a difference in area at least this large if the row's strategy is not better than the"
        f" column's (paired one-tailed t-test); below {LEVEL} in bold.",
        "",
        _row("better than", *runs.strategies),
        _row("---", *["--:"] * len(runs.strategies)),
    ]
    for one in runs.strategies:
        lines.append(_row(one, *(_test(runs, one, other) for other in runs.strategies)))
    return "\n".join(lines) if any(len(runs.pairs(one, one, _area)[0]) > 1 for one in runs.strategies) else ""


def _test(runs: Runs, one: str, other: str) -> str:
    first, second = runs.pairs(one, other, _area)
    if one == other or len(first) != len(second) or len(first) < 2:
        return ""
    p = paired_t_test(first, second).p
    shown = "<0.001" if p < 0.001 else f"{p:.3f}"
    return f"**{shown}**" if p < LEVEL else shown


def _about(results: Results) -> str:
    lines = [
        "## Tasks",
        "",
        _row("task", "web", "target", "targets", "unreachable", "examples", "reachable pages", "pages fetched"),
        _row("---", "---", "---", *["--:"] * 5),
    ]
    for task in results.tasks:
        name = task.name if not task.repeat else f"{task.name}, repeat {task.repeat}"
        numbers = (task.targets, task.unreachable, task.examples, task.reachable, task.pages)
        lines.append(_row(name, task.web, ", ".join(task.target), *(f"{number:,}" for number in numbers)))
    return "\n".join(lines)


def _area(run: Run) -> float:
    return run.area


def _with_error(values: Sequence[float]) -> str:
    if not values:
        return "-"
    error = f" ± {standard_error(values):.3f}" if len(values) > 1 else ""
    return f"{mean(values):.3f}{error}"


def _row(*cells: str) -> str:
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"


def draw(results: Results, out: Path) -> list[Path]:
    """Plot recall and harvest: the mean over all tasks, and each task; as PNG and SVG."""
    runs = Runs(results)
    curves: Mapping[str, tuple[str, Callable[[Run], Sequence[float]]]] = {
        "recall": ("share of the reachable targets found", lambda run: _recall(run, runs)),
        "harvest": ("share of the fetched pages that are targets", lambda run: run.harvest),
    }
    return [path for name in PICTURES for path in _draw_one(runs, out / name, *curves[name])]


def _recall(run: Run, runs: Runs) -> list[float]:
    targets = runs.targets.get((run.task, run.repeat)) or runs.targets[run.task, 0]
    return [found / targets for found in run.found]


def _draw_one(runs: Runs, path: Path, label: str, curve: Callable[[Run], Sequence[float]]) -> list[Path]:
    try:
        import matplotlib
    except ImportError:
        raise BadInput("a plot needs matplotlib: pip install 'lycosa[plots]'") from None
    # reproducible files, and dollar signs in a task's name must not start a formula
    with writing(path), matplotlib.rc_context({"svg.hashsalt": "lycosa", "text.parse_math": False}):
        figure = _figure(runs, label, curve)
        files = [path.with_suffix(f".{kind}") for kind in ("png", "svg")]
        figure.savefig(files[0], dpi=110)
        figure.savefig(files[1], metadata={"Date": None})
    return files


def _figure(runs: Runs, label: str, curve: Callable[[Run], Sequence[float]]) -> "Figure":
    from matplotlib.figure import Figure

    shown = runs.tasks[:_MOST_PANELS] if len(runs.tasks) > 1 else []
    columns = min(3, len(shown) + 1)
    rows = -(-(len(shown) + 1) // columns)
    figure = Figure(figsize=(5.2 * columns, 3.8 * rows), layout="constrained")
    panels = list(figure.subplots(rows, columns, squeeze=False).flat)
    for panel in panels[len(shown) + 1 :]:
        panel.set_axis_off()
    _draw_mean(panels[0], runs, curve)
    panels[0].set_ylabel(label)
    figure.legend(loc="outside lower center", ncols=min(len(runs.strategies), 3 * columns), fontsize=9)
    for panel, task in zip(panels[1:], shown, strict=False):
        _draw_task(panel, runs, task, curve)
    return figure


def _draw_mean(axes: "Axes", runs: Runs, curve: Callable[[Run], Sequence[float]]) -> None:
    """Over all tasks, in percent of the pages of each, with a band of one standard error."""
    steps = [(point + 1) / _POINTS for point in range(_POINTS)]
    for place, strategy in enumerate(runs.strategies):
        each = [
            [mean([value_at(curve(run), max(1, round(step * runs.pages[task]))) for run in runs.of(strategy, task)])
             for step in steps]
            for task in runs.tasks
            if runs.of(strategy, task)
        ]  # fmt: skip
        if not each:
            continue
        middle = [mean(values) for values in zip(*each, strict=True)]
        percent = [100 * step for step in steps]
        style = _style(strategy, place)
        axes.plot(percent, middle, label=strategy, **style)
        if len(each) > 1 and strategy not in _BOUNDS:
            errors = [standard_error(values) for values in zip(*each, strict=True)]
            low, high = ([m + s * e for m, e in zip(middle, errors, strict=True)] for s in (-1, 1))
            axes.fill_between(percent, low, high, color=style["color"], alpha=0.12, linewidth=0)
    title = f"mean of {len(runs.tasks)} tasks" if len(runs.tasks) > 1 else printable(runs.tasks[0])
    axes.set(title=title, xlabel="percent of the pages", ylim=(0, 1), xlim=(0, 100))
    axes.grid(alpha=0.3)


def _draw_task(axes: "Axes", runs: Runs, task: str, curve: Callable[[Run], Sequence[float]]) -> None:
    for place, strategy in enumerate(runs.strategies):
        for run in runs.of(strategy, task)[:1]:
            values = curve(run)
            axes.plot(range(1, len(values) + 1), values, **_style(strategy, place))
    axes.set(title=printable(task), xlabel="pages", ylim=(0, 1), xlim=(0, runs.pages[task]))
    axes.grid(alpha=0.3)


def _style(strategy: str, place: int) -> dict[str, Any]:
    if strategy in _BOUNDS:
        colour, line = _BOUNDS[strategy]
        return {"color": colour, "linestyle": line, "linewidth": 1.3}
    return {"color": _COLOURS[(place - 2) % len(_COLOURS)], "linewidth": 1.8}
