"""What RDF Schema, OWL and SKOS say, as concepts."""

import pytest

from lycosa.ontology import rdf
from lycosa.ontology.concepts import HIERARCHY, INSTANCE_OF, Association, Name

PREFIXES = """
@prefix : <http://x.example/#> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix skosxl: <http://www.w3.org/2008/05/skos-xl#> .
@prefix iso-thes: <http://purl.org/iso25964/skos-thes#> .
@prefix dct: <http://purl.org/dc/terms/> .
"""
TWO = ':a rdfs:label "A" . :b rdfs:label "B" . '


@pytest.fixture
def read(tmp_path):
    def write(content):
        path = tmp_path / "some.ttl"
        path.write_text(PREFIXES + content, encoding="utf-8")
        return rdf.read(path, "turtle")

    return write


def above(one, other):
    return Association(HIERARCHY, (one, other), True)


def test_labels_of_every_kind_are_names_in_order(read):
    found = read(
        """:a skos:hiddenLabel "hidden" ; skos:altLabel "alt" ; rdfs:label "label" ;
        skos:prefLabel "Pref"@de, "pref"@en ; skos:notation "17" ; dct:title "title" ;
        skosxl:altLabel [ a skosxl:Label ; skosxl:literalForm "long"@en ] ."""
    )
    assert found["a"].names == (
        *(Name("pref", "en"), Name("Pref", "de"), Name("label"), Name("alt"), Name("long", "en"), Name("hidden")),
    )
    assert found["a"].identifiers == ("http://x.example/#a",)


def test_a_label_that_is_a_thing_of_its_own_is_no_concept(read):
    found = read(':a skosxl:prefLabel :l . :l a skosxl:Label ; skosxl:literalForm "A" ; rdfs:label "A" .')
    assert [one.id for one in found] == ["a"]


@pytest.mark.parametrize(
    "statement",
    [
        ":b rdfs:subClassOf :a .",
        ":b skos:broader :a .",
        ":a skos:narrower :b .",
        ":b skos:broader :a . :a skos:narrower :b . :b rdfs:subClassOf :a .",
        ":b skos:broadMatch :a .",
        ":b iso-thes:broaderPartitive :a .",
        ":b :kindOf :a . :kindOf rdfs:subPropertyOf :isA . :isA rdfs:subPropertyOf skos:broader .",
        ":b owl:equivalentClass [ owl:intersectionOf ( :a [ owl:onProperty :p ; owl:hasValue 3 ] ) ] .",
        ":b rdfs:subClassOf [ owl:intersectionOf ( :a ) ] .",
    ],
)
def test_the_hierarchy(read, statement):
    assert read(TWO + statement).associations == (above("a", "b"),)


@pytest.mark.parametrize(
    ("statement", "kind"),
    [
        (":a skos:related :b . :b skos:related :a .", "related"),
        (":a :producedBy :b .", "produced by"),
        (':a :p :b . :p a owl:ObjectProperty ; rdfs:label "made by"@en, "von"@de .', "made by"),
        (":a owl:equivalentClass :b .", "equivalent class"),
        (":a rdfs:subClassOf [ a owl:Restriction ; owl:onProperty :has ; owl:someValuesFrom :b ] .", "has"),
        (":a owl:equivalentClass [ owl:intersectionOf ( [ owl:onProperty :has ; owl:allValuesFrom :b ] ) ] .", "has"),
        (":has rdfs:domain :a ; rdfs:range :b .", "has"),
    ],
)
def test_other_associations(read, statement, kind):
    assert read(TWO + statement).associations == (Association(kind, ("a", "b")),)


def test_an_individual_is_beside_its_class(read):
    assert read(TWO + ":a a :b .").associations == (Association(INSTANCE_OF, ("b", "a")),)


@pytest.mark.parametrize(
    "statement",
    [
        ":a owl:disjointWith :b .",
        ":a rdfs:seeAlso :b .",
        ":a skos:broaderTransitive :b .",
        ":a :p :a .",
        ":a rdfs:subClassOf :a .",
        ":a :p :unknown .",
        ':a :p "B" .',
        ":a skos:inScheme :s . :b skos:topConceptOf :s . :s a skos:ConceptScheme .",
        ":a rdfs:subClassOf owl:Thing .",
    ],
)
def test_what_is_no_association(read, statement):
    assert read(TWO + statement).associations == ()


def test_ontologies_schemes_properties_and_the_notation_itself_are_no_concepts(read):
    found = read(
        TWO
        + """<http://x.example/> a owl:Ontology ; rdfs:label "o" . :s a skos:ConceptScheme ; skos:prefLabel "s" .
        :p a owl:DatatypeProperty ; rdfs:label "p" . :q a rdf:Property ; rdfs:label "q" . :r rdfs:subPropertyOf :q .
        :r rdfs:label "r" . :a :used :b . :used rdfs:label "used" . skos:Concept rdfs:label "Concept" .
        :c a skos:Collection ; skos:prefLabel "c" ; skos:member :a ."""
    )
    assert [one.id for one in found] == ["a", "b"]


def test_what_has_no_label_goes_by_the_end_of_its_iri_if_it_is_surely_a_concept(read):
    found = read(
        """:MargheritaPizza a owl:Class ; rdfs:subClassOf :NamedPizza . :C0012 a owl:Class . :BFO_0000001 a owl:Class .
        <http://x.example/who> dct:created "2001" . :my_thing a owl:NamedIndividual .
        <http://x.example/%C3%A9t%C3%A9> a owl:Class ."""
    )
    assert {one.id: one.label for one in found} == {
        "MargheritaPizza": "Margherita Pizza",
        "NamedPizza": "Named Pizza",
        "my_thing": "my thing",
        "été": "été",
    }


def test_an_id_is_the_whole_iri_where_the_end_of_it_is_not_unique(read):
    found = read(
        '<http://x.example/1/a> rdfs:label "one" . <http://x.example/2/a> rdfs:label "two" . :b rdfs:label "B" .'
    )
    assert [one.id for one in found] == ["b", "http://x.example/1/a", "http://x.example/2/a"]
    assert found.find("http://x.example/1/a") == ["http://x.example/1/a"]
    assert len(found.find("a")) == 2


def test_the_order_of_the_statements_means_nothing(read):
    statements = [TWO, ":b skos:broader :a .", ":a :p :b .", ':a skos:altLabel "x", "y" .']
    one, other = read("\n".join(statements)), read("\n".join(reversed(statements)))
    assert list(one) == list(other)
    assert one.associations == other.associations


def test_lists_and_expressions_that_run_in_circles_end(read):
    found = read(
        TWO
        + """:a rdfs:subClassOf _:x . _:x owl:intersectionOf _:l . _:l rdf:first _:x ; rdf:rest _:l .
        :p rdfs:subPropertyOf :q . :q rdfs:subPropertyOf :p, skos:broader . :a :p :b ."""
    )
    assert found.associations == (above("b", "a"),)


def test_a_circle_of_classes_is_kept_as_it_is(read):
    assert read(TWO + ":a rdfs:subClassOf :b . :b rdfs:subClassOf :a .").associations == (
        above("a", "b"),
        above("b", "a"),
    )


def test_expressions_that_share_their_parts_are_read_once(read):
    steps = [f"_:x{n} owl:intersectionOf ( _:x{n + 1} _:x{n + 1} _:x{n + 1} ) ." for n in range(60)]
    found = read(TWO + ":b rdfs:subClassOf _:x0 . _:x60 owl:intersectionOf ( :a ) ." + "\n".join(steps))
    assert found.associations == (above("a", "b"),)
