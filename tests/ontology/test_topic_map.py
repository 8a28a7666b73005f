"""What of a topic map is subject and what is notation."""

import pytest

from lycosa.ontology.concepts import HIERARCHY, INSTANCE_OF, Association, Name
from lycosa.ontology.topic_map import PAGE, Bond, Topic, TopicMap
from lycosa.types import BadInput


def topic(id, *names, keys=(), types=(), vocabulary=()):
    return Topic([f"#{id}", *keys], list(types), [(0, name, []) for name in names], list(vocabulary))


def concepts(topics, *bonds):
    return TopicMap(list(topics), list(bonds)).concepts("x.xtm")


def pair(kind, one, other, roles=("", "")):
    return Bond(kind, [(roles[0], [f"#{one}"]), (roles[1], [f"#{other}"])])


A, B, C = topic("a", "A"), topic("b", "B"), topic("c", "C")


def test_kinds_of_associations_roles_occurrences_and_scopes_are_no_concepts():
    kinds = [topic(id, id) for id in ("likes", "liker", "liked", "homepage")]
    found = concepts(
        [A, topic("b", "B", vocabulary=["#homepage"]), *kinds], pair("#likes", "a", "b", ("#liker", "#liked"))
    )
    assert [one.id for one in found] == ["a", "b"]
    assert found.associations == (Association("likes", ("a", "b")),)


def test_a_kind_that_takes_part_itself_is_a_concept():
    found = concepts([A, B, topic("likes", "likes")], pair("#likes", "a", "b"), pair("", "likes", "a"))
    assert "likes" in found
    assert Association("", ("likes", "a")) in found.associations


def test_a_topics_type_is_a_concept_beside_it_but_a_kinds_type_is_not():
    kind, type_of_kinds = topic("likes", "likes", types=["#kinds"]), topic("kinds", "association type")
    found = concepts([topic("a", "A", types=["#b"]), B, kind, type_of_kinds], pair("#likes", "a", "b"))
    assert [one.id for one in found] == ["a", "b"]
    assert Association(INSTANCE_OF, ("b", "a")) in found.associations


def test_published_subjects_of_the_notation_and_topics_without_a_name_are_no_concepts():
    core = topic("x", "superclass", keys=["http://www.topicmaps.org/xtm/1.0/core.xtm#superclass"])
    assert [one.id for one in concepts([A, core, topic("nameless"), Topic([], [], [(0, "no id", [])])])] == ["a"]


def test_pages_of_an_earlier_crawl_are_no_concepts():
    found = concepts([A, topic("p", "page", keys=[PAGE]), topic("p1", "Some page", types=["#p"])])
    assert [one.id for one in found] == ["a"]


def test_topics_that_share_an_identity_are_one():
    found = concepts(
        [
            topic("a", "A", keys=["http://x.example/1"]),
            topic("b", "B"),
            topic("a2", "Alpha", keys=["http://x.example/2"]),
            topic("a3", "Alef", keys=["http://x.example/2", "http://x.example/1"]),
        ],
        pair("", "a3", "b"),
    )
    assert [one.id for one in found] == ["a", "b"]
    assert found["a"].names == (Name("A"), Name("Alpha"), Name("Alef"))
    assert found["a"].identifiers == ("http://x.example/1", "http://x.example/2")
    assert found.associations == (Association("", ("a", "b")),)


def test_a_topic_and_a_page_of_the_same_address_are_two():
    found = concepts([topic("a", "A", keys=["http://x.example/"]), topic("b", "B", keys=["=http://x.example/"])])
    assert len(found) == 2
    assert found["b"].identifiers == ()


def test_a_topic_without_an_id_goes_by_its_identifier():
    found = concepts([Topic(["http://x.example/1"], [], [(0, "A", [])])])
    assert [one.id for one in found] == ["http://x.example/1"]


@pytest.mark.parametrize(
    "kind",
    [
        topic("k", "Superclass-Subclass"),
        topic("k", "superclass / subclass"),
        topic("supertype-subtype"),
        topic("k", keys=["http://psi.topicmaps.org/iso13250/model/supertype-subtype"]),
        topic("k", keys=["http://www.techquila.com/psi/thesaurus/#broader-narrower"]),
        topic("k", keys=["http://www.techquila.com/psi/hierarchy/#hierarchical-relation-type"]),
    ],
    ids=str,
)
def test_the_hierarchy_is_known_by_identifier_id_or_name(kind):
    found = concepts([A, B, kind], pair(kind.keys[0], "a", "b"))
    assert found.associations == (Association(HIERARCHY, ("a", "b"), True),)


def test_the_hierarchy_is_known_even_where_its_topic_is_in_another_file():
    found = concepts([A, B], pair("http://www.topicmaps.org/xtm/1.0/core.xtm#superclass-subclass", "a", "b"))
    assert found.associations == (Association(HIERARCHY, ("a", "b"), True),)


@pytest.mark.parametrize(
    ("roles", "members"),
    [
        (("#superclass", "#subclass"), ("a", "b")),
        (("#subclass", "#superclass"), ("b", "a")),
        (("#subtype", "#other"), ("b", "a")),
        (("#broader", ""), ("a", "b")),
        (("", ""), ("a", "b")),
    ],
)
def test_the_roles_say_which_is_above(roles, members):
    found = concepts([A, B], pair("#superclass-subclass", "a", "b", roles))
    assert found.associations == (Association(HIERARCHY, members, True),)


def test_one_above_several_gives_pairs():
    bond = Bond("#superclass-subclass", [("#superclass", ["#a"]), ("#subclass", ["#b", "#c"])])
    found = concepts([A, B, C], bond)
    assert [one.members for one in found.associations] == [("a", "b"), ("a", "c")]


def test_players_that_are_not_in_the_file_are_nothing():
    found = concepts([A, B], pair("#k", "a", "elsewhere"), pair("#k", "a", "a"), Bond("#k", []))
    assert found.associations == ()


def test_associations_come_once_and_may_have_many_members():
    three = Bond("#k", [("", ["#a"]), ("", ["#b", "#c"])])
    found = concepts([A, B, C], three, three)
    assert found.associations == (Association("k", ("a", "b", "c")),)


@pytest.mark.parametrize(
    ("scope", "language"),
    [
        ("http://www.topicmaps.org/xtm/1.0/language.xtm#de", "de"),
        ("http://www.topicmaps.org/xtm/1.0/language.xtm#en-GB", "en-gb"),
        ("http://psi.oasis-open.org/iso/639/#ger", "de"),
        ("#en", "en"),
        ("#lang-fr", "fr"),
        ("#german", "de"),
        ("#short", ""),
        ("http://x.example/biology", ""),
    ],
)
def test_a_scope_may_be_a_language(scope, language):
    german = topic("german", keys=["http://psi.oasis-open.org/iso/639/#deu"])
    found = concepts([Topic(["#a"], [], [(0, "A", [scope])]), german])
    assert found["a"].names == (Name("A", language),)


def test_a_short_file_cannot_mean_endless_pairs(monkeypatch):
    monkeypatch.setattr("lycosa.ontology.topic_map._MOST_ASSOCIATIONS", 99)
    many = [topic(f"t{n}", f"T{n}") for n in range(20)]
    half = [f"#t{n}" for n in range(10)], [f"#t{n}" for n in range(10, 20)]
    with pytest.raises(BadInput, match=r"x\.xtm: more than 99 associations"):
        concepts(many, Bond("#superclass-subclass", [("#superclass", half[0]), ("#subclass", half[1])]))
