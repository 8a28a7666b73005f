"""Plots whose curves can be distinguished without colour, as PNG and SVG."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from lycosa.types import BadInput

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLOURS = ("#0b5394", "#d95f02", "#1b7837", "#7b3294", "#b2182b", "#555555", "#a6761d")  # distinct for most people
_STYLES: tuple[str | tuple[int, tuple[int, ...]], ...] = ("-", "--", "-.", ":", (0, (8, 2)), (0, (3, 1, 1, 1, 1, 1)))
_MARKS = ("o", "s", "^", "D", "v", "P", "X")
_MOST_POINTS = 10  # markers and error bars per curve


class Line(Struct, frozen=True):
    """One curve; `error` is drawn as error bars."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    error: Sequence[float] = ()
    faint: bool = False  # for comparison only


class Panel(Struct, frozen=True):
    """One pair of axes."""

    title: str
    xlabel: str
    ylabel: str
    lines: Sequence[Line]
    floor: float | None = 0.0  # of the y axis; None: automatic


class Picture(Struct, frozen=True):
    """Panels side by side."""

    name: str  # of the file, without suffix
    title: str
    panels: Sequence[Panel]
    caption: str = ""


def draw(picture: Picture, out: Path) -> None:
    """Write NAME.png and NAME.svg."""
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ImportError:
        raise BadInput("the pictures need matplotlib: pip install 'lycosa[plots]'") from None
    settings: Any = {"svg.hashsalt": picture.name, "font.size": 10.5, "text.parse_math": False}
    with matplotlib.rc_context(settings):  # reproducible, byte for byte; a dollar sign in a label starts no formula
        figure = Figure(figsize=(6.2 * len(picture.panels), 4.4), layout="constrained")
        figure.suptitle(picture.title, fontsize=12.5)
        for place, panel in enumerate(picture.panels, 1):
            axes = figure.add_subplot(1, len(picture.panels), place)
            _curves(axes, panel)
            axes.set(xlabel=panel.xlabel, ylabel=panel.ylabel, title=panel.title)
            axes.set_ylim(bottom=panel.floor, top=_top(picture.panels))
            axes.grid(alpha=0.3)
            axes.legend(fontsize=9.5, framealpha=0.85)
        figure.savefig(out / f"{picture.name}.png", dpi=110, metadata={"Software": None})
        figure.savefig(out / f"{picture.name}.svg", metadata={"Date": None})


def _top(panels: Sequence[Panel]) -> float | None:
    """A common scale for panels that show the same measure; None: each has its own."""
    if len(panels) < 2 or len({(panel.ylabel, panel.floor) for panel in panels}) > 1:
        return None
    highest = [
        max(map(sum, zip(line.y, line.error or [0.0] * len(line.y), strict=True)))
        for panel in panels
        for line in panel.lines
    ]
    return 1.05 * max(highest)


def _curves(axes: "Axes", panel: Panel) -> None:
    for place, line in enumerate(panel.lines):
        colour = _COLOURS[place % len(_COLOURS)]
        every = max(1, len(line.x) // _MOST_POINTS)
        axes.plot(
            line.x,
            line.y,
            label=line.name,
            color=colour,
            linestyle=_STYLES[place % len(_STYLES)],
            marker=_MARKS[place % len(_MARKS)],
            markevery=(place * every // len(panel.lines), every),  # so that markers of different curves do not overlap
            markersize=5,
            linewidth=1.2 if line.faint else 1.9,
            alpha=0.6 if line.faint else 1.0,
        )
        if line.error:
            first = place * every // len(panel.lines)
            x, y, error = (values[first::every] for values in (line.x, line.y, line.error))
            axes.errorbar(x, y, yerr=error, fmt="none", ecolor=colour, capsize=2.5, alpha=0.7)
