"""A full disk ends a crawl with one clear line; what was stored stays, and the crawl goes on when there is room."""

import asyncio
import json
import resource
import signal
import sqlite3
import sys
from pathlib import Path
from typing import Any

import pytest

from lycosa.lab.generated import GeneratedWeb, Text
from lycosa.lab.serve import Server


async def lycosa(folder: Path, most_bytes: int = 0) -> tuple[int, str, str]:
    """Crawl; no file may grow past `most_bytes`, as on a disk that is full."""

    def limit() -> None:
        if most_bytes:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, most_bytes))

    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "lycosa", "crawl", str(folder), "--json"),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        preexec_fn=limit,
    )
    out, errors = await process.communicate()
    return process.returncode or 0, out.decode(), errors.decode()


@pytest.mark.parametrize("warc", [True, False])
async def test_what_was_stored_before_is_safe(tmp_path: Path, warc: bool) -> None:
    web = GeneratedWeb(pages=150, hosts=4, ip_hosts=True, seed=5, text=Text(size_bytes=(5_000, 9_000)))
    async with Server(web, bind="0.0.0.0") as server:
        (tmp_path / "crawl.toml").write_text(
            f"""
            seeds = {web.seeds(server.port)!r}
            topic = {{ kind = "keywords", words = ["astronomy"] }}
            store = {{ warc = {str(warc).lower()} }}
            [fetch]
            delay_s = 0.03
            delay_factor = 0.0
            allow_private = true
            """
        )
        code, _, errors = await lycosa(tmp_path, most_bytes=200_000 if warc else 130_000)
        assert code == 2, errors
        lines = [line for line in errors.splitlines() if line.startswith("lycosa: ")]
        assert len(lines) == 1
        assert "the disk is full or cannot be written" in lines[0]
        assert "Traceback" not in errors
        before = visits(tmp_path)
        code, out, errors = await lycosa(tmp_path)
    assert code == 0, errors
    after = visits(tmp_path)
    assert after[: len(before)] == before
    assert len(set(after)) == len(after)
    assert json.loads(out)["ended"] == "frontier empty"


def visits(folder: Path) -> list[Any]:
    with sqlite3.connect(folder / "crawl.db") as db:
        return [url for (url,) in db.execute("SELECT url FROM visits ORDER BY n")]
