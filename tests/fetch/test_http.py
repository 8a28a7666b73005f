"""One request, one reply, whatever the server does."""

import asyncio
import gzip
import random
import socket
import time
import zlib
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import brotli
import pytest
import zstandard

from lycosa import config, urls
from lycosa.fetch.http import ANY, Http
from lycosa.types import Link, Reply

PAGE = b"<html><title>wolf spiders</title><p>" + b"They hunt by night. " * 200


@pytest.fixture
async def http() -> AsyncIterator[Http]:
    async for client in opened():
        yield client


async def opened(resolver: Any = None, now: Any = time.time, **rules: Any) -> AsyncIterator[Http]:
    settings = {"allow_private": True, "max_bytes": 100_000, **rules}
    client = Http(config.Fetch(**settings), now, resolver)
    await client.open()
    try:
        yield client
    finally:
        await client.close()


async def fetch(url: str, **rules: Any) -> Reply:
    async for client in opened(**rules):
        return await client.fetch(Link(url))
    raise AssertionError


async def test_a_page(server: Any, http: Http, answer: Any) -> None:
    server.handle = answer(PAGE, X_Robots_Tag="nofollow")
    reply = await http.fetch(Link(f"{server.url}/a%20b?c=d"))
    assert (reply.status, reply.error, reply.body, reply.content_type) == (200, "", PAGE, "text/html")
    assert reply.robots_tag == "nofollow"
    assert reply.at > 0
    assert reply.seconds > 0
    path, headers = server.requests[0]
    assert path == "/a%20b?c=d"
    assert headers["user-agent"] == "Lycosa/0.1"


