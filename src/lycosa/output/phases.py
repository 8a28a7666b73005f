"""Did the second crawl do better than the first? The relevance of the pages of several crawls, side by side."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from msgspec import Struct
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from lycosa.store.db import CrawlDb
from lycosa.store.visited import relevances

BINS = 20  # steps of 5 from 0 to 100
_BAR = 24  # characters of the longest bar
_EIGHTHS = "▏▎▍▌▋▊▉█"


class Phase(Struct, frozen=True):
    """One crawl: the share of its judged pages in each bin of relevance."""

    name: str
    pages: int
    mean_relevance: float
    shares: list[float]


def histograms(folders: Sequence[Path], bins: int = BINS) -> list[Phase]:
    """One phase per crawl folder, in the given order."""
    return [_phase(folder, bins) for folder in folders]


def _phase(folder: Path, bins: int) -> Phase:
    db = CrawlDb(folder / "crawl.db", readonly=True).open()
    try:
        found = np.array(relevances(db), float)
    finally:
        db.close()
    counts, _ = np.histogram(np.clip(found, 0.0, 1.0), bins, (0.0, 1.0))
    mean = float(found.mean()) if found.size else 0.0
    name = folder.name or folder.resolve().name
    return Phase(name, len(found), mean, (counts / max(1, len(found))).tolist())


def draw_phases(phases: Sequence[Phase], console: Console) -> None:
    """One row per bin of relevance, one column per crawl: the share of its pages in percent, and a bar."""
    table = Table("relevance", title="pages by relevance", title_justify="left", box=box.SIMPLE_HEAD)
    for phase in phases:
        table.add_column(Text(phase.name))
    top = max((share for phase in phases for share in phase.shares), default=0.0) or 1.0
    bins = max((len(phase.shares) for phase in phases), default=0)
    for step in reversed(range(bins)):
        cells = (Text(f"{100 * phase.shares[step]:5.1f} {bar(phase.shares[step] / top)}") for phase in phases)
        table.add_row(f"{100 * step / bins:3.0f} to {100 * (step + 1) / bins:3.0f}", *cells)
    table.add_section()
    table.add_row("mean", *(f"{100 * phase.mean_relevance:5.1f}" for phase in phases))
    table.add_row("pages", *(f"{phase.pages:,}" for phase in phases))
    console.print(table)


def bar(share: float) -> str:
    """A bar from 0 to 1, with a resolution of an eighth of a character."""
    eighths = round(max(0.0, min(1.0, share)) * _BAR * 8)
    return "█" * (eighths // 8) + (_EIGHTHS[eighths % 8 - 1] if eighths % 8 else "")
