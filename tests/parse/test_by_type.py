"""Which parser reads a reply?"""

import gzip

import pytest

from lycosa.parse import SITEMAP_TYPES, HtmlParser, Parsers, SitemapParser
from lycosa.types import Link, Page, Reply

SITEMAP = b"<?xml version='1.0'?>\n<urlset><url><loc>http://e.org/x</loc></url></urlset>"
INDEX = b"<sitemapindex><sitemap><loc>http://e.org/s2.xml</loc></sitemap></sitemapindex>"
HTML = b"<!DOCTYPE html><p>text <a href=/x>x</a>"
XHTML = b'<?xml version="1.0"?><!DOCTYPE html><html xmlns="http://www.w3.org/1999/xhtml"><a href="/x">x</a></html>'


def parse(body: bytes, content_type: str, path: str = "/page") -> Page:
    url = f"http://e.org{path}"
    return Parsers().parse(Reply(Link(url), url=url, content_type=content_type, body=body))


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (HTML, "text/html"),
        (HTML, "Text/HTML; charset=utf-8"),
        (HTML, " text/html ;x"),
        (XHTML, "text/html"),
        (XHTML, "application/xhtml+xml"),
        (XHTML, "application/xml"),
        (XHTML, "text/xml"),
        (HTML, ""),
        (b"\xef\xbb\xbf" + XHTML, "text/html"),
    ],
)
def test_html(body: bytes, content_type: str) -> None:
    page = parse(body, content_type)
    assert [link.url for link in page.links] == ["http://e.org/x"]
    assert not page.listed


@pytest.mark.parametrize(
    "body", [SITEMAP, INDEX, gzip.compress(SITEMAP, mtime=0), b"\xef\xbb\xbf" + SITEMAP, b" \n" + SITEMAP]
)
@pytest.mark.parametrize("content_type", [*SITEMAP_TYPES, "application/rss+xml", "", "text/xml; charset=utf-8"])
def test_sitemaps(body: bytes, content_type: str) -> None:
    page = parse(body, content_type)
    assert len(page.listed) == 1
    assert not page.links
    assert not page.words


def test_a_sitemap_under_the_wrong_label() -> None:
    assert parse(SITEMAP, "text/html").listed


@pytest.mark.parametrize("path", ["/sitemap.txt", "/Sitemap-2.txt?x=1", "/a/urllist.txt"])
def test_plain_sitemaps(path: str) -> None:
    assert [link.url for link in parse(b"http://e.org/x\n", "text/plain", path).listed] == ["http://e.org/x"]
    assert parse(gzip.compress(b"http://e.org/x\n"), "application/gzip", path).listed


@pytest.mark.parametrize(
    ("body", "content_type", "path"),
    [
        (b"http://e.org/x\n", "text/plain", "/notes.txt"),
        (b"http://e.org/x\n", "text/plain", "/sitemap/notes.txt"),
        (b"nothing\n", "text/plain", "/sitemap.txt"),
        (b"%PDF-1.4", "application/pdf", "/paper.pdf"),
        (b"\x89PNG", "image/png", "/sitemap.png"),
        (b"<rss><channel/></rss>", "application/xml", "/feed"),
        (b"<svg/>", "image/svg+xml", "/x.svg"),
        (b"{}", "application/json", "/x"),
        (b"", "", "/"),
        (b"bytes", "", "/"),
        (gzip.compress(HTML, mtime=0), "application/gzip", "/x.gz"),
        (b"\x1f\x8bbroken", "application/gzip", "/sitemap.xml.gz"),
        (b"", "application/xml", "/sitemap.xml"),
    ],
)
def test_what_nobody_can_read(body: bytes, content_type: str, path: str) -> None:
    with pytest.raises(ValueError) as error:
        parse(body, content_type, path)
    assert 0 < len(str(error.value)) < 100
    assert "\n" not in str(error.value)


def test_an_empty_html_page_is_a_page() -> None:
    assert parse(b"", "text/html") == Page(url="http://e.org/page", words=[], links=[])


def test_parsers_can_be_replaced() -> None:
    class FixedHtml(HtmlParser):
        def parse(self, reply: Reply) -> Page:
            return Page(title="html")

    class FixedSitemap(SitemapParser):
        def parse(self, reply: Reply) -> Page:
            return Page(title="sitemap")

    parsers = Parsers(html=FixedHtml(), sitemap=FixedSitemap())
    assert parsers.parse(Reply(Link("http://e.org/"), content_type="text/html")).title == "html"
    assert parsers.parse(Reply(Link("http://e.org/"), content_type="text/xml", body=SITEMAP)).title == "sitemap"
