"""Show the concepts of a topic with their weights: as a tree of text lines, or as a picture."""

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from lycosa.ontology.concepts import Concepts
from lycosa.types import BadInput

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_DRAWN = 60  # more rows are unreadable in a picture
_MOST_DEPTH = 50
_MOST_RELATED = 5
_MOST_LETTERS = 40
_MOST_KINDS = 10  # as many as there are colours; other associations are grey
_ROW, _STEP, _LETTER, _LANE = 0.3, 0.4, 0.085, 0.22  # inches: a row, the indent of a level, a letter, a lane


class Row(Struct, frozen=True):
    """One line of the tree."""

    id: str
    depth: int
    lasts: tuple[bool, ...] = ()  # for it and each of its ancestors: is it the last of its siblings?
    parent: int = -1  # its row
    again: bool = False  # already shown above, with everything below it


def rows(concepts: Concepts) -> list[Row]:
    """The hierarchy from the top down; each concept's subtree is shown once, however many paths lead to it."""
    below = concepts.narrower()
    under = {id for narrow in below.values() for id in narrow}
    found: list[Row] = []
    seen: set[str] = set()
    tops = [concept.id for concept in concepts if concept.id not in under]
    for start in [*tops, *below]:  # what the top concepts do not reach is part of a cycle
        waiting = [] if start in seen else [Row(start, 0)]
        while waiting:
            row = waiting.pop()
            again = row.id in seen
            found.append(Row(row.id, row.depth, row.lasts, row.parent, again and bool(below[row.id])))
            if not again and row.depth < _MOST_DEPTH:  # deeper concepts start another tree further down
                seen.add(row.id)
                last = len(below[row.id]) - 1
                parts = [
                    Row(id, row.depth + 1, (*row.lasts, place == last), len(found) - 1)
                    for place, id in enumerate(below[row.id])
                ]
                waiting += reversed(parts)
    return found


def tree_lines(concepts: Concepts, weights: Mapping[str, float]) -> list[str]:
    """The hierarchy as lines of text, each with its weight and, after a dash, its associations."""
    related = concepts.related()
    lines = []
    for row in rows(concepts):
        bars = "".join("    " if last else "│   " for last in row.lasts[:-1])
        knee = ("└── " if row.lasts[-1] else "├── ") if row.lasts else ""
        line = f"{bars}{knee}{concepts[row.id].label}  {round(weights[row.id], 3)}"
        if row.again:
            line += "  (see above)"
        elif related[row.id]:
            shown = [f"{concepts[other].label} ({kind})" for kind, other in related[row.id][:_MOST_RELATED]]
            line += " - " + ", ".join([*shown, "..."] if len(related[row.id]) > _MOST_RELATED else shown)
        lines.append(line)
    return lines


class Lane(Struct, frozen=True):
    """All associations of one kind of one concept: a vertical line on the right that joins their rows."""

    kind: str
    rows: tuple[int, ...]  # from the top
    column: int


def lanes(concepts: Concepts, tree: list[Row]) -> list[Lane]:
    """Lanes for all associations except the hierarchy; two lanes share a column only if they do not overlap."""
    place: dict[str, int] = {}
    for at, row in enumerate(tree):
        place.setdefault(row.id, at)
    groups: dict[tuple[str, str], set[int]] = {}
    for bond in concepts.associations:
        if not bond.hierarchy:
            groups.setdefault((bond.kind, bond.members[0]), set()).update(place[id] for id in bond.members)
    found: list[Lane] = []
    for (kind, _), joined in sorted(groups.items(), key=lambda item: (max(item[1]) - min(item[1]), item[0])):
        first, last = min(joined), max(joined)
        busy = {lane.column for lane in found if lane.rows[0] <= last and first <= lane.rows[-1]}
        column = next(column for column in range(len(found) + 1) if column not in busy)
        found.append(Lane(kind, tuple(sorted(joined)), column))
    return found


