"""Which parser reads a reply? The content type decides, and the first tag where the type leaves it open."""

from collections.abc import Mapping

from lycosa.parse.html import HtmlParser
from lycosa.parse.sitemap import SITEMAP_ROOTS, SitemapParser, is_packed, root_element
from lycosa.types import Page, Parser, Reply

HTML_TYPES = ("text/html", "application/xhtml+xml")
SITEMAP_TYPES = (  # what sitemaps come as, beside HTML by mistake
    "application/xml",
    "text/xml",
    "text/plain",
    "application/gzip",
    "application/x-gzip",
    "application/octet-stream",
)
_SITEMAP_NAMES = ("sitemap", "urllist")


class Parsers:
    """One parser for whatever the web answers: HTML, sitemaps and what `others` can read; all else is a ValueError."""

    def __init__(
        self, html: Parser | None = None, sitemap: Parser | None = None, others: Mapping[str, Parser] | None = None
    ) -> None:
        self.html = html or HtmlParser()
        self.sitemap = sitemap or SitemapParser()
        self.others = others or {}  # by content type

    def parse(self, reply: Reply) -> Page:
        """The page of a reply; ValueError with a short reason if nobody can read it."""
        return self._parser(reply).parse(reply)

    def _parser(self, reply: Reply) -> Parser:
        body = reply.body
        kind = reply.content_type.partition(";")[0].strip().lower()
        if kind in HTML_TYPES and body[:5] != b"<?xml":  # XHTML, or a sitemap under the wrong label
            return self.html
        root = root_element(body)
        if root in SITEMAP_ROOTS:
            return self.sitemap
        if kind in HTML_TYPES or (root == "html" and not is_packed(body)) or (root and not kind):
            return self.html
        if (kind == "text/plain" or is_packed(body)) and _is_named_sitemap(reply):
            return self.sitemap
        if kind in self.others:
            return self.others[kind]
        raise ValueError(f"{kind or 'no content type'}: neither HTML nor a sitemap")


def _is_named_sitemap(reply: Reply) -> bool:
    """Does the last part of the path say so? Plain lines could be anything."""
    path = (reply.url or reply.link.url).partition("?")[0]
    name = path.rpartition("/")[2].lower()
    return any(word in name for word in _SITEMAP_NAMES)
