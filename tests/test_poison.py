"""A page that the whole process dies of, here in the judge: real processes, and the same command again."""

import asyncio
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lycosa.parse.guard import MOST_TRIES

# the command line with a judge that some pages kill
CODE = """
import os, signal, sys
from lycosa.judge.keywords import Keywords
judge = Keywords.judge
async def deadly(self, page):
    if page.title == "/poison":
        os.kill(os.getpid(), signal.SIGKILL)
    return await judge(self, page)
Keywords.judge = deadly
from lycosa.__main__ import main
sys.argv[0] = "lycosa"
main()
"""


def crawl(folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", CODE, "crawl", str(folder)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


@pytest.mark.xdist_group("processes")
async def test_a_page_the_crawl_dies_of_is_given_up_after_three_tries(server: Any, tmp_path: Path) -> None:
    async def handle(path: str, headers: dict[str, str], writer: asyncio.StreamWriter) -> None:
        body = b"<title>%s</title>" % path.encode() + b"".join(
            b"<a href=/%s>x</a>" % name for name in (b"1", b"poison", b"2")
        )
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n" % len(body) + body)

    server.handle = handle
    (tmp_path / "crawl.toml").write_text(
        f"seeds = ['{server.url}/']\n[topic]\nkind = 'keywords'\nwords = ['x']\n[strategy]\nkind = 'breadth-first'\n"
        "[fetch]\nallow_private = true\ndelay_s = 0.01\n"
    )
    for _ in range(MOST_TRIES):
        ended = await asyncio.to_thread(crawl, tmp_path)
        assert ended.returncode == -signal.SIGKILL, ended.stdout + ended.stderr
    ended = await asyncio.to_thread(crawl, tmp_path)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    with sqlite3.connect(tmp_path / "crawl.db") as db:
        found = {url: (error, detail) for url, error, detail in db.execute("SELECT url, error, detail FROM visits")}
    error, detail = found.pop(f"{server.url}/poison")
    assert error == "parse-budget"
    assert "skipped after 3 tries: each time, the crawl ended" in detail
    assert found == {f"{server.url}/{name}": ("", "") for name in ("", "1", "2")}
