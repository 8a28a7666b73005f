"""Whatever is fed to a reader, it answers or refuses in its own words; it never breaks, hangs or grows without end.

Each test mutates a few good documents by a seed number: cut, flipped, repeated, spliced, and salted with what hurts.
The number of examples is fixed, so that all of it takes well under a minute.
"""

import asyncio
import contextlib
import gzip
import os
import random
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lycosa import config
from lycosa.decode import Incomplete, TooLarge, decode
from lycosa.fetch.http import Http
from lycosa.fetch.robots import Rules
from lycosa.ontology import read as read_ontology
from lycosa.parse import Parsers
from lycosa.store.warc import WarcWriter
from lycosa.store.warc_reader import read_record, read_responses, to_response
from lycosa.types import BadInput, Exchange, Link, Page, Reply

EXAMPLES = int(os.environ.get("LYCOSA_FUZZ_EXAMPLES", 400))
URL = "http://e.org/sitemap.xml"
SEEDS = st.integers(0, 1 << 32)
SALT = [
    b"\0",
    b"\xff\xfe",
    b"\xed\xa0\x80",
    b"\x1b[2J",
    b"<",
    b">",
    b"&#2;",
    b"&#x110000;",
    b'"',
    b"'",
    b"=",
    b"*" * 50,
    b"]]>",
]
SALT += [
    b"<!--",
    b"<script>",
    b"<svg><style>",
    b"<html a>",
    b"<table>",
    b"<a href=",
    b"\r\n",
    b"-1",
    b"99999999999999999999",
    b"%00",
]

HTML = b"""<!doctype html><html lang=en><head><meta charset=utf-8><title>a title</title><base href=/b/>
<link rel=canonical href=x><meta name=robots content="nofollow"></head><body><p>some <b>words <a href="x?y=1#z">link</a>
<table><tr><td>1<td>2</table><select><option>o</select><script>if (a < b) "</scr"</script><iframe src=f></iframe>"""
SITEMAP = b"""<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
<url><loc>http://e.org/1</loc><lastmod>2020-01-01</lastmod></url><url><loc>http://e.org/2?a=1&amp;b=2</loc></url></urlset>"""
ROBOTS = b"User-agent: *\nDisallow: /private/*\nAllow: /private/ok$\nCrawl-delay: 2\nSitemap: http://e.org/s.xml\n"
TOML = b"""seeds = ["http://e.org/"]
[topic]
kind = "keywords"
words = ["spider"]
[scope]
domains = ["e.org"]
exclude = ["x+"]
max_depth = 3
[fetch]
delay_s = 1.5
user_agent = "Lycosa/0.1"
"""
CARS = Path(__file__).parent.parent / "ontology" / "cars"


def mutated(seed: int, *documents: bytes) -> bytes:
    """One of the documents, damaged; the same for the same seed."""
    chance = random.Random(seed)
    data = bytearray(chance.choice(documents))
    for _ in range(chance.randint(0, 8)):
        start = chance.randrange(len(data) + 1)
        end = min(len(data), start + chance.choice([1, 1, 4, 40, 400]))
        match chance.randrange(6):
            case 0:
                del data[start:end]
            case 1:
                data[start:end] = chance.randbytes(end - start)
            case 2:
                data[start:start] = data[start:end] * chance.choice([1, 3, 200])
            case 3:
                data[start:start] = chance.choice(SALT) * chance.choice([1, 2, 100])
            case 4:
                other = chance.choice(documents)
                data[start:start] = other[chance.randrange(len(other)) :]
            case 5 if start < len(data):
                data[start] ^= 1 << chance.randrange(8)
    return bytes(data[:100_000])


@contextlib.contextmanager
def may_refuse(words: str = "") -> Iterator[None]:
    """A refusal is one line that says so."""
    said = words
    try:
        yield
    except BadInput as error:
        said = str(error)
    assert words in said
    assert len(said.splitlines()) <= 1


def fuzz(test: Callable[..., None]) -> Callable[..., None]:
    return settings(max_examples=EXAMPLES, deadline=None, database=None)(given(seed=SEEDS)(test))


PARSERS = Parsers()


