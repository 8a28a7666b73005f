"""A search engine on the loopback that speaks SearXNG's JSON, well or badly, and a database to remember in."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from lycosa.store.db import CrawlDb

Handler = Callable[["EngineServer", str, asyncio.StreamWriter], Awaitable[None]]


class EngineServer:
    """Answers each query from `pages`, unless `faults` still holds something else to do."""

    def __init__(self) -> None:
        self.pages: dict[str, list[str]] = {}  # query to URLs; "" for all other queries
        self.faults: list[Handler] = []
        self.asked: list[str] = []
        self.paths: list[str] = []
        self.headers: list[dict[str, str]] = []
        self.at_once = self.most_at_once = 0
        self.closing = asyncio.Event()

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def stop(self) -> None:
        self.closing.set()
        self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while line := await reader.readline():
                headers = {}
                while (header := await reader.readline()) not in (b"\r\n", b""):
                    name, _, value = header.decode("latin-1").partition(":")
                    headers[name.strip().lower()] = value.strip()
                path = line.split(b" ")[1].decode()
                query = parse_qs(urlsplit(path).query).get("q", [""])[0]
                self.asked.append(query)
                self.paths.append(path)
                self.headers.append(headers)
                self.at_once += 1
                self.most_at_once = max(self.most_at_once, self.at_once)
                await (self.faults.pop(0) if self.faults else results)(self, query, writer)
                self.at_once -= 1
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()


def reply(body: bytes, status: str = "200 OK", **headers: str) -> Handler:
    """Always the same; underscores in the names of headers mean hyphens."""
    lines = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())

    async def answer(server: EngineServer, query: str, writer: asyncio.StreamWriter) -> None:
        head = f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n{lines}\r\n"
        writer.write(head.encode() + body)

    return answer


async def results(server: EngineServer, query: str, writer: asyncio.StreamWriter) -> None:
    plain = query.split(" site:")[0].lower()
    found = server.pages.get(plain, server.pages.get("", []))
    body = {"query": query, "results": [{"url": url, "title": "a page"} for url in found], "answers": []}
    await reply(json.dumps(body).encode())(server, query, writer)


async def silence(server: EngineServer, query: str, writer: asyncio.StreamWriter) -> None:
    """Nothing comes, however long one waits: the loop's timers fall due at once."""
    loop = asyncio.get_running_loop()
    before = loop.time
    loop.time = lambda: before() + 1_000.0  # type: ignore[method-assign]
    await server.closing.wait()


async def endless(server: EngineServer, query: str, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n")
    while not writer.is_closing():
        writer.write(b"10000\r\n" + b" " * 65_536 + b"\r\n")
        await writer.drain()


async def hang_up(server: EngineServer, query: str, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{")
    writer.close()


FAULTS: dict[str, Handler] = {
    "slow": silence,
    "429": reply(b"slow down", "429 Too Many Requests"),
    "500": reply(b"oops", "500 Internal Server Error"),
    "403": reply(b"format json is off", "403 Forbidden"),
    "moved": reply(b"", "302 Found", Location="http://127.0.0.1:1/"),
    "garbage": reply(b"<html>not json</html>"),
    "bytes": reply(b'"\xff\xff"'),
    "deep": reply(b"[" * 200_000),
    "nothing": reply(b""),
    "huge": endless,
    "cut": hang_up,
}


@pytest.fixture
async def engine_server() -> AsyncIterator[EngineServer]:
    server = EngineServer()
    await server.start()
    yield server
    await server.stop()


@pytest.fixture
def faults() -> dict[str, Handler]:
    return FAULTS


@pytest.fixture
def answer() -> Callable[..., Handler]:
    return reply


@pytest.fixture
def db(tmp_path: Path) -> Iterator[CrawlDb]:
    opened = CrawlDb(tmp_path / "crawl.db").open()
    yield opened
    opened.close()
