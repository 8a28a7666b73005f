"""One page under many addresses: it counts once, and does not keep the crawl from the others."""

import asyncio
from pathlib import Path
from typing import Any

import msgspec
import pytest

from lycosa import config
from lycosa.clock import WallClock
from lycosa.output.report import read_report
from lycosa.parse import content_digest
from lycosa.run import Run
from lycosa.store.db import CrawlDb

COPIES, PAGES = 12, 6


@pytest.fixture
async def site(server: Any) -> Any:
    """A list of many addresses of one page, then of some pages that differ."""
    names = [f"/copy?session={number}" for number in range(COPIES)] + [f"/page{number}" for number in range(PAGES)]

    async def handle(path: str, headers: dict[str, str], writer: asyncio.StreamWriter) -> None:
        body = f"<p>the page {path}"
        if path == "/":
            body = "".join(f"<a href='{name}'>next</a>" for name in names)
        elif path.startswith("/copy"):
            body = "<p>telescope"
        status = "404 Not Found" if path == "/robots.txt" else "200 OK"
        head = f"HTTP/1.1 {status}\r\nContent-Type: text/html\r\nContent-Length: {len(body)}\r\n\r\n"
        writer.write((head + body).encode())

    server.handle = handle
    return server


async def crawl(folder: Path, site: Any, pages: int) -> dict[str, Any]:
    settings = config.Config(
        seeds=[f"{site.url}/"],
        topic={"kind": "keywords", "words": ["telescope"], "threshold": 0.01},
        strategy={"kind": "breadth-first"},
        fetch=config.Fetch(delay_s=0.0, delay_factor=0.0, concurrency=1, allow_private=True),
        limits=config.Limits(pages=pages),
        store=config.Store(warc=False),
    )
    return await Run(folder, settings, config.Source(folder / config.NAME, ""), WallClock()).run([], lambda _: None)


async def test_the_budget_is_spent_on_pages_that_differ(tmp_path: Path, site: Any) -> None:
    summary = await crawl(tmp_path, site, 2 + PAGES + COPIES)
    assert (summary["pages"], summary["duplicates"]) == (2 + PAGES, COPIES - 1)
    assert summary["ended"] == "frontier empty"
    db = CrawlDb(tmp_path / "crawl.db", readonly=True).open()
    report = read_report(db)
    db.close()
    assert (report.pages, report.duplicates, report.relevant) == (2 + PAGES, COPIES - 1, 1)
    assert report.harvest_rate == summary["harvest_rate"] == 1 / (2 + PAGES)
    assert report.curve[-1] == report.harvest_rate


async def test_a_trap_of_one_page_comes_to_an_end(tmp_path: Path, site: Any) -> None:
    summary = await crawl(tmp_path, site, 5)
    assert (summary["pages"], summary["duplicates"]) == (2, 5)
    assert summary["ended"] == "limit of 5 duplicates"


async def test_the_count_survives_a_restart(tmp_path: Path, site: Any) -> None:
    await crawl(tmp_path, site, 5)
    summary = await crawl(tmp_path, site, 2 + PAGES)
    assert (summary["pages"], summary["duplicates"]) == (2, 2 + PAGES)
    assert msgspec.json.decode((tmp_path / "summary.json").read_bytes())["pages"] == 2
    summary = await crawl(tmp_path, site, COPIES + PAGES)
    assert (summary["pages"], summary["duplicates"]) == (2 + PAGES, COPIES - 1)


def digests(folder: Path) -> set[str]:
    db = CrawlDb(folder / "crawl.db", readonly=True).open()
    try:
        return {digest for (digest,) in db.execute("SELECT digest FROM visits WHERE digest != ''")}
    finally:
        db.close()


async def test_digests_cannot_be_foretold(tmp_path: Path, site: Any) -> None:
    """Or somebody could make a page that passes for another, which would then count as its duplicate."""
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        await crawl(tmp_path / name, site, 5)
    assert not digests(tmp_path / "one") & digests(tmp_path / "two")


async def test_a_crawl_that_began_without_a_secret_goes_on_without_one(tmp_path: Path, site: Any) -> None:
    await crawl(tmp_path, site, 5)
    db = CrawlDb(tmp_path / "crawl.db").open()
    db.execute("UPDATE visits SET digest = ? WHERE digest != '' AND n > 1", (content_digest(b"<p>telescope", 0),))
    db.execute("DELETE FROM meta WHERE key = 'secret'")
    db.commit()
    db.close()
    summary = await crawl(tmp_path, site, COPIES + PAGES)
    assert (summary["pages"], summary["duplicates"]) == (2 + PAGES, COPIES - 1)
