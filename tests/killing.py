"""What the tests that kill crawls share: real processes on a web of their own, and how their results are compared."""

import asyncio
import itertools
import sys
from collections import defaultdict
from contextlib import closing
from pathlib import Path

from warcio.archiveiterator import ArchiveIterator

from lycosa.lab.generated import GeneratedWeb, Oddities, Text
from lycosa.store.db import CrawlDb

DELAY_S = 0.05
Visits = list[tuple[str, str, str]]


class Watch:
    """The server's own log: when each host was contacted."""

    def __init__(self) -> None:
        self.times: dict[str, list[float]] = defaultdict(list)
        self._count = 0
        self._waiting: dict[int, asyncio.Event] = {}

    def __call__(self, when: float, host: str, path: str) -> None:
        self.times[host].append(when)
        self._count += 1
        if self._count in self._waiting:
            self._waiting.pop(self._count).set()

    async def more(self, requests: int) -> None:
        """Wait for this many further requests."""
        await self._waiting.setdefault(self._count + requests, asyncio.Event()).wait()


def web(pages: int, hosts: int, size_bytes: tuple[int, int]) -> GeneratedWeb:
    oddities = Oddities(redirects=0.05, duplicates=0.05, private=0.03)
    return GeneratedWeb(
        pages=pages, hosts=hosts, ip_hosts=True, seed=7, text=Text(size_bytes=size_bytes), oddities=oddities
    )


def write_folder(folder: Path, seeds: list[str], run: str = "", fetch: str = "") -> Path:
    folder.mkdir()
    (folder / "crawl.toml").write_text(
        f"""
        seeds = {seeds!r}
        topic = {{ kind = "keywords", words = ["astronomy", "telescope"] }}
        strategy = {{ kind = "best-first" }}
        limits = {{ pages = 0 }}
        [run]
        {run}
        [fetch]
        delay_s = {DELAY_S}
        delay_factor = 0.0
        allow_private = true
        retries = 1
        backoff_s = 0.2
        {fetch}
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


def visits(folder: Path) -> Visits:
    with closing(CrawlDb(folder / "crawl.db", readonly=True).open()) as db:
        return db.execute("SELECT url, final_url, error FROM visits ORDER BY n").fetchall()


def fetched(rows: Visits) -> set[str]:
    """Every URL that was visited or reached by a redirect; which of the two depends on what came first."""
    return {url for row in rows for url in row[:2]}


def recorded(folder: Path) -> list[str]:
    """The replies in all WARC files, by an independent reader that also checks every record's length and digest."""
    urls = []
    for path in sorted(folder.rglob("warc/*")):
        with path.open("rb") as file:
            for record in ArchiveIterator(file, check_digests="raise"):
                record.content_stream().read()
                if record.rec_type == "response":
                    urls.append(record.rec_headers.get_header("WARC-Target-URI"))
    return urls


def assert_equal(expected: Visits, folder: Path) -> None:
    """Nothing is lost, and nothing is there twice."""
    got = visits(folder)
    assert len({url for url, _, _ in got}) == len(got), "a URL was visited twice"
    assert fetched(got) == fetched(expected)
    reached = {final for _, final, error in got if not error}
    assert reached == {final for _, final, error in expected if not error}
    urls = recorded(folder)
    assert len(set(urls)) == len(urls), "a reply was stored twice"
    assert reached <= set(urls)


def assert_polite(times: dict[str, list[float]], delay_s: float = DELAY_S) -> None:
    assert times
    for host, of_host in times.items():
        gaps = [after - before for before, after in itertools.pairwise(of_host)]
        assert min(gaps, default=delay_s) >= delay_s - 0.001, f"{host} was contacted again after {min(gaps):.4f} s"
