"""Read sitemaps: XML, an index of other sitemaps, or plain lines, each of them gzipped or not.

Sitemaps are not trusted: they are read as a stream and within limits, entities are refused, and a sitemap may only list
URLs of its own host and its subdomains.
"""

import re
import zlib
from collections.abc import Iterable, Iterator
from xml.parsers import expat

from lycosa.parse.charset import to_utf8
from lycosa.types import Link, Origin, Page, Reply
from lycosa.urls import canonical, hostname

_GZIP = b"\x1f\x8b"
_CHUNK_BYTES = 65_536
_HEAD_BYTES = 4_096
_LONGEST_URL = 10_000
_MOST_NESTED = 2  # the protocol allows one index above the sitemaps; each level counts as a click
SITEMAP_ROOTS = ("urlset", "sitemapindex")
_first_tag = re.compile(
    rb"\s*+(?>(?><\?(?>.*?\?>)|<!--(?>.*?-->)|<![^>]*+>)\s*+)*+<([\w:.-]++)", re.DOTALL
).match  # possessive, because a head made of empty instructions would take forever otherwise


class SitemapParser:
    """From a sitemap to a Page with the URLs it lists. The limits are those of the sitemap protocol."""

    def __init__(self, max_urls: int = 50_000, max_bytes: int = 50 << 20, max_depth: int = 16) -> None:
        self.max_urls = max_urls
        self.max_bytes = max_bytes  # unpacked
        self.max_depth = max_depth  # of the XML

    def parse(self, reply: Reply) -> Page:
        """The URLs of a sitemap; ValueError if it is not one. What follows a limit or an error is ignored."""
        if reply.link.depth > _MOST_NESTED:
            raise ValueError("sitemaps nested too deeply")
        url = reply.url or reply.link.url
        chunks = unpacked(reply.body, self.max_bytes)
        found = self._in_xml(chunks) if root_element(reply.body) in SITEMAP_ROOTS else _in_lines(b"".join(chunks))
        sites = tuple(map(_site, _speaks_for(reply)))
        listed: dict[str, Link] = {}
        for address in map(canonical, found):
            if address and len(address) <= _LONGEST_URL and f".{hostname(address)}".endswith(sites):
                found_here = Link(address, source=url, depth=reply.link.depth + 1, origin=Origin.SITEMAP)
                listed.setdefault(address, found_here)
                if len(listed) >= self.max_urls:
                    break
        if not listed:
            raise ValueError("a sitemap without URLs")
        return Page(url=url, listed=tuple(listed.values()))

    def _in_xml(self, chunks: Iterable[bytes]) -> Iterator[str]:
        """The URLs of an XML sitemap, as written."""
        reader = _Reader(self.max_depth)
        any_found = False
        try:
            for chunk in chunks:
                reader.read(chunk)
                any_found = any_found or bool(reader.found)
                yield from reader.found
                reader.found.clear()
            reader.read(b"", is_last=True)
        except (expat.ExpatError, ValueError) as error:
            if not (any_found or reader.found):
                raise ValueError(f"broken sitemap: {error}") from error
            yield from reader.found


def _speaks_for(reply: Reply) -> list[str]:
    """The URLs whose hosts a sitemap may speak for: where it was found, and where it was looked up. The latter only if
    a seed, a robots.txt or the host itself led there: anyone can link to someone else's open redirect."""
    link = reply.link
    if link.origin == Origin.ROBOTS:  # which named the host it is about
        return [reply.url or link.url, link.url, link.anchor]
    from_stranger = link.source and not f".{hostname(link.url)}".endswith(_site(link.source))
    return [reply.url or link.url] if from_stranger else [reply.url or link.url, link.url]


def _site(url: str) -> str:
    """The suffix shared by the names of a host and its subdomains, without www."""
    return "." + hostname(url).removeprefix("www.")


class _Reader:
    """Collects the <loc> of every <url> and <sitemap>. Prefixes are ignored: many sitemaps forget to declare them."""

    def __init__(self, max_depth: int) -> None:
        self.max_depth = max_depth
        self.found: list[str] = []
        self._open: list[str] = []
        self._location: list[str] | None = None
        self._expat = expat.ParserCreate()
        self._expat.buffer_text = True
        self._expat.StartElementHandler = self._start
        self._expat.EndElementHandler = self._end
        self._expat.CharacterDataHandler = self._text
        self._expat.EntityDeclHandler = self._entity

    def read(self, chunk: bytes, is_last: bool = False) -> None:
        self._expat.Parse(chunk, is_last)

    def _start(self, name: str, _: dict[str, str]) -> None:
        if len(self._open) >= self.max_depth:
            raise ValueError(f"elements nested more than {self.max_depth} deep")
        self._open.append(name.rpartition(":")[2])
        if self._open[2:] == ["loc"] and self._open[1] in ("url", "sitemap"):
            self._location = []

    def _text(self, data: str) -> None:
        if self._location is not None:
            self._location.append(data)

    def _end(self, _: str) -> None:
        self._open.pop()
        if self._location is not None:
            self.found.append("".join(self._location).strip())
            self._location = None

    def _entity(self, *_: object) -> None:
        raise ValueError("entities are refused")


def _in_lines(data: bytes) -> list[str]:
    """The URLs of a plain sitemap, one per line."""
    found = [
        line for line in to_utf8(data).decode("utf-8", "replace").split() if line.startswith(("http://", "https://"))
    ]
    if not found:
        raise ValueError("not a sitemap: neither XML nor URLs")
    return found


def root_element(body: bytes) -> str:
    """The name of the first element, without prefix; empty if it does not start like XML. Gzip is unpacked."""
    head = b"".join(unpacked(body, _HEAD_BYTES))
    found = _first_tag(to_utf8(head))
    return found[1].rpartition(b":")[2].decode().lower() if found else ""


def is_packed(body: bytes) -> bool:
    """Is it gzip?"""
    return body[:2] == _GZIP


def unpacked(body: bytes, most: int) -> Iterator[bytes]:
    """The body in chunks, up to `most` bytes, unpacked if it is gzip; what cannot be unpacked is ignored."""
    if not is_packed(body):
        body = body[:most].lstrip()  # white space before the XML declaration is a common mistake
        yield from (body[at : at + _CHUNK_BYTES] for at in range(0, len(body), _CHUNK_BYTES))
        return
    stream = zlib.decompressobj(wbits=31)
    rest = body
    while most > 0 and rest and not stream.eof:
        try:
            chunk = stream.decompress(rest, min(most, _CHUNK_BYTES))
        except zlib.error:
            return
        most -= len(chunk)
        rest = stream.unconsumed_tail
        yield chunk
