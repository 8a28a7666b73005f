"""The map in memory: who is found by which words, and what lies below and beside what."""

import pytest

from lycosa.ontology.concepts import Association, Concept, Concepts, Name, clean, in_order, spaced, tail

PLANET = Concept("mercury-planet", (Name("Mercury"), Name("Merkur", "de")), ("http://sky.example/id#m1",))
METAL = Concept("mercury-metal", (Name("Mercury"), Name("Quicksilver", "en")))
SUN = Concept("sun", (Name("Sun"),))
STAR = Concept("star", (Name("Star"),))
MAP = Concepts(
    [PLANET, METAL, SUN, STAR],
    [Association("k", ("star", "sun"), True), Association("turns around", ("mercury-planet", "sun"))],
    "sky.xtm",
)


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ("sun", ["sun"]),
        ("SUN", ["sun"]),
        ("  Merkur ", ["mercury-planet"]),
        ("quicksilver", ["mercury-metal"]),
        ("http://sky.example/id#m1", ["mercury-planet"]),
        ("M1", ["mercury-planet"]),
        ("mercury", ["mercury-planet", "mercury-metal"]),
        ("venus", []),
    ],
)
def test_a_concept_is_found_by_id_iri_or_name_in_any_case_and_language(wanted, found):
    assert MAP.find(wanted) == found


def test_an_id_wins_over_another_concepts_name():
    concepts = Concepts([Concept("a", (Name("b"),)), Concept("b", (Name("c"),))], [])
    assert concepts.find("b") == ["b"]


def test_the_nearest_spellings_are_offered_once_each():
    assert MAP.nearest("Merkury") == ["Mercury"]
    assert MAP.nearest("sunn")[0] == "Sun"
    assert MAP.nearest("zzzzzzzz") == []


def test_what_lies_below_and_beside():
    assert MAP.narrower() == {"mercury-planet": [], "mercury-metal": [], "sun": [], "star": ["sun"]}
    assert MAP.related()["sun"] == [("turns around", "mercury-planet")]
    assert MAP.related()["mercury-planet"] == [("turns around", "sun")]
    assert MAP.related()["star"] == []


def test_an_association_of_three_relates_each_to_the_others():
    three = Concepts([Concept(id) for id in "abc"], [Association("meet", ("a", "b", "c"))])
    assert three.related()["b"] == [("meet", "a"), ("meet", "c")]


def test_it_is_a_collection_of_concepts():
    assert len(MAP) == 4
    assert next(iter(MAP)) is PLANET
    assert MAP["sun"] is SUN
    assert "sun" in MAP
    assert "moon" not in MAP


def test_a_concept_without_a_name_shows_its_id():
    assert Concept("x").label == "x"
    assert METAL.label == "Mercury"


def test_names_from_others_become_one_printable_line():
    assert clean(" two\n lines\x1b[31m\x00 and\u200ba colour ") == "two lines [31m and a colour"


@pytest.mark.parametrize(
    ("iri", "last"),
    [
        ("http://a.example/b#c", "c"),
        ("http://a.example/b/c", "c"),
        ("http://a.example/b/", "b"),
        ("urn:x:y", "y"),
        ("#c", "c"),
        ("", ""),
    ],
)
def test_the_last_part_of_an_iri(iri, last):
    assert tail(iri) == last


@pytest.mark.parametrize(
    ("machine", "people"),
    [
        ("producedBy", "produced By"),
        ("produced_by", "produced by"),
        ("HTTPServer", "HTTP Server"),
        ("MargheritaPizza", "Margherita Pizza"),
        ("a-b.c", "a b c"),
    ],
)
def test_names_made_for_machines_are_taken_apart(machine, people):
    assert spaced(machine) == people


def test_names_are_ordered_by_rank_and_language_and_come_once():
    names = [
        (2, Name("x")),
        (0, Name("de", "de")),
        (0, Name("en", "en-gb")),
        (0, Name("any")),
        (1, Name("any")),
        (0, Name("")),
    ]
    assert in_order(names) == (Name("any"), Name("en", "en-gb"), Name("de", "de"), Name("x"))


def test_of_a_crowd_only_the_first_are_shown():
    ids = [f"c{number}" for number in range(5_000)]
    crowd = Concepts([Concept(id) for id in ids], [Association("meet", tuple(ids))])
    assert len(crowd.related()["c4999"]) == 50
