"""What a trained judge sees of a page: the fast way and the plain way agree, each field can be switched off."""

from math import log, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lycosa.judge import features as module
from lycosa.judge.features import FIELDS, START_WORDS, Features, Fields, count, url_words
from lycosa.text import words
from lycosa.types import Page

PAGE = Page(
    url="http://www.example.org/~ann/Courses/cs101.html?term=fall",
    title="The Courses of Ann",
    words=words("courses and more courses for students"),
)


def features(terms: list[str], fields: Fields = FIELDS, plain: bool = False) -> Features:
    return Features(terms, np.ones(len(terms), np.float32), fields, plain)


def test_url_words_leave_host_digits_and_escapes_out() -> None:
    assert url_words(PAGE.url) == ["~", "ann", "courses", "cs", "html", "term", "fall"]
    assert url_words("http://example.org/caf%C3%A9/Menü") == ["caf", "menü"]


@pytest.mark.parametrize("url", ["", "file:///pages/a.html", "http://example.org", "http://example.org/", "a/b/c/d"])
def test_a_page_without_a_web_path_has_no_url_words(url: str) -> None:
    assert url_words(url) == []


def test_count_knows_where_a_word_stands() -> None:
    found = count(PAGE, {"title": 3, "start": 1, "url": 2})
    assert found["cours"] == 3  # twice in the text, once in the title
    assert found["title:cours"] == 3
    assert found["start:cours"] == 2
    assert found["url:courses"] == 2
    assert found["student"] == 1
    assert not {"", "and", "the", "title:", "start:", "title:the"} & found.keys()


def test_fields_can_be_left_out() -> None:
    assert not [term for term in count(PAGE, {}) if ":" in term]
    assert not [term for term in count(PAGE, {"title": 0}) if ":" in term]
    assert count(PAGE, {})["cours"] == 3


def test_the_start_ends_after_some_words() -> None:
    page = Page(words=[*["alpha"] * START_WORDS, "omega"])
    found = count(page, FIELDS)
    assert found["start:alpha"] == START_WORDS
    assert "start:omega" not in found


WORDS = st.lists(st.sampled_from(["course", "courses", "student", "the", "42", "größe", "zebra"]), max_size=60)


@given(WORDS, WORDS, WORDS, st.dictionaries(st.sampled_from(["title", "start", "url"]), st.integers(0, 4)))
def test_the_fast_way_agrees_with_the_plain_way(
    text: list[str], title: list[str], path: list[str], fields: Fields
) -> None:
    page = Page(url=f"http://h/{'/'.join(path)}", title=" ".join(title), words=text)
    terms = ["cours", "student", "größe", "title:cours", "start:student", "url:courses", "url:the"]
    judge = features(terms, fields, plain=True)
    ids, values = judge.read(page)
    found = count(page, fields)
    assert {terms[place]: value for place, value in zip(ids.tolist(), values.tolist(), strict=True)} == {
        term: number for term, number in found.items() if term in terms and number
    }


def test_weights_are_tf_idf_of_length_one() -> None:
    judge = Features(["cours", "student"], np.array([2.0, 3.0], np.float32), {})
    ids, values = judge.read(PAGE)
    raw = [(1 + log(3)) * 2, 3.0]
    length = sqrt(raw[0] ** 2 + raw[1] ** 2)
    assert ids.tolist() == [0, 1]
    assert values == pytest.approx([raw[0] / length, raw[1] / length])


def test_plain_weights_are_counts() -> None:
    assert features(["cours", "student"], {}, plain=True).read(PAGE)[1].tolist() == [3.0, 1.0]


def test_a_page_of_unknown_words_has_no_terms() -> None:
    for page in (Page(), PAGE):
        ids, values = features(["zebra"]).read(page)
        assert not ids.size
        assert not values.size


def test_the_table_of_words_stays_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MOST_WORDS", 10)
    judge = features(["cours"], {})
    for number in range(100):
        ids, _ = judge.read(Page(words=[f"word{number}", "courses"]))
        assert ids.tolist() == [0]
    assert len(judge._text) <= 10
