"""A search in a crawl in shards: whoever needs links, one shard asks, and the pages found are fetched by theirs."""

import asyncio
import json
import sys
from collections import Counter
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from lycosa.lab.answer import Answer
from lycosa.lab.serve import Server
from lycosa.seeds.engines import Search
from lycosa.seeds.ledger import Ledger
from lycosa.shards.messages import Hits, Query
from lycosa.shards.routing import Routing, shard_of_host
from lycosa.shards.searching import SEARCHER, Asking
from lycosa.store.db import CrawlDb

ENGINE = "127.0.0.250"
ISLANDS = 12


class Islands:
    """Pages that nothing links to; a search engine knows the next one of each."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def respond(self, url: str, headers: Mapping[str, str]) -> Answer:
        parts = urlsplit(url)
        if parts.path == "/robots.txt":
            return Answer(404)
        number = int(str(parts.hostname).rsplit(".", 1)[1])
        if parts.hostname != ENGINE:
            return Answer(body=f"<title>Island number{number} telescope</title>telescope number{number}".encode())
        query = parse_qs(parts.query)["q"][0]
        self.asked.append(query)
        known = [part for part in query.split() if part.startswith("number")]
        following = int(known[0].removeprefix("number")) + 1 if known else 0
        found = [{"url": f"http://127.0.0.{following}:{parts.port}/"}] if 0 < following <= ISLANDS else []
        return Answer(headers=(("Content-Type", "application/json"),), body=json.dumps({"results": found}).encode())


async def crawl(folder: Path, shards: int, port: int) -> set[str]:
    folder.mkdir(exist_ok=True)
    (folder / "crawl.toml").write_text(
        f"""
        seeds = ["http://127.0.0.1:{port}/"]
        topic = {{ kind = "keywords", words = ["telescope"] }}
        strategy = {{ kind = "best-first" }}
        run = {{ shards = {shards} }}
        fetch = {{ delay_s = 0.0, delay_factor = 0.0, allow_private = true }}
        search = {{ engine = "searxng", url = "http://{ENGINE}:{port}", delay_s = 0.0 }}
        """
    )
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "lycosa", "crawl", str(folder)), stderr=asyncio.subprocess.PIPE
    )
    _, errors = await asyncio.wait_for(process.communicate(), 300)  # it ends: each shard says when its search is over
    assert process.returncode == 0, errors.decode()
    with closing(CrawlDb(folder / "crawl.db", readonly=True).open()) as db:
        return {str(urlsplit(url).hostname) for (url,) in db.execute("SELECT url FROM visits WHERE error = ''")}


@pytest.mark.xdist_group("processes")
async def test_shards_find_what_one_process_finds(tmp_path: Path) -> None:
    islands = Islands()
    hosts = [f"127.0.0.{number}" for number in range(1, ISLANDS + 1)]
    assert {shard_of_host(host, 2) for host in hosts} == {0, 1}
    async with Server(islands, bind="0.0.0.0") as server:
        assert await crawl(tmp_path / "alone", 1, server.port) == {*hosts}
        islands.asked = []
        assert await crawl(tmp_path / "shards", 2, server.port) == {*hosts}
        assert max(Counter(islands.asked).values()) == 1, "no query is sent twice"
        before = len(islands.asked)
        assert await crawl(tmp_path / "shards", 1, server.port) == {*hosts}
        assert len(islands.asked) == before, "one process remembers what the shards have asked"


async def test_a_shard_asks_another_and_again_if_that_one_was_restarted(clock: Any) -> None:
    sent: list[Query] = []
    asking = Asking(Routing(1, 2), sent.append, clock.now)
    assert asking.ready()
    searching = asyncio.ensure_future(asking.search("soft models", "a.org", 3))
    await asyncio.sleep(0)
    assert sent == [Query(1, SEARCHER, "soft models", "a.org", 3)]
    asking.ask_again()
    assert sent == [sent[0]] * 2
    for _ in sent:  # both are answered
        asking.told(Hits(SEARCHER, 1, "soft models", "a.org", ["http://a.org/"], clock.now() + 9.0))
    assert await searching == ["http://a.org/"]
    assert asking.knows("Soft  Models", "a.org")
    assert not asking.ready(), "the engine rests"
    clock.advance(9.0)
    assert asking.ready()
    asking.ask_again()
    assert len(sent) == 2


async def test_queries_of_several_shards_are_sent_one_at_a_time(tmp_path: Path, clock: Any) -> None:
    engine = Slow()
    with closing(CrawlDb(tmp_path / "crawl.db").open()) as db:
        ledger = Ledger(engine, db, Search(delay_s=0.0, per_day=2), clock)
        searches = [asyncio.ensure_future(ledger.search(query, "", 1)) for query in ("one", "two", "three")]
        await asyncio.sleep(0)
        await ledger.open()
        assert await asyncio.gather(*searches) == [["one"], ["two"], []], "the day allows two"
        assert engine.most_at_once == 1
        assert ledger.ready_at() > clock.now()


class Slow:
    """An engine that takes a turn of the event loop."""

    def __init__(self) -> None:
        self.at_once = self.most_at_once = 0

    async def open(self) -> None: ...
    async def close(self) -> None: ...

    async def search(self, query: str, site: str, k: int) -> list[str]:
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        await asyncio.sleep(0)
        self.at_once -= 1
        return [query]
