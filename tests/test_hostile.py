"""A hostile server stops, stalls and bloats nothing, and `lycosa show` reports what it did by kind."""

import asyncio
import gzip
import json
import socket
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from lycosa import config
from lycosa.clock import WallClock
from lycosa.fetch import address
from lycosa.run import Run

Write = Callable[[asyncio.StreamWriter, str], Awaitable[None]]
GOOD = "<title>good</title><p>a wolf spider hunts at night</p>"
MOST_SECONDS = 60.0  # a crawl that stalls fails here instead of hanging


def http(body: bytes, status: str = "200 OK", **headers: str) -> bytes:
    lines = {"Content-Type": "text/html", "Content-Length": str(len(body)), "Connection": "close"}  # as it is, below
    lines |= {name.replace("_", "-"): value for name, value in headers.items()}
    return (
        f"HTTP/1.1 {status}\r\n{''.join(f'{k}: {v}{chr(13)}{chr(10)}' for k, v in lines.items())}\r\n".encode() + body
    )


def says(answer: bytes) -> Write:
    async def write(writer: asyncio.StreamWriter, path: str) -> None:
        writer.write(answer)

    return write


async def endless_redirect(writer: asyncio.StreamWriter, path: str) -> None:
    writer.write(http(b"", "302 Found", Location=path + "x"))


async def slow_drip(writer: asyncio.StreamWriter, path: str) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 1000000\r\n\r\n")
    while not writer.is_closing():
        writer.write(b"<p>")
        await writer.drain()
        await asyncio.sleep(0.05)  # the drip itself


async def header_flood(writer: asyncio.StreamWriter, path: str) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\n")
    for number in range(1_000_000):
        if writer.is_closing():
            return
        writer.write(b"X-%d: flood flood flood\r\n" % number)
        if number % 1_000 == 0:
            await writer.drain()


async def endless_body(writer: asyncio.StreamWriter, path: str) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n")
    while not writer.is_closing():
        writer.write(b"2710\r\n" + b"a" * 10_000 + b"\r\n")
        await writer.drain()


async def calendar(writer: asyncio.StreamWriter, path: str) -> None:
    """Every month links to the next, by query and by a path that grows."""
    month = int(path.partition("month=")[2] or 0)
    links = f'<a href="/hostile?month={month + 1}">next</a> <a href="{path.split("?")[0]}/next/">deeper</a>'
    writer.write(http(f"<p>wolf spider month {month} {path}</p>{links}".encode()))


MANY = b"<p>wolf spider" + b"".join(b'<a href="/missing/%d">n%d</a> ' % (n, n) for n in range(100_000))
POISON = b"<p>wolf spider" + b"".join(b"<html a%d>" % number for number in range(90_000))
NAMES = b"".join(b"<img a%d>" % number for number in range(350_000))  # each name is compared with hundreds of others
DEEP = b"<div>" * 100_000 + b"<a href='/good'>x</a>"
CASES: dict[str, tuple[Write, str, dict[str, Any]]] = {
    # name: what the server does with /hostile, the kind `show` tells it under, further settings
    "endless redirect": (endless_redirect, "redirect-limit", {}),
    "gzip bomb": (says(http(gzip.compress(bytes(300_000_000)), Content_Encoding="gzip")), "too-large", {}),
    "slow drip": (slow_drip, "timeout", {"fetch.total_s": 3}),
    "header flood": (header_flood, "protocol", {}),
    "wrong content length": (
        says(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 500\r\nConnection: close\r\n\r\nshort"),
        "incomplete",
        {},
    ),
    "endless body": (endless_body, "too-large", {}),
    "page of 50 MB": (says(http(b"a" * 50_000_000)), "too-large", {}),
    "page that takes minutes to parse": (says(http(NAMES)), "parse-budget", {"fetch.max_bytes": 5_000_000}),
    "no http": (says(b"\x00\x01 who are you?\r\n\r\n"), "protocol", {}),
}


@pytest.fixture
def crawl(server: Any, tmp_path: Path) -> Callable[..., Awaitable[dict[str, Any]]]:
    """Crawl /hostile and /good with the real command line; the report of `show --json`."""

    async def run(hostile: Write, robots: bytes = http(b"", "404 No"), **settings: Any) -> dict[str, Any]:
        async def handle(path: str, headers: dict[str, str], writer: asyncio.StreamWriter) -> None:
            if path == "/robots.txt":
                writer.write(robots)
            elif path.startswith("/hostile"):
                await hostile(writer, path)
                await writer.drain()
                if path == "/hostile":  # what came may have broken the connection's framing
                    writer.close()
            else:
                writer.write(http(GOOD.encode() if path == "/good" else b"", "200 OK" if path == "/good" else "404 No"))

        server.handle = handle
        folder = tmp_path / "crawl"
        folder.mkdir()
        (folder / "crawl.toml").write_text(
            f"""
            seeds = ["{server.url}/hostile", "{server.url}/good"]
            topic = {{ kind = "keywords", words = ["wolf spider"] }}
            limits = {{ pages = 150 }}
            [fetch]
            delay_s = 0.0
            delay_factor = 0.0
            allow_private = true
            retries = 0
            backoff_s = 0.0
            max_bytes = 3000000
            """
        )
        overrides = [part for key, value in settings.items() for part in ("--set", f"{key}={value}")]
        summary = await lycosa("crawl", str(folder), "--json", *overrides)
        assert summary["rss_mb"] < 400, "a page bloated the crawl"
        return summary | {"report": await lycosa("show", str(folder), "--json")}

    return run


async def lycosa(*arguments: str) -> dict[str, Any]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "lycosa", *arguments), stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    try:
        out, errors = await asyncio.wait_for(process.communicate(), MOST_SECONDS)
    except TimeoutError:
        process.kill()
        raise AssertionError("the crawl stalled") from None
    assert process.returncode in (0, 1), errors.decode()
    assert b"Traceback" not in errors
    told: dict[str, Any] = json.loads(out)
    assert process.returncode == (arguments[0] == "crawl" and not told["pages"])  # 1: not a single page
    return told


