"""From HTML to a Page."""

import resource
import sys
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lycosa.parse import HtmlParser, strip_tags
from lycosa.text import words
from lycosa.types import Link, Page, Reply

URL = "http://e.org/dir/page"


def parse(body: str | bytes, content_type: str = "text/html", robots_tag: str = "", **options: int | str) -> Page:
    raw = body.encode() if isinstance(body, str) else body
    reply = Reply(Link(URL, depth=2), url=URL, content_type=content_type, body=raw, robots_tag=robots_tag)
    return HtmlParser(**options).parse(reply)  # type: ignore[arg-type]


def urls(page: Page) -> list[str]:
    return [link.url.removeprefix("http://e.org") for link in page.links]


def test_a_whole_page() -> None:
    page = parse(
        """<!DOCTYPE html><html lang="en-GB"><head><title> Wolf
        spiders </title><link rel=canonical href="/spiders"><style>p {}</style></head>
        <body><h1>Lycosa</h1><p>A <a href="/hunt">hunting spider</a> of Europe.</p><script>var x</script></body>"""
    )
    assert page.url == URL
    assert page.title == "Wolf spiders"
    assert page.words == "lycosa a hunting spider of europe".split()
    assert page.language == "en"
    assert page.canonical == "http://e.org/spiders"
    assert page.links == [
        Link("http://e.org/hunt", URL, "hunting spider", 3, 2, 4),
        Link("http://e.org/spiders", URL, "", 3),
    ]
    assert page.context(page.links[0], size=4) == ["a", "hunting", "spider", "of"]
    assert page.simhash


class TestText:
    @pytest.mark.parametrize(
        ("body", "expected"),
        [
            ("<table><tr><td>a</td><td>b</td></tr></table>", "a b"),
            ("<p>a</p><p>b</p><div>c</div>d", "a b c d"),
            ("<table><tr><td>a<td>b<tr><td>c</table>", "a b c"),
            ("a<br>b<hr>c<!-- d -->e", "a b c e"),
            ("<ul><li>one<li>two</ul>three", "one two three"),
            ("<script>a</script>b<style>c</style>d<noscript>e</noscript>", "b d"),
            ("<template>a</template>b<textarea>c</textarea>d<select><option>e</select>", "b d"),
            ("<iframe>a</iframe>b<noframes>c</noframes>", "b"),
            ("<svg><title>icon</title></svg> x", "icon x"),
            ("a&nbsp;b &lt;c&gt; &eacute; &#8212; d", "a b c \u00e9 d"),
            ("plain", "plain"),
            ("<p>unclosed <b>tags <i>everywhere", "unclosed tags everywhere"),
            ("</p></div></body>after</html> all", "after all"),
            ("a\x00b", "ab"),
        ],
    )
    def test_what_a_reader_sees(self, body: str, expected: str) -> None:
        page = parse(body)
        assert page.words == expected.split()
        assert words(page.text) == page.words

    def test_the_text_keeps_case_and_punctuation(self) -> None:
        page = parse("<p>Hello, <a href=/w>World</a>!</p> \n <p>Bye.</p>")
        assert page.text.split() == ["Hello,", "World", "!", "Bye."]
        assert "\x02" not in page.text

    def test_the_title_is_no_text(self) -> None:
        page = parse("<title>Title</title><p>text")
        assert (page.title, page.text) == ("Title", "text")

    @pytest.mark.parametrize(
        ("body", "title"),
        [
            ("<body><p>x<title>late</title>", "late"),
            ("<svg><title>icon</title></svg>", ""),
            ("<title>one</title><title>two</title>", "one"),
            ("<title>a &amp; <b>b</b>\n\tc", "a & <b>b</b> c"),
            ("<title>" + "x" * 9999, "x" * 500),
            ("", ""),
        ],
    )
    def test_title(self, body: str, title: str) -> None:
        assert parse(body).title == title


class TestLanguage:
    @pytest.mark.parametrize(
        ("body", "language"),
        [
            ("<html lang=de>", "de"),
            ("<html lang='EN-us'>", "en"),
            ("<html xml:lang=fr>", "fr"),
            ("<html lang=eng>", ""),
            ("<html lang=''><meta http-equiv=Content-Language content='nl, fr'>", "nl"),
            ("<meta name=language content='es_ES'>", "es"),
            ("<meta name=language content='English'>", ""),
            ("<html lang=de><meta http-equiv=content-language content=en>", "de"),
            ("<p>", ""),
        ],
    )
    def test_language(self, body: str, language: str) -> None:
        assert parse(body).language == language


