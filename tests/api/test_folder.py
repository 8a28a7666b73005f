"""A crawl folder from a program: made, crawled in every way, and looked at."""

import asyncio
import gc
import itertools
import json
import resource
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from lycosa.api import crawling
from lycosa.api.folder import CrawlFolder
from lycosa.lab.generated import GeneratedWeb
from lycosa.lab.serve import Server
from lycosa.store.visits import Totals
from lycosa.types import BadInput, Visit

Serve = Callable[[Server], AbstractContextManager[Server]]
WEB = GeneratedWeb(pages=200, hosts=4, seed=1)
TOPIC = {"kind": "keywords", "words": list(WEB.words_of("astronomy")[:6])}


@pytest.fixture(scope="module")
def port(serve: Serve) -> Iterator[int]:
    with serve(Server(WEB)) as server:
        yield server.port


def new(path: Path, port: int, pages: int = 20, **sections: dict[str, Any]) -> CrawlFolder:
    fetch = {"delay_s": 0.0, "delay_factor": 0.0, "allow_private": True, "concurrency": 4}
    return CrawlFolder.new(path, WEB.seeds(port, 2), TOPIC, fetch=fetch, limits={"pages": pages}, **sections)


@pytest.fixture(scope="module")
def crawled(port: int, tmp_path_factory: pytest.TempPathFactory) -> CrawlFolder:
    folder = new(tmp_path_factory.mktemp("crawled"), port)
    folder.crawl()
    return folder


class TestMaking:
    def test_all_sections_are_written_and_read_back(self, tmp_path: Path) -> None:
        topic = {"kind": "keywords", "words": ['a "quoted" word', "caf\u00e9\x7f"], "weights": {"title": 2.0}}
        folder = CrawlFolder.new(tmp_path / "c", ["http://a.example/"], topic, strategy={"kind": "opic"})
        settings = folder.settings
        assert settings.topic == topic
        assert settings.strategy == {"kind": "opic"}
        assert settings.seeds == ["http://a.example/"]
        assert CrawlFolder(tmp_path / "c").settings == settings
        assert repr(folder) == f"CrawlFolder({str(tmp_path / 'c')!r})"
        assert folder.summary == {}

    def test_it_never_overwrites(self, tmp_path: Path) -> None:
        CrawlFolder.new(tmp_path, [], TOPIC)
        with pytest.raises(BadInput, match="already exists"):
            CrawlFolder.new(tmp_path, [], TOPIC)

    def test_what_is_wrong_is_named_and_can_be_mended(self, tmp_path: Path) -> None:
        with pytest.raises(BadInput, match=r"limits.page: unknown key"):
            CrawlFolder.new(tmp_path, [], TOPIC, limits={"page": 3})
        with pytest.raises(BadInput, match=r"limits.pages: None cannot be written"):
            CrawlFolder.new(tmp_path, [], TOPIC, limits={"pages": None})
        assert CrawlFolder.new(tmp_path, [], TOPIC, limits={"pages": 3}).settings.limits.pages == 3

    def test_only_a_crawl_folder_can_be_opened(self, tmp_path: Path) -> None:
        with pytest.raises(BadInput, match=r"no crawl.toml here"):
            CrawlFolder(tmp_path)


