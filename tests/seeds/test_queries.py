"""From a page to queries: list items, the titles in them, and the pieces of those."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lycosa.seeds.queries import FREQUENT, Note, distinct, from_items, from_notes, list_items, normal, pieces, title_of

ITEM = (
    "Hang Cui, Min-Yen Kan and Tat-Seng Chua (2006) Soft Pattern Matching Models for Definitional Question "
    "Answering, ACM Transactions on Information Systems (TOIS) (to appear)."
)
TITLE = "Soft Pattern Matching Models for Definitional Question Answering"


def test_there_are_forty_frequent_words() -> None:
    assert len(FREQUENT) == 40


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        (TITLE, ["Soft Pattern Matching Models", "Definitional Question Answering"]),
        (
            "Customization in a Unified Framework for Summarizing Medical Literature",
            ["Customization", "Unified Framework", "Summarizing Medical Literature"],
        ),
        (
            "Supervised Categorization of Javascript using Program Analysis Features",
            ["Supervised Categorization", "Javascript using Program Analysis Features"],
        ),
        (
            "Using multi-document summarisation to assist in semi-structured literature retrieval",
            ["Using multi-document summarisation", "assist", "semi-structured literature retrieval"],
        ),
        ("THE OF AND", []),
        ("", []),
        ("Crawling: the Web, and (more) Spiders", ["Crawling", "Web", "Spiders"]),
    ],
)
def test_titles_are_cut_at_frequent_words_and_signs(title: str, expected: list[str]) -> None:
    assert pieces(title) == expected


def test_short_pieces_can_be_left_out() -> None:
    title = "Customization in a Unified Framework for Summarizing Medical Literature"
    assert pieces(title, min_words=2) == ["Unified Framework", "Summarizing Medical Literature"]
    assert pieces(title, min_words=3) == ["Summarizing Medical Literature"]


SOME_WORDS = st.sampled_from(
    [*sorted(FREQUENT), "The", "Web", "crawler", "soft", "X-ray", "(2006)", ":", "\u00fc", "a,b"]
)
TITLES = st.lists(SOME_WORDS, max_size=20).map(" ".join)


@given(st.text(max_size=300) | TITLES, st.integers(1, 4))
def test_no_piece_holds_a_frequent_word(text: str, least: int) -> None:
    for piece in pieces(text, least):
        found = piece.split()
        assert len(found) >= least
        assert not FREQUENT & {word.lower() for word in found}
        assert all(word in text for word in found)


@pytest.mark.parametrize(
    ("item", "title"),
    [
        (ITEM, TITLE),
        (
            "Min-Yen Kan (2005) Using multi-document summarisation to assist in semi-structured literature retrieval. "
            "A case study in consumer healthcare. In Theng (Eds.) Design of Digital Libraries",
            "Using multi-document summarisation to assist in semi-structured literature retrieval",
        ),
        (
            'A. Author, "Quoted titles (1999) come first, always", Some Journal, 1999.',
            "Quoted titles (1999) come first, always",
        ),
        ("A. Author, “Curly quotes are quotes as well”, 2001", "Curly quotes are quotes as well"),
        (
            "Author, A. 1998b. A sentence after the year and a period. Journal of Things.",
            "A sentence after the year and a period",
        ),
        ("B. Writer (2003a): Colons may follow the year. Publisher.", "Colons may follow the year"),
        (
            "J. Doe, M. Roe. Efficient Crawling Through URL Ordering. In Proceedings of the Seventh International "
            "World Wide Web Conference, Brisbane.",
            "Efficient Crawling Through URL Ordering",
        ),
        ("Home", ""),
        ("Contact us", ""),
        ("", ""),
        ("a list item in small letters, about nothing in particular, really.", ""),
    ],
)
def test_the_title_of_a_citation(item: str, title: str) -> None:
    assert title_of(item) == title


CITATIONS = st.lists(
    st.sampled_from(
        ["A. Author", "and", "(2006)", TITLE, f'"{TITLE}"', ",", ".", "In", "Proc. of WWW", "  ", "pp. 3-14", "\u201c"]
    )
).map(" ".join)


@given(st.text(max_size=1_000) | CITATIONS)
def test_any_item_has_a_title_or_none(item: str) -> None:
    title = title_of(item)
    assert title in item
    assert title == title.strip()


def test_list_items_of_a_page() -> None:
    body = f"""<html><body><p>no item</p>
      <ul><li>Home</li><li> <a href=x>News</a> &amp; <b>events</b> </li></ul>
      <ol><li>{ITEM}</li><li></li></ol><dl><dt>no item either</dl></body></html>""".encode()
    assert list_items(body) == ["Home", "News & events", ITEM]


def test_an_item_does_not_say_what_the_lists_in_it_say() -> None:
    body = b"<ul><li>outer <ul><li>inner one<li>inner two</ul> end</li><li>last</ul>"
    assert list_items(body) == ["outer end", "inner one", "inner two", "last"]


def test_signs_stand_at_their_words_again() -> None:
    assert list_items(b"<ul><li><i>A. Author</i> (2001) <b>A Title of Some Length</b>, <i>Journal</i>.</ul>") == [
        "A. Author (2001) A Title of Some Length, Journal."
    ]


def test_pages_that_are_not_in_utf8() -> None:
    assert list_items("<ul><li>Café Müller</ul>".encode("cp1252")) == ["Café Müller"]
    assert list_items("<ul><li>Café Müller</ul>".encode()) == ["Café Müller"]


@pytest.mark.parametrize(
    "body",
    [b"", b"\xff\x00\xff", b"<li>" * 10_000, b"<ul><li>" * 3_000, b"<ul><li>" + b"x" * 3_000_000, b"<ul><li></ul>" * 9],
)
def test_hostile_pages_end_soon(body: bytes) -> None:
    items = list_items(body)
    assert len(items) <= 1_000
    assert all(len(item) <= 1_000 for item in items)


@given(st.binary(max_size=500))
def test_any_bytes_have_items_or_none(body: bytes) -> None:
    assert isinstance(list_items(b"<ul><li>" + body), list)


def test_queries_from_items_keep_their_order() -> None:
    items = ["Home", ITEM, "B. Writer (2003) Focused Crawling of the Web, Journal."]
    assert list(from_items(items)) == [
        "Soft Pattern Matching Models",
        "Definitional Question Answering",
        "Focused Crawling",
        "Web",
    ]
    assert "Web" not in list(from_items(items, min_words=2))


def test_queries_from_relevant_pages() -> None:
    note = Note("Spider silk at home | Museum", {"spider": 2.0, "web": 1.5, "silk": 1.0, "leg": 0.5, "car": -1.0})
    assert list(from_notes([note])) == ["spider web silk", "Spider silk"]


def test_a_title_is_asked_with_the_topic() -> None:
    assert list(from_notes([Note("Opening hours - Museum", {"spider": 1.0})])) == ["spider", "Opening hours spider"]
    assert list(from_notes([Note("Opening hours - Museum")])) == ["Opening hours"]
    assert list(from_notes([Note("", {"car": -1.0})])) == []


def test_stems_are_spelled_as_the_page_spells_them() -> None:
    words = ["the", "ontologies", "ontology", "crawling"]
    why = {"ontologi": 2.0, "crawl": 1.0, "unseen": 0.5}
    assert list(from_notes([Note("", why, words)])) == ["ontologies crawling unseen"]
    assert list(from_notes([Note("", {"crawling": 2.0, "topic map": 1.0}, words)])) == ["crawling topic map"]


def test_each_query_once() -> None:
    assert list(distinct(["Soft  Models", "soft models", "", "  ", "Others"])) == ["Soft  Models", "Others"]


@given(st.text())
def test_a_normal_form_is_normal(text: str) -> None:
    assert " ".join(normal(text).split()) == normal(text)
