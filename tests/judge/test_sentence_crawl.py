"""A topic in a sentence in a crawl folder: killed and gone on with, shown, tried, judged again."""

import asyncio
import json
import random
import signal
import sqlite3
import sys
from pathlib import Path
from typing import Any

import pytest

from lycosa import config
from lycosa.build import Parts
from lycosa.cli.topic import app
from lycosa.judge import sentence
from lycosa.lab.clock import LabClock
from lycosa.lab.generated import GeneratedWeb, Links, Text
from lycosa.lab.replay import ReplayFetcher, SiteWeb
from lycosa.rejudge import rejudge_folder
from lycosa.run import Run
from lycosa.store.db import CrawlDb
from lycosa.types import BadInput, Fetcher, Link, Reply

WEB = GeneratedWeb(pages=300, hosts=12, seed=4, text=Text(size_bytes=(800, 2_000)), links=Links(count=(5, 15)))
PAGES = 120


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sentence, "STEPS", (10, 30, 60, 100))
    monkeypatch.setattr(sentence, "MEANING_FROM", 60)


class Killed(Exception):
    """What a kill is to a process that is not really killed: nothing after it happens."""


class Fragile:
    """Commits at some fetches and dies at one."""

    def __init__(self, inner: Any, db: CrawlDb, chance: random.Random, lives: int) -> None:
        self.inner, self.db, self.chance, self.left = inner, db, chance, lives

    async def fetch(self, link: Link) -> Reply:
        if self.chance.random() < 0.3:
            self.db.commit()
        if self.left == 0:
            raise Killed
        self.left -= 1
        return await self.inner.fetch(link)


def write(folder: Path, text: str = "Planets, galaxies and the telescopes of astronomy.", concurrency: int = 1) -> Path:
    folder.mkdir()
    (folder / "crawl.toml").write_text(
        f"seeds = {WEB.seeds(80)!r}\n[topic]\nkind = 'sentence'\nsentence = '{text}'\n"
        f"[strategy]\nkind = 'link-context'\n[limits]\npages = {PAGES}\n"
        f"[fetch]\nconcurrency = {concurrency}\ndelay_s = 0.0\ndelay_factor = 0.0\n"
    )
    return folder


async def crawl(folder: Path, chance: random.Random | None = None, lives: int = 1_000_000) -> bool:
    """One run; was it killed?"""
    clock = LabClock()

    def fetcher(parts: Parts) -> Fetcher:
        rules, hop = parts.config.fetch, parts.frontier.refuses_hop
        replay = ReplayFetcher(SiteWeb(WEB), rules, clock.now, hop, parts.db)
        return Fragile(replay, parts.db, chance, lives) if chance else replay

    run = Run(folder, *config.load(folder), clock, fetcher=fetcher)
    try:
        await run.run([], lambda summary: None)
    except Killed:
        return True
    return False


def order(folder: Path) -> list[tuple[str, float, float]]:
    with sqlite3.connect(folder / "crawl.db") as db:
        return db.execute("SELECT url, round(score, 9), round(relevance, 9) FROM visits ORDER BY n").fetchall()


async def test_kills_change_neither_order_nor_verdicts(tmp_path: Path) -> None:
    peaceful, disturbed = write(tmp_path / "peaceful"), write(tmp_path / "disturbed")
    assert not await crawl(peaceful)
    chance, kills = random.Random(5), 0
    while await crawl(disturbed, chance, lives=chance.randint(1, 60)):
        kills += 1
        assert kills < 100
    assert kills >= 2
    assert order(disturbed) == order(peaceful)


KILLED = """
import asyncio, os, random, signal, sys
from pathlib import Path
sys.path.insert(0, {tests!r})
from lycosa.judge import sentence
from test_sentence_crawl import crawl

sentence.STEPS, sentence.MEANING_FROM = (10, 30, 60, 100), 60
learn = sentence.learn_space

def killed(rows, *given, **named):
    return learn(rows, *given, **named) if len(rows) < 60 else os.kill(os.getpid(), signal.SIGKILL)

sentence.learn_space = killed
asyncio.run(crawl(Path({folder!r}), random.Random(5)))
"""


@pytest.mark.parametrize("concurrency", [1, 4], ids=["in the turn", "in a thread"])
async def test_a_process_killed_while_it_learns_loses_nothing(tmp_path: Path, concurrency: int) -> None:
    killed = write(tmp_path / "killed", concurrency=concurrency)
    code = KILLED.format(tests=str(Path(__file__).parent), folder=str(killed))
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", code)
    assert await process.wait() == -signal.SIGKILL
    stored = order(killed)
    assert len(stored) >= 30  # what was committed before
    await crawl(killed)
    assert [url for url, _, _ in order(killed)][: len(stored)] == [url for url, _, _ in stored]
    assert len({url for url, _, _ in order(killed)}) == len(order(killed)) >= PAGES
    with sqlite3.connect(killed / "crawl.db") as db:
        (remembered,) = db.execute("SELECT count(*) FROM notes WHERE key LIKE 'sentence page %'").fetchone()
        (distinct,) = db.execute("SELECT count(*) FROM visits WHERE error = '' AND duplicate_of = ''").fetchone()
    assert remembered == distinct
    if concurrency == 1:  # exactly reproducible
        peaceful = write(tmp_path / "peaceful")
        await crawl(peaceful)
        assert order(killed) == order(peaceful)


async def test_what_it_understood_can_be_seen_and_tried(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    folder = write(tmp_path / "crawl")
    await crawl(folder)
    capfd.readouterr()
    app(["show", str(folder), "--json"], standalone_mode=False)
    shown = json.loads(capfd.readouterr().out)
    assert [*shown][:2] == ["looked for: vectors 5 (100 pages)", "also understood"]
    assert shown["also understood"]
    page, other = tmp_path / "page.html", tmp_path / "other.html"
    page.write_text("<title>Planets</title>" + "A telescope shows planets and galaxies to astronomy. " * 5)
    other.write_text("<title>Law</title>" + "The court and the judge. " * 5)
    await asyncio.to_thread(app, ["try", str(folder), str(page), str(other)], standalone_mode=False)
    tried = capfd.readouterr().out
    assert "page.html: on topic" in tried
    assert "other.html: off topic" in tried


async def test_stored_pages_can_be_judged_again(tmp_path: Path) -> None:
    folder = write(tmp_path / "crawl")
    await crawl(folder)
    before = order(folder)
    await asyncio.to_thread(rejudge_folder, folder, lambda done, total: None)
    assert [(url, relevance) for url, _, relevance in order(folder)] == [(url, last) for url, _, last in before]


def test_a_sentence_that_says_nothing_is_one_clear_line(tmp_path: Path) -> None:
    folder = write(tmp_path / "crawl", "of the and")
    with pytest.raises(BadInput, match=r"crawl\.toml.*topic\.sentence: 'of the and' has no word"):
        app(["show", str(folder)], standalone_mode=False)


@pytest.mark.parametrize("line", ["sentences = 'x'", "sentence = 3"])
def test_a_wrong_key_or_type_is_one_clear_line(line: str, tmp_path: Path) -> None:
    folder = write(tmp_path / "crawl")
    path = folder / "crawl.toml"
    path.write_text(
        path.read_text()
        .replace("kind = 'sentence'", f"kind = 'sentence'\n{line}", 1)
        .replace("sentence = 'Pl", "words = ['x']  # '")
    )
    with pytest.raises(BadInput, match=r"crawl\.toml, line \d+: topic\.sentence"):
        app(["show", str(folder)], standalone_mode=False)
