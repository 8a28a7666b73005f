"""Serve a generated or recorded web over HTTP/1.1 on loopback, fast enough not to be a crawler's bottleneck.

async with Server(GeneratedWeb()) as server: ... server.port ...
python -m lycosa.lab.serve --pages 5000 --hosts 50 --ip-hosts
"""

import asyncio
import sys
import time
from argparse import ArgumentParser
from collections.abc import Callable, Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Any, TypeVar

import uvloop
from isal import igzip
from msgspec import Struct
from msgspec.structs import fields

from lycosa.lab.answer import CLOSE, Answer, Site
from lycosa.lab.generated import GeneratedWeb, Links, Oddities, Text
from lycosa.lab.vocabulary import read_topics
from lycosa.types import BadInput

_Part = TypeVar("_Part", bound=Struct)
Log = Callable[[float, str, str], None]  # when (monotonic clock), host with port, path
_MOST_HEAD = 65_536
_WORTH_PACKING = 500  # bytes; gzip enlarges smaller bodies
_REASONS = {status.value: status.phrase for status in HTTPStatus}
_NO_TUNNEL = Answer(
    405,
    (("Content-Type", "text/plain"),),
    b"This proxy serves a web from disk and makes no connections: request http URLs, not https.\n",
)


class Wire(Struct, frozen=True):
    """An encoded reply."""

    head: bytes
    body: bytes
    delay_s: float
    close: bool  # nothing is sent


class Server:
    """One site on one port. Connections from outside loopback are closed."""

    def __init__(
        self, site: Site, port: int = 0, bind: str = "127.0.0.1", cache_bytes: int = 0, log: Log | None = None
    ) -> None:
        """`bind` is 0.0.0.0 for a web on many loopback addresses; `cache_bytes` limits the cache of encoded replies."""
        self.site = site
        self.port = port
        self.bind = bind
        self.log = log
        self._answers = Answers(site, cache_bytes)
        self._connections: set[Connection] = set()
        self._server: asyncio.Server | None = None

    async def __aenter__(self) -> "Server":
        loop = asyncio.get_running_loop()
        try:
            self._server = await loop.create_server(self._connection, self.bind, self.port, backlog=1024)
        except OSError as error:
            raise BadInput(f"cannot serve on {self.bind} port {self.port}: {error.strerror or error}") from error
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *error: object) -> None:
        assert self._server is not None
        self._server.close()
        for connection in list(self._connections):
            connection.hang_up()
        await self._server.wait_closed()

    def _connection(self) -> "Connection":
        return Connection(self._answers, self._connections, self.log)


class Answers:
    """Encodes replies, with a cache of limited size."""

    def __init__(self, site: Site, cache_bytes: int) -> None:
        self.site = site
        self.cache_bytes = cache_bytes
        self._kept: dict[tuple[str, bool], Wire] = {}
        self._size = 0

    def wire(self, url: str, headers: Mapping[str, str]) -> Wire:
        """The reply to a request, compressed if the client accepts gzip."""
        packed = "gzip" in headers.get("accept-encoding", "")
        kept = self._kept.get((url, packed))
        if kept is not None:
            return kept
        found = encode(self.site.respond(url, headers), packed)
        if self.cache_bytes:
            self._keep((url, packed), found)
        return found

    def _keep(self, key: tuple[str, bool], wire: Wire) -> None:
        self._kept[key] = wire
        self._size += len(wire.head) + len(wire.body)
        while self._size > self.cache_bytes:
            oldest = self._kept.pop(next(iter(self._kept)))
            self._size -= len(oldest.head) + len(oldest.body)


def encode(answer: Answer, packed: bool) -> Wire:
    """Head and body of a reply."""
    lines = [f"HTTP/1.1 {answer.status} {_REASONS.get(answer.status, 'Unknown')}"]
    lines += [f"{name}: {value}" for name, value in answer.headers]
    body = answer.body
    encoded = any(name.lower() == "content-encoding" for name, _ in answer.headers)
    if packed and len(body) > _WORTH_PACKING and not encoded:
        body = igzip.compress(body, 1, mtime=0)
        lines += ["Content-Encoding: gzip", "Vary: Accept-Encoding"]
    lines += [f"Content-Length: {len(body)}", "\r\n"]
    return Wire("\r\n".join(lines).encode("latin-1"), body, answer.delay_s, answer.status == CLOSE)