class TestRobots:
    @pytest.mark.parametrize("name", ["robots", "ROBOTS", "lycosa", "Lycosa"])
    @pytest.mark.parametrize("content", ["nofollow", "noindex, NOFOLLOW", "none"])
    def test_a_page_may_forbid_to_follow(self, name: str, content: str) -> None:
        page = parse(f"<meta name={name} content='{content}'><a href=/x>x</a> y")
        assert page.links == ()
        assert page.words == ["x", "y"]

    @pytest.mark.parametrize(
        "meta",
        ["name=robots content=noindex", "name=googlebot content=nofollow", "name=robots", "content=nofollow", ""],
    )
    def test_else_its_links_are_followed(self, meta: str) -> None:
        assert urls(parse(f"<meta {meta}><a href=/x>x</a>")) == ["/x"]

    def test_the_meta_tag_counts_in_the_body_too(self) -> None:
        assert not parse("<body><a href=/x>x</a><meta name=robots content=nofollow>").links

    def test_the_header_counts(self) -> None:
        assert not parse("<a href=/x>x</a>", robots_tag="noindex, nofollow").links
        assert parse("<a href=/x>x</a>", robots_tag="googlebot: nofollow").links

    def test_the_robot_has_the_name_it_is_given(self) -> None:
        body = "<meta name=hunter content=nofollow><a href=/x>x</a>"
        assert not parse(body, robot="Hunter").links
        assert parse(body).links
        assert parse(body, robot='"],*').links


class TestCharset:
    def test_the_header_names_it(self) -> None:
        page = parse("<p>\u041c\u0438\u0440".encode("koi8-r"), "text/html; charset=KOI8-R")
        assert page.words == ["\u043c\u0438\u0440"]

    def test_the_page_names_it(self) -> None:
        body = '<meta charset="windows-1251"><title>\u041c\u0438\u0440</title>'.encode("cp1251")
        assert parse(body).title == "\u041c\u0438\u0440"

    def test_nobody_names_it(self) -> None:
        assert parse("<p>caf\u00e9 au lait".encode("latin-1")).words == ["caf\u00e9", "au", "lait"]

    @pytest.mark.parametrize("label", ["nonsense", "utf-7", "base64", "\u00e4", "x" * 9999, "", "utf-16"])
    def test_a_wrong_label_does_no_harm(self, label: str) -> None:
        body = f"<meta charset='{label}'><p>caf\u00e9".encode()
        assert parse(body, f"text/html; charset={label}").words == ["caf\u00e9"]


class TestRedirects:
    def test_links_are_relative_to_where_the_redirects_ended(self) -> None:
        asked = Link("http://a.example/short", depth=1)
        body = b"<a href=x>x</a><a href=/short>s</a><a href=http://a.example/short>self</a><a href=/long/>self</a>"
        reply = Reply(asked, url="http://b.example/long/", content_type="text/html", body=body)
        page = HtmlParser().parse(reply)
        assert page.url == "http://b.example/long/"
        assert [(link.url, link.source, link.depth) for link in page.links] == [
            ("http://b.example/long/x", "http://a.example/short", 2),
            ("http://b.example/short", "http://a.example/short", 2),
        ]

    def test_without_the_end_the_beginning_counts(self) -> None:
        page = HtmlParser().parse(Reply(Link("http://a.example/d/"), body=b"<a href=x>x"))
        assert [link.url for link in page.links] == ["http://a.example/d/x"]

    def test_a_page_without_address_cannot_be_read(self) -> None:
        with pytest.raises(ValueError):
            HtmlParser().parse(Reply(Link("nowhere"), body=b"x"))


class TestMarks:
    """The characters that mark anchors inside may stand on the page as well."""

    @pytest.mark.parametrize("mark", ["\x02", "\x03", "&#2;", "&#x3", "&#X0002;", "&#02;", "\x02\x03", "&#&#2;2;"])
    def test_marks_on_the_page(self, mark: str) -> None:
        page = parse(f"one{mark}two <a href=/x>th{mark}ree</a> {mark} four")
        assert page.links[0].url == "http://e.org/x"
        assert page.words[page.links[0].start : page.links[0].end] == words(page.links[0].anchor)
        assert "".join(page.words).replace("2", "") == "onetwothreefour"
        assert not {"\x02", "\x03"} & set(page.text)

    def test_links_where_nobody_sees_them(self) -> None:
        page = parse("<svg><style><a href=/no>no</a></style></svg><select><a href=/n>n</a></select><a href=/x>x</a>")
        assert urls(page) == ["/x"]
        assert page.words == ["x"]


