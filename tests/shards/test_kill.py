"""Shards that are killed at random moments: the crawl ends like one left in peace. Real processes, a real SIGKILL."""

import asyncio
import itertools
import os
import random
import signal
import sys
from collections import defaultdict
from contextlib import closing
from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator

from lycosa.lab.generated import GeneratedWeb, Oddities, Text
from lycosa.lab.serve import Server
from lycosa.store.db import CrawlDb

PAGES, HOSTS, DELAY_S = 2_000, 80, 0.05
KILLS, SHARDS = 10, 3

Visits = list[tuple[str, str, str]]


class Watch:
    """The server's own log: when each host was asked."""

    def __init__(self) -> None:
        self.asked: dict[str, list[tuple[float, str]]] = defaultdict(list)
        self.count = 0
        self.waiting: dict[int, asyncio.Event] = {}

    def __call__(self, when: float, host: str, path: str) -> None:
        self.asked[host].append((when, path))
        self.count += 1
        if self.count in self.waiting:
            self.waiting.pop(self.count).set()

    async def more(self, requests: int) -> None:
        event = self.waiting.setdefault(self.count + requests, asyncio.Event())
        await event.wait()


def write_folder(folder: Path, seeds: list[str], shards: int) -> Path:
    folder.mkdir()
    (folder / "crawl.toml").write_text(
        f"""
        seeds = {seeds!r}
        topic = {{ kind = "keywords", words = ["astronomy", "telescope"] }}
        strategy = {{ kind = "best-first" }}
        limits = {{ pages = 0 }}
        [run]
        shards = {shards}
        order = "loose"
        [fetch]
        focus = 0
        delay_s = {DELAY_S}
        delay_factor = 0.0
        allow_private = true
        retries = 1
        backoff_s = 0.2
        """
    )
    return folder


async def start(folder: Path) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "lycosa", "crawl", str(folder)),
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )


async def finish(process: asyncio.subprocess.Process) -> None:
    _, errors = await process.communicate()
    assert process.returncode == 0, errors.decode()


def shard_pids(fleet: int) -> list[int]:
    return [int(pid) for pid in Path(f"/proc/{fleet}/task/{fleet}/children").read_text().split()]


def visits(folder: Path) -> Visits:
    with closing(CrawlDb(folder / "crawl.db", readonly=True).open()) as db:
        return db.execute("SELECT url, final_url, error FROM visits ORDER BY n").fetchall()


def asked(rows: Visits) -> set[str]:
    """Every URL that was visited or reached by a redirect; which of the two depends on what came first."""
    return {url for row in rows for url in row[:2]}


def recorded(folder: Path) -> list[str]:
    """The answers in all WARC files, by an independent reader that also checks every record's length and digest."""
    urls = []
    for path in sorted(folder.glob("shards/*/warc/*")):
        with path.open("rb") as file:
            for record in ArchiveIterator(file, check_digests="raise"):
                record.content_stream().read()
                if record.rec_type == "response":
                    urls.append(record.rec_headers.get_header("WARC-Target-URI"))
    return urls


@pytest.mark.slow
@pytest.mark.xdist_group("processes")
async def test_shards_killed_ten_times_end_like_a_crawl_left_in_peace(tmp_path: Path) -> None:
    web = GeneratedWeb(
        pages=PAGES,
        hosts=HOSTS,
        ip_hosts=True,
        seed=7,
        text=Text(size_bytes=(1_000, 3_000)),
        oddities=Oddities(redirects=0.05, duplicates=0.05, private=0.03),
    )
    chance = random.Random(7)
    watch = Watch()
    async with Server(web, bind="0.0.0.0", log=watch) as server:
        seeds = web.seeds(server.port)
        peaceful = write_folder(tmp_path / "peaceful", seeds, shards=1)
        await finish(await start(peaceful))
        expected = visits(peaceful)
        assert len(expected) > 1_500

        watch.asked.clear()
        disturbed = write_folder(tmp_path / "disturbed", seeds, SHARDS)
        fleet = await start(disturbed)
        ended = asyncio.ensure_future(finish(fleet))
        for _ in range(KILLS):
            rang = asyncio.ensure_future(watch.more(chance.randint(1, PAGES // KILLS)))
            await asyncio.wait([ended, rang], return_when=asyncio.FIRST_COMPLETED)
            assert not ended.done(), "the crawl ended before a shard could be killed"
            os.kill(chance.choice(shard_pids(fleet.pid)), signal.SIGKILL)
        await ended
    assert_equal(expected, disturbed)
    assert_polite(watch)


def assert_equal(expected: Visits, folder: Path) -> None:
    got = visits(folder)
    assert len({url for url, _, _ in got}) == len(got), "a URL was visited twice"
    assert asked(got) == asked(expected)
    reached = {final for _, final, error in got if not error}
    assert reached == {final for _, final, error in expected if not error}
    urls = recorded(folder)
    assert len(set(urls)) == len(urls), "an answer was stored twice"
    assert reached <= set(urls)


def assert_polite(watch: Watch) -> None:
    for host, requests in watch.asked.items():
        for (before, _), (after, path) in itertools.pairwise(requests):
            assert after - before >= DELAY_S - 0.001, f"{host}{path} came {after - before:.4f} s after the last request"
