"""Concepts from anywhere, written as a topic map, are the same when read again."""

from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lycosa import ontology
from lycosa.ontology import xtm
from lycosa.ontology.concepts import INSTANCE_OF, Association, Concept, Concepts, Name, clean
from lycosa.ontology.xtm_write import HEAD, TAIL, escape, lines

CARS = Path(__file__).parent / "cars"


def again(concepts, folder):
    path = folder / "again.xtm"
    path.write_text("".join([HEAD, *lines(concepts), TAIL]), encoding="utf-8")
    return xtm.read(path)


@pytest.mark.parametrize("name", ["cars-1.xtm", "cars.xtm", "cars.ttl"])
def test_a_map_comes_back_as_it_was(name, tmp_path):
    cars = ontology.read(CARS / name)
    found = again(cars, tmp_path)
    assert list(found) == list(cars)
    assert set(found.associations) == set(cars.associations)


def test_ids_that_xml_cannot_have_are_changed_and_stay_apart(tmp_path):
    ids = ["1", "_1", "http://x.example/a b", "http://x.example/a-b", "kind-likes", "é"]
    concepts = Concepts([Concept(id, (Name(id),)) for id in ids], [Association("likes", ("1", "é"))])
    found = again(concepts, tmp_path)
    assert [one.label for one in found] == ids
    assert found.associations == (Association("likes", ("_1", "é")),)


def test_types_languages_and_hierarchy_come_back(tmp_path):
    concepts = Concepts(
        [Concept(id, (Name(id), Name(f"{id} en", "en"), Name(f"{id} gb", "en-gb"))) for id in ("a", "b", "c")],
        [Association(INSTANCE_OF, ("a", "b")), Association("superclass-subclass", ("a", "c"), True)],
    )
    found = again(concepts, tmp_path)
    assert list(found) == list(concepts)
    assert set(found.associations) == set(concepts.associations)


@given(st.text())
def test_any_text_can_be_written(text):
    element = ElementTree.fromstring(f'<a b="{escape(text)}">{escape(text)}</a>')
    assert clean(element.text or "") == clean(element.get("b")) == clean(escape_gone(text))


def escape_gone(text):
    """What XML cannot say is left out: control characters, lone surrogates and two others."""
    return "".join(char for char in text if char in "\t\n\r" or (char >= " " and char not in "\ufffe\uffff"))


@given(st.lists(st.text(min_size=1), min_size=1, max_size=5))
def test_any_names_come_back(names):
    import tempfile

    concepts = Concepts([Concept("a", tuple(dict.fromkeys(Name(name) for name in map(clean, names) if name)))], [])
    with tempfile.TemporaryDirectory() as folder:
        found = again(concepts, Path(folder))
    expected = tuple(
        dict.fromkeys(name for one in concepts["a"].names if (name := Name(clean(escape_gone(one.text)))).text)
    )
    assert [one.names for one in found] == ([expected] if expected else [])
