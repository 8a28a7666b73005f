"""Which links does a page offer?"""

import pytest

from lycosa.parse import HtmlParser
from lycosa.types import Link, Page, Reply

URL = "http://e.org/dir/page"


def parse(body: str, max_links: int = 5000) -> Page:
    return HtmlParser(max_links).parse(Reply(Link(URL), url=URL, content_type="text/html", body=body.encode()))


def found(body: str) -> list[tuple[str, str, int, int]]:
    return [(link.url.removeprefix("http://e.org"), link.anchor, link.start, link.end) for link in parse(body).links]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("<a href=/x>one two</a>", [("/x", "one two", 0, 2)]),
        ("zero <a href=/x>One,\n Two!</a> three", [("/x", "One, Two!", 1, 3)]),
        ("<a href=/x><b>o</b><i>n</i></a>", [("/x", "o n", 0, 2)]),
        ("<a href=/x></a>", [("/x", "", 0, 0)]),
        ("word <a href=/x> \n&nbsp;</a>", [("/x", "", 1, 1)]),
        ("word <a href=/x>!?</a>", [("/x", "!?", 1, 1)]),
        ("<A HREF=/x>x</A>", [("/x", "x", 0, 1)]),
        ("<a href=x>x</a>", [("/dir/x", "x", 0, 1)]),
        ("<a href=' /x '>x</a>", [("/x", "x", 0, 1)]),
        ("<a href=/x?a=1&amp;b=2&copy=3>x</a>", [("/x?a=1&b=2&copy=3", "x", 0, 1)]),
        ("<svg><a href=/x><text>x</text></a></svg>", [("/x", "x", 0, 1)]),
        ("<svg><a xlink:href=/x><text>x</text></a></svg>", [("/x", "x", 0, 1)]),
        ("<a href=/x>x<script>y</script></a>z", [("/x", "x", 0, 1)]),
        ("<p><a href=/x>one</p><p>two</a>", [("/x", "one", 0, 1)]),
    ],
)
def test_anchors(body: str, expected: list[tuple[str, str, int, int]]) -> None:
    assert found(body) == expected


@pytest.mark.parametrize(
    "tag",
    [
        "<a>",
        "<a href>",
        "<a href=''>",
        "<a href='#top'>",
        "<a href='page#top'>",
        "<a href='/dir/page'>",
        "<a href='http://E.ORG:80/dir/page'>",
        "<a href='mailto:me@e.org'>",
        "<a href='javascript:go(\"/x\")'>",
        "<a href='tel:123'>",
        "<a href='ftp://e.org/x'>",
        "<a href='data:text/html,x'>",
        "<a href='http://'>",
        "<a href=/x rel=nofollow>",
        "<a href=/x rel='external NOFOLLOW noopener'>",
        "<a href=/x rel=ugc>",
        "<a href=/x rel=sponsored>",
        "<a href='/" + "x" * 20_000 + "'>",
        "<link rel=stylesheet href=/style.css>",
        "<area alt=x>",
        "<iframe>",
        "<iframe src>",
        "<iframe src=about:blank></iframe>",
        "<iframe src='javascript:x'></iframe>",
    ],
)
def test_no_links(tag: str) -> None:
    assert parse(f"{tag}x</a>").links == []


@pytest.mark.parametrize("rel", ["", "rel=noopener", "rel='external author'", "rel"])
def test_other_relations_are_followed(rel: str) -> None:
    assert len(parse(f"<a {rel} href=/x>x</a>").links) == 1


class TestLabels:
    @pytest.mark.parametrize(
        ("inside", "expected"),
        [
            ("<img alt='a  picture'>", "a picture"),
            ("<img alt=''><span><img alt=second></span>", "second"),
            ("<img><img alt=' '>", "a title"),
            ("", "a title"),
            ("<img alt=picture> text", "text"),
        ],
    )
    def test_a_link_without_text(self, inside: str, expected: str) -> None:
        [link] = parse(f"one two <a title='a\ttitle' href=/x>{inside}</a> three").links
        assert link.anchor == expected
        assert link.start == 2

    def test_a_label_has_no_words_on_the_page(self) -> None:
        assert found("one <a href=/x><img alt='a picture'></a> two") == [("/x", "a picture", 1, 1)]


class TestRepetitions:
    def test_each_url_once_and_the_first_counts(self) -> None:
        assert found("<a href=/x>one</a> <a href=/y>two</a> <a href=/x#part>three</a>") == [
            ("/x", "one", 0, 1),
            ("/y", "two", 1, 2),
        ]

    def test_words_are_better_than_none(self) -> None:
        body = "<a href=/x><img></a> <a href=/y>two</a> <a href=/x>three</a> <a href=/x>four</a>"
        assert found(body) == [("/x", "three", 1, 2), ("/y", "two", 0, 1)]

    def test_words_are_better_than_a_label(self) -> None:
        assert found("<a href=/x><img alt=picture></a> <a href=/x>word</a>") == [("/x", "word", 0, 1)]

    def test_any_label_is_better_than_none(self) -> None:
        assert found("<a href=/x></a> <a href=/x><img alt=picture></a>") == [("/x", "picture", 0, 0)]

    def test_what_one_forbids_another_may_allow(self) -> None:
        assert found("<a rel=nofollow href=/x>no</a> <a href=/x>yes</a>") == [("/x", "yes", 1, 2)]


