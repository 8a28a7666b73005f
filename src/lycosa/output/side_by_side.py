"""Several crawls side by side: their totals, and the relevance of their pages."""

from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from lycosa.output.phases import Phase, draw_phases, histograms
from lycosa.output.report import Report
from lycosa.output.show import chart, duration

_CURVE = 24  # characters of a small curve

_ROWS: dict[str, Callable[[Report], str]] = {
    "strategy": lambda crawl: crawl.strategy,
    "pages": lambda crawl: f"{crawl.pages:,}",
    "relevant": lambda crawl: f"{crawl.relevant:,}",
    "harvest rate": lambda crawl: f"{crawl.harvest_rate:.3f}",
    "mean relevance": lambda crawl: f"{crawl.mean_relevance:.3f}",
    "duplicates": lambda crawl: f"{crawl.duplicates:,}",
    "errors": lambda crawl: f"{sum(crawl.errors.values()):,}",
    "known URLs": lambda crawl: f"{crawl.known:,}",
    "still queued": lambda crawl: f"{crawl.waiting:,}",
    "hosts": lambda crawl: f"{crawl.n_hosts:,}",
    "time": lambda crawl: duration(crawl.seconds),
    "pages/s": lambda crawl: f"{crawl.pages / crawl.seconds if crawl.seconds else 0.0:.1f}",
    "stopped": lambda crawl: crawl.ended or "not yet, or interrupted",
}


class Beside(Struct, frozen=True):
    """One of the crawls."""

    name: str
    totals: Report
    relevance: Phase


def names(folders: Sequence[Path]) -> list[str]:
    """The names of folders, or their full paths if two names are the same."""
    short = [folder.name or folder.resolve().name for folder in folders]
    long = [name if short.count(name) == 1 else str(folder) for name, folder in zip(short, folders, strict=True)]
    return [name if long.index(name) == at else f"{name} ({at + 1})" for at, name in enumerate(long)]


def side_by_side(folders: Sequence[Path], reports: Sequence[Report]) -> list[Beside]:
    found = zip(names(folders), reports, histograms(folders), strict=True)
    return [Beside(name, report, replace(phase, name=name)) for name, report, phase in found]


def draw_beside(crawls: Sequence[Beside], console: Console) -> None:
    """One column per crawl: first the totals, then the number of pages by relevance."""
    table = Table("", title="totals", title_justify="left", box=box.SIMPLE_HEAD)
    for crawl in crawls:
        table.add_column(Text(crawl.name))
    top = max((rate for crawl in crawls for rate in crawl.totals.curve), default=0.0)
    for name, value in _ROWS.items():
        table.add_row(Text(name, style="dim"), *(Text(value(crawl.totals)) for crawl in crawls))
        if name == "harvest rate":
            table.add_row(
                Text("  by pages fetched", style="dim"), *(_small(crawl.totals.curve, top) for crawl in crawls)
            )
    console.print(table)
    draw_phases([crawl.relevance for crawl in crawls], console)


def _small(curve: Sequence[float], top: float) -> str:
    """A curve as one line of text; `top` is a full block."""
    step = max(1, -(-len(curve) // _CURVE))
    return chart([*curve[::step], top], 1)[0][7:-1]
