"""Judging again from the command line."""

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest

from lycosa import cli
from lycosa.cli.rejudge import sentence
from lycosa.rejudge import Report

FETCH = "[fetch]\ndelay_s = 0.0\ndelay_factor = 0.0\nallow_private = true\nretries = 0\n"


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

    return lambda *arguments: asyncio.to_thread(call, *arguments)


def test_what_has_changed_is_said_in_one_line() -> None:
    line = "1,000 pages re-judged: 34 are now relevant, 12 no longer; 5,120 queued URLs rescored"
    assert sentence(Report(1_000, 34, 12, 5_120, 0)) == line
    assert sentence(Report(1_000, 34, 12, 5_120, 6)) == f"{line}, 6 dropped"


async def test_the_way_from_the_refusal_to_the_next_crawl(
    server: Any, answer: Any, lycosa: Any, tmp_path: Path
) -> None:
    server.handle = answer(b'<title>Sky</title><p>astronomy telescope astronomy, astronomy <a href="/other">more</a>')

    def write(topic: str) -> None:
        (tmp_path / "crawl.toml").write_text(f'seeds = ["{server.url}/"]\n[topic]\n{topic}\n{FETCH}')

    write('kind = "keywords"\nwords = ["astronomy"]')
    assert (await lycosa("crawl", tmp_path, "--pages", "1"))[0] == 0
    (tmp_path / "map.ttl").write_text(
        '@prefix skos: <http://www.w3.org/2004/02/skos/core#> .\n<http://x/law> skos:prefLabel "law" .\n'
    )
    write('kind = "ontology"\nfile = "map.ttl"')
    code, _, errors = await lycosa("crawl", tmp_path, "--pages", "2")
    assert code == 2
    assert errors.splitlines()[-1].endswith(f"or judge the stored pages again: lycosa rejudge {tmp_path}")
    assert (await lycosa("topic", "show", tmp_path))[0] == 0  # with a state that is not its own
    assert await lycosa("rejudge", tmp_path) == (
        0,
        f"1 pages re-judged: 0 are now relevant, 1 no longer; 1 queued URLs rescored. Next: lycosa crawl {tmp_path}\n",
        "",
    )
    assert (await lycosa("crawl", tmp_path, "--pages", "2"))[0] == 0


async def test_an_override_is_to_be_written_down_first(server: Any, answer: Any, lycosa: Any, tmp_path: Path) -> None:
    server.handle = answer(b"<title>Sky</title><p>astronomy")
    (tmp_path / "crawl.toml").write_text(
        f'seeds = ["{server.url}/"]\n[topic]\nkind = "keywords"\nwords = ["astronomy"]\n{FETCH}'
    )
    await lycosa("crawl", tmp_path)
    code, _, errors = await lycosa("crawl", tmp_path, "--set", "topic.threshold=0.2")
    assert code == 2
    assert "(threshold was 0.5 and is 0.2); make a new folder, or write it to crawl.toml and judge" in errors


async def test_what_is_in_the_way_is_one_line(lycosa: Any, tmp_path: Path) -> None:
    assert await lycosa("rejudge", tmp_path / "none") == (
        2,
        "",
        f"lycosa: {tmp_path / 'none'}: no crawl.toml here (lycosa new {tmp_path / 'none'} makes one)\n",
    )
    topic = '[topic]\nkind = "keywords"\nwords = ["astronomy"]\n'
    (tmp_path / "crawl.toml").write_text(topic)
    assert await lycosa("rejudge", tmp_path) == (2, "", f"lycosa: {tmp_path}: nothing crawled yet (no crawl.db)\n")
    (tmp_path / "crawl.toml").write_text(f"{topic}[store]\nwarc = false\n")
    code, _, errors = await lycosa("rejudge", tmp_path)
    assert (code, errors.count("\n")) == (2, 1)
    assert errors.endswith("line 5: store.warc: no page was stored, so none can be judged again\n")