def draw(concepts: Concepts, weights: Mapping[str, float], out: Path) -> None:
    """The tree as a picture (PNG, SVG or PDF): darker means a higher weight, lines on the right are associations."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise BadInput("a picture needs: pip install 'lycosa[plots]'") from error
    if out.suffix.lower() not in (".png", ".svg", ".pdf"):
        raise BadInput(f"{out}: the file name must end in .png, .svg or .pdf")
    shown = _heaviest(concepts, weights)
    tree = rows(shown)
    found = lanes(shown, tree)
    kinds = list(dict.fromkeys(lane.kind for lane in found))[:_MOST_KINDS]
    labels = [_label(shown, row, weights) for row in tree]
    ends = [row.depth * _STEP + _LETTER * len(label) + 0.2 for row, label in zip(tree, labels, strict=True)]
    width = max(ends) + _LANE * (1 + max((lane.column for lane in found), default=-1)) + 0.8
    height = _ROW * (len(tree) + len(kinds) + 3)
    size = max(width, _LETTER * (1 + max(map(len, kinds), default=0)) + 1.0, 4.0), height
    figure = Figure(figsize=size, dpi=min(150.0, 20_000 / max(size)))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(-0.3, size[0] - 0.3), ylim=(-height + 2 * _ROW, 2 * _ROW))
    axes.set_axis_off()
    more = f": {len(shown)} of {len(concepts)} concepts" if len(shown) < len(concepts) else ""
    axes.text(-0.15, 0.9 * _ROW, f"{concepts.source}{more}", fontsize=11, weight="bold", parse_math=False)
    _draw_tree(axes, tree, labels, [weights[row.id] for row in tree])
    _draw_lanes(axes, found, kinds, ends)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # characters missing from the font are drawn as boxes
            figure.savefig(out)
    except OSError as error:
        raise BadInput(f"{out}: cannot be written: {error.strerror}") from None


def _heaviest(concepts: Concepts, weights: Mapping[str, float]) -> Concepts:
    """Of a large map, show only concepts that weigh more than the rest."""
    if len(concepts) <= _MOST_DRAWN:
        return concepts
    least = min(weights.values())
    heavy = [id for id, weight in weights.items() if weight > least] or list(weights)
    kept = set(sorted(heavy, key=weights.__getitem__, reverse=True)[:_MOST_DRAWN])
    bonds = [bond for bond in concepts.associations if kept.issuperset(bond.members)]
    return Concepts([concept for concept in concepts if concept.id in kept], bonds, concepts.source)


def _label(concepts: Concepts, row: Row, weights: Mapping[str, float]) -> str:
    label = concepts[row.id].label
    short = label if len(label) <= _MOST_LETTERS else f"{label[: _MOST_LETTERS - 3]}..."
    return f"{short}  {'(see above)' if row.again else round(weights[row.id], 3)}"


def _draw_tree(axes: "Axes", tree: list[Row], labels: list[str], weights: list[float]) -> None:
    from matplotlib import colormaps

    heaviest = max(weights) or 1.0
    for at, (row, label, weight) in enumerate(zip(tree, labels, weights, strict=True)):
        x, y, share = row.depth * _STEP, -at * _ROW, weight / heaviest
        if row.parent >= 0:
            axes.plot([x - _STEP, x - _STEP, x], [-row.parent * _ROW, y, y], color="0.6", lw=1, zorder=1)
        color = colormaps["YlOrRd"](0.15 + 0.75 * share)
        axes.scatter([x], [y], s=30 + 70 * share, color=[color], edgecolors="0.3", linewidths=0.8, zorder=3)
        bold = "bold" if share == 1 else "normal"
        axes.text(x + 0.14, y, label, va="center", fontsize=9.5, weight=bold, parse_math=False)


def _draw_lanes(axes: "Axes", found: list[Lane], kinds: list[str], ends: list[float]) -> None:
    """Each kind of association in its own colour, with a legend below the tree."""
    color = {kind: f"C{at}" for at, kind in enumerate(kinds)}
    for lane in found:
        x = max(ends) + _LANE * (lane.column + 1)
        ink = color.get(lane.kind, "0.5")
        axes.plot([x, x], [-lane.rows[0] * _ROW, -lane.rows[-1] * _ROW], lw=1.5, color=ink)
        for row in lane.rows:
            axes.plot([ends[row], x], [-row * _ROW] * 2, lw=0.7, ls=(0, (1, 2)), color=ink)
            axes.plot([x], [-row * _ROW], marker="o", ms=4, color=ink)
    for at, kind in enumerate(kinds, start=len(ends) + 1):
        axes.plot([0, 0.35], [-at * _ROW] * 2, lw=1.5, color=color[kind])
        axes.text(0.5, -at * _ROW, kind, va="center", fontsize=9, parse_math=False)
