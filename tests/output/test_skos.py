"""The thesaurus with its pages, as rdflib reads and queries it."""

from pathlib import Path

import pytest
import rdflib

from lycosa import ontology
from lycosa.ontology.concepts import Association, Concept, Concepts, Name
from lycosa.output import skos
from lycosa.output.subjects import Found

CARS = Path(__file__).parents[1] / "ontology" / "cars"
PREFIXES = """
    PREFIX skos: <http://www.w3.org/2004/02/skos/core#>
    PREFIX dct: <http://purl.org/dc/terms/>
    PREFIX lycosa: <urn:x-lycosa:>
"""
PAGES = [
    Found("http://a.example/", 'A "quoted" \\ title\nof two lines', 0.4, {"corolla": 0.3, "toyota": 0.1}),
    Found("http://b.example/", "", 0.2),
    Found("http://c.example/?a=<b>&c='d' {e}", "C ü 題", 1e-7, {"toyota": 1e-7}),
]


def query(path: Path, sparql: str) -> list[tuple[str, ...]]:
    graph = rdflib.Graph().parse(path, format="turtle")
    return [tuple(str(cell) for cell in row) for row in graph.query(PREFIXES + sparql)]


@pytest.mark.parametrize("name", ["cars.xtm", "cars-1.xtm", "cars.ttl"])
def test_which_pages_are_about_a_concept(tmp_path: Path, name: str) -> None:
    assert skos.export(ontology.read(CARS / name), iter(PAGES), tmp_path / "out.ttl") == 3
    found = query(
        tmp_path / "out.ttl",
        """SELECT ?page ?share WHERE {
            ?page dct:subject ?concept . ?concept skos:prefLabel "Toyota" .
            ?page lycosa:mention [ lycosa:concept ?concept ; lycosa:share ?share ]
        } ORDER BY DESC(?share)""",
    )
    assert [(page, float(share)) for page, share in found] == [
        ("http://a.example/", 0.1),
        ("http://c.example/?a=%3Cb%3E&c='d'%20%7Be%7D", 1e-7),
    ]


def test_a_wider_concept_finds_what_is_below_it(tmp_path: Path) -> None:
    skos.export(ontology.read(CARS / "cars.xtm"), PAGES[:1], tmp_path / "out.ttl")
    wider = 'SELECT DISTINCT ?page WHERE { ?page dct:subject/skos:broader* [ skos:prefLabel "Japanese car" ] }'
    assert query(tmp_path / "out.ttl", wider) == [("http://a.example/",)]


def test_titles_and_relevance_come_back(tmp_path: Path) -> None:
    skos.export(ontology.read(CARS / "cars.xtm"), PAGES, tmp_path / "out.ttl")
    found = dict(
        query(tmp_path / "out.ttl", "SELECT ?relevance ?title { ?p lycosa:relevance ?relevance; dct:title ?title }")
    )
    assert {float(relevance): title for relevance, title in found.items()} == {
        0.4: 'A "quoted" \\ title\nof two lines',
        1e-7: "C ü 題",
    }


@pytest.mark.parametrize("name", ["cars.xtm", "cars.ttl"])
def test_it_is_an_ontology_again_in_which_pages_are_no_concepts(tmp_path: Path, name: str) -> None:
    before = ontology.read(CARS / name)
    skos.export(before, PAGES, tmp_path / "out.ttl")
    after = ontology.read(tmp_path / "out.ttl")
    assert sorted(one.label for one in after) == sorted(one.label for one in before)
    hierarchy = {bond.members for bond in before.associations if bond.hierarchy}
    assert hierarchy <= {bond.members for bond in after.associations if bond.hierarchy}


def test_one_preferred_label_a_language(tmp_path: Path) -> None:
    names = (Name("tooth"), Name("dens"), Name("Zahn", "de"), Name("x", "no language"))
    concepts = Concepts([Concept("a b", names), Concept("c", (Name("gum"),))], [Association("near", ("a b", "c"))])
    skos.export(concepts, [], tmp_path / "out.ttl")
    graph = rdflib.Graph().parse(tmp_path / "out.ttl", format="turtle")
    concept = rdflib.URIRef("urn:x-lycosa:concept:a%20b")
    assert {*graph.objects(concept, rdflib.SKOS.prefLabel)} == {rdflib.Literal("tooth"), rdflib.Literal("Zahn", "de")}
    assert {*graph.objects(concept, rdflib.SKOS.altLabel)} == {rdflib.Literal("dens"), rdflib.Literal("x")}
    assert [*graph.objects(concept, rdflib.SKOS.related)] == [rdflib.URIRef("urn:x-lycosa:concept:c")]


def test_a_failure_half_way_leaves_what_was_there(tmp_path: Path) -> None:
    def failing():  # type: ignore[no-untyped-def]
        yield PAGES[0]
        raise RuntimeError

    out = tmp_path / "out.ttl"
    out.write_text("old")
    with pytest.raises(RuntimeError):
        skos.export(ontology.read(CARS / "cars.xtm"), failing(), out)
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("out.ttl", "old")]
