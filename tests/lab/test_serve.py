"""The server speaks HTTP well enough for any crawler, on loopback only, and tells when it was asked what."""

import asyncio
import gzip
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress

import pytest

from lycosa.lab.answer import CLOSE, Answer
from lycosa.lab.generated import GeneratedWeb, Text
from lycosa.lab.serve import Server, encode, main
from lycosa.types import BadInput

WEB = GeneratedWeb(pages=200, hosts=10, ip_hosts=True, text=Text(size_bytes=(2000, 4000)))


class Pages:
    """A site made up in a test, which counts its requests."""

    def __init__(self, **answers: Answer) -> None:
        self.answers = answers
        self.asked: list[tuple[str, Mapping[str, str]]] = []

    def respond(self, url, headers):
        self.asked.append((url, headers))
        return self.answers.get(url.rsplit("/", 1)[1], Answer(status=404, body=b"no"))


async def ask(port: int, *requests: str, ip: str = "127.0.0.1") -> bytes:
    """All that the server sends to one connection until it closes it."""
    reader, writer = await asyncio.open_connection(ip, port)
    writer.write("".join(request.replace("\n", "\r\n") + "\r\n\r\n" for request in requests).encode())
    try:
        return await asyncio.wait_for(reader.read(), 10)
    finally:
        writer.close()


def last(path: str, *headers: str, method: str = "GET") -> str:
    return "\n".join([f"{method} {path} HTTP/1.1", "Host: a.localhost", "Connection: close", *headers])


def body_of(wire: bytes) -> bytes:
    return wire.partition(b"\r\n\r\n")[2]


async def test_a_generated_web_is_served_on_all_its_addresses():
    async with Server(WEB, bind="0.0.0.0") as server:
        for url in WEB.seeds(server.port, 10):
            host = url.split("/")[2]
            wire = await ask(server.port, f"GET / HTTP/1.1\nHost: {host}\nConnection: close", ip=host.partition(":")[0])
            assert wire.startswith(b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n")
            assert body_of(wire) == WEB.page(url).body
            robots = await ask(server.port, f"GET /robots.txt HTTP/1.1\nHost: {host}\nConnection: close")
            assert body_of(robots) == WEB.robots(host).encode()


async def test_a_connection_is_kept_and_requests_are_answered_in_order():
    site = Pages(one=Answer(body=b"1", delay_s=0.01), two=Answer(body=b"22"))
    async with Server(site) as server:
        wire = await ask(
            server.port, *(f"GET /{name} HTTP/1.1\nHost: x" for name in ("one", "two", "one")), last("/two")
        )
    assert [int(part.split(b"\r\n")[0]) for part in wire.split(b"Content-Length: ")[1:]] == [1, 2, 1, 2]
    assert [url for url, _ in site.asked] == ["http://x/one", "http://x/two", "http://x/one", "http://a.localhost/two"]


async def test_requests_may_come_in_pieces():
    async with Server(Pages(page=Answer(body=b"whole"))) as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        for piece in (b"GET /pa", b"ge HTTP/1.1\r\nHo", b"st: x\r\nConnection: close\r", b"\n\r", b"\n"):
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(0)
        assert (await reader.read()).endswith(b"\r\n\r\nwhole")
        writer.close()


async def test_gzip_only_for_those_who_take_it():
    text = b"many words " * 200
    site = Pages(
        long=Answer(body=text), short=Answer(body=b"few"), packed=Answer(headers=(("Content-Encoding", "br"),))
    )
    async with Server(site) as server:
        plain = await ask(server.port, last("/long"))
        packed = await ask(server.port, last("/long", "Accept-Encoding: br, gzip"))
        short = await ask(server.port, last("/short", "Accept-Encoding: gzip"))
    assert body_of(plain) == text
    assert b"Content-Encoding" not in plain
    assert b"Content-Encoding: gzip" in packed
    assert gzip.decompress(body_of(packed)) == text
    assert f"Content-Length: {len(body_of(packed))}\r\n".encode() in packed
    assert body_of(short) == b"few"


def test_what_is_encoded_stays_as_it_is():
    body = b"x" * 1000
    assert encode(Answer(headers=(("content-encoding", "br"),), body=body), True).body == body


async def test_head_tells_the_length_and_sends_no_body():
    async with Server(Pages(page=Answer(body=b"12345"))) as server:
        wire = await ask(server.port, last("/page", method="HEAD"))
    assert wire.endswith(b"Content-Length: 5\r\n\r\n")


async def test_a_failing_page_closes_the_connection_without_a_word():
    async with Server(Pages(page=Answer(CLOSE))) as server:
        with suppress(ConnectionResetError):  # some systems report an orderly end
            assert await ask(server.port, last("/page")) == b""


async def test_status_and_headers_are_the_sites():
    site = Pages(gone=Answer(301, (("Location", "http://b.localhost/"),)), odd=Answer(799))
    async with Server(site) as server:
        moved = await ask(server.port, last("/gone"))
        odd = await ask(server.port, last("/odd"))
    assert moved.startswith(b"HTTP/1.1 301 Moved Permanently\r\nLocation: http://b.localhost/\r\n")
    assert odd.startswith(b"HTTP/1.1 799 Unknown\r\n")


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        ("nonsense", 400),
        ("GET /", 400),
        ("GET / HTTP/1.1", 400),
        ("GET / HTTP/2\nHost: x", 400),
        ("POST / HTTP/1.1\nHost: x\nContent-Length: 3", 405),
        ("CONNECT x:443 HTTP/1.1\nHost: x", 405),
    ],
)
async def test_what_is_no_request_is_refused_and_the_connection_closed(request_, status):
    async with Server(Pages()) as server:
        assert (await ask(server.port, request_)).startswith(f"HTTP/1.1 {status} ".encode())


