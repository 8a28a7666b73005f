"""The weighted tree, as lines and as a picture."""

import re
import sys
from pathlib import Path

import pytest

from lycosa import ontology
from lycosa.ontology.concepts import Association, Concept, Concepts, Name
from lycosa.ontology.weights import weigh
from lycosa.output.ontology_picture import Lane, draw, lanes, rows, tree_lines
from lycosa.types import BadInput

CARS = ontology.read(Path(__file__).parents[1] / "ontology" / "cars" / "cars.xtm")


def tree(*pairs, others=()):
    ids = dict.fromkeys(id for pair in (*pairs, *others) for id in pair)
    bonds = [Association("h", pair, True) for pair in pairs] + [Association("o", pair) for pair in others]
    return Concepts([Concept(id, (Name(id.upper()),)) for id in ids], bonds, "t.xtm")


def test_the_tree_of_the_cars():
    assert tree_lines(CARS, weigh(CARS, ["toyota"])) == [
        "Japanese car  0.8",
        "└── Toyota  1.0 - TMM Inc. (produces)",
        "    ├── Avensis  0.8",
        "    └── Corolla  0.8",
        "        └── Corolla Verso  0.1",
        "Kiichiro Toyoda  0.1 - TMM Inc. (founded)",
        "TMM Inc.  0.5 - Toyota (produces), Kiichiro Toyoda (founded)",
    ]


def test_bars_run_down_to_the_last_sibling():
    found = tree(("a", "b"), ("b", "c"), ("a", "d"))
    assert tree_lines(found, weigh(found, [])) == ["A  0.1", "├── B  0.1", "│   └── C  0.1", "└── D  0.1"]


def test_what_has_two_wider_concepts_is_shown_once_with_all_below_it():
    found = tree(("a", "c"), ("b", "c"), ("c", "d"), ("b", "e"), ("a", "e"))
    lines = tree_lines(found, weigh(found, []))
    assert lines == [
        "A  0.1",
        "├── C  0.1",
        "│   └── D  0.1",
        "└── E  0.1",
        "B  0.1",
        "├── C  0.1  (see above)",
        "└── E  0.1",
    ]


def test_circles_end_and_are_shown():
    found = tree(("a", "b"), ("b", "a"), ("c", "c2"))
    assert [row.id for row in rows(found)] == ["c", "c2", "a", "b", "a"]


def test_a_long_chain_is_cut_into_trees():
    found = tree(*((f"n{n}", f"n{n + 1}") for n in range(3_000)))
    assert {row.id for row in rows(found)} == {concept.id for concept in found}
    assert max(row.depth for row in rows(found)) == 50
    assert len(rows(found)) < 3_200


def test_many_associations_are_cut():
    found = tree(others=[("a", f"b{n}") for n in range(9)])
    assert tree_lines(found, weigh(found, []))[0].endswith("B4 (o), ...")


def test_associations_of_one_kind_share_a_lane_and_lanes_that_meet_do_not_share_a_column():
    found = tree(others=[("a", "b"), ("a", "c"), ("b", "c"), ("d", "e")])
    assert sorted(lanes(found, rows(found)), key=lambda lane: lane.rows) == [
        Lane("o", (0, 1, 2), 1),
        Lane("o", (1, 2), 0),
        Lane("o", (3, 4), 0),
    ]


@pytest.mark.parametrize(("ending", "magic"), [(".png", b"\x89PNG"), (".svg", b"<?xml"), (".pdf", b"%PDF")])
def test_a_picture_is_drawn(tmp_path, ending, magic):
    out = tmp_path / f"cars{ending}"
    draw(CARS, weigh(CARS, ["toyota"]), out)
    assert out.read_bytes().startswith(magic)
    assert out.stat().st_size > 2_000


def test_names_are_drawn_as_they_are_written(tmp_path):
    odd = Concepts([Concept("a", (Name("$x^2 & <b> 雨 " + "long " * 30),))], [], "$t$.xtm")
    draw(odd, {"a": 0.0}, tmp_path / "odd.svg")
    assert (tmp_path / "odd.svg").exists()


@pytest.mark.parametrize(
    ("focus", "title"), [(["b7"], "t.xtm: 2 of 601 concepts"), (["a"], "t.xtm: 60 of 601"), ([], "t.xtm: 60 of 601")]
)
def test_of_a_large_map_only_the_heaviest_are_drawn(tmp_path, focus, title):
    found = tree(*(("a", f"b{n}") for n in range(300)), others=[("a", f"c{n}") for n in range(300)])
    draw(found, weigh(found, focus), tmp_path / "large.svg")
    drawn = (tmp_path / "large.svg").read_text()
    assert title in drawn
    assert float(re.search(r'height="([0-9.]+)pt"', drawn)[1]) < 2_000


def test_a_picture_has_a_known_ending(tmp_path):
    with pytest.raises(BadInput, match=r"a\.txt: the file name must end in"):
        draw(CARS, weigh(CARS, []), tmp_path / "a.txt")


def test_a_folder_that_is_not_there_is_one_clear_line(tmp_path):
    with pytest.raises(BadInput, match=r"no/a\.png: cannot be written: No such file"):
        draw(CARS, weigh(CARS, []), tmp_path / "no" / "a.png")


def test_without_matplotlib_it_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(BadInput, match=r"pip install 'lycosa\[plots\]'"):
        draw(CARS, weigh(CARS, []), tmp_path / "a.png")
