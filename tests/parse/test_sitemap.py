"""What does a site offer?"""

import gzip
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lycosa.parse import SitemapParser
from lycosa.parse.sitemap import root_element, unpacked
from lycosa.types import Link, Origin, Page, Reply

URL = "http://www.e.org/sitemap.xml"
NAMESPACE = "http://www.sitemaps.org/schemas/sitemap/0.9"


def parse(body: bytes | str, url: str = URL, link: Link | None = None, **limits: int) -> Page:
    raw = body.encode() if isinstance(body, str) else body
    return SitemapParser(**limits).parse(Reply(link or Link(url), url=url, content_type="text/xml", body=raw))


def urls(page: Page) -> list[str]:
    return [link.url.removeprefix("http://www.e.org") for link in page.listed]


def urlset(*locations: str, entry: str = "url", root: str = "urlset") -> str:
    inside = "".join(f"<{entry}><loc>{one}</loc><lastmod>2020</lastmod></{entry}>" for one in locations)
    return f'<?xml version="1.0" encoding="UTF-8"?><{root} xmlns="{NAMESPACE}">{inside}</{root}>'


def test_a_sitemap() -> None:
    page = parse(urlset("http://www.e.org/a", "http://www.e.org/b?x=1&amp;y=2"))
    assert page.url == URL
    assert page.listed == (
        Link("http://www.e.org/a", source=URL, depth=1, origin=Origin.SITEMAP),
        Link("http://www.e.org/b?x=1&y=2", source=URL, depth=1, origin=Origin.SITEMAP),
    )
    assert not page.links
    assert not page.words


def test_a_sitemap_on_another_host_speaks_for_the_host_whose_robots_txt_names_it() -> None:
    body = urlset("http://www.e.org/a", "http://cdn.e.org/own", "http://victim.example/b")
    there = "http://cdn.e.org/www.xml"
    named = Link(there, anchor="http://www.e.org/", origin=Origin.ROBOTS)
    assert urls(parse(body, there, named)) == ["/a", "http://cdn.e.org/own"]
    linked = Link(there, source="http://www.e.org/")
    assert urls(parse(body, there, linked)) == ["http://cdn.e.org/own"]


def test_an_index() -> None:
    page = parse(urlset("http://www.e.org/s1.xml", "http://www.e.org/s2.xml.gz", entry="sitemap", root="sitemapindex"))
    assert urls(page) == ["/s1.xml", "/s2.xml.gz"]


def test_gzip() -> None:
    assert urls(parse(gzip.compress(urlset("http://www.e.org/a").encode()))) == ["/a"]


def test_lines() -> None:
    body = "\ufeffhttp://www.e.org/a\r\n\n  http://www.e.org/b  \n# no comment\nwww.e.org/c\nmailto:x@e.org\n"
    assert urls(parse(body, "http://www.e.org/sitemap.txt")) == ["/a", "/b"]
    assert urls(parse(gzip.compress(body.encode()), "http://www.e.org/sitemap.txt.gz")) == ["/a", "/b"]


@pytest.mark.parametrize("codec", ["utf-8-sig", "utf-16", "iso-8859-1"])
def test_encodings(codec: str) -> None:
    body = urlset("http://www.e.org/caf\u00e9").replace("UTF-8", codec.removesuffix("-sig"))
    assert urls(parse(body.encode(codec))) == ["/caf%C3%A9"]


