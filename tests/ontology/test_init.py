"""One subject, five files: whatever the syntax, the concepts are the same."""

from pathlib import Path

import pytest

from lycosa import ontology
from lycosa.ontology.concepts import HIERARCHY, Association, Name
from lycosa.ontology.weights import weigh
from lycosa.types import BadInput

CARS = Path(__file__).parent / "cars"
BIRDS = Path(__file__).parents[2] / "examples" / "ontology"
SYNTAXES = ["cars-1.xtm", "cars.xtm", "cars.ttl", "cars.rdf", "cars.jsonld"]


def in_other_syntax(syntax, ending, tmp_path):
    import rdflib

    graph = rdflib.Graph().parse(CARS / "cars.ttl")
    path = tmp_path / f"cars{ending}"
    path.write_text(graph.serialize(format=syntax), encoding="utf-8")
    return path


def bonds(concepts):
    return {(bond.kind, bond.members, bond.hierarchy) for bond in concepts.associations}


@pytest.fixture(params=[*SYNTAXES, ".nt", ".n3", ".owl"])
def cars(request, tmp_path):
    syntax = {".nt": "nt", ".n3": "n3", ".owl": "pretty-xml"}.get(request.param)
    return ontology.read(in_other_syntax(syntax, request.param, tmp_path) if syntax else CARS / request.param)


def test_the_concepts_and_all_their_names_are_the_same(cars):
    assert {concept.id: concept.names for concept in cars} == {
        "japanese-car": (Name("Japanese car"), Name("Japanisches Auto", "de")),
        "kiichiro-toyoda": (Name("Kiichiro Toyoda"),),
        "tmm": (Name("TMM Inc."), Name("Toyota Motor Manufacturing")),
        "toyota": (Name("Toyota"),),
        "avensis": (Name("Avensis"),),
        "corolla": (Name("Corolla"),),
        "corolla-verso": (Name("Corolla Verso"),),
    }


def test_the_associations_are_the_same(cars):
    assert bonds(cars) == {
        (HIERARCHY, ("japanese-car", "toyota"), True),
        (HIERARCHY, ("toyota", "avensis"), True),
        (HIERARCHY, ("toyota", "corolla"), True),
        (HIERARCHY, ("corolla", "corolla-verso"), True),
        ("produces", ("tmm", "toyota"), False),
        ("founded", ("kiichiro-toyoda", "tmm"), False),
    }
    assert len(cars.associations) == 6
    assert all(isinstance(bond, Association) for bond in cars.associations)


def test_the_weights_are_the_same(cars):
    one = weigh(cars, cars.find("TOYOTA"))
    assert [one[id] for id in ("toyota", "japanese-car", "tmm", "kiichiro-toyoda")] == [1.0, 0.8, 0.5, 0.1]
    assert sum(one.values()) == pytest.approx(4.1)
    two = weigh(cars, [*cars.find("TMM Inc."), *cars.find("corolla")])
    assert sum(two.values()) == pytest.approx(4.3)


def test_the_example_says_the_same_in_both_its_files():
    as_map, as_thesaurus = ontology.read(BIRDS / "birds.xtm"), ontology.read(BIRDS / "birds.ttl")
    assert {one.id: set(one.names) for one in as_map} == {one.id: set(one.names) for one in as_thesaurus}
    assert {one.id: one.label for one in as_map} == {one.id: one.label for one in as_thesaurus}
    assert bonds(as_map) == bonds(as_thesaurus)
    assert {one.identifiers for one in as_map} == {one.identifiers for one in as_thesaurus}


def test_an_xml_file_says_itself_what_it_is(tmp_path):
    path = tmp_path / "cars.xml"
    for name in ("cars-1.xtm", "cars.xtm", "cars.rdf"):
        path.write_bytes((CARS / name).read_bytes())
        assert len(ontology.read(path)) == 7


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("a.doc", "", "a.doc: unknown suffix; use one of .xtm .ttl"),
        ("a.xtm", "<html/>", "a.xtm: neither a topic map nor RDF/XML, but a <html> file"),
        ("a.owl", '<Ontology xmlns="http://www.w3.org/2002/07/owl#"/>', "OWL/XML: save it as Turtle or RDF/XML"),
        ("a.xtm", '<topicMap xmlns="http://www.topicmaps.org/xtm/"/>', "a.xtm: contains no topic with a name"),
        ("a.ttl", "", "a.ttl: contains no topic with a name"),
    ],
)
def test_what_cannot_be_used_is_one_clear_line(tmp_path, name, content, problem):
    path = tmp_path / name
    path.write_text(content)
    with pytest.raises(BadInput, match=problem):
        ontology.read(path)


def test_a_missing_file(tmp_path):
    with pytest.raises(BadInput, match=r"none\.xtm: no such file"):
        ontology.read(tmp_path / "none.xtm")
