"""What many tests need: a clock that moves when told to, and a server that does what a test tells it to."""

import asyncio
import heapq
import itertools
import os
import signal
import sys
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import hypothesis
import pytest

# A slow machine is not a failure. On CI every run tries the same examples, so that a change alone can break the build.
hypothesis.settings.register_profile("lycosa", deadline=None, derandomize=bool(os.environ.get("CI")))
hypothesis.settings.load_profile("lycosa")

if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:  # started in the background: what we start would not hear Ctrl-C
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session", autouse=True)
def cache_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Indexes of recorded webs stay out of the cache of whoever runs the tests; fonts are found where they were."""
    usual = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MPLCONFIGDIR", os.environ.get("MPLCONFIGDIR", str(usual / "matplotlib")))
        patch.setenv("XDG_CACHE_HOME", str(folder))
        yield folder


class FakeClock:
    """Time stands still until somebody waits for it: then it jumps to the next call."""

    def __init__(self, now: float = 1_000.0) -> None:
        self._now = now
        self._calls: list[tuple[float, int, Callable[[], None]]] = []
        self._numbers = itertools.count()
        self._cancelled: set[int] = set()

    def now(self) -> float:
        return self._now

    def call_at(self, when: float, call: Callable[[], None]) -> "FakeTimer":
        number = next(self._numbers)
        heapq.heappush(self._calls, (when, number, call))
        return FakeTimer(self._cancelled, number)

    def advance(self, seconds: float) -> None:
        """Move on, making the calls that fall due."""
        end = self._now + seconds
        while self._calls and self._calls[0][0] <= end:
            when, number, call = heapq.heappop(self._calls)
            self._now = max(self._now, when)
            if number not in self._cancelled:
                call()
        self._now = end

    @property
    def next_call(self) -> float | None:
        live = [when for when, number, _ in self._calls if number not in self._cancelled]
        return min(live, default=None)


class FakeTimer:
    def __init__(self, cancelled: set[int], number: int) -> None:
        self._cancelled = cancelled
        self._number = number

    def cancel(self) -> None:
        self._cancelled.add(self._number)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


def let_pass(seconds: float) -> None:
    """Make the timers of the running loop fall due as if so much time had passed: no test waits for a timeout."""
    loop = asyncio.get_running_loop()
    before = loop.time
    loop.time = lambda: before() + seconds  # type: ignore[method-assign]


@pytest.fixture(name="let_pass")
def _let_pass() -> Callable[[float], None]:
    return let_pass


Handler = Callable[[str, dict[str, str], asyncio.StreamWriter], Awaitable[None]]


class RawServer:
    """Hands each request (path, headers) to `handle`, which writes what it likes. The connection stays open."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, dict[str, str]]] = []
        self.connections = 0
        self.sent = 0
        self.handle: Handler = plain(b"<title>hello</title>")

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while line := await reader.readline():
                headers = {}
                while (header := await reader.readline()) not in (b"\r\n", b""):
                    name, _, value = header.decode("latin-1").partition(":")
                    headers[name.strip().lower()] = value.strip()
                path = line.split(b" ")[1].decode()
                self.requests.append((path, headers))
                await self.handle(path, headers, writer)
                await writer.drain()
                if writer.is_closing():
                    break
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def stop(self) -> None:
        self._server.close()


def plain(body: bytes, status: str = "200 OK", **headers: str) -> Handler:
    """Always the same answer; underscores in header names mean hyphens."""
    head = {"Content-Type": "text/html", "Content-Length": str(len(body))}
    head |= {name.replace("_", "-"): value for name, value in headers.items()}

    async def handle(path: str, asked: dict[str, str], writer: asyncio.StreamWriter) -> None:
        lines = "".join(f"{name}: {value}\r\n" for name, value in head.items() if value != "-")
        writer.write(f"HTTP/1.1 {status}\r\n{lines}\r\n".encode() + body)

    return handle


@pytest.fixture
async def server() -> AsyncIterator[RawServer]:
    raw = RawServer()
    await raw.start()
    yield raw
    await raw.stop()


@pytest.fixture
def answer() -> Callable[..., Handler]:
    return plain


@pytest.fixture(scope="session")
def serve() -> Callable[[Any], AbstractContextManager[Any]]:
    """Serves a web from a thread of its own, for callers that block theirs."""

    @contextmanager
    def run(server: Any) -> Iterator[Any]:
        loop = asyncio.new_event_loop()
        thread = threading.Thread(target=loop.run_forever)
        thread.start()
        try:
            asyncio.run_coroutine_threadsafe(server.__aenter__(), loop).result()
            yield server
            asyncio.run_coroutine_threadsafe(server.__aexit__(), loop).result()
        finally:
            loop.call_soon_threadsafe(loop.stop)
            thread.join()
            loop.close()

    return run


Install = Callable[[str, str, dict[str, dict[str, str]]], Path]


def write_package(folder: Path, name: str, code: str, groups: dict[str, dict[str, str]]) -> None:
    """As pip would leave it: a module, and the metadata with its entry points, group to name to object."""
    (folder / f"{name}.py").write_text(code)
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name.replace('_', '-')}\nVersion: 1.0\n")
    lines = [
        f"[{group}]\n" + "".join(f"{key} = {value}\n" for key, value in names.items())
        for group, names in groups.items()
    ]
    (info / "entry_points.txt").write_text("\n".join(lines))


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Installs packages beside ours for one test."""
    site = tmp_path / "site-packages"
    site.mkdir()
    monkeypatch.syspath_prepend(str(site))
    modules: list[str] = []

    def add(name: str, code: str, groups: dict[str, dict[str, str]]) -> Path:
        write_package(site, name, code, groups)
        modules.append(name)
        return site

    yield add
    for name in modules:
        sys.modules.pop(name, None)
