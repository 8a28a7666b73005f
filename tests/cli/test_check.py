"""`lycosa check` and `lycosa repair`, from a crawl that lost a file to one that has all its pages again."""

import asyncio
import sqlite3
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from lycosa import build
from lycosa.cli import mount_the_rest
from lycosa.lab.generated import GeneratedWeb, Text
from lycosa.lab.serve import Server
from lycosa.session import run_folder
from lycosa.store.warc import WarcWriter
from lycosa.types import BadInput


def run(*arguments: Any) -> Result:
    return CliRunner().invoke(mount_the_rest(), [str(argument) for argument in arguments])


def visits(folder: Path) -> set[str]:
    with sqlite3.connect(folder / "crawl.db") as db:
        return {url for (url,) in db.execute("SELECT url FROM visits")}


@pytest.fixture
async def crawl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Crawls the folder, in a thread of its own as `lycosa crawl` does in a process of its own."""
    monkeypatch.setattr(build, "_warc", lambda folder, rules: WarcWriter(folder / "warc", max_bytes=20_000))
    web = GeneratedWeb(pages=40, hosts=4, ip_hosts=True, seed=5, text=Text(size_bytes=(2_000, 4_000)))
    async with Server(web, bind="0.0.0.0") as server:
        (tmp_path / "crawl.toml").write_text(
            f"""
            seeds = {web.seeds(server.port)!r}
            topic = {{ kind = "keywords", words = ["astronomy"] }}
            strategy = {{ kind = "best-first" }}
            fetch = {{ delay_s = 0.0, delay_factor = 0.0, allow_private = true }}
            """
        )

        async def crawl() -> dict[str, Any]:
            summary, _ = await asyncio.to_thread(run_folder, tmp_path, [], [], lambda _: None)
            return summary

        yield crawl


async def test_a_crawl_that_lost_a_file_has_all_its_pages_again(tmp_path: Path, crawl: Any) -> None:
    await crawl()
    before = visits(tmp_path)
    assert run("check", tmp_path).stdout.endswith("no problems\n")
    assert run("repair", tmp_path).stdout == "no problems\n"
    names = sorted(path.name for path in (tmp_path / "warc").iterdir())
    assert len(names) > 2
    (tmp_path / "warc" / names[1]).unlink()

    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "lycosa", "crawl", str(tmp_path)), stderr=asyncio.subprocess.PIPE
    )
    _, errors = await process.communicate()
    assert process.returncode == 2
    assert f"{names[1]}: the crawl wrote this file, but it is missing (`lycosa check`" in errors.decode()
    outcome = run("check", tmp_path)
    assert outcome.exit_code == 1
    assert f"{names[1]}: is missing, and with it the records of" in outcome.stdout
    assert outcome.stdout.endswith("1 problem\n")

    outcome = run("repair", tmp_path)
    assert outcome.exit_code == 0
    assert "1 problem; URLs to be fetched again: " in outcome.stdout
    assert visits(tmp_path) < before
    await crawl()
    assert visits(tmp_path) == before
    assert run("check", tmp_path).exit_code == 0


async def test_many_problems_are_cut_short(tmp_path: Path, crawl: Any) -> None:
    await crawl()
    with sqlite3.connect(tmp_path / "crawl.db") as db:
        db.execute("UPDATE urls SET state = 0")
    assert "... and " in run("check", tmp_path).stdout
    assert "... and " not in run("check", tmp_path, "--all").stdout


async def test_without_a_database_it_says_what_to_do(tmp_path: Path, crawl: Any) -> None:
    await crawl()
    for path in tmp_path.glob("crawl.db*"):
        path.unlink()
    for command in ("check", "repair"):
        outcome = run(command, tmp_path)
        assert isinstance(outcome.exception, BadInput)
        assert "crawl.db: is missing; crawl the recording into a new folder: run `lycosa lab serve" in str(
            outcome.exception
        )


def test_a_folder_that_was_never_crawled(tmp_path: Path) -> None:
    assert "crawl.toml" in str(run("check", tmp_path).exception)
