"""Pictures as PNG and SVG, the same for the same figures."""

from pathlib import Path

import pytest

from lycosa.lab.reproduce.pictures import Line, Panel, Picture, _top, draw

CURVES = Panel(
    "rates",
    "pages",
    "rate",
    [
        Line("one", [1, 2, 3], [0.1, 0.2, 0.3], [0.01, 0.02, 0.01]),
        Line("other", [1, 2, 3], [0.3, 0.2, 0.1], faint=True),
    ],
)
CHANGES = Panel("changes", "pages", "change", [Line("one", [0, 1], [-0.4, 0.6])], floor=None)


@pytest.mark.parametrize("panels", [[CURVES], [CHANGES], [CURVES, CHANGES]])
def test_a_picture_is_written_twice(panels: list[Panel], tmp_path: Path) -> None:
    draw(Picture("figure", "Figure", panels), tmp_path)
    assert (tmp_path / "figure.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (tmp_path / "figure.svg").read_text()


def test_the_same_picture_byte_for_byte(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        draw(Picture("figure", "Figure", [CURVES]), tmp_path / name)
    for ending in ("png", "svg"):
        one, other = ((tmp_path / name / f"figure.{ending}").read_bytes() for name in ("a", "b"))
        assert one == other


def test_panels_of_one_measure_have_one_scale() -> None:
    """Published beside ours: the higher curve must be the higher one to the eye too."""
    taller = Panel("more rates", "pages", "rate", [Line("one", [1], [0.9])])
    assert _top([CURVES, taller]) == pytest.approx(0.945)
    assert _top([CURVES, CURVES]) == pytest.approx(1.05 * 0.31)
    assert _top([CURVES, CHANGES]) is None
    assert _top([CURVES]) is None


def test_a_label_is_no_formula(tmp_path: Path) -> None:
    label = r"$\frac{1}$"
    panel = Panel(label, "pages", "rate", [Line(label, [1, 2], [0.1, 0.2])])
    draw(Picture("one", label, [panel]), tmp_path)
    assert (tmp_path / "one.svg").exists()
