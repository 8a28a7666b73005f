"""Where do the anchors stand among a page's words?"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lycosa.parse.anchor_spans import END, START, unmarked, without_marks
from lycosa.text import words


def marked(text: str) -> str:
    """Brackets stand for the marks, with the spaces that a page's text has around them."""
    return text.replace("[", f" {START} ").replace("]", f" {END} ")


@pytest.mark.parametrize(
    ("text", "anchors"),
    [
        ("no anchors", []),
        ("[one]", [("one", 0, 1)]),
        ("a [B c] d [e]", [("B c", 1, 3), ("e", 4, 5)]),
        ("[] a []", [("", 0, 0), ("", 1, 1)]),
        ("a [b,\n  c-d!] e", [("b, c-d!", 1, 4)]),
        ("a [b [c] d] e", [("b", 1, 2), ("c", 2, 3)]),
        ("[a [b [c]]] d [e]", [("a", 0, 1), ("b", 1, 2), ("c", 2, 3), ("e", 4, 5)]),
        ("caf\u00e9 [\u201cna\u00efve\u201d \u2014 x] y", [("\u201cna\u00efve\u201d \u2014 x", 1, 3)]),
    ],
)
def test_anchors(text: str, anchors: list[tuple[str, int, int]]) -> None:
    found = unmarked(marked(text), len(anchors))
    assert found is not None
    plain, all_words, spans = found
    assert spans == anchors
    assert all_words == words(text) == words(plain)
    assert START not in plain
    assert END not in plain


def test_too_many_or_too_few_marks_are_noticed() -> None:
    assert unmarked(marked("[a]"), 0) is None
    assert unmarked(marked("[a]"), 2) is None
    assert unmarked(marked("[a]]"), 1) is None
    assert unmarked(marked("[[a]"), 1) is None


def test_an_empty_page() -> None:
    assert unmarked("", 0) == ("", [], [])


@given(st.lists(st.tuples(st.text(), st.text()), max_size=6))
def test_anchors_of_any_text_are_found_again(pieces: list[tuple[str, str]]) -> None:
    plain = [(before.translate({2: " ", 3: " "}), anchor.translate({2: " ", 3: " "})) for before, anchor in pieces]
    text = "".join(f"{before} {START} {anchor} {END} " for before, anchor in plain)
    found = unmarked(text, len(plain))
    assert found is not None
    _, all_words, spans = found
    assert all_words == [word for pair in plain for part in pair for word in words(part)]
    assert [anchor for anchor, _, _ in spans] == [" ".join(anchor.split()) for _, anchor in plain]
    for anchor, start, end in spans:
        assert all_words[start:end] == words(anchor)


@pytest.mark.parametrize("written", ["\x02", "\x03", "&#2;", "&#3", "&#0000002;", "&#x2;", "&#X03;", "&#x2g", "&#2a"])
def test_marks_on_a_page_are_taken_away(written: str) -> None:
    assert b"\x02" not in without_marks(written.encode())
    assert not without_marks(f"a{written}b".encode()).startswith(b"a&")


@pytest.mark.parametrize("kept", ["&#20;", "&#x2f;", "&#32;", "&#23", "&#x20", "&amp;#2;"])
def test_other_references_stay(kept: str) -> None:
    assert without_marks(kept.encode()) == kept.encode()
