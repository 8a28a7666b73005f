"""Controls a running crawl from another process: a Unix socket in its folder that only the owner may use.

One JSON object per line in each direction; docs/session.md describes the protocol. The crawl is never disturbed:
invalid requests get an error of one line.
"""

import asyncio
import contextlib
import logging
import os
import socket
import stat
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import Struct

from lycosa.errors import BadInput, LycosaError

NAME = "crawl.sock"
VERSION = 1
_MOST_PATH = 100  # bytes in a socket address; systems allow 104 or 108
_MOST_LINE = 1_000_000
_MOST_CLIENTS = 32

_log = logging.getLogger(__name__)

Do = Literal["status", "pause", "resume", "stop", "add", "count", "exclude", "prefer", "retry", "label", "events"]
Place = Literal["first", "last", "usual"]


class Request(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A request from a client."""

    do: Do
    v: int = VERSION
    urls: list[str] = []  # add, retry
    host: str = ""  # count, exclude, prefer
    pattern: str = ""
    place: Place = "usual"  # prefer: where in the queue
    kind: str = ""  # retry: only failures of this kind
    labels: dict[str, bool | None] = {}  # label: from URL to whether it is on topic; null removes a label
    chosen: str = "import"  # how these pages were selected


class Answer(Struct, frozen=True):
    """The response: the result, or an error of one line."""

    ok: bool
    v: int = VERSION
    result: Any = None
    error: str = ""


Handle = Callable[[Request], Awaitable[Any]]
Events = Callable[[], AsyncIterator[Struct]]
_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Request).decode


@contextlib.contextmanager
def address(folder: Path) -> Iterator[str]:
    """The path of the folder's socket. A path too long for a socket is shortened with an open descriptor of the
    folder."""
    path = str(folder / NAME)
    if len(os.fsencode(path)) <= _MOST_PATH:
        yield path
        return
    if not os.path.isdir("/proc/self/fd"):
        raise OSError(f"{path}: the path is too long for a socket; use a folder with a shorter one")
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{descriptor}/{NAME}"
    finally:
        os.close(descriptor)


class Door:
    """Serves the socket while a crawl runs. A context manager; the caller must hold the folder's lock."""

    def __init__(self, folder: Path, handle: Handle, events: Events) -> None:
        self.folder = folder
        self._handle = handle
        self._events = events
        self._clients: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None
        self._address = contextlib.ExitStack()

    async def __aenter__(self) -> "Door":
        """If the socket cannot be created, as on some file systems, the crawl runs without it."""
        try:
            self._server = await asyncio.start_unix_server(self._accept, sock=self._listen(), limit=_MOST_LINE)
        except OSError as error:
            _log.warning("%s: cannot be reached from other processes: %s", self.folder, error)
        return self

    async def __aexit__(self, *failure: object) -> None:
        if not self._server:
            return
        self._server.close()
        self._address.close()
        with contextlib.suppress(OSError):
            (self.folder / NAME).unlink()
        for client in self._clients:
            client.cancel()
        await asyncio.gather(*self._clients, return_exceptions=True)

    def _listen(self) -> socket.socket:
        """Clients cannot connect before `listen`, and by then only the owner can access the file."""
        path = self.folder / NAME
        if os.path.lexists(path):
            if not stat.S_ISSOCK(path.lstat().st_mode):
                raise OSError(f"{path} exists and was not created by Lycosa; move it away")
            path.unlink()  # left behind by a killed crawl: we hold the lock
        listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            listening.setblocking(False)
            listening.bind(self._address.enter_context(address(self.folder)))
            path.chmod(0o600)
            listening.listen()
        except OSError:
            listening.close()
            raise
        return listening

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        self._clients.add(task)
        try:
            if len(self._clients) > _MOST_CLIENTS:
                writer.write(_line(Answer(False, error="too many clients at once")))
            else:
                await self._serve(reader, writer)
        except (ConnectionError, asyncio.CancelledError):
            pass  # the client disconnected, or the crawl is over: this task is not awaited
        finally:
            self._clients.discard(task)
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            try:
                line = await reader.readline()
            except ValueError:
                writer.write(_line(Answer(False, error=f"a line of more than {_MOST_LINE} bytes")))
                return
            if not line.strip():
                if line:
                    continue
                return
            answer, follow = await self._answer(line)
            writer.write(_line(answer))
            await writer.drain()
            if follow:
                async for event in follow:
                    writer.write(_line(event))
                    await writer.drain()
                return

    async def _answer(self, line: bytes) -> tuple[Answer, AsyncIterator[Struct] | None]:
        try:
            request = _decode(line)
            if request.v != VERSION:
                raise BadInput(f"version {request.v} of the protocol is not supported, only {VERSION}")
            if request.do == "events":
                return Answer(True), self._events()
            return Answer(True, result=await self._handle(request)), None
        except (LycosaError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            return Answer(False, error=" ".join(str(error).split())[:500]), None


def _line(record: Struct) -> bytes:
    return _encode(record) + b"\n"


class Unreachable(Exception):
    """No crawl is listening in this folder."""


def call(folder: Path, request: Request, wait_for_end: bool = False) -> Any:
    """Send a request to the crawl running in a folder and return its response. `wait_for_end`: return once its process
    has released the folder."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        try:
            with address(folder) as where:
                client.connect(where)
        except (FileNotFoundError, ConnectionError, NotADirectoryError) as error:
            raise Unreachable from error
        except OSError as error:
            raise BadInput(f"{folder}: the crawl cannot be reached: {error.strerror or error}") from None
        try:
            client.sendall(_line(request))
            file = client.makefile("rb")
            answer = msgspec.json.decode(file.readline() or b"null", type=Answer | None)
            if answer and wait_for_end:
                file.read()
        except (OSError, msgspec.MsgspecError) as error:
            raise BadInput(f"{folder}: the crawl gave no answer ({error})") from None
    if answer is None:
        raise Unreachable
    if not answer.ok:
        raise BadInput(f"{folder}: {answer.error}")
    return answer.result
