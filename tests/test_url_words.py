"""The three ways to read the words of a URL, and what they have in common."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lycosa.url_words import long_words_of, path_of, pieces_of, words_of


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("http://example.org/~Ann/CS-101.html?Term=Fall", "~ann/cs-101.html?term=fall"),
        ("http://example.org/", ""),
        ("http://example.org", ""),
        ("", ""),
    ],
)
def test_the_path_is_all_that_follows_the_host(url: str, path: str) -> None:
    assert path_of(url) == path


@pytest.mark.parametrize(
    ("path", "words", "long_words", "pieces"),
    [
        ("~ann/cs-101/a.html", ["~", "ann", "cs", "a", "html"], ["~", "ann", "cs", "html"], "~ ann cs 101 a html"),
        ("caf%c3%a9/men\u00fc", ["caf", "men\u00fc"], ["caf", "men\u00fc"], "caf c 3 a 9 men"),
        ("my_page", ["my", "page"], ["my", "page"], "my page"),
        ("2004/06/", [], [], "2004 06"),
    ],
)
def test_what_each_of_them_reads(path: str, words: list[str], long_words: list[str], pieces: str) -> None:
    assert words_of(path) == words
    assert long_words_of(path) == long_words
    assert pieces_of(path) == pieces.split()


@given(st.text(alphabet="abz~_-/.?=019"))
def test_on_plain_paths_they_agree_but_for_short_words_and_numbers(path: str) -> None:
    assert long_words_of(path) == [word for word in words_of(path) if len(word) > 1 or word == "~"]
    assert words_of(path) == [piece for piece in pieces_of(path) if not piece.isdigit()]


@given(st.text(alphabet="abz~_-/.?=019\u00e4\u00df"))
def test_the_fast_way_for_ascii_reads_the_same(path: str) -> None:
    assert long_words_of(path + "/\u00e4") == long_words_of(path)
