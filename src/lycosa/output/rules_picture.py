"""Draw rules between classes: circles are classes, arrows are rules, wider if more probable; the target is filled."""

import warnings
from collections.abc import Collection, Mapping
from math import cos, hypot, pi, sin
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lycosa.types import BadInput

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Rules = Mapping[str, Mapping[str, float]]
_MOST_CLASSES = 14  # more circles are unreadable
_MANY_CLASSES = 7  # from here on the ring grows and there are fewer arrows, or their labels would overlap
_MOST_ARROWS, _FEWER_ARROWS = 4, 2  # per class, besides those to the targets
_LEAST = 0.05  # less probable rules are not drawn
_LETTERS = 13  # per name
_RADIUS = 0.15
_DARK, _GOAL, _PLAIN = "#24426b", "#f2b134", "#e8eef6"


def draw_rules(rules: Rules, scores: Mapping[str, float], targets: Collection[str], out: Path) -> None:
    """The classes that matter most for the targets and the rules between them, as PNG, SVG or PDF."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise BadInput("a picture needs: pip install 'lycosa[plots]'") from error
    if out.suffix.lower() not in (".png", ".svg", ".pdf"):
        raise BadInput(f"{out}: the file name must end in .png, .svg or .pdf")
    shown = choose(rules, scores, targets)
    spots = places(shown)
    edge = _ring(len(shown)) + 3 * _RADIUS
    figure = Figure(figsize=(5.5 * edge, 5.5 * edge), layout="constrained")
    axes = figure.add_subplot(aspect="equal")
    axes.set(xlim=(-edge, edge), ylim=(-edge, edge))
    axes.set_axis_off()
    every = {*rules, *(other for row in rules.values() for other in row)}
    more = f" ({len(shown)} of {len(every)} classes)" if len(shown) < len(every) else ""
    axes.set_title(f"where the pages of a class link to{more}; below each name: the score of its links", fontsize=11)
    for source in shown:
        for target, chance in strongest(rules.get(source, {}), shown, targets):
            _draw_rule(axes, spots[source], spots[target], chance)
    for name in shown:
        _draw_class(axes, spots[name], name, scores.get(name), name in targets)
    _save(figure, out)


def _save(figure: "Figure", out: Path) -> None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # characters missing from the font are drawn as boxes
            figure.savefig(out, dpi=130)
    except OSError as error:
        raise BadInput(f"{out}: cannot be written: {error.strerror}") from None


def choose(rules: Rules, scores: Mapping[str, float], targets: Collection[str]) -> list[str]:
    """Targets first, then the classes whose links score highest, then those that are linked to."""
    ruled = sorted(scores, key=lambda name: (-scores[name], name))
    linked = sorted({other for row in rules.values() for other in row})
    order = dict.fromkeys([*sorted(targets), *ruled, *sorted(rules), *linked])
    return list(order)[:_MOST_CLASSES]


def places(names: Collection[str]) -> dict[str, tuple[float, float]]:
    """On a circle, the first at the top."""
    step, ring = 2 * pi / max(1, len(names)), _ring(len(names))
    return {name: (ring * sin(at * step), ring * cos(at * step)) for at, name in enumerate(names)}


def _ring(classes: int) -> float:
    """The radius that leaves as much space between many classes as between few."""
    return max(1.0, classes / (_MANY_CLASSES + 1))


def strongest(row: Mapping[str, float], shown: Collection[str], targets: Collection[str]) -> list[tuple[str, float]]:
    """The rules of a class to draw: all that lead to a target, and the most probable of the others."""
    rules = sorted(row.items(), key=lambda rule: (-rule[1], rule[0]))
    others = [rule for rule in rules if rule[0] in shown and rule[0] not in targets and rule[1] >= _LEAST]
    most = _MOST_ARROWS if len(shown) < _MANY_CLASSES else _FEWER_ARROWS
    return [rule for rule in rules if rule[0] in shown and rule[0] in targets] + others[:most]


def _draw_rule(axes: "Axes", start: tuple[float, float], end: tuple[float, float], chance: float) -> None:
    style: dict[str, Any] = {"color": _DARK, "alpha": 0.25 + 0.75 * chance, "linewidth": 0.6 + 4 * chance}
    if start == end:
        _draw_loop(axes, start, style)
        _write(axes, *_outward(start, 2.45 * _RADIUS), chance)
        return
    arrow = {
        "arrowstyle": "-|>",
        "connectionstyle": "arc3,rad=0.14",
        "shrinkA": 0,
        "shrinkB": 0,
        "mutation_scale": 16,
        **style,
    }
    distance = hypot(end[0] - start[0], end[1] - start[1])
    toward = (end[0] - start[0]) / distance, (end[1] - start[1]) / distance
    first = start[0] + toward[0] * _RADIUS, start[1] + toward[1] * _RADIUS
    last = end[0] - toward[0] * _RADIUS, end[1] - toward[1] * _RADIUS
    axes.annotate("", last, first, arrowprops=arrow)
    # near its start, where there are fewest other arrows; the curve bends to the right
    length = distance - 2 * _RADIUS
    part = min(0.33, 2.5 * _RADIUS / length)
    at, swing = part * length, 0.28 * part * (1 - part) * length
    _write(axes, first[0] + toward[0] * at + toward[1] * swing, first[1] + toward[1] * at - toward[0] * swing, chance)


def _draw_loop(axes: "Axes", spot: tuple[float, float], style: Mapping[str, Any]) -> None:
    from matplotlib.patches import Circle

    axes.add_patch(Circle(_outward(spot, 1.4 * _RADIUS), 0.75 * _RADIUS, fill=False, **style))


def _outward(spot: tuple[float, float], by: float) -> tuple[float, float]:
    """A position outside the ring, away from its centre."""
    factor = 1 + by / (hypot(*spot) or 1.0)
    return spot[0] * factor, spot[1] * factor


def _draw_class(axes: "Axes", spot: tuple[float, float], name: str, score: float | None, goal: bool) -> None:
    from matplotlib.patches import Circle

    axes.add_patch(Circle(spot, _RADIUS, facecolor=_GOAL if goal else _PLAIN, edgecolor=_DARK, linewidth=1.5, zorder=4))
    worth = "-" if score is None else f"{score:.2f}"
    axes.text(*spot, f"{_short(name)}\n{worth}", ha="center", va="center", fontsize=8, zorder=6, parse_math=False)


def _write(axes: "Axes", x: float, y: float, chance: float) -> None:
    box = {"boxstyle": "round,pad=0.1", "facecolor": "white", "edgecolor": "none", "alpha": 0.85}
    axes.text(x, y, f"{chance:.2f}".lstrip("0"), ha="center", va="center", fontsize=9, bbox=box, zorder=5)


def _short(name: str) -> str:
    """The last part of a path in the tree is the most informative."""
    last = name.rpartition(".")[2] or name
    return last if len(last) <= _LETTERS else f"{last[: _LETTERS - 1]}…"
