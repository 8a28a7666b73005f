"""What is drawn of many rules, and that a picture comes out."""

import builtins
import sys
from math import dist
from pathlib import Path
from typing import Any

import pytest

from lycosa.output import rules_picture
from lycosa.output.rules_picture import choose, draw_rules, places, strongest
from lycosa.types import BadInput

RULES = {
    "DH": {"CH": 0.8, "PH": 0.1, "SP": 0.1},
    "CH": {"DH": 0.2, "CH": 0.4, "PH": 0.4},
    "PH": {"DH": 0.3, "CH": 0.4, "PH": 0.3},
    "SP": {"SP": 1.0},
}
SCORES = {"DH": 0.42, "CH": 0.42, "PH": 0.3}


def test_the_target_comes_first_then_what_is_worth_most() -> None:
    assert choose(RULES, SCORES, ["PH"]) == ["PH", "CH", "DH", "SP"]
    many = {f"c{number:02}": {"PH": 1.0} for number in range(40)}
    worth = {name: number / 40 for number, name in enumerate(many)}
    shown = choose(many, worth, ["PH"])
    assert shown[:3] == ["PH", "c39", "c38"]
    assert len(shown) == 14


def test_classes_that_are_only_linked_to_are_there_too() -> None:
    assert choose({"a": {"b": 1.0}}, {}, []) == ["a", "b"]
    assert choose({}, {}, []) == []


def test_rules_to_a_target_are_always_drawn_others_if_likely() -> None:
    row = {"PH": 0.01, "a": 0.3, "b": 0.2, "c": 0.15, "d": 0.1, "e": 0.09, "f": 0.04, "hidden": 0.11}
    assert strongest(row, ["PH", *"abcde"], ["PH"]) == [("PH", 0.01), ("a", 0.3), ("b", 0.2), ("c", 0.15), ("d", 0.1)]
    assert strongest(row, ["PH", *"abcdef"], ["PH"]) == [("PH", 0.01), ("a", 0.3), ("b", 0.2)], "fewer among many"
    assert strongest({"f": 0.04}, "f", []) == []


def test_classes_stand_on_a_circle() -> None:
    found = places(["top", "right", "bottom", "left"])
    assert found["top"] == pytest.approx((0, 1))
    assert found["left"] == pytest.approx((-1, 0), abs=1e-9)
    assert places([]) == {}


@pytest.mark.parametrize("size", [3, 6, 7, 10, 14])
def test_classes_and_labels_keep_their_distance(size: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Circles have a radius of 0.15; a label of a rule is about 0.12 wide and 0.06 high."""
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    spots = list(places([str(number) for number in range(size)]).values())
    assert min(dist(one, other) for one in spots for other in spots if one != other) > 0.6
    labels: list[tuple[float, float]] = []
    monkeypatch.setattr(rules_picture, "_write", lambda axes, x, y, chance: labels.append((x, y)))
    names = [f"class {number}" for number in range(size)]
    rules = {
        name: {other: (1 + (at * 7 + to * 3) % 5) / 5 for to, other in enumerate(names)}
        for at, name in enumerate(names)
    }
    draw_rules(rules, dict.fromkeys(names, 0.5), names[:1], tmp_path / "r.png")
    covered = [
        (a, b) for at, a in enumerate(labels) for b in labels[:at] if abs(a[0] - b[0]) < 0.1 and abs(a[1] - b[1]) < 0.05
    ]
    assert len(covered) <= 2


@pytest.mark.parametrize(("name", "start"), [("r.png", b"\x89PNG"), ("r.svg", b"<?xml"), ("r.PDF", b"%PDF")])
def test_a_picture_is_written(tmp_path: Path, name: str, start: bytes) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    draw_rules(RULES, SCORES, ["PH"], tmp_path / name)
    assert (tmp_path / name).read_bytes().startswith(start)


@pytest.mark.parametrize("name", ["Top.Science." + "x" * 200, "costs $5 and $6", "<b>&amp;", "蜘蛛", "a\nb", ""])
def test_any_name_can_be_drawn(tmp_path: Path, name: str) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    draw_rules({name: {name: 0.5, "other": 0.5}}, {name: 0.5}, [name], tmp_path / "r.png")
    assert (tmp_path / "r.png").exists()


def test_no_rules_make_an_empty_picture(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    draw_rules({}, {}, [], tmp_path / "r.png")
    assert (tmp_path / "r.png").exists()


def test_a_file_that_cannot_be_a_picture_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    with pytest.raises(BadInput, match=r"r\.gif: the file name must end in"):
        draw_rules(RULES, SCORES, ["PH"], tmp_path / "r.gif")
    with pytest.raises(BadInput, match="cannot be written"):
        draw_rules(RULES, SCORES, ["PH"], tmp_path / "missing" / "r.png")


def test_without_matplotlib_the_command_to_install_it_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    real = builtins.__import__

    def refuse(name: str, *more: Any, **named: Any) -> Any:
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *more, **named)

    for name in [name for name in sys.modules if name.startswith("matplotlib.figure")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(BadInput, match=r"pip install 'lycosa\[plots\]'"):
        draw_rules(RULES, SCORES, ["PH"], tmp_path / "r.png")
