"""A crawl in shards is the same crawl: real processes on a small web, and the commands that read and control them."""

import asyncio
import os
import signal
import sys
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import closing
from io import BytesIO
from pathlib import Path

import msgspec
import pytest
from fastwarc.warc import ArchiveIterator

from lycosa import control, offline
from lycosa.control import Request
from lycosa.judge.corrected import Corrected
from lycosa.lab.generated import GeneratedWeb, Oddities, Text
from lycosa.lab.recorded import RecordedWeb, warc_files
from lycosa.lab.serve import Server
from lycosa.shards.layout import homes
from lycosa.store import known, labels, visited
from lycosa.store.db import CrawlDb
from lycosa.store.page_graph import read_page_graph

WEB = GeneratedWeb(
    pages=150,
    hosts=12,
    ip_hosts=True,
    seed=3,
    text=Text(size_bytes=(1_000, 2_000)),
    oddities=Oddities(redirects=0.1, duplicates=0.1),
)
pytestmark = pytest.mark.xdist_group("processes")


@pytest.fixture
async def seeds() -> AsyncIterator[list[str]]:
    async with Server(WEB, bind="0.0.0.0") as server:
        yield WEB.seeds(server.port)


def write_folder(folder: Path, seeds: list[str], shards: int | str, pages: int = 0, delay_s: float = 0.0) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "crawl.toml").write_text(
        f"""
        seeds = {seeds!r}
        topic = {{ kind = "keywords", words = ["astronomy", "telescope"] }}
        limits = {{ pages = {pages} }}
        run = {{ shards = {shards} }}
        fetch = {{ delay_s = {delay_s}, delay_factor = 0.0, allow_private = true }}
        """
    )
    return folder


async def lycosa(*arguments: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "lycosa", *arguments), stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )


async def output(*arguments: str, code: int = 0) -> str:
    process = await lycosa(*arguments)
    out, errors = await process.communicate()
    assert process.returncode == code, errors.decode()
    return out.decode()


def opened(folder: Path) -> CrawlDb:
    return CrawlDb(folder / "crawl.db", readonly=True).open()


def pages_of(db: CrawlDb) -> set[str]:
    return {url for (url,) in db.execute("SELECT final_url FROM visits WHERE error = ''")}


def links_of(db: CrawlDb) -> set[tuple[str, str]]:
    pages, sources, targets = read_page_graph(db, relevant_only=False)
    return {(pages[source], pages[target]) for source, target in zip(sources, targets, strict=True)}


async def test_shards_find_the_same_pages_links_and_duplicates_as_one_process(tmp_path: Path, seeds: list[str]) -> None:
    alone = write_folder(tmp_path / "alone", seeds, 1)
    shards = write_folder(tmp_path / "shards", seeds, 3)
    await asyncio.gather(output("crawl", str(alone)), output("crawl", str(shards)))
    assert (alone / "crawl.db").exists()
    assert not (alone / "shards").exists()
    assert [home.name for home in homes(shards)] == ["0", "1", "2"]
    assert not (shards / "crawl.db").exists()
    with closing(opened(alone)) as one, closing(opened(shards)) as many:
        assert pages_of(many) == pages_of(one)
        assert known.count_urls(many) == known.count_urls(one)
        tallies = visited.tally(one), visited.tally(many)
        assert tallies[0].pages == tallies[1].pages
        assert tallies[0].duplicates == tallies[1].duplicates > 0
        assert len(links_of(many)) == pytest.approx(len(links_of(one)), rel=0.02)  # by the name a duplicate had first
        last = many.execute("SELECT url FROM visits WHERE error = '' ORDER BY n DESC LIMIT 1").fetchone()[0]
        assert known.path_to(many, last)[-1].origin == 1, "the path leads back to a seed, over all shards"
    summary = msgspec.json.decode((shards / "summary.json").read_bytes())
    assert (summary["ended"], summary["shards"], summary["waiting"]) == ("frontier empty", 3, 0)
    assert "no problems" in await output("check", str(shards))
    assert f"└ {last}" in await output("why", str(shards), last)
    rows = [msgspec.json.decode(row) for row in (await output("export", str(shards), "--text")).splitlines()]
    assert len(rows) == tallies[0].pages + tallies[0].duplicates
    assert all(row["text"] for row in rows), "the records of all shards can be read"


async def test_a_crawl_goes_on_with_more_shards_and_with_fewer(tmp_path: Path, seeds: list[str]) -> None:
    folder = tmp_path / "crawl"
    for shards, pages in ((1, 30), (4, 60), (2, 90), (1, 0)):
        write_folder(folder, seeds, shards, pages)
        await output("crawl", str(folder))
        assert len(homes(folder)) == (shards if shards > 1 else 0)
        with closing(opened(folder)) as db:
            if pages:
                assert visited.tally(db).pages == pages
            urls = [url for (url,) in db.execute("SELECT url FROM visits")]
            assert len(set(urls)) == len(urls), "a URL was visited twice"
            numbers = [n for (n,) in db.execute("SELECT n FROM visits ORDER BY n")]
            assert numbers == [*range(1, len(numbers) + 1)]
        assert "no problems" in await output("check", str(folder))
    assert pages_of(opened(folder)) == {url for url in pages_of(opened(folder)) if url}
    peaceful = write_folder(tmp_path / "peaceful", seeds, 1)
    await output("crawl", str(peaceful))
    assert pages_of(opened(folder)) == pages_of(opened(peaceful))


