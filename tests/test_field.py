"""Focus through the front door: real HTTP, real delays, many workers, one good host among many others."""

import itertools
from pathlib import Path
from typing import Any

from lycosa import config
from lycosa.clock import WallClock
from lycosa.lab.answer import Answer
from lycosa.lab.serve import Server
from lycosa.run import Run
from lycosa.store.db import CrawlDb

GOOD, OTHERS, PAGES = 24, 30, 40
DELAY_S = 0.2


class Town:
    """One host about spiders, thirty about nothing; every page links to pages of its own host and to other hosts."""

    def __init__(self, good_fails: bool = False, good_takes_s: float = 0.0) -> None:
        self.good_fails = good_fails
        self.good_takes_s = good_takes_s

    def respond(self, url: str, headers: Any) -> Answer:
        host, path = url.split("/", 3)[2:]
        if path == "robots.txt":
            return Answer(404)
        if host == "start.test":
            links = ["http://spiders.test/0", *(f"http://other{n}.test/0" for n in range(OTHERS))]
            return page("a list of hosts", links)
        number = int(path)
        if host == "spiders.test":
            if self.good_fails:
                return Answer(503)
            links = [f"http://spiders.test/{n}" for n in range(number + 1, min(GOOD, number + 4))]
            body = page(f"spider spiders web silk {number}", links, "spider").body
            return Answer(body=body, delay_s=self.good_takes_s)
        return page(f"town hall {host} {number}", [f"http://{host}/{n}" for n in (number + 1, number + 2)])


def page(text: str, links: list[str], anchor: str = "more") -> Answer:
    made = "".join(f'<a href="{link}">{anchor if "spiders" in link else "more"}</a> ' for link in links)
    return Answer(body=f"<title>{text}</title><p>{text * 20}</p>{made}".encode())


async def crawl(folder: Path, site: Town, **fetch: Any) -> tuple[list[str], list[tuple[float, str]], Any]:
    """The pages in order, the requests that the server saw, the summary."""
    asked: list[tuple[float, str]] = []
    async with Server(site, log=lambda at, host, path: asked.append((at, host))) as server:
        settings = config.Config(
            seeds=["http://start.test/"],
            topic={"kind": "keywords", "words": ["spider"]},
            strategy={"kind": "best-first"},
            fetch=config.Fetch(proxy=f"http://127.0.0.1:{server.port}", delay_s=DELAY_S, **fetch),
            limits=config.Limits(pages=PAGES),
        )
        run = Run(folder, settings, config.Source(folder / config.NAME, ""), WallClock())
        summary = await run.run([], lambda report: None)
    db = CrawlDb(folder / "crawl.db", readonly=True).open()
    pages = [url for (url,) in db.execute("SELECT url FROM visits WHERE error = '' ORDER BY n")]
    db.close()
    return pages, asked, summary


def check_politeness(asked: list[tuple[float, str]]) -> None:
    """The server stamps a request when it is there, which may be a moment after it was sent."""
    for _, each in itertools.groupby(sorted(asked, key=lambda one: (one[1], one[0])), key=lambda one: one[1]):
        times = [at for at, _ in each]
        assert all(later - sooner > 0.9 * DELAY_S for sooner, later in itertools.pairwise(times))


async def test_a_good_host_is_waited_for(tmp_path: Path) -> None:
    pages, asked, summary = await crawl(tmp_path, Town())
    assert sum("spiders" in url for url in pages) == GOOD
    first = [url for url in pages[: GOOD + 10] if "spiders" in url]
    assert len(first) >= 0.8 * GOOD, "others were fetched while the good host rested"
    assert summary["ended"] == f"limit of {PAGES} pages"
    check_politeness(asked)


async def test_busy_the_budget_goes_elsewhere(tmp_path: Path) -> None:
    pages, asked, _ = await crawl(tmp_path, Town(), focus=0.0)
    assert sum("spiders" in url for url in pages) <= GOOD // 3
    check_politeness(asked)


async def test_a_good_host_that_fails_holds_up_nobody(tmp_path: Path) -> None:
    pages, asked, summary = await crawl(tmp_path, Town(good_fails=True), backoff_s=60.0)
    assert summary["ended"] == f"limit of {PAGES} pages"
    assert not any("spiders" in url for url in pages)
    check_politeness(asked)


async def test_a_good_host_that_is_slow_holds_up_nobody(tmp_path: Path) -> None:
    pages, asked, summary = await crawl(tmp_path, Town(good_takes_s=8.0), delay_factor=10.0)
    assert summary["ended"] == f"limit of {PAGES} pages"
    assert sum("spiders" in url for url in pages) <= 2
    check_politeness(asked)
