"""A crawl that nobody answers: it waits, says so, ends with exit code 1, and the same command goes on."""

import asyncio
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lycosa.store.db import CrawlDb

# the command line with shorter times to wait
CODE = """
import sys
from lycosa.fetch import outage
outage.FIRST_PAUSE_S, outage.PATIENCE_S = 0.05, 0.3
from lycosa.__main__ import main
sys.argv[0] = "lycosa"
main()
"""


def crawl(folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", CODE, "crawl", str(folder)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


@pytest.fixture
def address() -> Iterator[str]:
    """Where nobody listens: the port is taken, so that no other test gets it."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{taken.getsockname()[1]}"


def write(folder: Path, *seeds: str) -> None:
    (folder / "crawl.toml").write_text(
        f"seeds = {list(seeds)}\n[topic]\nkind = 'keywords'\nwords = ['x']\n[strategy]\nkind = 'breadth-first'\n"
        "[fetch]\nallow_private = true\ndelay_s = 0.01\nretries = 0\nbackoff_s = 0.0\ngive_up_after = 1\n"
    )


def visits(folder: Path) -> list[tuple[str, str]]:
    db = CrawlDb(folder / "crawl.db", readonly=True).open()
    try:
        return [(url, error) for url, error in db.execute("SELECT url, error FROM visits ORDER BY n")]
    finally:
        db.close()


def test_all_seeds_are_dead(tmp_path: Path, address: str) -> None:
    seeds = [f"{address}/{n}" for n in range(3)]
    write(tmp_path, *seeds)
    for _ in range(2):  # and again with the same command
        ended = crawl(tmp_path)
        assert ended.returncode == 1, ended.stderr
        assert "stopped: no host has answered for 0.005 minutes, 3 URLs still queued" in ended.stdout
        assert f"{address[7:]}: connect, connection refused" in ended.stdout
        assert "(tries the seeds again)" in ended.stdout
        assert visits(tmp_path) == []


async def test_the_only_host_goes_away_in_the_middle(server: Any, tmp_path: Path) -> None:
    listening: list[asyncio.Server] = []
    gone: list[str] = []

    async def up() -> None:
        listening.append(await asyncio.start_server(server._serve, "127.0.0.2", server.port))

    async def handle(path: str, headers: dict[str, str], writer: asyncio.StreamWriter) -> None:
        body = b"<title>%s</title>" % path.encode() + b"".join(b"<a href=/%d>x</a>" % n for n in range(5))
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        if path == "/2" and not gone:
            gone.append(path)
            listening.pop().close()
            await writer.drain()
            writer.close()

    server.handle = handle
    url = f"http://127.0.0.2:{server.port}"
    write(tmp_path, f"{url}/")
    await up()
    ended = await asyncio.to_thread(crawl, tmp_path)
    assert ended.returncode == 1, ended.stdout + ended.stderr
    assert "stopped: no host has answered for" in ended.stdout
    assert "(continues where it stopped)" in ended.stdout
    await up()
    ended = await asyncio.to_thread(crawl, tmp_path)
    for one in listening:
        one.close()
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert sorted(visits(tmp_path)) == [(f"{url}/{name}", "") for name in ("", *range(5))]
