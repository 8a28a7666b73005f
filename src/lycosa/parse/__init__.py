"""From a Reply to a Page: HTML and sitemaps."""

from lycosa.parse.by_type import SITEMAP_TYPES, Parsers
from lycosa.parse.guard import Guarded
from lycosa.parse.html import HtmlParser
from lycosa.parse.main_text import main_text
from lycosa.parse.simhash import content_digest, distance, simhash
from lycosa.parse.sitemap import SitemapParser

__all__ = [
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
