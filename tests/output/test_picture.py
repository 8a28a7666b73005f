"""The picture of a harvest."""

import re
from pathlib import Path

import pytest

from lycosa.output.picture import draw_harvest, harvest_svg
from lycosa.types import BadInput

ONE = {"stars": [True, False, True, True] * 60}


def test_png_and_svg_by_the_suffix(tmp_path: Path) -> None:
    draw_harvest(ONE, tmp_path / "x.png")
    draw_harvest(ONE | {"other $x$": [False] * 10, "empty": []}, tmp_path / "x.SVG")
    assert (tmp_path / "x.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (tmp_path / "x.SVG").read_text()


def test_other_suffixes_and_places_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"must end in \.png or \.svg"):
        draw_harvest(ONE, tmp_path / "x.pdf")
    with pytest.raises(BadInput, match="cannot be written"):
        draw_harvest(ONE, tmp_path / "no" / "x.png")
    assert list(tmp_path.iterdir()) == []


def test_the_svg_stands_inside_a_page_and_needs_nothing_else() -> None:
    svg = harvest_svg(ONE)
    assert svg.startswith("<svg")
    assert svg.rstrip().endswith("</svg>")
    assert "<image" not in svg
    assert {link[:1] for link in re.findall(r'href="([^"]*)"', svg)} <= {"#"}
    assert harvest_svg(ONE) == svg


def test_a_long_crawl_makes_no_long_file() -> None:
    assert len(harvest_svg({"long": [True, False] * 50_000})) < 300_000
