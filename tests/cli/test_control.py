"""Orders and logs as a user meets them; what real processes do is in tests/test_control.py."""

import asyncio
import dataclasses
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import typer

from lycosa import cli, config
from lycosa.cli import control
from lycosa.clock import WallClock
from lycosa.lab.generated import GeneratedWeb, Text
from lycosa.lab.serve import Server
from lycosa.locking import lock
from lycosa.run import Run
from lycosa.strategy import STRATEGIES
from lycosa.types import Visit

WEB = GeneratedWeb(pages=200, hosts=5, ip_hosts=True, seed=3, text=Text(size_bytes=(1_000, 2_000)))


@pytest.fixture
def lycosa(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Any:
    def call(*arguments: str | Path) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["lycosa", *map(str, arguments)])
        code = 0
        try:
            cli.main()
        except SystemExit as stop:
            code = int(stop.code or 0)
        return code, *capfd.readouterr()

    return call


FAILS_AT_ONCE = ("--set", "fetch.allow_private=false")  # the seed, that is


def write(folder: Path, seeds: Sequence[str] = ("http://127.0.0.1:1/",), more: str = "") -> Path:
    (folder / "crawl.toml").write_text(
        f"seeds = {list(seeds)!r}\ntopic = {{ kind = 'keywords', words = ['astronomy'] }}\nlimits = {{ pages = 20 }}\n"
        f"[fetch]\ndelay_s = 0.0\ndelay_factor = 0.0\nallow_private = true\nretries = 0\n{more}"
    )
    return folder


async def crawled(folder: Path) -> tuple[Path, str]:
    """A folder with a few pages, and the host with most waiting URLs."""
    async with Server(WEB, bind="0.0.0.0") as server:
        write(folder, WEB.seeds(server.port))
        await Run(folder, *config.load(folder), WallClock()).run([], lambda summary: None)
        return folder, f"127.0.0.2:{server.port}"


def test_no_crawl_no_orders(tmp_path: Path, lycosa: Any) -> None:
    for command in ("pause", "resume", "stop"):
        assert lycosa(command, tmp_path) == (
            2,
            "",
            f"lycosa: {tmp_path}: no crawl.toml here (lycosa new {tmp_path} makes one)\n",
        )
    write(tmp_path)
    code, _, errors = lycosa("exclude", tmp_path, "a.example", "--yes")
    assert code == 2
    assert "nothing crawled yet: write seeds and exclusions to crawl.toml" in errors
    assert lycosa("add", tmp_path, "nonsense")[2] == "lycosa: nonsense: this is not a web URL; write http://host/path\n"
    assert "name a host or a pattern" in lycosa("exclude", tmp_path)[2]


def test_another_command_at_work_is_not_mistaken_for_nothing(tmp_path: Path, lycosa: Any) -> None:
    write(tmp_path)
    with lock(tmp_path):
        code, _, errors = lycosa("pause", tmp_path)
    assert code == 2
    assert "another lycosa is running here but does not respond" in errors


