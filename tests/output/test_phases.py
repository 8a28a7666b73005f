"""Relevance of several crawls, side by side."""

from pathlib import Path

import pytest
from rich.console import Console

from lycosa.output.phases import BINS, Phase, bar, draw_phases, histograms
from lycosa.store.db import CrawlDb
from lycosa.types import BadInput


def crawled(folder: Path, *relevances: float | None) -> Path:
    folder.mkdir()
    db = CrawlDb(folder / "crawl.db").open()
    for number, relevance in enumerate(relevances, 1):
        db.execute("INSERT INTO visits (n, url, relevance) VALUES (?, ?, ?)", (number, f"http://x/{number}", relevance))
    db.commit()
    db.close()
    return folder


def test_shares_of_the_judged_pages_in_ten_steps(tmp_path: Path) -> None:
    """Failures were not judged; 1.0 belongs to the last step."""
    (phase,) = histograms([crawled(tmp_path / "one", 0.05, None, 0.12, 0.33, 0.35, 0.39, 1.0)], bins=10)
    assert phase.name == "one"
    assert phase.pages == 6
    assert [round(share * 6) for share in phase.shares] == [1, 1, 0, 3, 0, 0, 0, 0, 0, 1]
    assert phase.mean_relevance == pytest.approx((0.05 + 0.12 + 0.33 + 0.35 + 0.39 + 1.0) / 6)


def test_crawls_come_in_the_order_given(tmp_path: Path) -> None:
    folders = [crawled(tmp_path / name, 0.5) for name in ("second", "first", "third")]
    assert [phase.name for phase in histograms(folders)] == ["second", "first", "third"]


def test_a_crawl_without_pages_has_no_shares(tmp_path: Path) -> None:
    assert histograms([crawled(tmp_path / "none")]) == [Phase("none", 0, 0.0, [0.0] * BINS)]


def test_a_folder_without_a_crawl_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="nothing crawled yet"):
        histograms([tmp_path])


def test_what_a_person_sees() -> None:
    console = Console(width=120, record=True, file=None, quiet=False)
    with console.capture() as capture:
        draw_phases([Phase("[first]", 10, 0.25, [0.6, 0.4]), Phase("next", 2_000, 0.75, [0.2, 0.8])], console)
    lines = [" ".join(line.split()) for line in capture.get().splitlines()]
    assert "relevance [first] next" in lines
    upper = next(line for line in lines if line.startswith("50 to 100"))
    lower = next(line for line in lines if line.startswith("0 to 50"))
    assert lines.index(upper) < lines.index(lower)
    assert upper == f"50 to 100 40.0 {'█' * 12} 80.0 {'█' * 24}"
    assert "mean 25.0 75.0" in lines
    assert "pages 10 2,000" in lines


def test_nothing_to_draw_is_no_mistake() -> None:
    console = Console(width=80)
    with console.capture() as capture:
        draw_phases([], console)
        draw_phases([Phase("none", 0, 0.0, [0.0] * BINS)], console)
    assert "none" in capture.get()


@pytest.mark.parametrize(
    ("share", "letters"), [(0, ""), (1, "█" * 24), (2, "█" * 24), (-1, ""), (1 / 48, "▌"), (0.5, "█" * 12)]
)
def test_bars(share: float, letters: str) -> None:
    assert bar(share) == letters
