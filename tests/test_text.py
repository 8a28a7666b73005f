"""From text to words and stems."""

import re
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lycosa import text
from lycosa.text import LONGEST_KEPT, LOWER_OR_SPACE, STEMS, STOP_WORDS, Memo, spaced, stem, stems, words


def plainly(given: str) -> list[str]:
    """What words() promises, in one line of regex."""
    return re.findall(r"[^\W_]+", given.lower())


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("", []),
        ("  \t\n ", []),
        ("Topic Maps, and ontologies!", ["topic", "maps", "and", "ontologies"]),
        ("don't re-use snake_case e-mail@x.org", "don t re use snake case e mail x org".split()),
        ("C3PO 42 3.14", ["c3po", "42", "3", "14"]),
        ("caf\u00e9\u00a0na\u00efve\u2014\u201cquoted\u201d", ["caf\u00e9", "na\u00efve", "quoted"]),
        ("\u00dcBER STRASSE \u039f\u03b4\u03cc\u03c2", ["\u00fcber", "strasse", "\u03bf\u03b4\u03cc\u03c2"]),
        ("\u4e2d\u6587\uff0c\u7f51\u9875\u3002", ["\u4e2d\u6587", "\u7f51\u9875"]),
        ("\u0130x", ["i", "x"]),  # the lower case of this letter is two characters, and the second is a sign
        ("x\u00b2 \u216b \u0663", ["x\u00b2", "\u217b", "\u0663"]),  # digits of all kinds
        ("a\x00b\x02c\x7fd", ["a", "b", "c", "d"]),
        ("lone \ud800 surrogate", ["lone", "surrogate"]),
        ("\u212aelvin", ["kelvin"]),  # lower case may lead back to ASCII
    ],
)
def test_words(given: str, expected: list[str]) -> None:
    assert words(given) == expected


@settings(max_examples=300)
@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_words_are_what_a_regex_finds(given: str) -> None:
    sigma = given.replace("\u03a3", "x")  # its lower case depends on what follows: see below
    assert words(sigma) == plainly(sigma)


@given(st.text())
def test_words_of_any_text_are_alphanumeric_and_stay_themselves(given: str) -> None:
    found = words(given)
    assert all(word.isalnum() for word in found)
    assert words(" ".join(found)) == found


@given(st.lists(st.text(), max_size=5))
def test_texts_apart_and_together_have_the_same_words(texts: list[str]) -> None:
    assert words(" ".join(texts)) == [word for text in texts for word in words(text)]


def test_a_final_sigma_stays_final_before_a_sign() -> None:
    assert words("\u03a3\u039f\u03a6\u039f\u03a3\u2019 x") == ["\u03c3\u03bf\u03c6\u03bf\u03c2", "x"]


def test_every_character_of_unicode_is_split_as_the_regex_splits() -> None:
    for start in range(0, sys.maxunicode, 0x800):
        block = [chr(code) for code in range(start, start + 0x800) if not 0xD800 <= code < 0xE000]
        given = " ".join(f"a{char}b" for char in block)
        assert words(given) == plainly(given)


def test_many_kinds_of_signs_take_no_longer_than_few(monkeypatch: pytest.MonkeyPatch) -> None:
    signs = "".join(chr(code) for code in range(0x2000, 0x2C00) if not chr(code).isalnum())
    given = f"a{signs}b " * 300
    assert len(signs) > text._MOST_SIGNS
    passes = []
    sub = text._foreign_sign
    monkeypatch.setattr(text, "_foreign_sign", lambda *found: passes.append(1) or sub(*found))
    assert words(given) == ["a", "b"] * 300
    assert len(passes) == 1, "one pass for all signs, not one for each"


def test_a_table_can_keep_what_would_be_a_space() -> None:
    table = LOWER_OR_SPACE[:2] + b"\x02" + LOWER_OR_SPACE[3:]
    assert spaced("A\x02B\x03C \u2014 d", table) == "a\x02b c   d"


def test_spaced_text_has_the_length_of_plain_text() -> None:
    assert spaced("One, two: THREE!") == "one  two  three "


def test_stems_say_what_a_text_is_about() -> None:
    assert stems("The crawlers were crawling in 2009 for crawled pages") == ["crawler", "crawl", "crawl", "page"]


@pytest.mark.parametrize("word", ["the", "don", "2009", "42", "x" * 41])
def test_words_that_say_nothing_have_no_stem(word: str) -> None:
    assert STEMS[word] == ""


@pytest.mark.parametrize(
    ("word", "stem"), [("ontologies", "ontologi"), ("caresses", "caress"), ("c3po", "c3po"), ("x" * 40, "x" * 40)]
)
def test_stems_are_porters(word: str, stem: str) -> None:
    assert STEMS[word] == stem


def test_stop_words_are_lower_case_words() -> None:
    assert all(words(word) == [word] for word in STOP_WORDS)
    assert {"the", "and", "of"} <= STOP_WORDS


def test_the_table_remembers_and_does_not_grow_without_end() -> None:
    table = Memo(stem, most=3)
    found = [table[word] for word in ("hunting", "spiders", "webs", "prey", "hunting")]
    assert found == ["hunt", "spider", "web", "prei", "hunt"]
    assert len(table) <= 3
    assert "hunting" in table


def test_words_of_megabytes_are_not_remembered() -> None:
    memo = Memo(len)
    assert memo["x" * 1_000_000] == 1_000_000
    assert not memo
    assert memo["x" * LONGEST_KEPT] == LONGEST_KEPT
    assert memo


def test_a_memory_asks_once_and_does_not_grow_without_end() -> None:
    asked: list[str] = []

    def length(word: str) -> int:
        asked.append(word)
        return len(word)

    memo = Memo(length, most=2)
    assert [memo[word] for word in ("a", "bb", "a", "ccc", "a")] == [1, 2, 1, 3, 1]
    assert asked == ["a", "bb", "ccc", "a"]
    assert len(memo) == 2