async def test_the_exchange_is_kept_as_it_went_over_the_wire(server: Any, http: Http, answer: Any) -> None:
    packed = gzip.compress(PAGE)
    server.handle = answer(packed, Content_Encoding="gzip", X_Odd="ä")
    reply = await http.fetch(Link(f"{server.url}/x"))
    (exchange,) = reply.exchanges
    assert reply.body == PAGE
    assert exchange.payload == packed
    assert exchange.request.startswith(b"GET /x HTTP/1.1\r\nHost: 127.0.0.1")
    assert exchange.request.endswith(b"\r\n\r\n")
    assert exchange.head.startswith(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n")
    assert b"Content-Encoding: gzip\r\n" in exchange.head
    assert exchange.ip == "127.0.0.1"


async def test_the_head_that_is_kept_has_no_transfer_encoding(server: Any, http: Http) -> None:
    async def handle(path: str, headers: Any, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\ntransfer-Encoding: chunked\r\nX: y\r\n\r\n")
        writer.write(b"5\r\nhello\r\n0\r\n\r\n")

    server.handle = handle
    reply = await http.fetch(Link(server.url + "/"))
    assert reply.exchanges[0].head == b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nX: y\r\n\r\n"
    assert reply.exchanges[0].payload == reply.body == b"hello"


async def test_connections_are_used_again(server: Any, http: Http, answer: Any) -> None:
    server.handle = answer(PAGE)
    for number in range(5):
        await http.fetch(Link(f"{server.url}/{number}"))
    assert server.connections == 1


@pytest.mark.parametrize(
    ("name", "pack"),
    [
        ("gzip", gzip.compress),
        ("x-gzip", lambda body: gzip.compress(body[:500]) + gzip.compress(body[500:])),
        ("deflate", zlib.compress),
        ("deflate", lambda body: zlib.compress(body)[2:-4]),
        ("br", brotli.compress),
        ("zstd", zstandard.compress),
        ("deflate, gzip", lambda body: gzip.compress(zlib.compress(body))),
        ("identity", bytes),
    ],
)
async def test_content_encodings(server: Any, http: Http, answer: Any, name: str, pack: Any) -> None:
    server.handle = answer(pack(PAGE), Content_Encoding=name)
    reply = await http.fetch(Link(server.url + "/"))
    assert (reply.error, reply.body) == ("", PAGE)


@pytest.mark.parametrize(
    ("name", "pack"),
    [
        ("gzip", gzip.compress),
        ("gzip", lambda body: gzip.compress(body[:500]) + gzip.compress(body[500:])),
        ("deflate", zlib.compress),
        ("deflate", lambda body: zlib.compress(body)[2:-4]),
        ("br", brotli.compress),
        ("zstd", zstandard.compress),
        ("zstd", lambda body: zstandard.compress(body[:500]) + zstandard.compress(body[500:])),
        ("deflate, gzip", lambda body: gzip.compress(zlib.compress(body)[:-9])),
    ],
)
@pytest.mark.parametrize("kept", [0.3, 0.5, 0.9])
async def test_half_a_packed_body_is_no_page(
    server: Any, http: Http, answer: Any, name: str, pack: Any, kept: float
) -> None:
    whole = pack(PAGE + random.Random(1).randbytes(20_000))
    server.handle = answer(whole[: int(len(whole) * kept)], Content_Encoding=name)  # the length fits what is sent
    reply = await http.fetch(Link(server.url + "/"))
    assert (reply.error, reply.body) == ("incomplete", b"")


@pytest.mark.parametrize("pack", [gzip.compress, brotli.compress, zstandard.compress, zlib.compress])
async def test_of_a_packed_body_that_is_too_large_the_start_can_be_had(
    server: Any, http: Http, answer: Any, pack: Any
) -> None:
    name = {gzip.compress: "gzip", brotli.compress: "br", zstandard.compress: "zstd"}.get(pack, "deflate")
    body = random.Random(1).randbytes(300_000)
    server.handle = answer(pack(body), Content_Encoding=name)
    reply = await http.fetch(Link(server.url + "/"), ANY, 200_000)
    assert reply.error == "too-large"
    assert reply.body
    assert body.startswith(reply.body)


async def test_zstd_of_countless_frames_is_refused(server: Any, http: Http, answer: Any) -> None:
    server.handle = answer(zstandard.compress(b"") * 3_000 + zstandard.compress(b"x"), Content_Encoding="zstd")
    reply = await http.fetch(Link(server.url + "/"))
    assert (reply.error, reply.detail) == ("decode", "too many zstd frames")


@pytest.mark.parametrize("name", ["gzip", "br", "zstd", "deflate"])
async def test_an_empty_body_is_empty_in_any_encoding(server: Any, http: Http, answer: Any, name: str) -> None:
    server.handle = answer(b"", Content_Encoding=name)
    assert (await http.fetch(Link(server.url + "/"))).error == "empty"


@pytest.mark.parametrize("pack", [gzip.compress, brotli.compress, zstandard.compress, zlib.compress])
async def test_a_bomb_is_not_unpacked(server: Any, http: Http, answer: Any, pack: Any) -> None:
    name = {gzip.compress: "gzip", brotli.compress: "br", zstandard.compress: "zstd"}.get(pack, "deflate")
    server.handle = answer(pack(bytes(20_000_000)), Content_Encoding=name)
    reply = await http.fetch(Link(server.url + "/"))
    assert reply.error == "too-large"
    assert len(reply.body) <= 100_000


@pytest.mark.parametrize("name", ["gzip", "br", "zstd", "deflate", "compress"])
async def test_a_damaged_body_is_named(server: Any, http: Http, answer: Any, name: str) -> None:
    server.handle = answer(b"this is not packed at all", Content_Encoding=name)
    reply = await http.fetch(Link(server.url + "/"))
    assert reply.error == "decode"
    assert name in reply.detail


async def test_a_large_page_is_refused_by_its_length_before_it_is_read(server: Any, http: Http) -> None:
    async def handle(path: str, headers: Any, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 50000000\r\n\r\n")

    server.handle = handle
    reply = await http.fetch(Link(server.url + "/"))
    assert reply.error == "too-large"


async def test_an_endless_body_is_left(server: Any, http: Http) -> None:
    sent = 0

    async def handle(path: str, headers: Any, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n")
        while not writer.is_closing():
            writer.write(b"2710\r\n" + b"a" * 10_000 + b"\r\n")
            sent += 10_000
            await writer.drain()

    server.handle = handle
    reply = await http.fetch(Link(server.url + "/"))
    assert reply.error == "too-large"
    assert sent < 20_000_000


async def test_only_wanted_content_types_are_read(server: Any, http: Http, answer: Any) -> None:
    server.handle = answer(b"%PDF-1.7" * 10, Content_Type="application/pdf")
    reply = await http.fetch(Link(server.url + "/"))
    assert (reply.error, reply.detail, reply.exchanges[0].payload) == ("content-type", "application/pdf", b"")
    server.handle = answer(PAGE, Content_Type="Text/HTML; Charset=x")
    assert (await http.fetch(Link(server.url + "/"))).error == ""
    server.handle = answer(PAGE, Content_Type="-")  # a missing one may be a page
    assert (await http.fetch(Link(server.url + "/"))).error == ""


async def test_slow_drip_ends_at_the_total_time(server: Any, let_pass: Any) -> None:
    async def handle(path: str, headers: Any, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 1000\r\n\r\n")
        while not writer.is_closing():
            writer.write(b"a")
            await writer.drain()
            let_pass(1.0)
            await asyncio.sleep(0)

    server.handle = handle
    reply = await fetch(server.url + "/", read_s=1_000.0, total_s=60.0)
    assert reply.error == "timeout"


async def test_a_server_that_says_nothing(server: Any, let_pass: Any) -> None:
    silent = asyncio.Event()

    async def handle(path: str, headers: Any, writer: asyncio.StreamWriter) -> None:
        let_pass(30.0)
        await silent.wait()

    server.handle = handle
    reply = await fetch(server.url + "/", read_s=20.0)
    silent.set()
    assert reply.error == "timeout"


@pytest.mark.parametrize(
    ("head", "kind"),
    [
        (b"HTTP/1.1 200 OK\r\nX-Long: " + b"a" * 100_000 + b"\r\n\r\n", "protocol"),
        (b"HTTP/1.1 200 OK\r\n" + b"".join(b"X-%d: y\r\n" % n for n in range(100_000)) + b"\r\n", "protocol"),
        (b"\x00\x01\x02 no http at all\r\n\r\n", "protocol"),
        (b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: -5\r\n\r\n", "protocol"),
        (b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 500\r\n\r\nshort", "incomplete"),
        (b"", "disconnected"),
    ],
)
async def test_broken_answers(server: Any, http: Http, head: bytes, kind: str) -> None:
    async def handle(path: str, headers: Any, writer: asyncio.StreamWriter) -> None:
        writer.write(head)
        writer.close()

    server.handle = handle
    reply = await http.fetch(Link(server.url + "/"))
    assert reply.error == kind
    assert "\n" not in reply.detail


@pytest.mark.parametrize(("fields", "error"), [(7, "http-302"), (9, "protocol"), (100, "protocol")])
async def test_the_head_of_an_answer_is_bounded(server: Any, http: Http, fields: int, error: str) -> None:
    async def handle(path: str, headers: Any, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 302 Found\r\nLocation: /there\r\nContent-Length: 0\r\n")
        writer.write(b"".join(b"X-%d: " % number + b"a" * 8_000 + b"\r\n" for number in range(fields)) + b"\r\n")

    server.handle = handle
    reply = await http.fetch(Link(server.url + "/"))
    assert reply.error == error
    assert sum(len(exchange.head) for exchange in reply.exchanges) <= 65_536


async def test_a_body_longer_than_its_content_length(server: Any, http: Http) -> None:
    async def handle(path: str, headers: Any, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 5\r\n\r\nhello and much more")

    server.handle = handle
    first = await http.fetch(Link(server.url + "/1"))
    second = await http.fetch(Link(server.url + "/2"))  # what was left over must not answer the next request
    assert first.body in (b"hello", b"")
    assert second.body in (b"hello", b"")


@pytest.mark.parametrize(
    ("status", "error"), [("404 Not Found", "http-404"), ("503 Busy", "http-503"), ("301 Moved", "http-301")]
)
async def test_statuses_are_errors_with_their_number(
    server: Any, http: Http, answer: Any, status: str, error: str
) -> None:
    server.handle = answer(b"sorry", status, Retry_After="17", Location="/there")
    reply = await http.fetch(Link(server.url + "/"))
    assert (reply.error, reply.wait_s, reply.detail) == (error, 17.0, "/there")
    assert reply.exchanges[0].payload == b"sorry"


async def test_retry_after_as_a_date(server: Any, http: Http, answer: Any) -> None:
    date = "Tue, 14 Nov 2023 22:15:00 GMT"
    server.handle = answer(b"", "503 Busy", Retry_After=date)
    assert (await fetch(server.url + "/", now=lambda: 1_700_000_000.0)).wait_s == 100
    server.handle = answer(b"", "503 Busy", Retry_After="soon")
    assert (await http.fetch(Link(server.url + "/"))).wait_s == 0


async def test_nobody_listens() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        reply = await fetch(f"http://127.0.0.1:{free.getsockname()[1]}/")
    assert reply.error == "connect"


class Resolver(aiohttp.abc.AbstractResolver):
    """A name server that tests can teach."""

    def __init__(self, **names: str) -> None:
        self.names = names
        self.asked = 0

    async def resolve(self, host: str, port: int = 0, family: Any = socket.AF_INET) -> Any:
        self.asked += 1
        if host not in self.names:
            raise OSError(None, "no such name")
        address = self.names[host]
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        return [{"hostname": host, "host": address, "port": port, "family": family, "proto": 0, "flags": 0}]

    async def close(self) -> None:
        pass


async def test_a_name_that_does_not_exist() -> None:
    assert (await fetch("http://nowhere.example/", resolver=Resolver())).error == "dns"


async def test_names_are_remembered(server: Any, answer: Any) -> None:
    server.handle = answer(PAGE, Connection="close")
    resolver = Resolver(**{"a.example": "127.0.0.1"})
    async for http in opened(resolver):
        for _ in range(3):
            assert (await http.fetch(Link(f"http://a.example:{server.port}/"))).error == ""
    assert resolver.asked == 1


@pytest.mark.parametrize(
    "address",
    ["127.0.0.1", "10.1.2.3", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "::1", "fe80::1", "fec0::1"],
)
async def test_a_name_that_leads_to_a_private_address(server: Any, address: str) -> None:
    resolver = Resolver(**{"trap.example": address})
    reply = await fetch(f"http://trap.example:{server.port}/", resolver=resolver, allow_private=False)
    assert reply.error == "private-address"
    assert server.connections == 0


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "x.localhost", "2130706433", "[::1]", "[::ffff:127.0.0.1]"])
async def test_private_addresses_are_refused_however_they_are_written(server: Any, host: str) -> None:
    reply = await fetch(urls.canonical(f"http://{host}:{server.port}/"), allow_private=False)
    assert reply.error == "private-address"
    assert server.connections == 0


@pytest.mark.parametrize("name", ["cooking.localhost", "cooking.localhost."])
async def test_names_below_localhost_are_this_machine(server: Any, answer: Any, name: str) -> None:
    server.handle = answer(PAGE)
    reply = await fetch(f"http://{name}:{server.port}/", resolver=Resolver())
    assert reply.error == ""
    assert server.requests[0][1]["host"].startswith("cooking.localhost")


async def test_through_a_proxy_the_whole_url_is_asked(server: Any, answer: Any) -> None:
    server.handle = answer(PAGE)
    reply = await fetch("http://example.org/x", proxy=server.url, allow_private=False, resolver=Resolver())
    assert reply.error == ""
    assert server.requests[0][0] == "http://example.org/x"


async def test_gzip_of_countless_members_is_refused(server: Any, http: Http, answer: Any) -> None:
    server.handle = answer(gzip.compress(b"") * 3_000 + gzip.compress(b"x"), Content_Encoding="gzip")
    reply = await http.fetch(Link(server.url + "/"))
    assert (reply.error, reply.detail) == ("decode", "too many gzip members")


async def test_an_answer_without_a_body_is_no_page(server: Any, http: Http, answer: Any) -> None:
    server.handle = answer(b"")
    assert (await http.fetch(Link(server.url + "/"))).error == "empty"