HOSTILE: dict[str, Callable[[], str]] = {
    "nested divs": lambda: "<div>x" * 60_000,
    "nested lists": lambda: "<ul><li>x" * 50_000,
    "nested spans, wrong ends": lambda: "<span>" * 50_000 + "</foo>" * 50_000,
    "formatting opened again and again": lambda: "".join(f"<p><b id={n}>" for n in range(20_000)),
    "the same in a small page": lambda: "".join(f"<p><b id={n}>" for n in range(500)),
    "one tag, many attributes": lambda: "<a " + " ".join(f"a{n}" for n in range(100_000)) + ">x",
    "options": lambda: "<select>" + "<option>x" * 100_000,
    "tables": lambda: "<table><tr><td>" * 30_000,
    "anchors": lambda: "<a href=/x>y" * 50_000,
    "opened comments": lambda: "<!--" * 100_000,
    "opened tags": lambda: "<a <b " * 100_000,
    "opened quotes": lambda: "<a x=\"<b y='" * 50_000,
    "brackets": lambda: "<" * 300_000,
    "scripts": lambda: "<script>" * 50_000,
    "references": lambda: "&amp;&#2;&nbsp;" * 50_000,
    "one word": lambda: "x" * 1_000_000,
    "one anchor": lambda: "<a href=/x>" + "word " * 100_000,
    "zeros": lambda: "\0" * 1_000_000,
    "templates": lambda: "<template>" * 50_000,
    "frames": lambda: "<frameset>" * 50_000 + "<frame src=/x>" * 10_000,
    "bases": lambda: "".join(f"<base href=/{n}><a href=x>y</a>" for n in range(10_000)),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_no_page_takes_long(name: str, costly_tags: Any) -> None:
    """A few thousand tags take half a second at the worst, whatever they are."""
    body = HOSTILE[name]()
    page = parse(body)
    assert costly_tags(strip_tags.strip_tags(body.encode())) <= 2_000
    assert len(page.links) <= 5000
    assert all(len(link.anchor) <= 300 for link in page.links)


def test_nested_divs_keep_their_text_and_links() -> None:
    page = parse("<div>x<a href=/y>z</a>" * 100_000)
    assert page.words == ["x", "z"] * 100_000
    assert page.links == [Link("http://e.org/y", URL, "z", 3, 1, 2)]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="kilobytes are a unit of Linux")
def test_a_small_page_does_not_become_a_huge_tree() -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    parse("".join(f"<p><b id={n}>" for n in range(4_000)))
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000


def test_a_page_of_five_megabytes() -> None:
    row = "<tr><td class=name>A wolf spider</td><td><a href='/s/{}'>number {}</a></td></tr>\n"
    body = "<table>" + "".join(row.format(n, n) for n in range(65_000)) + "</table>"
    assert len(body) > 5_000_000
    page = parse(body)
    assert len(page.words) == 65_000 * 5
    assert len(page.links) == 5000
    assert page.links[4999] == Link("http://e.org/s/4999", URL, "number 4999", 3, 4999 * 5 + 3, 4999 * 5 + 5)


@settings(max_examples=200)
@given(
    st.binary(max_size=300), st.sampled_from(["text/html", "text/html; charset=utf-8", "", "text/html;charset=big5"])
)
def test_any_bytes_are_a_page(body: bytes, content_type: str) -> None:
    page = parse(body, content_type)
    assert page.words == words(page.text)
    page.text.encode()


@settings(max_examples=100)
@given(st.lists(st.sampled_from(["<", ">", "a", " ", "href", "=", '"', "'", "/", "!", "-", "x", "&", "#", ";", "2"])))
def test_any_markup_is_a_page(pieces: list[str]) -> None:
    parse("<a href=/x>" + "".join(pieces))


def test_one_parser_reads_many_pages() -> None:
    parser = HtmlParser()
    for site in ("a", "b", "a"):
        url = f"http://{site}.example/"
        page = parser.parse(Reply(Link(url), url=url, body=b"<a href=/x>x</a><a href=//c.example/y>y</a>"))
        assert [link.url for link in page.links] == [f"http://{site}.example/x", "http://c.example/y"]


@pytest.mark.parametrize(
    ("content", "target"),
    [
        ("0; url=/there", "/there"),
        ("5;URL='/there'", "/there"),
        ("0,/there", "/there"),
        (" 3  /there", "/there"),
        ("; url = /there", "/there"),
        ("30", ""),
        (" " * 5_000, ""),
        ("1" + " " * 5_000 + ";", ""),
    ],
)
def test_refresh(content: str, target: str) -> None:
    """However it is written, and without taking long over blanks."""
    body = f'<meta http-equiv="refresh" content="{content}"><p>x'.encode()
    url = "http://e.org/"
    page = HtmlParser().parse(Reply(Link(url), url=url, content_type="text/html", body=body))
    assert [link.url for link in page.links] == ([f"http://e.org{target}"] if target else [])