async def test_more_shards_than_sqlite_attaches_are_read_as_one(tmp_path: Path, seeds: list[str]) -> None:
    """Twelve processes, of which some have no host at all."""
    folder, alone = tmp_path / "crawl", write_folder(tmp_path / "alone", seeds, 1)
    await output("crawl", str(alone))
    for shards, pages in ((2, 40), (12, 80)):
        await output("crawl", str(write_folder(folder, seeds, shards, pages)))
    assert len(homes(folder)) == 12
    with closing(opened(folder)) as db:
        assert visited.tally(db).pages == 80
        pages_80 = pages_of(db)
        some = [page.url for page in labels.judged(db)][:3]
        last = db.execute("SELECT url FROM visits WHERE error = '' ORDER BY n DESC LIMIT 1").fetchone()[0]
    assert "no problems" in await output("check", str(folder))
    assert f"└ {last}" in await output("why", str(folder), last)
    rows = [msgspec.json.decode(row) for row in (await output("export", str(folder), "--text")).splitlines()]
    assert len(rows) >= 80
    assert all(row["text"] for row in rows)
    offline.label(folder, dict.fromkeys(some, True), "import")
    offline.apply_labels(folder)
    with closing(opened(folder)) as db:
        assert labels.answers(db) == dict.fromkeys(some, True)
    shown = msgspec.json.decode(await output("show", str(folder), "--json"))
    assert (shown["pages"], shown["labels"]["on_topic"]) == (80, 3)
    await output("crawl", str(write_folder(folder, seeds, 2)))
    assert len(homes(folder)) == 2
    with closing(opened(folder)) as many, closing(opened(alone)) as one:
        assert pages_80 < pages_of(many) == pages_of(one)
        assert labels.answers(many) == dict.fromkeys(some, True)


async def test_a_running_crawl_obeys_and_continues_after_a_signal(tmp_path: Path, seeds: list[str]) -> None:
    folder = write_folder(tmp_path / "crawl", seeds[:1], 2, delay_s=0.1)
    process = await lycosa("crawl", str(folder))
    while not homes(folder) or not all((home / control.NAME).exists() for home in [folder, *homes(folder)]):
        assert process.returncode is None
        await asyncio.sleep(0.02)

    async def ask(request: Request) -> object:
        return await asyncio.to_thread(control.call, folder, request)

    paused = await ask(Request("pause"))
    assert isinstance(paused, dict)
    assert paused["changed"]
    added = await ask(Request("add", urls=[*seeds[1:3], seeds[0]]))
    assert isinstance(added, dict)
    assert sorted(added) == sorted(seeds[:3])
    assert added[seeds[0]] == "known"
    assert await ask(Request("exclude", host="nowhere.example")) == 0
    assert (await ask(Request("resume"))) == {"changed": True, "in_flight": 0}
    process.send_signal(signal.SIGTERM)
    _, errors = await process.communicate()
    assert process.returncode == 130, errors.decode()
    with closing(opened(folder)) as db:
        before = [url for (url,) in db.execute("SELECT url FROM visits")]
    write_folder(folder, seeds[:1], 2)
    await output("crawl", str(folder))
    with closing(opened(folder)) as db:
        after = [url for (url,) in db.execute("SELECT url FROM visits")]
    assert len(set(after)) == len(after) > len(before)
    assert set(before) <= set(after)


async def test_orders_and_labels_are_kept_for_all_shards(tmp_path: Path, seeds: list[str]) -> None:
    folder = write_folder(tmp_path / "crawl", seeds, 2, 40)
    await output("crawl", str(folder))
    with closing(opened(folder)) as db:
        pages = [page.url for page in labels.judged(db)][:6]
        waiting = db.execute("SELECT url FROM urls WHERE state = 0").fetchall()
    offline.label(folder, dict.fromkeys(pages, True), "import")
    offline.apply_labels(folder)
    with closing(opened(folder)) as db:
        assert labels.answers(db) == dict.fromkeys(pages, True)
        assert {page.url for page in labels.judged(db) if page.on_topic} >= set(pages)
    assert offline.add(folder, ["http://added.example/"]) == {"http://added.example/": "added"}
    host = waiting[0][0].split("/")[2].split(":")[0]
    at_host = sum(url.split("/")[2].split(":")[0] == host for (url,) in waiting)
    what = offline.orders.exclusion(host)
    assert offline.count(folder, what) == offline.exclude(folder, what) == at_host
    shown = msgspec.json.decode(await output("show", str(folder), "--json"))
    assert (shown["pages"], shown["added_seeds"], shown["excluded"]) == (40, ["http://added.example/"], [host])
    assert shown["labels"]["on_topic"] == len(pages)
    assert "pages re-judged" in await output("rejudge", str(folder))
    assert homes(folder) == []
    assert labels.answers(opened(folder)) == dict.fromkeys(pages, True)