@pytest.mark.parametrize(
    "body",
    [
        "  \n" + urlset("http://www.e.org/a"),
        urlset("\n http://www.e.org/a \n"),
        urlset("<![CDATA[http://www.e.org/a]]>"),
        urlset("http://www.e.org/a", "http://www.e.org/a#again", "HTTP://WWW.E.ORG:80/a"),
        urlset("http://www.e.org/a", "", "/relative", "javascript:x", "ftp://www.e.org/x"),
        "<urlset><url><loc>http://www.e.org/a</loc></url></urlset>",
        f"<s:urlset xmlns:s='{NAMESPACE}'><s:url><s:loc>http://www.e.org/a</s:loc></s:url></s:urlset>",
        "<urlset><url><loc>http://www.e.org/a</loc><image:image><image:loc>http://www.e.org/i.png</image:loc>"
        "</image:image></url></urlset>",  # a prefix that nobody declared
        "<urlset><url><loc>http://www.e.org/a</loc><xhtml:link href='http://www.e.org/b'/></url><loc>x</loc></urlset>",
        "<!-- made by hand --><?pi x?><urlset><url><loc>http://www.e.org/a</loc></url></urlset>",
        "<!DOCTYPE urlset><urlset><url><loc>http://www.e.org/a</loc></url></urlset>",
        urlset("http://www.e.org/a")[:-20],  # cut off
        "<urlset><url><loc>http://www.e.org/a</loc></url><url><loc>http://www.e.org/?a=1&b=2</loc></url></urlset>",
    ],
)
def test_sitemaps_as_they_come(body: str) -> None:
    assert urls(parse(body)) == ["/a"]


@pytest.mark.parametrize(
    "body",
    [
        "",
        "no address",
        "<urlset>",
        "<urlset",
        "<urlset><url><loc>http://www.e.org/?a&b</loc></url></urlset>",
        "<html><body>404</body></html>",
        "<rss><channel><link>http://www.e.org/</link></channel></rss>",
        "<!DOCTYPE x [<!ENTITY e 'http://www.e.org/'>]><urlset><url><loc>&e;</loc></url></urlset>",
    ],
)
def test_no_sitemap(body: str) -> None:
    with pytest.raises(ValueError):
        parse(body)


def test_a_sitemap_that_offers_nothing_is_of_no_use() -> None:
    with pytest.raises(ValueError, match="without URLs"):
        parse("<urlset></urlset>")


def test_sitemaps_are_not_nested_without_end() -> None:
    body = urlset("http://www.e.org/a")
    assert parse(body, link=Link(URL, depth=2)).listed[0].depth == 3
    with pytest.raises(ValueError, match="nested too deeply"):
        parse(body, link=Link(URL, depth=3))


def test_a_head_of_empty_instructions_does_not_take_for_ever() -> None:
    assert root_element(b"<?xml?>" + b"<??>" * 500 + b"x") == ""


class TestSites:
    """A sitemap speaks for its own host, and for those below it."""

    def test_other_sites_are_left_out(self) -> None:
        body = urlset("http://www.e.org/a", "http://evil.example/", "http://e.org.example/", "http://note.org/")
        assert urls(parse(body)) == ["/a"]

    def test_hosts_below_are_taken(self) -> None:
        assert len(parse(urlset("https://e.org/", "http://blog.e.org:81/", "http://a.b.e.org/")).listed) == 3
        with pytest.raises(ValueError, match="without URLs"):
            parse(urlset("http://e.org/", "http://other.e.org/"), "http://blog.e.org/s.xml")

    def test_a_link_from_a_site_gives_no_say_about_it(self) -> None:
        link = Link("http://evil.example/s.xml", source="http://www.e.org/guestbook")
        with pytest.raises(ValueError, match="without URLs"):
            parse(urlset("http://www.e.org/a"), "http://evil.example/s.xml", link)

    @pytest.mark.parametrize("source", ["", "http://www.e.org/sitemap.xml"])
    def test_a_sitemap_that_moved_still_speaks_for_its_site(self, source: str) -> None:
        link = Link("http://www.e.org/s.xml", source=source)
        assert urls(parse(urlset("http://www.e.org/a"), "http://cdn.example/s.xml", link)) == ["/a"]

    def test_a_stranger_cannot_speak_through_an_open_redirect(self) -> None:
        link = Link("http://www.e.org/go?to=http://evil.example/s.xml", source="http://evil.example/")
        with pytest.raises(ValueError, match="without URLs"):
            parse(urlset("http://www.e.org/a"), "http://evil.example/s.xml", link)


