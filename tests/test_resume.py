"""A crawl that is killed and goes on fetches the same pages in the same order as one left in peace: every strategy."""

import random
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from lycosa import config
from lycosa.build import Parts
from lycosa.lab.clock import LabClock
from lycosa.lab.generated import GeneratedWeb, Links, Oddities, Text
from lycosa.lab.replay import ReplayFetcher, SiteWeb
from lycosa.run import Run
from lycosa.store.db import CrawlDb
from lycosa.strategy import rule_base
from lycosa.types import Fetcher, Lease, Reply

WEB = GeneratedWeb(
    pages=300,
    hosts=12,
    seed=4,
    text=Text(size_bytes=(800, 2_000)),
    links=Links(count=(5, 15)),
    oddities=Oddities(redirects=0.05, duplicates=0.05),
)
PAGES = 120
KEYWORDS = '[topic]\nkind = "keywords"\nwords = ["astronomy", "telescope", "planet", "galaxy"]\n'
TIDS = '[topic]\nkind = "tids"\nexamples = "pages"\nidf = "smooth"\n'
TAXONOMY = '[topic]\nkind = "taxonomy"\nexamples = "tree"\ntarget = ["astronomy"]\nmin_pages = 1\n'
CLASSES = ["astronomy", "cooking", "law"]
STRATEGIES = {
    "breadth-first": "",
    "best-first": "",
    "hard-focus": "",
    "learned": "",
    "link-context": "",
    "opic": "list_size = 7",
    "otie": "list_size = 5",
    "ontology": "minimum = 5\ntop = 20",
    "publications": "",
    "rules": "",
    "tids": "",
}


class Killed(Exception):
    """What a kill is to a process that is not really killed: nothing after it happens."""


class Fragile:
    """Commits at some fetches and dies at one."""

    def __init__(self, inner: Any, db: CrawlDb, chance: random.Random, lives: int) -> None:
        self.inner = inner
        self.db = db
        self.chance = chance
        self.left = lives

    async def fetch(self, lease: Lease) -> Reply:
        if self.chance.random() < 0.3:
            self.db.commit()
        if self.left == 0:
            raise Killed
        self.left -= 1
        return await self.inner.fetch(lease)


def write(folder: Path, strategy: str, options: str) -> Path:
    folder.mkdir()
    topic = KEYWORDS
    if strategy == "tids":
        topic = TIDS
        (folder / "pages").mkdir()
        for number in range(6):
            url = WEB.seeds(80, 6, "astronomy")[number % 2]
            page = WEB.page(url)
            assert page
            (folder / "pages" / f"{number}.html").write_bytes(page.body[number * 100 :])
    if strategy == "rules":
        topic = TAXONOMY
        for name in CLASSES:
            (folder / "tree" / name).mkdir(parents=True)
            for number, url in enumerate(WEB.seeds(80, 3, name)):
                page = WEB.page(url)
                assert page
                (folder / "tree" / name / f"{number}.html").write_bytes(page.body)
        rule_base.save(rule_base.RuleBase(CLASSES, {"law": {"astronomy": 3, "law": 1}}), folder / "rules.json")
    (folder / "crawl.toml").write_text(
        f"seeds = {WEB.seeds(80)!r}\n{topic}[strategy]\nkind = '{strategy}'\n{options}\n"
        f"[limits]\npages = {PAGES}\n[fetch]\nconcurrency = 1\ndelay_s = 0.0\ndelay_factor = 0.0\n"
    )
    return folder


async def crawl(folder: Path, chance: random.Random | None, lives: int = 1_000_000) -> bool:
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


def order(folder: Path) -> list[tuple[str, str, float]]:
    with sqlite3.connect(folder / "crawl.db") as db:
        return db.execute("SELECT url, error, round(score, 9) FROM visits ORDER BY n").fetchall()


@pytest.mark.parametrize("strategy", STRATEGIES)
async def test_kills_change_no_order(strategy: str, tmp_path: Path) -> None:
    peaceful = write(tmp_path / "peaceful", strategy, STRATEGIES[strategy])
    assert not await crawl(peaceful, None)
    expected = order(peaceful)
    assert len(expected) > 20
    chance = random.Random(strategy)
    disturbed = write(tmp_path / "disturbed", strategy, STRATEGIES[strategy])
    kills = 0
    while await crawl(disturbed, chance, lives=chance.randint(1, 60)):
        kills += 1
        assert kills < 100
    assert kills >= 1
    assert order(disturbed) == expected