class TestCrawling:
    def test_it_waits_and_goes_on_later(self, port: int, tmp_path: Path) -> None:
        folder = new(tmp_path / "c", port)
        told: list[int] = []
        summary = folder.crawl(watch=lambda summary: told.append(summary["pages"]))
        assert summary["pages"] == 20
        assert told[-1] == 20
        assert folder.summary["pages"] == 20
        assert folder.crawl(changes={"limits.pages": 30})["pages"] == 30
        assert folder.settings.limits.pages == 20

    async def test_a_blocking_call_works_in_a_running_loop(self, port: int, tmp_path: Path) -> None:
        assert new(tmp_path / "c", port).crawl()["pages"] == 20

    async def test_it_runs_in_the_loop_of_an_async_program(self, tmp_path: Path) -> None:
        async with Server(WEB) as server:
            assert (await new(tmp_path / "c", server.port).crawl_async())["pages"] == 20

    def test_what_it_cannot_use_is_one_line(self, port: int, tmp_path: Path) -> None:
        folder = new(tmp_path / "c", port)
        with pytest.raises(BadInput, match=r"strategy.kind: there is no kind 'guess'"):
            folder.crawl(changes={"strategy.kind": "guess"})
        (tmp_path / "c" / "crawl.db").mkdir()
        with pytest.raises(BadInput, match="cannot be"):
            folder.crawl()

    def test_an_interrupt_stops_it_and_what_came_stays(
        self, port: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        count, write = itertools.count(1), Totals.write

        def interrupts(totals: Totals, visit: Visit) -> None:
            write(totals, visit)
            if next(count) == 5:
                signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

        monkeypatch.setattr(Totals, "write", interrupts)
        folder = new(tmp_path / "c", port, pages=150)
        with pytest.raises(KeyboardInterrupt):
            folder.crawl()
        assert 5 <= len(list(folder.pages(errors=True))) == folder.summary["visits"] < 150
        assert not [thread for thread in threading.enumerate() if thread.name == "lycosa"]
        assert folder.crawl()["pages"] == 150

    def test_the_process_is_left_as_it_is(self, port: int, tmp_path: Path) -> None:
        def state() -> Any:
            handlers = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
            return gc.get_threshold(), resource.getrlimit(resource.RLIMIT_NOFILE), handlers

        before = state()
        new(tmp_path / "c", port).crawl()
        assert state() == before
        assert not [thread for thread in threading.enumerate() if thread.name == "lycosa"]


class TestFollowing:
    async def test_visits_come_as_they_are_made(self, tmp_path: Path) -> None:
        async with Server(WEB) as server:
            folder = new(tmp_path / "c", server.port)
            found = [visit.reply.link.url async for visit in folder.follow_async()]
        assert found == [row["url"] for row in folder.pages(errors=True)]

    async def test_who_stops_taking_them_stops_the_crawl(self, tmp_path: Path) -> None:
        async with Server(WEB) as server:
            folder, seen = new(tmp_path / "c", server.port, pages=150), []
            visits = folder.follow_async()
            async for visit in visits:
                seen.append(visit.reply.link.url)
                if len(seen) == 5:
                    break
            await visits.aclose()  # type: ignore[attr-defined]
            stored = [row["url"] for row in folder.pages(errors=True)]
            assert stored[:5] == seen
            assert len(stored) < 150
            assert folder.summary["visits"] == len(stored)
            assert (await folder.crawl_async())["pages"] == 150

    def test_without_async(self, port: int, tmp_path: Path) -> None:
        folder = new(tmp_path / "c", port)
        assert len([visit for visit in folder.follow() if not visit.reply.error]) >= 20
        for _ in folder.follow(changes={"limits.pages": 60}):
            break
        assert 20 < len(list(folder.pages())) < 60

    async def test_the_crawl_waits_for_a_slow_reader(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(crawling, "_MOST_WAITING", 3)
        most, live = 0, crawling.Live()
        monkeypatch.setattr(crawling, "Live", lambda: live)
        async with Server(WEB) as server:
            async for _ in new(tmp_path / "c", server.port, pages=30).follow_async():
                for _ in range(50):
                    await asyncio.sleep(0)
                most = max(most, len(live.waiting))
        assert 0 < most <= 3 + 4  # and what was in flight

    async def test_an_error_reaches_the_reader(self, tmp_path: Path) -> None:
        with pytest.raises(BadInput, match="there is no kind 'guess'"):
            async for _ in new(tmp_path / "c", 1).follow_async(changes={"strategy.kind": "guess"}):
                pass
        with pytest.raises(BadInput, match="there is no kind 'guess'"):
            list(new(tmp_path / "d", 1).follow(changes={"strategy.kind": "guess"}))


class TestLooking:
    def test_rows_as_dicts_and_tables(self, crawled: CrawlFolder) -> None:
        rows = list(crawled.pages())
        table = crawled.pages().to_arrow()
        frame = crawled.pages(relevant=True, columns=["url", "relevance"]).to_pandas()
        assert len(rows) == table.num_rows == crawled.summary["pages"] + crawled.summary["duplicates"]
        assert list(rows[0]) == table.column_names
        assert list(frame.columns) == ["url", "relevance"]
        assert len(frame) == crawled.summary["relevant"]
        assert {row["url"] for row in crawled.pages(min_relevance=0.9)} <= {row["url"] for row in rows}
        with pytest.raises(BadInput, match="no column 'colour'"):
            list(crawled.pages(columns=["colour"]))

    def test_text_and_links(self, crawled: CrawlFolder) -> None:
        (first, *_) = crawled.pages(text=True)
        assert len(first["text"]) > 100
        assert {"source", "target", "anchor", "score"} == set(next(iter(crawled.links())))

    def test_stored_visits_are_those_that_came(self, port: int, tmp_path: Path) -> None:
        folder = new(tmp_path / "c", port)
        came = list(folder.follow())
        stored = list(folder.visits())
        assert len(came) == len(stored)
        for live, kept in zip(came, stored, strict=True):
            assert kept.reply.link.url == live.reply.link.url
            assert kept.reply.error == live.reply.error
            assert kept.page == live.page
            assert kept.reply.body == live.reply.body
            assert kept.verdict.relevance == live.verdict.relevance
            assert kept.verdict.on_topic == live.verdict.on_topic
            assert kept.score == live.score
            assert (kept.digest, kept.duplicate_of) == (live.digest, live.duplicate_of)

    def test_a_reader_may_stop_anywhere(self, crawled: CrawlFolder) -> None:
        """What is left of an iterator closes before the database does; otherwise Python prints an error."""
        for look in (crawled.visits, crawled.pages, crawled.links):
            assert next(iter(look()))
            gc.collect()

    def test_one_page_and_its_verdict(self, crawled: CrawlFolder) -> None:
        best = max(crawled.pages(), key=lambda row: row["relevance"])
        page = crawled.page(best["url"])
        assert page.title == best["title"]
        verdict = crawled.judge(best["url"])
        assert verdict == crawled.judge(page) == crawled.topic.judge(page)
        assert verdict.relevance == pytest.approx(best["relevance"], abs=0.2)  # the judge has learned since
        assert crawled.judge(b"<p>nothing").relevance == 0
        with pytest.raises(BadInput, match="no page with this URL"):
            crawled.page("http://nowhere.example/")

    def test_nothing_crawled_yet(self, tmp_path: Path) -> None:
        folder = new(tmp_path / "c", 1)
        for look in (folder.pages, folder.links, folder.visits):
            with pytest.raises(BadInput, match="nothing crawled yet"):
                list(look())

    async def test_judging_again_in_a_running_loop(self, port: int, tmp_path: Path) -> None:
        folder = new(tmp_path / "c", port)
        folder.crawl()
        file = folder.path / "crawl.toml"
        file.write_text(file.read_text().replace(json.dumps(TOPIC["words"][0]), '"zzzz"'))
        assert folder.rejudge().pages == 20