class TestLimits:
    def test_so_many_urls(self) -> None:
        body = urlset(*(f"http://www.e.org/{number}" for number in range(10)))
        assert urls(parse(body, max_urls=3)) == ["/0", "/1", "/2"]

    def test_fifty_thousand(self) -> None:
        body = urlset(*(f"http://www.e.org/{number}" for number in range(50_100)))
        assert len(parse(body).listed) == 50_000

    def test_so_many_bytes(self) -> None:
        body = urlset(*(f"http://www.e.org/{number}" for number in range(1000)))
        assert 5 < len(parse(body, max_bytes=1000).listed) < 20
        assert 5 < len(parse(gzip.compress(body.encode()), max_bytes=1000).listed) < 20

    def test_a_bomb(self) -> None:
        packed = zlib.compressobj(9, wbits=31)
        body = packed.compress(urlset("http://www.e.org/a").encode()[:-9])
        for _ in range(60):
            body += packed.compress(b" " * 1_000_000)
        body += packed.flush()
        assert len(body) < 300_000
        assert urls(parse(body, max_bytes=10_000_000)) == ["/a"]
        assert sum(map(len, unpacked(body, 10_000_000))) == 10_000_000

    def test_deep_xml(self) -> None:
        with pytest.raises(ValueError, match="deep"):
            parse("<urlset>" + "<url>" * 1000)
        assert urls(parse(urlset("http://www.e.org/a")[:-9] + "<url>" * 1000)) == ["/a"]

    def test_entities(self) -> None:
        laughs = "".join(f"<!ENTITY l{n + 1} '{f'&l{n};' * 10}'>" for n in range(9))
        body = f"<!DOCTYPE urlset [<!ENTITY l0 'lol'>{laughs}]><urlset><url><loc>&l9;</loc></url></urlset>"
        with pytest.raises(ValueError):
            parse(body)

    def test_a_file_on_our_disk_is_not_read(self) -> None:
        body = "<!DOCTYPE urlset SYSTEM 'file:///etc/passwd'><urlset><url><loc>http://www.e.org/a</loc></url></urlset>"
        assert urls(parse(body)) == ["/a"]

    def test_endless_urls(self) -> None:
        assert urls(parse(urlset("http://www.e.org/" + "x" * 20_000, "http://www.e.org/a"))) == ["/a"]


@pytest.mark.parametrize(
    ("body", "root"),
    [
        (b"<urlset>", "urlset"),
        (b"\xef\xbb\xbf \n<?xml version='1.0'?>\n<!-- <x> --><URLSET a='b'>", "urlset"),
        (b"<!DOCTYPE html><html>", "html"),
        (b"<sm:urlset>", "urlset"),
        ("<?xml version='1.0'?><urlset>".encode("utf-16"), "urlset"),
        (gzip.compress(b"<urlset>", mtime=0), "urlset"),
        (b"text <urlset>", ""),
        (b"", ""),
        (b"\x1f\x8b", ""),
        (b"<?xml " + b"x" * 10_000 + b"?><urlset>", ""),
    ],
)
def test_root_element(body: bytes, root: str) -> None:
    assert root_element(body) == root


@given(st.binary(max_size=3000))
def test_packed_and_plain_bodies_are_the_same(body: bytes) -> None:
    whole = b"x" + body
    assert b"".join(unpacked(whole, 1 << 20)) == whole
    assert b"".join(unpacked(gzip.compress(whole), 1 << 20)) == whole
    assert b"".join(unpacked(gzip.compress(whole), 10)) == whole[:10]


@given(st.binary(max_size=300))
def test_any_bytes_are_a_sitemap_or_a_value_error(body: bytes) -> None:
    for start in (b"", b"\x1f\x8b", b"<urlset>"):
        try:
            assert not parse(start + body).listed
        except ValueError:
            continue