async def test_excluding_asks_first(tmp_path: Path, lycosa: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, host = await crawled(tmp_path)
    questions: list[str] = []

    class Terminal:
        def isatty(self) -> bool:
            return True

    def confirm(question: str, abort: bool) -> None:
        questions.append(question)
        if len(questions) == 1:
            raise typer.Abort

    monkeypatch.setattr(control.typer, "confirm", confirm)
    monkeypatch.setattr(sys, "stdin", Terminal())
    code, out, _ = lycosa("exclude", folder, host)
    assert (code, out) == (1, "")
    code, out, _ = lycosa("exclude", folder, host)
    assert code == 0
    dropped = out.removeprefix(f"{host} excluded: ").removesuffix(" dropped\n")
    assert questions == [f"{host}: {dropped} will be dropped. Exclude?"] * 2
    assert int(dropped.split()[0]) > 0
    waiting = next(url for url in known(folder) if host in url)
    code, out, _ = lycosa("why", folder, waiting)
    assert "out of scope (excluded)" in out
    code, out, errors = lycosa("add", folder, waiting)
    assert (code, errors) == (2, f"lycosa: {waiting}: not added (excluded)\n")


async def test_urls_are_put_first_and_last_between_two_runs(tmp_path: Path, lycosa: Any) -> None:
    folder, host = await crawled(tmp_path)
    code, out, _ = lycosa("prefer", folder, "first", host)
    assert code == 0
    count = out.removeprefix(f"{host}: ").partition(" ")[0]
    assert out == f"{host}: {count} queued URLs will be fetched first\n"
    url = next(url for url in known(folder) if host in url)
    assert "Not fetched yet, though it was put first and comes first." in lycosa("why", folder, url)[1]
    assert lycosa("prefer", folder, "last", host)[1] == f"{host}: {count} queued URLs will be fetched last\n"
    assert "Not fetched yet: it was put last." in lycosa("why", folder, url)[1]
    code, out, _ = lycosa("prefer", folder, "usual", "--pattern", ".")
    assert out.endswith("will be fetched where their scores put them\n")
    assert "name a host or a pattern" in lycosa("prefer", folder, "last")[2]
    assert lycosa("prefer", folder, "soon", host)[0] == 2


async def test_failures_are_queued_again_between_two_runs(tmp_path: Path, lycosa: Any) -> None:
    folder = write(tmp_path, ["http://127.0.0.1:1/a"])
    assert lycosa("crawl", folder, *FAILS_AT_ONCE)[0] == 1
    assert lycosa("retry", folder, "--kind", "dns")[1] == "0 failed URLs queued again\n"
    code, out, _ = lycosa("retry", folder, "http://127.0.0.1:1/a")
    assert code == 0
    assert out == f"1 failed URL queued again, to be fetched by the next run: lycosa crawl {folder}\n"
    assert known(folder) == ["http://127.0.0.1:1/a"]
    assert lycosa("retry", folder)[1] == "0 failed URLs queued again\n"
    assert lycosa("retry", folder, "nonsense")[0] == 2


def known(folder: Path) -> list[str]:
    db = control.offline.CrawlDb(folder / "crawl.db", readonly=True).open()
    rows = db.execute("SELECT url FROM urls WHERE state = 0").fetchall()
    db.close()
    return [url for (url,) in rows]


async def run(*arguments: str | Path) -> tuple[int, str]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "lycosa", *map(str, arguments)),
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    _, errors = await process.communicate()
    return process.returncode or 0, errors.decode()


@pytest.mark.parametrize("place", ["before", "after"])
async def test_verbose_and_the_log_tell_visits_but_no_password(tmp_path: Path, place: str) -> None:
    write(tmp_path, more="proxy = 'http://me:hush@127.0.0.1:1'\n[store]\nlog_visits = true\n")
    arguments = ["crawl", tmp_path, *FAILS_AT_ONCE]
    code, errors = await run(*(["--verbose", *arguments] if place == "before" else [*arguments, "--verbose"]))
    assert code == 1
    assert "DEBUG visit url=http://127.0.0.1:1/ status=0" in errors
    assert "INFO ended" in errors
    lines = [json.loads(line) for line in (tmp_path / "crawl.log").read_text().splitlines()]
    assert [line["event"] for line in lines] == ["started", "visit", "ended"]
    assert lines[1]["error"]
    assert "hush" not in errors + (tmp_path / "crawl.log").read_text()


async def test_without_verbose_nothing_of_it_is_printed(tmp_path: Path) -> None:
    code, errors = await run("crawl", write(tmp_path), *FAILS_AT_ONCE)
    assert (code, errors) == (1, "")


@dataclasses.dataclass
class Broken:
    """A strategy with a bug that looks like a full disk."""

    def score(self, visit: Visit) -> Sequence[float]:
        raise OSError("No space left on my table")

    def merge(self, waiting: float, found: float) -> float:
        return waiting

    def learn(self, visit: Visit) -> None:
        pass


async def test_judging_again_blames_the_strategy_too(
    tmp_path: Path, lycosa: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, _ = await crawled(tmp_path)
    monkeypatch.setitem(STRATEGIES, "broken", Broken)
    (folder / "crawl.toml").write_text(f"strategy = {{ kind = 'broken' }}\n{(folder / 'crawl.toml').read_text()}")
    code, _, errors = await asyncio.to_thread(lycosa, "rejudge", folder)
    assert code == 70
    told = f"a bug in the strategy {Broken.__module__}: OSError: No space left on my table"
    assert errors.splitlines()[-1] == f"lycosa: {told}; the traceback is in {folder / 'crawl.log'}"
    assert "Traceback" in (folder / "crawl.log").read_text()
