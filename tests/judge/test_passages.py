"""A page in passages: cut where a reader would, scored as an anchor is, with the words that made the difference."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lycosa.judge.keywords import Keywords
from lycosa.judge.passages import MOST_PASSAGES, MOST_READ, MOST_WORDS, Passage, best, passages, worst
from lycosa.text import words
from lycosa.types import Page

DULL = "The minutes of the last meeting were read and approved by those who were there. "


def page(text: str, title: str = "") -> Page:
    return Page("http://a.example/", title, text, words(text))


@pytest.fixture
def keywords() -> Keywords:
    judge = Keywords(["wolf spider", "arachnid", "-comic"])
    judge.prepare(Path(), lambda path: [])
    return judge


class Signed:
    """A judge that knows a good word and a bad one."""

    def relevance_of(self, words: Sequence[str]) -> float:
        return 0.5 + 0.1 * min(words.count("good"), 4) - 0.1 * min(words.count("bad"), 4)


def test_it_is_cut_where_sentences_and_blocks_end(keywords: Keywords) -> None:
    found = passages(page(f"{DULL * 3}\nA wolf spider hunts.  An arachnid hides.\n\n{DULL * 3}", "About us"), keywords)
    assert found[0].text == "About us"
    assert all(len(one.text.split()) <= MOST_WORDS for one in found)
    assert any("A wolf spider hunts. An arachnid hides." in one.text for one in found)
    assert not any(one.text.endswith("wolf") for one in found)


def test_a_title_that_the_text_repeats_is_not_told_twice(keywords: Keywords) -> None:
    found = passages(page("Wolf spiders. They hunt.", "Wolf spiders"), keywords)
    assert [one.text for one in found] == ["Wolf spiders. They hunt."]


def test_the_words_of_a_phrase_and_a_word_against_it_are_named(keywords: Keywords) -> None:
    [one] = passages(page("In the comic a wolf spider bites."), keywords)
    assert one.words["wolf"] == one.words["spider"] > 0
    assert one.words["comic"] < 0
    assert one.score == keywords.relevance_of(words(one.text))


def test_best_and_worst() -> None:
    text = ". ".join(["good " * 40, "bad " * 40, "good " * 20 + "bad " * 20, "neither " * 40, "good " * 41])
    found = passages(page(text), Signed())
    assert [one.text.split()[0] for one in best(found)] == ["good", "good"]
    assert [one.text.split()[0] for one in worst(found)] == ["bad"]
    assert worst(found)[0].words == {"bad": pytest.approx(-0.4)}


def test_what_a_judge_says_of_no_words_at_all_is_neither_for_nor_against() -> None:
    assert [one.neutral for one in passages(page("neither"), Signed())] == [0.5]
    assert best(passages(page("neither"), Signed())) == []


def test_where_nothing_speaks_against_it_the_longest_that_says_nothing_does(keywords: Keywords) -> None:
    found = passages(page(f"{'A wolf spider hunts at night. ' * 8}\n{DULL * 3}", "Home"), keywords)
    assert worst(found)[0].text.startswith("The minutes")
    assert all("wolf" in one.words for one in best(found))
    dull = passages(page(DULL), keywords)
    assert best(dull) == []
    assert worst(dull) == dull


def test_a_judge_that_judges_whole_pages_only_has_no_passages() -> None:
    assert passages(page(DULL), object()) == []
    assert best([]) == worst([]) == []


def test_a_hostile_page_is_read_in_part(keywords: Keywords) -> None:
    found = passages(page(" ".join(f"word{number}" for number in range(120_000)) + ". wolf spider"), keywords)
    assert len(found) == MOST_PASSAGES
    many = passages(page("\n".join([DULL * 3] * 50 + ["A wolf spider. " * 10] * 50)), keywords)
    assert sum(bool(one.words) for one in many) <= 2 * MOST_READ


@given(st.text(max_size=600), st.text(max_size=20))
def test_no_word_is_lost(text: str, title: str) -> None:
    judge = Signed()
    found = passages(page(text, title), judge)
    kept = [word for one in found for word in words(one.text)]
    every = words(title) + words(text)
    assert set(kept) == set(every)
    assert all(isinstance(one, Passage) and words(one.text) for one in found)
