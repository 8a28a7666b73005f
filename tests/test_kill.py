"""A crawl that is killed at random moments ends like one that was left in peace. Real processes, a real SIGKILL."""

import asyncio
import itertools
import random
import signal
import sqlite3
import sys
from collections import defaultdict
from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator

from lycosa.lab.generated import GeneratedWeb, Oddities, Text
from lycosa.lab.serve import Server

PAGES, HOSTS, DELAY_S = 2_000, 40, 0.05
KILLS = 10


class Watch:
    """The server's own log: when each host was asked. At a chosen number of requests it rings."""

    def __init__(self) -> None:
        self.asked: dict[str, list[tuple[float, str]]] = defaultdict(list)
        self.count = 0
        self.ring_at = 0
        self.rang = asyncio.Event()

    def __call__(self, when: float, host: str, path: str) -> None:
        self.asked[host].append((when, path))
        self.count += 1
        if self.count == self.ring_at:
            self.rang.set()

    def ring_after(self, requests: int) -> None:
        self.rang.clear()
        self.ring_at = self.count + requests


def write_folder(folder: Path, seeds: list[str]) -> Path:
    folder.mkdir()
    (folder / "crawl.toml").write_text(
        f"""
        seeds = {seeds!r}
        topic = {{ kind = "keywords", words = ["astronomy", "telescope"] }}
        strategy = {{ kind = "best-first" }}
        limits = {{ pages = 0 }}
        [fetch]
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


async def finish(folder: Path) -> None:
    process = await start(folder)
    _, errors = await process.communicate()
    assert process.returncode == 0, errors.decode()


def visits(folder: Path) -> list[tuple[str, str, str]]:
    with sqlite3.connect(folder / "crawl.db") as db:
        return db.execute("SELECT url, final_url, error FROM visits ORDER BY n").fetchall()


def asked(rows: list[tuple[str, str, str]]) -> set[str]:
    """Every URL that was visited or reached by a redirect; which of the two depends on what came first."""
    return {url for row in rows for url in row[:2]}


def recorded(folder: Path) -> list[str]:
    """The answers in the WARC files, by an independent reader that also checks every record's length and digest."""
    urls = []
    for path in sorted((folder / "warc").iterdir()):
        with path.open("rb") as file:
            for record in ArchiveIterator(file, check_digests="raise"):
                record.content_stream().read()
                if record.rec_type == "response":
                    urls.append(record.rec_headers.get_header("WARC-Target-URI"))
    return urls


@pytest.mark.slow
@pytest.mark.xdist_group("processes")
async def test_killed_ten_times_it_ends_like_one_left_in_peace(tmp_path: Path) -> None:
    web = GeneratedWeb(
        pages=PAGES,
        hosts=HOSTS,
        ip_hosts=True,
        seed=7,
        text=Text(size_bytes=(2_000, 6_000)),
        oddities=Oddities(redirects=0.05, duplicates=0.05, private=0.03),
    )
    chance = random.Random(7)
    watch = Watch()
    async with Server(web, bind="0.0.0.0", log=watch) as server:
        seeds = web.seeds(server.port)
        peaceful = write_folder(tmp_path / "peaceful", seeds)
        await finish(peaceful)
        expected = visits(peaceful)
        assert len(expected) > 1_500

        watch.asked.clear()
        disturbed = write_folder(tmp_path / "disturbed", seeds)
        for _ in range(KILLS):
            watch.ring_after(chance.randint(1, PAGES // KILLS))
            process = await start(disturbed)
            ended = asyncio.ensure_future(process.wait())
            rang = asyncio.ensure_future(watch.rang.wait())
            await asyncio.wait([ended, rang], return_when=asyncio.FIRST_COMPLETED)
            assert rang.done(), "the crawl ended before it could be killed"
            process.send_signal(signal.SIGKILL)
            await ended
        await finish(disturbed)
    assert_equal(expected, disturbed)
    assert_polite(watch)


def assert_equal(expected: list[tuple[str, str, str]], folder: Path) -> None:
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
