"""The lab's crawl is the real crawl: the same order as over HTTP with one worker and no delay, on the same web."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from lycosa import build, config
from lycosa.clock import WallClock
from lycosa.lab.answer import Pages
from lycosa.lab.faults import Faulty
from lycosa.lab.one import LAB, crawl_web
from lycosa.lab.recorded import RecordedWeb
from lycosa.lab.serve import Server
from lycosa.lab.webs import open_web, site_of
from lycosa.run import Run
from lycosa.store.db import CrawlDb
from lycosa.strategy import STRATEGIES

WEB = (
    "generated:pages=200,hosts=12,seed=8,size_bytes=400-900,count=4-9,chains=2,"
    "dead_ends=0.05,redirects=0.1,duplicates=0.1,failing=true,trap=true"
)
WORDS = ["astronomy", "telescope", "galaxy", "planet", "orbit", "star"]
NAMES = ["breadth-first", "best-first", "link-context", "opic", "otie", "hard-focus", "ontology"]


def settings(strategy: str, seeds: list[str], pages: int, words: list[str]) -> config.Config:
    """As in the lab: no limits of scope, no delays, whatever a server asks for."""
    return replace(
        LAB,
        seeds=seeds,
        topic={"kind": "keywords", "words": words},
        strategy={"kind": strategy},
        fetch=replace(LAB.fetch, concurrency=1, max_delay_s=0.0, allow_private=True),  # *.localhost is this machine
        limits=config.Limits(pages=pages),
        store=config.Store(warc=False),
    )


async def crawl_over_http(folder: Path, given: config.Config, web: Pages) -> list[tuple[Any, ...]]:
    """What was asked, what came of it and what it was worth, in order."""
    async with Server(Faulty(site_of(web))) as proxy:
        given = replace(given, fetch=replace(given.fetch, proxy=f"http://127.0.0.1:{proxy.port}"))
        run = Run(folder, given, config.Source(folder / config.NAME, ""), WallClock())
        await run.run([], lambda summary: None)
    db = CrawlDb(folder / "crawl.db", readonly=True).open()
    rows = db.execute(
        "SELECT url, final_url, error, coalesce(score, 0.0), coalesce(relevance, 0.0) FROM visits ORDER BY n"
    ).fetchall()
    db.close()
    return rows


def crawl_in_lab(given: config.Config, web: Pages) -> list[tuple[Any, ...]]:
    source = config.Source(Path(config.NAME), "")
    judge = build.make_judge(given, source)
    strategy = build.make_strategy(given, source, judge)
    got = crawl_web(web, given.seeds, judge, strategy, given.limits.pages)
    return [(fetch.url, fetch.final_url, fetch.error, fetch.score, fetch.relevance) for fetch in got.fetches]


class TestSameOrder:
    @pytest.mark.parametrize("name", NAMES)
    async def test_on_a_generated_web(self, name: str, tmp_path: Path) -> None:
        web = open_web(WEB)
        given = settings(name, web.seeds(), 90, WORDS)  # type: ignore[attr-defined]
        real = await crawl_over_http(tmp_path, given, web)
        assert len({error for _, _, error, *_ in real}) >= 3 or name == "hard-focus", "nothing odd happened"
        lab = await in_thread(crawl_in_lab, given, web)
        assert real[: len(lab)] == lab  # where duplicates count as pages, so that it ends sooner

    @pytest.mark.parametrize("name", ["best-first", "link-context", "otie"])
    async def test_on_a_real_web(self, name: str, tmp_path: Path, texas: RecordedWeb) -> None:
        words = ["course", "homework", "syllabus", "lecture", "assignment"]
        given = settings(name, ["http://www.cs.utexas.edu/"], 60, words)
        real = await crawl_over_http(tmp_path, given, texas)
        lab = await in_thread(crawl_in_lab, given, texas)
        assert len([row for row in lab if not row[2]]) == 60
        assert real[: len(lab)] == lab

    def test_every_strategy_is_looked_at(self) -> None:
        """Those left out need a topic or files of their own, and are orders of the same kind."""
        assert set(STRATEGIES) - set(NAMES) == {"rules", "tids", "publications", "learned"}


async def in_thread(call: Any, *given: Any) -> Any:
    """The lab has a loop of its own, so it cannot run in this one."""
    return await asyncio.to_thread(call, *given)
