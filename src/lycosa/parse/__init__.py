"""From a Reply to a Page: HTML, sitemaps, and formats for which other packages provide parsers."""

from lycosa.parse.by_type import HTML_TYPES, SITEMAP_TYPES, Parsers
from lycosa.parse.guard import Guarded
from lycosa.parse.html import HtmlParser
from lycosa.parse.main_text import main_text
from lycosa.parse.simhash import content_digest, distance, simhash
from lycosa.parse.sitemap import SitemapParser

__all__ = [
    "HTML_TYPES",
    "SITEMAP_TYPES",
    "Guarded",
    "HtmlParser",
    "Parsers",
    "SitemapParser",
    "content_digest",
    "distance",
    "main_text",
    "simhash",
]