class Connection(asyncio.Protocol):
    """One client: requests are answered one after the other, in order."""

    def __init__(self, answers: Answers, open_ones: set["Connection"], log: Log | None) -> None:
        self._answers = answers
        self._open_ones = open_ones
        self._log = log
        self._loop = asyncio.get_running_loop()
        self._transport: Any = None
        self._buffer = b""
        self._late: asyncio.TimerHandle | None = None  # a delayed reply
        self._blocked = False  # the client does not read what we send

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport
        self._open_ones.add(self)
        if not transport.get_extra_info("peername")[0].startswith("127."):
            self.hang_up()

    def connection_lost(self, error: Exception | None) -> None:
        self._open_ones.discard(self)
        if self._late:
            self._late.cancel()

    def hang_up(self) -> None:
        """Close the connection immediately."""
        self._transport.abort()

    def pause_writing(self) -> None:
        self._blocked = True

    def resume_writing(self) -> None:
        self._blocked = False
        self._answer_all()

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        self._answer_all()

    def _answer_all(self) -> None:
        while not (self._late or self._blocked or self._transport.is_closing()):
            head, found, rest = self._buffer.partition(b"\r\n\r\n")
            if not found:
                if len(head) > _MOST_HEAD:
                    self._refuse(431)
                return
            self._buffer = rest
            self._answer(head.decode("latin-1"))

    def _answer(self, head: str) -> None:
        first, *lines = head.split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        method, _, rest = first.partition(" ")
        target, _, version = rest.partition(" ")
        if method == "CONNECT":
            self._send(encode(_NO_TUNNEL, False), False, True)
        elif "host" not in headers or not version.startswith("HTTP/1."):
            self._refuse(400)
        elif method not in ("GET", "HEAD"):
            self._refuse(405)
        else:
            url = target if "://" in target else f"http://{headers['host']}{target}"  # a proxy receives full URLs
            last = version == "HTTP/1.0" or "close" in headers.get("connection", "").lower()
            self._reply(url, headers, method == "HEAD", last)

    def _reply(self, url: str, headers: Mapping[str, str], head_only: bool, last: bool) -> None:
        if self._log:
            _, _, host, *path = url.split("/", 3)
            self._log(time.monotonic(), host, "/" + "".join(path))
        wire = self._answers.wire(url, headers)
        if wire.delay_s > 0:
            self._late = self._loop.call_later(wire.delay_s, self._send_late, wire, head_only, last)
        else:
            self._send(wire, head_only, last)

    def _send_late(self, wire: Wire, head_only: bool, last: bool) -> None:
        self._late = None
        self._send(wire, head_only, last)
        self._answer_all()

    def _send(self, wire: Wire, head_only: bool, last: bool) -> None:
        if wire.close:
            self.hang_up()
            return
        self._transport.writelines((wire.head,) if head_only else (wire.head, wire.body))
        if last:
            self._transport.close()

    def _refuse(self, status: int) -> None:
        self._send(encode(Answer(status), False), False, True)


async def _serve(server: Server) -> None:
    async with server:
        print(f"serving on {server.port}", flush=True)
        await asyncio.Event().wait()


def _options() -> ArgumentParser:
    """One option for each field of the web's parts that is a number, a pair of numbers or a switch."""
    parser = ArgumentParser(prog="python -m lycosa.lab.serve", description="Serve a generated web on loopback.")
    parser.add_argument("--port", type=int, default=0, help="0 (the default): any free port")
    parser.add_argument(
        "--topics",
        default="10",
        help="their number, of which the first ten have real words; or `examples`: those of examples/",
    )
    parser.add_argument("--cache-mb", type=int, default=0, help="size of the cache of encoded replies")
    parser.add_argument("--log", type=Path, help="append a line for each request: monotonic time, host, path")
    for field in (field for part in (GeneratedWeb, Text, Links, Oddities) for field in fields(part)):
        name = "--" + field.name.replace("_", "-")
        if field.type is bool:
            parser.add_argument(name, action="store_true")
        elif field.type in (int, float):
            parser.add_argument(name, type=field.type, default=field.default)
        elif field.type == tuple[int, int]:
            parser.add_argument(name, type=int, nargs=2, default=field.default, metavar=("LEAST", "MOST"))
    return parser


def _web(given: dict[str, Any]) -> GeneratedWeb:
    def part(kind: type[_Part], **others: Any) -> _Part:
        return kind(**{field.name: given[field.name] for field in fields(kind) if field.name in given}, **others)

    given["size_bytes"], given["count"] = tuple(given["size_bytes"]), tuple(given["count"])
    text = part(Text, topics=read_topics(given.pop("topics")))
    return part(GeneratedWeb, text=text, links=part(Links), oddities=part(Oddities))


def main(arguments: list[str] | None = None) -> int:
    """The command line: serve until interrupted."""
    given = vars(_options().parse_args(arguments))
    try:
        web = _web(given)
        web.seeds(given["port"])  # report impossible settings now, not at the first request
        file = given["log"].open("a", buffering=1) if given["log"] else None  # by line, so that others can follow
        log = (lambda at, host, path: file.write(f"{at:.6f}\t{host}\t{path}\n")) if file else None
        bind = "0.0.0.0" if web.ip_hosts else "127.0.0.1"
        uvloop.run(_serve(Server(web, given["port"], bind, given["cache_mb"] << 20, log)))
    except (BadInput, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        pass
    return 0


if __name__ == "__main__":
    sys.exit(main())
