"""Choose the parser for a reply: by content type, or by the first tag where the type leaves it open."""

from collections.abc import Mapping

from lycosa.parse.html import HtmlParser
from lycosa.parse.sandbox import Sandbox
from lycosa.parse.sitemap import SITEMAP_ROOTS, SitemapParser, is_packed, root_element
from lycosa.types import Page, Parser, Reply

HTML_TYPES = ("text/html", "application/xhtml+xml")
SITEMAP_TYPES = (  # content types of sitemaps, besides HTML by mistake
    "application/xml",
    "text/xml",
    "text/plain",
    "application/gzip",
    "application/x-gzip",
    "application/octet-stream",
)
HEAVY_BYTES = 200_000
_SITEMAP_NAMES = ("sitemap", "urllist")


class Parsers:
    """A parser for any reply: HTML, sitemaps and what `others` can read; anything else is a ValueError."""

    def __init__(
        self,
        html: HtmlParser | None = None,
        sitemap: SitemapParser | None = None,
        others: Mapping[str, Parser] | None = None,
    ) -> None:
        self.html = html or HtmlParser()
        self.sitemap = sitemap or SitemapParser()
        self.others = others or {}  # by content type
        self.sandbox = Sandbox(self.html.max_links, self.html.robot, others=self.others)

    def parse(self, reply: Reply) -> Page:
        """The page of a reply; ValueError with a short reason if it cannot be read, or would take too long."""
        return self.sandbox.parse(reply) if self.is_heavy(reply) else self.parse_here(reply)

    def is_heavy(self, reply: Reply) -> bool:
        """May parsing take so long that it should be done in the sandbox? Two pages in a hundred are that large."""
        return len(reply.body) > HEAVY_BYTES or is_packed(reply.body)

    def parse_here(self, reply: Reply) -> Page:
        """Like `parse`, but in this process, however long it takes."""
        return self._parser(reply).parse(reply)

    def _parser(self, reply: Reply) -> Parser:
        body = reply.body
        kind = reply.content_type.partition(";")[0].strip().lower()
        if kind in HTML_TYPES and body[:5] != b"<?xml":  # XHTML, or a sitemap with the wrong content type
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
    """Does the last part of the path say that it is a sitemap? Plain lines could be anything."""
    path = (reply.url or reply.link.url).partition("?")[0]
    name = path.rpartition("/")[2].lower()
    return any(word in name for word in _SITEMAP_NAMES)