class TestOthers:
    def test_areas(self) -> None:
        assert found("word <map><area href=/x alt='the  north'><area href=/y title=south></map>") == [
            ("/x", "the north", 0, 0),
            ("/y", "south", 0, 0),
        ]

    def test_areas_may_be_forbidden(self) -> None:
        assert found("<map><area href=/x rel=nofollow></map>") == []

    def test_an_area_gives_its_label_to_a_silent_anchor(self) -> None:
        assert found("word <a href=/x><img></a><map><area href=/x alt=north></map>") == [("/x", "north", 1, 1)]

    def test_iframes(self) -> None:
        assert found("<iframe src=/x title='the map'>old <a href=/y>browsers</a></iframe>") == [("/x", "the map", 0, 0)]

    def test_frames(self) -> None:
        page = parse("<frameset><frame src=menu><frame src=/text title=Text><noframes>no frames</noframes></frameset>")
        assert [link.url for link in page.links] == ["http://e.org/dir/menu", "http://e.org/text"]
        assert page.words == []

    @pytest.mark.parametrize(
        ("content", "target"),
        [
            ("5; url=/x", "/x"),
            ("0;URL='/x'", "/x"),
            ('0; url="/x"; y', "/x"),
            (" 3 , /x", "/x"),
            ("0 ; url = x", "/dir/x"),
            ("5", None),
            ("", None),
            ("0; url=javascript:x", None),
            ("0; url=page", None),
        ],
    )
    def test_refresh(self, content: str, target: str | None) -> None:
        body = f"<meta http-equiv=Refresh content='{content}'>" if "'" not in content else ""
        body = body or f'<meta http-equiv=Refresh content="{content}">'
        assert [url for url, *_ in found(body)] == ([target] if target else [])

    def test_canonical(self) -> None:
        page = parse("<link rel='CANONICAL' href=/real><a href=/x>x</a>")
        assert page.canonical == "http://e.org/real"
        assert [link.url for link in page.links] == ["http://e.org/x", "http://e.org/real"]

    def test_canonical_is_no_link_if_it_is_the_page_itself(self) -> None:
        page = parse(f"<link rel=canonical href='{URL}'>")
        assert (page.canonical, page.links) == (URL, [])

    def test_canonical_is_kept_where_links_are_forbidden(self) -> None:
        page = parse("<link rel=canonical href=/real><meta name=robots content=nofollow>")
        assert (page.canonical, page.links) == ("http://e.org/real", ())

    @pytest.mark.parametrize("link", ["<link rel=canonical>", "<link rel=canonical href='mailto:x'>", "<link href=/x>"])
    def test_no_canonical(self, link: str) -> None:
        assert parse(link).canonical == ""

    def test_canonical_in_the_body(self) -> None:
        assert parse("<body><p>x<link rel=canonical href=/real>").canonical == "http://e.org/real"


class TestBase:
    @pytest.mark.parametrize(
        ("base", "target"),
        [
            ("http://b.example/c/", "http://b.example/c/x"),
            ("/root/", "http://e.org/root/x"),
            ("sub/", "http://e.org/dir/sub/x"),
            ("mailto:nobody", "http://e.org/dir/x"),
            ("", "http://e.org/dir/x"),
        ],
    )
    def test_links_are_relative_to_the_base(self, base: str, target: str) -> None:
        assert [link.url for link in parse(f"<base href='{base}'><a href=x>x</a>").links] == [target]

    def test_the_first_base_counts(self) -> None:
        body = "<base target=_top><base href=http://b.example/><base href=http://c.example/><a href=x>x</a>"
        assert [link.url for link in parse(body).links] == ["http://b.example/x"]

    def test_a_base_in_the_body_counts(self) -> None:
        assert [link.url for link in parse("<p><base href=http://b.example/><a href=x>x</a>").links] == [
            "http://b.example/x"
        ]

    def test_canonical_is_relative_to_the_base(self) -> None:
        assert parse("<base href=http://b.example/><link rel=canonical href=x>").canonical == "http://b.example/x"


class TestLimits:
    def test_at_most_so_many_links(self) -> None:
        body = "".join(f"<a href=/{n}>{n}</a> " for n in range(100))
        assert [link.url for link in parse(body, max_links=3).links] == [f"http://e.org/{n}" for n in range(3)]

    def test_none_at_all(self) -> None:
        assert parse("<a href=/x>x</a><iframe src=/y></iframe>", max_links=0).links == []

    def test_frames_count_too(self) -> None:
        assert len(parse("<frameset>" + "".join(f"<frame src=/{n}>" for n in range(9)), max_links=4).links) == 4

    def test_long_anchors_are_cut_between_words(self) -> None:
        page = parse("<a href=/x>" + "spider-man " * 1000)
        [link] = page.links
        assert 280 < len(link.anchor) <= 300
        assert page.words[link.start : link.end] == link.anchor.replace("-", " ").split()

    def test_an_endless_word_is_no_anchor(self) -> None:
        assert found("<a href=/x>" + "x" * 1000) == [("/x", "", 0, 0)]


def test_an_anchor_within_an_anchor_ends_the_outer() -> None:
    body = "<a href=/x>one <table><tr><td><a href=/y>two</a> three</table> four</a> five"
    assert found(body) == [("/x", "one", 0, 1), ("/y", "two", 1, 2)]
    assert parse(body).words == ["one", "two", "three", "four", "five"]
