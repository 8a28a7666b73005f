"""The recall of a crawl in shards: one of them counts what all have found, in whatever number of shards it goes on."""

import asyncio
import re
import sys
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import msgspec
import pytest

from lycosa.api.folder import CrawlFolder
from lycosa.lab.generated import GeneratedWeb, Text
from lycosa.lab.serve import Server
from lycosa.recalling import stored_estimate
from lycosa.shards.layout import homes
from lycosa.store.db import CrawlDb

WEB = GeneratedWeb(pages=240, hosts=12, ip_hosts=True, seed=5, text=Text(size_bytes=(1_000, 2_000)))
pytestmark = pytest.mark.xdist_group("processes")


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    async with Server(WEB, bind="0.0.0.0") as found:
        yield found


def on_topic(server: Server) -> list[str]:
    """The pages about astronomy that links lead to."""
    seen, queue = set(WEB.seeds(server.port)), WEB.seeds(server.port)
    while queue:
        url = queue.pop()
        body = WEB.respond(url, {}).body.decode()
        found = {urljoin(url, target) for target in re.findall('href="([^"]+)"', body)} - seen
        seen |= found
        queue += found
    return sorted(url for url in seen if WEB.topic_of(url) == "astronomy")


def write_folder(folder: Path, server: Server, **run: str) -> Path:
    folder.mkdir(exist_ok=True)
    keys = {"shards": "2", "known": msgspec.json.encode(on_topic(server)).decode(), "limits": ""} | run
    (folder / "crawl.toml").write_text(
        f"""
        seeds = {WEB.seeds(server.port)!r}
        topic = {{ kind = "keywords", words = ["astronomy", "telescope"] }}
        limits = {{ {keys["limits"]} }}
        recall = {{ known = {keys["known"]}, share = 0.5 }}
        run = {{ shards = {keys["shards"]} }}
        fetch = {{ delay_s = 0.0, delay_factor = 0.0, allow_private = true }}
        """
    )
    return folder


async def output(*arguments: str) -> str:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "lycosa", *arguments), stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    out, errors = await process.communicate()
    assert process.returncode == 0, errors.decode()
    return out.decode()


async def crawl(folder: Path) -> dict[str, Any]:
    await output("crawl", str(folder))
    summary: dict[str, Any] = msgspec.json.decode((folder / "summary.json").read_bytes())
    return summary


def held_out(folder: Path) -> set[str]:
    with closing(CrawlDb(folder / "crawl.db", readonly=True).open()) as db:
        estimate = stored_estimate(db)
        assert estimate
        if db.get("ended") == "frontier empty":  # at a limit, lessons may remain in the outbox
            pages = db.execute("SELECT count(*) FROM visits WHERE error = '' AND duplicate_of = ''").fetchone()[0]
            assert estimate.save()["curve"]["pages"] == pages
        return {*estimate.held_out.urls.values()}


async def test_one_shard_counts_for_all(tmp_path: Path, server: Server) -> None:
    alone = write_folder(tmp_path / "alone", server, shards="1")
    shards = write_folder(tmp_path / "shards", server, shards="3")
    one, many = await asyncio.gather(crawl(alone), crawl(shards))
    assert many["recall"]["held_out"] == one["recall"]["held_out"]
    assert many["recall"]["held_out"]["of"] >= 10
    assert held_out(shards) == held_out(alone), "also drawn in the same way"
    shown = msgspec.json.decode(await output("show", str(shards), "--json"))
    assert shown["recall"] == many["recall"]["words"]


async def test_the_same_pages_stay_held_out_with_any_number_of_shards(tmp_path: Path, server: Server) -> None:
    folder, before = tmp_path / "crawl", set[str]()
    for shards, pages in (("2", 60), ("1", 90), ("3", 0)):
        await crawl(write_folder(folder, server, shards=shards, limits=f"pages = {pages}"))
        assert not before or held_out(folder) == before
        before = held_out(folder)
    assert len(homes(folder)) == 3


async def test_known_pages_may_be_named_later(tmp_path: Path, server: Server) -> None:
    folder = tmp_path / "crawl"
    await crawl(write_folder(folder, server, known="[]", limits="pages = 120"))
    await CrawlFolder(write_folder(folder, server)).crawl_async()
    summary = msgspec.json.decode((folder / "summary.json").read_bytes())
    found = summary["recall"]["held_out"]
    assert found["found"] == found["of"] >= 10


async def test_a_crawl_in_shards_ends_when_enough_was_found(tmp_path: Path, server: Server) -> None:
    folder = write_folder(tmp_path / "crawl", server, limits="recall = 0.5")
    summary = await crawl(folder)
    assert summary["ended"] == "limit of 50 % recall"
    assert summary["waiting"] > 0