@fuzz
def test_pages(seed: int) -> None:
    body = mutated(seed, HTML, HTML.decode().encode("utf-16"), HTML * 20)
    page = PARSERS.parse(Reply(Link(URL), url=URL, content_type="text/html", body=body))
    assert isinstance(page, Page)
    assert all(link.url.startswith(("http://", "https://")) for link in page.links)
    for link in page.links:
        assert 0 <= link.start <= link.end <= len(page.words)


@fuzz
def test_sitemaps(seed: int) -> None:
    body = mutated(seed, SITEMAP, gzip.compress(SITEMAP, mtime=0), b"http://e.org/1\nhttp://e.org/2\n")
    try:
        page = PARSERS.parse_here(Reply(Link(URL), url=URL, content_type="text/xml", body=body))
    except ValueError:
        return
    assert all(".e.org/" in f".{seed.url[7:]}" for seed in page.listed)


@fuzz
def test_robots(seed: int) -> None:
    rules = Rules(mutated(seed, ROBOTS, ROBOTS * 5), "lycosa", "rules", 0.0)
    assert rules.allows("http://e.org/private/x") in (True, False)
    assert rules.crawl_delay_s >= 0.0


@pytest.mark.parametrize("name", ["cars.xtm", "cars-1.xtm", "cars.rdf", "cars.ttl", "cars.jsonld"])
def test_ontologies(name: str, tmp_path: Path) -> None:
    good = (CARS / name).read_bytes()
    for seed in range(EXAMPLES // 5):
        path = tmp_path / name
        path.write_bytes(mutated(seed, good))
        with may_refuse():
            read_ontology(path)


def recorded(folder: Path) -> bytes:
    writer = WarcWriter(folder)
    writer.open()
    for number in range(3):
        head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n" + (b"Content-Encoding: gzip\r\n" if number else b"")
        body = gzip.compress(HTML, mtime=0) if number else HTML
        writer.write([Exchange(f"http://e.org/{number}", b"GET / HTTP/1.1\r\n\r\n", head + b"\r\n", body, 1.0)])
    writer.close()
    return (folder / "lycosa-00001.warc.gz").read_bytes()


def test_warcs(tmp_path: Path) -> None:
    packed = recorded(tmp_path / "good")
    for seed in range(EXAMPLES):
        path = tmp_path / "x.warc.gz"
        path.write_bytes(mutated(seed, packed, gzip.decompress(packed)))
        with may_refuse("cannot be read as a WARC after byte"):
            for response in read_responses(path):
                assert response.url.startswith(("http://", "https://"))
        with may_refuse("no complete record at byte"):
            to_response(read_record(path, seed % 2_000))


def test_configurations(tmp_path: Path) -> None:
    for seed in range(EXAMPLES):
        (tmp_path / config.NAME).write_bytes(mutated(seed, TOML))
        with may_refuse():
            config.load(tmp_path)


@fuzz
def test_encoded_bodies(seed: int) -> None:
    encoding = random.Random(seed).choice(["gzip", "deflate", "br", "zstd", "gzip, br", "\0", "x" * 100])
    with contextlib.suppress(ValueError, TooLarge, Incomplete):
        assert len(decode(mutated(seed, gzip.compress(HTML * 50, mtime=0), HTML), encoding, 100_000)) <= 100_000


REPLY = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\nSet-Cookie: a=b\r\n\r\n%b" % (
    len(HTML),
    HTML,
)
CHUNKED = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n<p>\r\n0\r\n\r\n"
MOVED = b"HTTP/1.1 301 Moved\r\nLocation: /elsewhere?x=1\r\nContent-Length: 0\r\nRetry-After: 3\r\n\r\n"


async def test_http_replies(server: Any) -> None:
    answers = iter([mutated(seed, REPLY, CHUNKED, MOVED) for seed in range(EXAMPLES)])

    async def handle(path: str, headers: dict[str, str], writer: asyncio.StreamWriter) -> None:
        writer.write(next(answers, REPLY))
        await writer.drain()
        writer.close()

    server.handle = handle
    http = Http(config.Fetch(allow_private=True, total_s=5.0, max_bytes=50_000), time.time)
    await http.open()
    try:
        for _ in range(EXAMPLES):
            reply = await http.fetch(Link(f"{server.url}/"))
            assert isinstance(reply, Reply)
            assert reply.error or reply.status
            assert len(reply.body) <= 50_000
    finally:
        await http.close()
