"""Counting words and phrases whatever their inflection."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lycosa.judge import phrases as module
from lycosa.judge.phrases import Phrases, tokens
from lycosa.text import LONGEST_KEPT, STOP_WORDS, words


def count(listed: list[str], text: str) -> dict[str, int]:
    found = Phrases([tokens(phrase) for phrase in listed]).count(words(text))
    return {listed[place]: times for place, times in found.items()}


@pytest.mark.parametrize(
    ("phrase", "expected"),
    [
        ("Topic Maps", ("topic", "map")),
        ("state of the art", ("state", "art")),
        ("web 2.0", ("web", "2", "0")),
        ("1984", ("1984",)),
        ("Müller-Straße", ("müller", "straße")),
        ("of the", ()),
        ("?!", ()),
        ("", ()),
    ],
)
def test_tokens_are_stems_and_numbers_without_stop_words(phrase: str, expected: tuple[str, ...]) -> None:
    assert tokens(phrase) == expected


def test_a_word_counts_in_all_its_forms() -> None:
    assert count(["ontology"], "Ontologies, an ontology; ONTOLOGY. ontological?") == {"ontology": 3}


def test_what_does_not_occur_is_not_listed() -> None:
    assert count(["ontology", "map"], "a map") == {"map": 1}


@pytest.mark.parametrize(
    ("text", "times"),
    [
        ("a topic map", 1),
        ("topic maps, topics mapped", 2),
        ("topic of the map", 1),
        ("a topic not on any map", 0),
        ("map topic", 0),
        ("topic road map", 0),
        ("the last word is topic", 0),
        ("the last words are topic of the", 0),
        ("topic topic map map", 1),
        ("", 0),
    ],
)
def test_a_phrase_matches_consecutive_stems_across_stop_words(text: str, times: int) -> None:
    assert count(["topic map"], text).get("topic map", 0) == times


def test_stop_words_within_a_phrase_may_differ_from_the_text() -> None:
    assert count(["theory of mind"], "theories of the mind and theory in mind, but mind theory") == {
        "theory of mind": 2
    }


def test_numbers_match_as_they_are() -> None:
    listed = ["web 2.0", "covid 19", "1984"]
    assert count(listed, "Web 2.0 and web 3.0; covid-19, covid; 1984 not 19840") == {
        "web 2.0": 1,
        "covid 19": 1,
        "1984": 1,
    }


def test_a_phrase_within_a_phrase_counts_with_it() -> None:
    listed = ["map", "topic map", "topic map query language"]
    assert count(listed, "a topic map query language for the topic map") == {
        "map": 2,
        "topic map": 2,
        "topic map query language": 1,
    }


def test_a_phrase_may_repeat_a_word() -> None:
    assert count(["bora bora"], "bora bora bora") == {"bora bora": 2}


def test_the_order_of_the_result_is_that_of_the_text() -> None:
    """The same in every process, so that sums over it are the same to the last digit."""
    listed = ["quail", "heron", "avocet", "kite", "finch", "owl", "wren", "eagle"]
    text = listed[::-1]
    assert list(count(listed, " ".join(text))) == text


def test_nothing_to_look_for_finds_nothing() -> None:
    assert Phrases([]).count(["map"]) == {}


def test_the_memory_of_words_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MOST_WORDS", 10)
    matcher = Phrases([("map",)])
    assert matcher.count([f"w{number}x" for number in range(100)] + ["maps"] * 3) == {0: 3}
    assert len(matcher._codes) <= 10


def test_words_of_megabytes_are_counted_and_not_remembered() -> None:
    long = "x" * 1_000_000
    matcher = Phrases([(long,), ("map",)])
    assert matcher.count(["maps", long, f"{long}y", f"{long}z"]) == {0: 1, 1: 1}
    assert not [word for word in matcher._codes if len(word) > LONGEST_KEPT]


VOCABULARY = ["topic", "map", "road", "the", "of", "7"]


@given(
    st.lists(st.sampled_from(VOCABULARY), max_size=40), st.lists(st.sampled_from(VOCABULARY), min_size=1, max_size=4)
)
def test_counts_are_those_of_a_plain_search(text: list[str], phrase: list[str]) -> None:
    term = tokens(" ".join(phrase))
    if not term:
        return
    plain = sum(starts(text[at:], term) for at in range(len(text)))
    assert Phrases([term]).count(text).get(0, 0) == plain


def starts(text: list[str], term: tuple[str, ...]) -> bool:
    """Does the text start with the term, up to two stop words before each further token left out?"""
    if not term:
        return True
    if text[:1] != [term[0]]:
        return False
    gaps = [gap for gap in range(3) if STOP_WORDS.issuperset(text[1 : 1 + gap])] if term[1:] else [0]
    return any(starts(text[1 + gap :], term[1:]) for gap in gaps)


FORMS = """y ies ied iness es s ed ing er ly ational tional ization izer izing ation ations ator alism iveness fulness
    ousness ality ivity ibility ability icate ative alize ical ful ness ency ancy ably ibly ously ally ently e al ence
    ance able ible ement ment ent ion ism ate iti ous ive ize logy""".split()


@given(st.text("abceiloprstuy", min_size=2, max_size=7), st.sampled_from(FORMS))
def test_words_are_found_in_long_texts_whatever_their_form(start: str, form: str) -> None:
    word = start + form
    listed = tokens(word)
    if listed:
        text = [*["filler"] * 200, word, "x", *["filler"] * 20]
        assert Phrases([listed]).count(text) == {0: text.count(word)}


@pytest.mark.parametrize("odd", ["", "a b", "\ud800", "müller", "x" * 1_000])
def test_long_texts_may_contain_anything(odd: str) -> None:
    text = [*["spider", "wolf", odd, "müllers", "web"] * 40, odd]
    listed = [("spider",), ("wolf", "müller"), ("müller",), ("web",)]
    short = [Phrases(listed).count(text[at : at + 5]) for at in range(0, 200, 5)]
    assert Phrases(listed).count(text)[0] == sum(found[0] for found in short) == 40
    assert Phrases(listed).count(text)[3] == 40


@pytest.mark.parametrize("filler", [[], ["filler"] * 100])
@pytest.mark.parametrize(("phrase", "text"), [("e-commerce", "an e commerce"), ("i ching", "the i ching"), ("7", "7")])
def test_words_of_one_letter_are_found_in_short_and_long_texts(phrase: str, text: str, filler: list[str]) -> None:
    assert Phrases([tokens(phrase)]).count([*filler, *words(text)]) == {0: 1}


def test_of_many_texts_those_with_words_of_a_phrase_are_told_apart() -> None:
    phrases = Phrases([tokens("topic map"), tokens("ontology")])
    told = phrases.telling([["a", "maps"], [], ["of", "it"], ["ontology", "topics"], ["map"]])
    assert list(told) == [0, 3, 4]
    assert told[0] == told[4]
    assert len(told[3]) == 2
    assert phrases.telling([]) == {}
    assert not phrases.are_words
