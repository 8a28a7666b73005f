"""Huge pages lose the tags that say nothing, and nothing else."""

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lycosa.parse import HtmlParser, strip_tags
from lycosa.types import Link, Page, Reply

URL = "http://e.org/"


def parse(body: bytes) -> Page:
    return HtmlParser().parse(Reply(Link(URL), url=URL, content_type="text/html", body=body))


@pytest.fixture
def eager(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every page is huge."""
    monkeypatch.setattr(strip_tags, "_MOST_TAGS", -1)
    monkeypatch.setattr(strip_tags, "_WIDE_BYTES", -1)


def test_an_ordinary_page_is_left_alone() -> None:
    body = b"<div><p>text <a href=/x>x</a></p></div>" * 200
    assert strip_tags.strip_tags(body) is body


@pytest.mark.usefixtures("eager")
@pytest.mark.parametrize(
    ("html", "left"),
    [
        ("<div>a</div>", " a "),
        ("a<br>b", "a b"),
        ("<DIV CLASS='x > y'>a", " a"),
        ("<p title=it's>a<p title='x'>b", " a b"),
        ('<p a= "x>y" b>c', " c"),
        ('<p a==">b', " b"),
        ("<a href='/x'>x</a>", "<a href='/x'>x</a>"),
        ("<A HREF=/x>x</A >", "<A HREF=/x>x</A >"),
        ("<area href=/x><abbr>y</abbr>", "<area href=/x> y "),
        ("<html><head><title>t</title><body>", "<html><head><title>t</title><body>"),
        ("<header>a</header><b>c</b><base href=/x>", " a  c <base href=/x>"),
        ("a<!-- <a href=/x> -->b<!-->c<!--->d<!-- --!>e", "a b c d e"),
        ("a<!-- never closed <p> b", "a "),
        ("a<script>if (a < b) '<a href=/x>'</script>b", "a  b"),
        ("a<STYLE media=x>p > a {}</style >b", "a  b"),
        ("a<script>never closed <p> b", "a "),
        ("a<noscript><a href=/x>x</a></noscript>b", "a  b"),
        ("a<select><option>x</select>b<textarea><a></textarea>c", "a  b  c"),
        ("1 < 2 <3 > 4 <>", "1 < 2 <3 > 4 <>"),
        ("a<div class='never closed", "a "),
        ("<iframe src=/x></iframe><img alt=y>", "<iframe src=/x></iframe><img alt=y>"),
        ("<selection>a</selection>", " a "),
    ],
)
def test_what_is_left(html: str, left: str) -> None:
    assert strip_tags.strip_tags(html.encode()).decode() == left


WELL_FORMED = st.recursive(
    st.sampled_from(
        ["word ", "caf\u00e9 ", "<br>", "<img alt='x > y'>", "<!-- c -->", "<script>a < b</script>", "&amp;"]
    )
    | st.integers(0, 9).map(lambda n: f"<a href='/{n}' title=\"it's\">link {n}</a> "),
    lambda inner: st.tuples(st.sampled_from(["div", "p", "b", "ul", "span", "section"]), st.lists(inner)).map(
        lambda pair: f"<{pair[0]} class='a'>{''.join(pair[1])}</{pair[0]}>"
    ),
    max_leaves=20,
)


@settings(max_examples=150)
@given(WELL_FORMED)
def test_a_thin_page_reads_as_before(html: str) -> None:
    body = f"<html lang=en><title>t</title><body>{html}</body>".encode()
    before = parse(body)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(strip_tags, "_MOST_TAGS", -1)
        patch.setattr(strip_tags, "_WIDE_BYTES", -1)
        after = parse(body)
    assert (before.words, before.links, before.title) == (after.words, after.links, after.title)


def test_a_long_tag_loses_its_attributes() -> None:
    many = " ".join(f"a{number}" for number in range(3000))
    filler = "x " * 100_000
    body = f"<p {many}>a</p><a href=/x>b</a><script {many}>c<d</script><!-- {many} --><img {many} alt=x>{filler}"
    left = strip_tags.strip_tags(body.encode()).decode()
    assert left.startswith("<p>a</p><a href=/x>b</a><script>c<d</script><!-- a0 a1")
    assert left.endswith(f"--><img>{filler}")


def test_a_long_script_stays_a_script() -> None:
    code = "for(i=0;i<n;i++){x=i}" * 20_000  # what looks like a tag here goes on to the end of the script
    page = parse(f"<p>before</p><script>{code}</script><p>after <a href=/x>x</a>".encode())
    assert page.words == ["before", "after", "x"]


def test_any_bytes_are_thin_in_the_end(costly_tags: Any) -> None:
    chance = random.Random(1)
    pieces = [
        b"<",
        b">",
        b"<a ",
        b"<b ",
        b"</",
        b"<!--",
        b"-->",
        b"=",
        b'"',
        b"'",
        b"<script",
        b"</script>",
        b" ",
        b"x",
        b"-",
    ]
    for _ in range(20):
        few = chance.sample(pieces, 3)
        body = b"".join(chance.choices(few, k=100_000))
        assert costly_tags(strip_tags.strip_tags(body)) <= 2_000, few


@pytest.mark.parametrize("tag", ["html", "body", "HtmL", "BODY"])
def test_of_many_html_and_body_tags_the_first_stays(tag: str) -> None:
    many = "".join(f"<{tag} a{number}=b>" for number in range(3_000))
    body = f"<!-- <{tag} id=no> --><html lang=en><body class=c><p>text</p>{many}<script>'<{tag} id=s>'</script>"
    left = strip_tags.strip_tags(body.encode()).decode()
    assert left.count(f"<{tag} a") == 0
    assert "<html lang=en>" in left
    assert "<body class=c>" in left
    page = parse(body.encode())
    assert (page.words, page.language) == (["text"], "en")


def test_a_few_html_tags_for_old_browsers_are_left_alone() -> None:
    body = b"<!--[if IE 7]><html class=ie7><![endif]-->" * 5 + b"<html lang=en><body>" + b"<p>text</p>" * 500
    assert strip_tags.strip_tags(body + b" " * 30_000) == body + b" " * 30_000
