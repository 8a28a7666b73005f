"""Plot the harvest of crawls against pages fetched: the share and the number of relevant pages."""

import io
import warnings
from collections.abc import Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lycosa.types import BadInput

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_COLOURS = ("#1b6ca8", "#d1495b", "#3b8b5d", "#8d5aa8", "#c77f1a", "#2aa5a0", "#7a4a2b", "#556b2f")
_POINTS = 1_000  # points per curve: more cannot be seen
_WINDOW = 100  # pages: the recent harvest

Curves = Mapping[str, Sequence[bool]]  # by name of the crawl: for each of its pages, is it relevant?


def draw_harvest(curves: Curves, out: Path) -> None:
    """Write a plot as PNG or SVG, by the suffix of the file."""
    kind = out.suffix.lower().removeprefix(".")
    if kind not in ("png", "svg"):
        raise BadInput(f"{out}: the file name must end in .png or .svg")
    picture = _render(curves, kind)
    try:
        out.write_bytes(picture)
    except OSError as error:
        raise BadInput(f"{out}: cannot be written: {error.strerror}") from None


def harvest_svg(curves: Curves) -> str:
    """The plot as an <svg> element to embed in a page."""
    text = _render(curves, "svg").decode()
    return text[text.index("<svg") :]


def _render(curves: Curves, kind: str) -> bytes:
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ImportError:
        raise BadInput("plots need matplotlib: pip install 'lycosa[plots]'") from None
    file = io.BytesIO()
    same: Any = {"svg.hashsalt": "lycosa", "svg.fonttype": "path"}  # reproducible, and rendered the same in any browser
    with matplotlib.rc_context(same), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # characters missing from the font are drawn as boxes
        figure = Figure(figsize=(10, 3.8), layout="constrained")
        _draw(curves, figure)
        metadata = {"Date": None, "Creator": None} if kind == "svg" else {"Software": None}
        figure.savefig(file, format=kind, dpi=130, metadata=metadata)
    return file.getvalue()


def _draw(curves: Curves, figure: "Figure") -> None:
    left, right = figure.subplots(1, 2)
    for at, (name, pages) in enumerate(curves.items()):
        colour, name = _COLOURS[at % len(_COLOURS)], name.replace("$", r"\$")  # a folder name is not a formula
        found = [0, *accumulate(map(int, pages))]
        marks = _marks(len(pages))
        rates = [found[mark] / mark for mark in marks]
        left.plot(marks, rates, color=colour, label="all pages so far" if len(curves) == 1 else name)
        right.plot([0, *marks], [0, *(found[mark] for mark in marks)], color=colour, label=name)
        if len(curves) == 1 and len(pages) > _WINDOW:
            late = [mark for mark in marks if mark >= _WINDOW]
            recent = [(found[mark] - found[mark - _WINDOW]) / _WINDOW for mark in late]
            left.plot(late, recent, color=colour, alpha=0.4, linewidth=1, label=f"the last {_WINDOW} pages")
    left.set(xlabel="pages fetched", ylabel="harvest rate", ylim=(0, 1), title="share of relevant pages")
    right.set(xlabel="pages fetched", ylabel="relevant pages", title="relevant pages found")
    right.set_ylim(bottom=0)
    for axes in (left, right):
        axes.set_xlim(left=0)
        axes.grid(alpha=0.3)
        axes.spines[["top", "right"]].set_visible(False)
    if curves:
        left.legend(frameon=False)


def _marks(pages: int) -> list[int]:
    """The page numbers at which a curve is sampled."""
    steps = min(pages, _POINTS)
    return [round((step + 1) * pages / steps) for step in range(steps)]