@pytest.mark.parametrize("name", CASES)
async def test_it_is_told_under_its_kind_and_the_rest_goes_on(name: str, crawl: Any) -> None:
    hostile, kind, settings = CASES[name]
    summary = await crawl(hostile, **settings)
    assert summary["report"]["errors"] == {kind: 1}
    assert summary["pages"] == 1  # the good one


class Names(aiohttp.abc.AbstractResolver):
    """A name server on which trap.example is a private address."""

    async def resolve(self, host: str, port: int = 0, family: Any = socket.AF_INET) -> Any:
        address = {"public.example": "127.0.0.1", "trap.example": "10.1.2.3"}[host]
        return [{"hostname": host, "host": address, "port": port, "family": family, "proto": 0, "flags": 0}]

    async def close(self) -> None:
        pass


@pytest.mark.parametrize("target", ["http://10.1.2.3/", "http://trap.example/", "http://[::ffff:169.254.169.254]/"])
@pytest.mark.parametrize("by", ["redirect", "link"])
async def test_private_addresses_are_refused(
    target: str, by: str, server: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The test's own server counts as public here, so that there is something to be led astray from."""
    judge = address.is_public
    monkeypatch.setattr(address, "is_public", lambda text: text == "127.0.0.1" or judge(text))
    link = f'<p>wolf spider <a href="{target}">x</a>'.encode()
    answer = http(b"", "302 Found", Location=target) if by == "redirect" else http(link)

    async def handle(path: str, headers: dict[str, str], writer: asyncio.StreamWriter) -> None:
        writer.write(answer if path == "/hostile" else http(b"", "404 No"))

    server.handle = handle
    (tmp_path / "crawl.toml").write_text(
        f"""
        seeds = ["http://public.example:{server.port}/hostile"]
        topic = {{ kind = "keywords", words = ["wolf spider"] }}
        fetch = {{ delay_s = 0.0, retries = 0 }}
        """
    )
    run = Run(tmp_path, *config.load(tmp_path), WallClock())
    run.parts.http._resolver = Names()
    await run.run([], lambda summary: None)
    report = await lycosa("show", str(tmp_path), "--json")
    assert report["errors"] == {"private-address": 1}


async def test_a_broken_charset_is_survived(crawl: Any) -> None:
    page = b"<meta charset=no-such-thing><title>\xff\xfe\x00wolf</title><p>wolf spider \xe4\xf6\xfc \x80\x81"
    summary = await crawl(says(http(page, Content_Type="text/html; charset=x-unknown-\xff")))
    assert summary["pages"] == 2
    assert summary["report"]["errors"] == {}


async def test_100_000_links_on_a_page_do_not_flood_the_frontier(crawl: Any) -> None:
    summary = await crawl(says(http(MANY)), **{"limits.pages": 2, "fetch.max_bytes": 5_000_000})
    assert summary["known"] == 5_002


async def test_deep_nesting(crawl: Any) -> None:
    summary = await crawl(says(http(DEEP)))
    assert summary["report"]["errors"].get("parse", 0) + summary["pages"] == 2


async def test_a_page_of_nothing_but_html_tags_is_read(crawl: Any) -> None:
    """The parser needs 23 seconds for it as it is."""
    summary = await crawl(says(http(POISON)))
    assert summary["pages"] == 2


async def test_a_calendar_has_an_end(crawl: Any) -> None:
    summary = await crawl(calendar, **{"scope.max_queries_per_path": 30})
    refused = summary["report"]["refused"]
    assert refused["trap-queries"] >= 1
    assert refused["trap-repeats"] >= 1
    assert summary["ended"] == "frontier empty"


async def test_a_robots_txt_of_5_mb(crawl: Any) -> None:
    rules = b"User-agent: *\nDisallow: /hostile\n" + b"Disallow: /some/path/number\n" * 180_000
    summary = await crawl(says(http(b"")), robots=http(rules, Content_Type="text/plain"))
    assert summary["report"]["errors"] == {"robots": 1}
    assert summary["pages"] == 1


async def test_a_robots_txt_that_answers_500(crawl: Any) -> None:
    summary = await crawl(says(http(b"")), robots=http(b"", "500 Oh"))
    assert summary["report"]["errors"] == {"robots-unreachable": 2}
