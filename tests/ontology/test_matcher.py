"""Names found in words: against a slow reference, and on the cases that people ask about."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lycosa.ontology import matcher
from lycosa.ontology.matcher import Matcher, key, phrase
from lycosa.text import STEMS, words


def count(names, text):
    return Matcher(names).count(words(text))[0]


def slow_count(names, text):
    """Longest names first, leftmost first; whatever they cover is gone."""
    keys = [key(word) for word in text]
    phrases = [
        (found, owner) for owner, of_one in enumerate(names) for found in {phrase(name) for name in of_one} if found
    ]
    places = sorted(
        {
            (-len(found), at)
            for found, _ in phrases
            for at in range(len(keys))
            if tuple(keys[at : at + len(found)]) == found
        }
    )
    free = [True] * len(keys)
    counts: dict[int, int] = {}
    for minus, at in places:
        if all(free[at : at - minus]):
            free[at : at - minus] = [False] * -minus
            for found, owner in phrases:
                if found == tuple(keys[at : at - minus]):
                    counts[owner] = counts.get(owner, 0) + 1
    stems = [STEMS[word] for word in text if STEMS[word]]
    return counts, max(map(stems.count, stems), default=0)


WORD = st.sampled_from(["car", "cars", "red", "of", "the", "d", "911", "verso", "x"])
NAMES = st.lists(st.lists(st.lists(WORD, min_size=1, max_size=4).map(" ".join), max_size=3), max_size=8)


@given(NAMES, st.lists(WORD, max_size=30))
def test_it_counts_like_the_slow_reference(names, text):
    assert Matcher(names).count(text) == slow_count(names, text)


def test_any_name_counts_in_any_inflection():
    assert count([["topic map", "XTM"]], "Topic maps are written in XTM: one topic map, two TOPIC MAPPING tools") == {
        0: 4
    }


def test_the_longest_name_counts_alone():
    names = [["Corolla"], ["Corolla Verso"], ["Verso"]]
    assert count(names, "A Corolla, a Corolla Verso and a verso corolla") == {0: 2, 1: 1, 2: 1}


def test_the_longest_wins_even_if_it_begins_later():
    names = [["a1 b1"], ["b1 c1 d1"], ["a1"]]
    assert count(names, "a1 b1 c1 d1") == {1: 1, 2: 1}


def test_of_equally_long_names_the_first_wins():
    assert count([["x1 y1"], ["y1 z1"]], "x1 y1 z1") == {0: 1}


def test_one_name_of_two_things_counts_for_both():
    assert count([["Mercury"], ["mercury", "quicksilver"]], "mercury quicksilver") == {0: 1, 1: 2}


def test_the_same_name_twice_counts_once():
    assert count([["car", "Cars", "CAR"]], "car") == {0: 1}


def test_stop_words_and_numbers_inside_a_name_must_be_there():
    names = [["Vitamin D"], ["Porsche 911"], ["Bank of America"]]
    assert count(names, "vitamin c, porsche 914, bank america, the bank in america") == {}
    assert count(names, "vitamin D, the Porsche 911, Banks of America") == {0: 1, 1: 1, 2: 1}


def test_a_stop_word_alone_is_no_name_but_a_number_and_two_stop_words_are():
    found = Matcher([["it"], ["1984"], ["The Who"], ["IT", "information technology"], []])
    assert found.silent == [0, 4]
    assert found.count(words("in 1984 it was the who of it; information technologies"))[0] == {1: 1, 2: 1, 3: 1}


def test_a_stop_word_is_not_taken_for_the_stem_of_another_word():
    assert STEMS["others"] == "other"
    assert count([["others"]], "the other day") == {}
    assert count([["others"]], "the others") == {0: 1}


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("Mercury (planet)", ("mercuri",)),
        ("Java (Computer program language)", ("java",)),
        ("f(x)", ("f", "x")),
        ("(planet)", ("planet",)),
        ("X.509", ("x", "=509")),
        ("the", ()),
        ("?!", ()),
        ("", ()),
    ],
)
def test_what_of_a_name_is_looked_for(name, found):
    assert phrase(name) == found


def test_the_most_frequent_stem_is_told_without_stop_words_and_numbers():
    text = words("the the the the 7 7 7 7 cars car toyota of toyota toyota")
    assert Matcher([["toyota"]]).count(text) == ({0: 3}, 3)
    assert Matcher([["the 7"]]).count(text) == ({0: 1}, 3)
    assert Matcher([["toyota"]]).count([]) == ({}, 0)


def test_the_table_of_words_is_bounded_and_forgetting_changes_nothing(monkeypatch):
    monkeypatch.setattr(matcher, "_MOST_WORDS", 5)
    found = Matcher([["red car"], ["car"]])
    text = words("one two three four five six red cars and a car one one one")
    for _ in range(3):
        assert found.count(text) == ({0: 1, 1: 1}, 4)
    found.count([])
    assert len(found._numbers) == 0


def test_words_of_megabytes_are_not_remembered():
    found = Matcher([["red car"]])
    assert found.count(["red", "car", "x" * 1_000_000]) == ({0: 1}, 1)
    assert sorted(found._numbers) == ["car", "red"]