async def test_an_endless_head_is_refused():
    async with Server(Pages()) as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(b"GET / HTTP/1.1\r\n" + b"X-Long: " + b"x" * 70_000)
        assert (await reader.read()).startswith(b"HTTP/1.1 431 ")
        writer.close()


async def test_http_1_0_is_answered_and_closed():
    async with Server(Pages(page=Answer(body=b"old"))) as server:
        assert (await ask(server.port, "GET /page HTTP/1.0\nHost: x")).endswith(b"\r\n\r\nold")


async def test_it_serves_as_a_proxy():
    site = Pages(page=Answer(body=b"via"))
    async with Server(site) as server:
        wire = await ask(server.port, last("http://example.org/page"))
    assert wire.endswith(b"via")
    assert site.asked[0][0] == "http://example.org/page"


async def test_the_cache_spares_the_site_and_stays_within_its_bounds():
    site = Pages(**{name: Answer(body=b"x" * 400) for name in "abcd"})
    async with Server(site, cache_bytes=1600) as server:
        for name in "aabbaccdd":
            await ask(server.port, last(f"/{name}"))
        assert [url[-1] for url, _ in site.asked] == ["a", "b", "c", "d"]
        await ask(server.port, last("/d"), last("/a"))
        await ask(server.port, last("/a"))
    assert [url[-1] for url, _ in site.asked] == ["a", "b", "c", "d", "a"]


async def test_without_a_cache_the_site_is_asked_each_time():
    site = Pages(a=Answer())
    async with Server(site) as server:
        for _ in range(3):
            await ask(server.port, last("/a"))
    assert len(site.asked) == 3


async def test_the_log_tells_who_was_asked_when():
    lines: list[tuple[float, str, str]] = []
    started = time.monotonic()
    async with Server(Pages(), log=lambda *line: lines.append(line)) as server:
        await ask(server.port, "GET /a/b?c=d HTTP/1.1\nHost: one:80", last("http://two/"))
    assert [(host, path) for _, host, path in lines] == [("one:80", "/a/b?c=d"), ("two", "/")]
    assert started <= lines[0][0] <= lines[1][0] <= time.monotonic()


async def test_a_slow_answer_delays_only_its_own_connection():
    site = Pages(slow=Answer(body=b"slow", delay_s=60), fast=Answer(body=b"fast"))
    async with Server(site) as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(b"GET /slow HTTP/1.1\r\nHost: x\r\n\r\n")
        while not site.asked:
            await asyncio.sleep(0)
        assert (await ask(server.port, last("/fast"))).endswith(b"fast")
    with suppress(ConnectionResetError):
        assert await reader.read() == b""  # closing the server did not wait for the slow one
    writer.close()


async def test_a_client_that_does_not_read_stops_being_answered():
    site = Pages(big=Answer(body=b"x" * 1_000_000))
    async with Server(site) as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port, limit=1000)
        writer.write(b"GET /big HTTP/1.1\r\nHost: x\r\n\r\n" * 49 + b"GET /big HTTP/1.0\r\nHost: x\r\n\r\n")
        await ask(server.port, last("/other"))
        asked = len(site.asked)
        total = 0
        while data := await reader.read(1_000_000):
            total += len(data)
        writer.close()
    assert asked < 30
    assert total > 50_000_000
    assert len(site.asked) == 51


async def test_whoever_comes_from_outside_is_hung_up_on():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # sends nothing; only asks which address we would use
        except OSError:
            pytest.skip("this machine has no address but loopback")
        ip = probe.getsockname()[0]
    if ip.startswith("127."):
        pytest.skip("this machine has no address but loopback")
    site = Pages()
    async with Server(site, bind="0.0.0.0") as server:
        with suppress(ConnectionResetError, BrokenPipeError):
            assert await ask(server.port, last("/page"), ip=ip) == b""
    assert site.asked == []


async def test_a_port_in_use_is_one_clear_line():
    async with Server(Pages()) as server:
        with pytest.raises(BadInput, match=f"cannot serve on 127.0.0.1 port {server.port}: "):
            async with Server(Pages(), port=server.port):
                pass


def test_as_a_process_it_prints_its_port_and_keeps_a_log(tmp_path):
    log = tmp_path / "requests.tsv"
    options = ["--pages", "100", "--hosts", "5", "--ip-hosts", "--size-bytes", "500", "900", "--log", str(log)]
    command = [sys.executable, "-m", "lycosa.lab.serve", *options, "--count", "2", "4", "--cache-mb", "1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        port = int(process.stdout.readline().removeprefix("serving on "))
        wire = asyncio.run(ask(port, f"GET / HTTP/1.1\nHost: 127.0.0.3:{port}\nConnection: close", ip="127.0.0.3"))
        os.kill(process.pid, signal.SIGINT)
        assert process.wait(10) == 0
    assert wire.startswith(b"HTTP/1.1 200 OK")
    assert log.read_text().split("\t")[1:] == [f"127.0.0.3:{port}", "/\n"]


def test_a_web_that_cannot_be_is_one_line_and_exit_code_2(capsys, tmp_path):
    assert main(["--pages", "2", "--hosts", "3"]) == 2
    assert capsys.readouterr().err == "generated web: 2 pages cannot fill 3 hosts\n"
    assert main(["--log", str(tmp_path)]) == 2
    assert str(tmp_path) in capsys.readouterr().err