async def test_labels_teach_every_shard(tmp_path: Path, seeds: list[str]) -> None:
    """Those from before the crawl was divided, and those given to one shard while it runs in several."""
    folder = write_folder(tmp_path / "crawl", seeds, 1, 30)
    await output("crawl", str(folder))
    with closing(opened(folder)) as db:
        first, *others = [page.url for page in labels.judged(db)][:6]
    offline.label(folder, {first: True}, "import")
    await output("crawl", str(write_folder(folder, seeds, 2, 50)))
    assert [fitted(home) for home in homes(folder)] == [1, 1]
    offline.label(folder, dict.fromkeys(others, False) | {first: None}, "import")
    await output("crawl", str(write_folder(folder, seeds, 2)))  # at a limit, lessons may remain in the outbox
    assert [fitted(home) for home in homes(folder)] == [5, 5]
    with closing(opened(folder)) as db:
        assert labels.answers(db) == dict.fromkeys(others, False)


def fitted(home: Path) -> int:
    """From how many labels the judge of a shard has learned."""
    with closing(opened(home)) as db:
        judge = Corrected(None)
        judge.recall(db)
        return judge.taught_.fitted


async def test_what_a_shard_lost_is_found_and_fetched_again(tmp_path: Path, seeds: list[str]) -> None:
    folder = write_folder(tmp_path / "crawl", seeds, 2)
    await output("crawl", str(folder))
    with closing(opened(folder)) as db:
        before = pages_of(db)
    [file] = (homes(folder)[1] / "warc").iterdir()
    os.truncate(file, file.stat().st_size // 2)
    assert f"{file}: has" in await output("check", str(folder), code=1)
    await output("crawl", str(folder), code=2)
    assert "URLs to be fetched again: 0" not in await output("repair", str(folder))
    await output("crawl", str(folder))
    with closing(opened(folder)) as db:
        assert pages_of(db) == before
    assert "no problems" in await output("check", str(folder))
    (homes(folder)[1] / "crawl.db").unlink()
    for command in ("check", "repair", "show", "export", "crawl", "rejudge"):
        process = await lycosa(command, str(folder))
        _, errors = await process.communicate()
        assert process.returncode == 2, command
        assert f"{folder}/shards/1/crawl.db: is missing" in errors.decode(), command
    assert before <= set(RecordedWeb(folder).open().urls())


async def test_the_lab_reads_what_shards_recorded(tmp_path: Path, seeds: list[str]) -> None:
    """Before and after the crawl was divided; each record once."""
    folder = tmp_path / "crawl"
    for shards, pages in ((1, 20), (2, 60)):
        await output("crawl", str(write_folder(folder, seeds, shards, pages)))
    with closing(opened(folder)) as db:
        pages_60 = pages_of(db)
    records = sum(1 for path in warc_files(folder) for _ in ArchiveIterator(BytesIO(path.read_bytes())))
    assert f" visits, {records} records: no problems" in await output("check", str(folder))
    web = RecordedWeb(folder).open()
    assert pages_60 <= set(web.urls())
    assert [path.name for path in warc_files(folder)] == [f"lycosa-{n:05}.warc.gz" for n in (1, 10_000_001, 20_000_001)]
    await output("lab", "record", str(folder), "--out", str(tmp_path / "one.warc.gz"))
    assert list(RecordedWeb(tmp_path / "one.warc.gz").open().urls()) == list(web.urls())


async def test_a_mistake_in_crawl_toml_is_one_line(tmp_path: Path, seeds: list[str]) -> None:
    folder = write_folder(tmp_path / "crawl", seeds, 65)
    process = await lycosa("crawl", str(folder))
    _, errors = await process.communicate()
    assert process.returncode == 2
    assert errors.decode().count("\n") == 1
    assert "run.shards" in errors.decode()


async def test_a_file_of_seeds_is_read_beside_crawl_toml(tmp_path: Path, seeds: list[str]) -> None:
    folder = write_folder(tmp_path / "crawl", seeds, 2, 5)
    (folder / "seeds.txt").write_text("\n".join(seeds))
    await output("crawl", str(folder), "--set", "seeds=seeds.txt")
    with closing(opened(folder)) as db:
        assert visited.tally(db).pages == 5


async def test_no_host_exceeds_its_number_of_pages(tmp_path: Path, seeds: list[str]) -> None:
    folder = write_folder(tmp_path / "crawl", seeds, 2)
    await output("crawl", str(folder), "--set", "scope.max_pages_per_host=4")
    with closing(opened(folder)) as db:
        pages = Counter(url.split("/")[2] for url in pages_of(db))
    assert set(pages.values()) == {4}
