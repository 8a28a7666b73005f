"""A session: what its user requests happens, is reported as events, and outlives the process. No network at all."""

import asyncio
import dataclasses
import json
import signal
import sqlite3
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from lycosa import cli, offline
from lycosa.control import Request, call
from lycosa.errors import BadInput, PluginError
from lycosa.events import Event, StateChange, Summary, VisitDone
from lycosa.judge import JUDGES
from lycosa.judging import MOST_FAILURES
from lycosa.locking import lock
from lycosa.session import Session
from lycosa.store import orders
from lycosa.strategy import STRATEGIES
from lycosa.types import Lease, Link, Page, Reply, Verdict, Visit

HOSTS = ["http://a.example/", "http://b.example/", "http://c.example/"]


class Web:
    """A fetcher: every page of a host links to the next two pages of it and to the other hosts."""

    def __init__(self) -> None:
        self.started: list[str] = []
        self.gate = asyncio.Event()
        self.gate.set()

    async def fetch(self, lease: Lease) -> Reply:
        link = lease.link
        self.started.append(link.url)
        await self.gate.wait()
        await asyncio.sleep(0)
        host, _, name = link.url.rpartition("/")
        number = int(name or 0)
        links = [f"{host}/{number + 1}", f"{host}/{number * 2 + 2}", *HOSTS]
        text = f"<title>{link.url}</title><p>sky {link.url} " + "".join(f"<a href='{url}'>sky</a> " for url in links)
        return Reply(link, url=link.url, status=200, content_type="text/html", body=text.encode())


def write(folder: Path, pages: int = 40, more: str = "") -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "crawl.toml").write_text(
        f"seeds = {HOSTS[:2]!r}\n[topic]\nkind = 'keywords'\nwords = ['sky']\n[strategy]\nkind = 'best-first'\n"
        f"[fetch]\ndelay_s = 0.0\ndelay_factor = 0.0\nconcurrency = 2\nfocus = 0.0\n[limits]\npages = {pages}\n{more}"
    )
    return folder


def session_on(folder: Path, web: Web, *overrides: str) -> Session:
    return Session(folder, overrides, fetcher=lambda parts: web)


def visited(folder: Path) -> list[tuple[str, str]]:
    with sqlite3.connect(folder / "crawl.db") as db:
        return db.execute("SELECT url, error FROM visits ORDER BY n").fetchall()


def logged(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "crawl.log").read_text().splitlines()]


async def finished(session: Session) -> dict[str, Any]:
    await session.start()
    return await session.wait()


async def until(holds: Callable[[], bool]) -> None:
    """Let others run until it does; a test that waits in vain is ended from outside."""
    while not holds():
        await asyncio.sleep(0)


async def a_while() -> None:
    for _ in range(200):
        await asyncio.sleep(0)


class TestLife:
    async def test_it_runs_to_its_end_and_tells(self, tmp_path: Path) -> None:
        session = session_on(write(tmp_path), Web())
        events, found = session.events(), list[Event]()
        assert session.state == "new"
        await session.start()
        found = [event async for event in events]
        summary = await session.wait()
        assert summary["pages"] == 40
        assert session.state == "ended"
        assert found[0] == StateChange("crawling", "started")
        assert found[-1] == StateChange("ended", "limit of 40 pages")
        assert isinstance(found[-2], Summary)
        assert found[-2].summary == summary
        visits = [event for event in found if isinstance(event, VisitDone)]
        assert [visit.url for visit in visits] == [url for url, _ in visited(tmp_path)]
        assert visits[0].title == visits[0].url
        assert [line["event"] for line in logged(tmp_path)] == ["started", "ended"]
        assert logged(tmp_path)[-1]["ended"] == "limit of 40 pages"

    async def test_it_is_started_once_and_alone(self, tmp_path: Path) -> None:
        session = session_on(write(tmp_path), Web())
        with pytest.raises(BadInput, match="not been started"):
            await session.wait()
        with lock(tmp_path), pytest.raises(BadInput, match="at work"):
            await session.start()
        with pytest.raises(BadInput, match="started before"):
            await session.start()

    async def test_what_is_wrong_is_raised_by_start(self, tmp_path: Path) -> None:
        session = Session(write(tmp_path), ["seeds=[]"])
        events = session.events()
        with pytest.raises(BadInput, match="say where to start"):
            await session.start()
        assert [event async for event in events] == [StateChange("ended", "interrupted")]

    async def test_signals_are_left_as_they_were(self, tmp_path: Path) -> None:
        before = signal.getsignal(signal.SIGTERM)
        run = session_on(write(tmp_path), Web())._run
        with lock(tmp_path):
            await run.run([], lambda summary: None)
        assert signal.getsignal(signal.SIGTERM) == before

    async def test_stop_and_go_on(self, tmp_path: Path) -> None:
        web = Web()
        session = session_on(write(tmp_path), web)
        await session.start()
        await until(lambda: len(web.started) > 10)
        session.stop()
        summary = await session.wait()
        assert summary["ended"] == "stopped by the user"
        assert session.stopped_by_user
        again = session_on(tmp_path, Web())
        await again.start()
        assert (await again.wait())["ended"] == "limit of 40 pages"
        urls = [url for url, _ in visited(tmp_path)]
        assert len(urls) == len(set(urls)) == 40


class TestPause:
    async def test_what_is_in_flight_finishes_and_nothing_new_starts(self, tmp_path: Path) -> None:
        web = Web()
        session = session_on(write(tmp_path), web)
        web.gate.clear()
        await session.start()
        await until(lambda: len(web.started) == 2)
        assert session.pause()
        assert not session.pause()
        assert session.summary()["status"] == "paused, 2 requests in flight"
        web.gate.set()
        await until(lambda: session.summary()["in_flight"] == 0)
        await a_while()
        assert len(web.started) == 2
        assert session.state == "paused"
        told = json.loads((tmp_path / "summary.json").read_text())
        assert (told["status"], told["pages"], told["paused"]) == ("paused", 2, True)
        assert session.resume()
        assert not session.resume()
        assert (await session.wait())["pages"] == 40
        assert [line["event"] for line in logged(tmp_path)] == ["started", "paused", "resumed", "ended"]

    async def test_a_reader_of_the_folder_sees_it_at_once(self, tmp_path: Path) -> None:
        session = session_on(write(tmp_path), Web())
        await session.start(paused=True)
        with sqlite3.connect(tmp_path / "crawl.db") as db:
            (status,) = db.execute("SELECT value FROM meta WHERE key = 'outlook'").fetchone()
        assert json.loads(status)["status"] == "paused"
        session.stop()
        await session.wait()

    async def test_a_paused_crawl_can_be_stopped_and_the_next_run_crawls(self, tmp_path: Path) -> None:
        web = Web()
        session = session_on(write(tmp_path), web)
        await session.start(paused=True)
        await a_while()
        assert not web.started
        session.stop()
        assert (await session.wait())["ended"] == "stopped by the user"
        again = session_on(tmp_path, web)
        await again.start()
        assert (await again.wait())["pages"] == 40

    async def test_the_time_limit_ends_a_paused_crawl_too(self, tmp_path: Path, clock: Any) -> None:
        session = Session(write(tmp_path, more="seconds = 60\n"), clock=clock)
        await session.start(paused=True)
        clock.advance(61.0)
        assert (await session.wait())["ended"] == "limit of 60 seconds"

    async def test_no_search_engine_is_queried(self, tmp_path: Path) -> None:
        (tmp_path / "pages").mkdir()
        (tmp_path / "pages" / "x.html").write_text("<title>sky</title>sky")
        more = "[search]\nengine = 'local'\npages = 'pages'\ndelay_s = 0.0\n"
        session = session_on(write(tmp_path, more=more), Web())
        await session.start(paused=True)
        search = session._run.parts.search
        assert search
        assert not search.engine.ready()
        session.resume()
        assert search.engine.ready()
        session.stop()
        await session.wait()


class TestOrders:
    async def test_added_seeds_are_fetched_and_stay(self, tmp_path: Path) -> None:
        web = Web()
        session = session_on(write(tmp_path), web)
        await session.start(paused=True)
        new = "http://new.example/"
        outcome = session.add(["new.example", HOSTS[0], "http://x.example/picture.png"])
        assert outcome == {new: "added", HOSTS[0]: "known", "http://x.example/picture.png": "suffix"}
        with pytest.raises(BadInput, match=r"^nonsense: this is not a web URL"):
            session.add(["nonsense"])
        session.resume()
        summary = await session.wait()
        assert new in web.started
        assert summary["seeds"] == 3
        again = Session(tmp_path)
        again._run.open()
        assert [seed.url for seed in again._run.start.seeds] == [*HOSTS[:2], new]
        again._run.close()

    async def test_money_is_shared_among_all_seeds(self, tmp_path: Path) -> None:
        session = session_on(write(tmp_path), Web(), "strategy.kind=opic")
        await session.start(paused=True)
        session.add(["http://new.example/"])
        frontier = session._run.parts.frontier
        assert frontier.score(Link("http://new.example/")) == pytest.approx(1 / 3)
        assert frontier.score(Link(HOSTS[0])) == pytest.approx(1 / 2)
        session.stop()
        await session.wait()

    @pytest.mark.parametrize("strategy", ["best-first", "opic", "ontology", "learned"])
    async def test_excluding_says_what_it_drops_and_drops_it(self, tmp_path: Path, strategy: str) -> None:
        web = Web()
        session = session_on(write(tmp_path, pages=60), web, f"strategy.kind={strategy}")
        await session.start()
        await until(lambda: len(web.started) > 25)
        session.pause()
        await until(lambda: session.summary()["in_flight"] == 0)
        waiting, fetched = session.summary()["waiting"], len(web.started)
        expected = await session.count("b.example")
        assert session.summary()["waiting"] == waiting
        assert await session.exclude("b.example") == expected > 0
        assert session.summary()["waiting"] == waiting - expected
        assert await session.count("b.example") == await session.exclude("b.example") == 0
        session.resume()
        assert (await session.wait())["pages"] == 60
        assert not [url for url in web.started[fetched:] if "b.example" in url]

    async def test_an_exclusion_outlives_the_run_and_more_are_refused(self, tmp_path: Path) -> None:
        web = Web()
        session = session_on(write(tmp_path), web)
        await session.start(paused=True)
        await session.exclude(pattern=r"b\.example")
        session.stop()
        await session.wait()
        again = session_on(tmp_path, web)
        await again.start()
        assert "http://b.example/: excluded, skipped" in again.skipped
        assert (await again.wait())["pages"] == 40
        assert not [url for url in web.started if "b.example" in url]

    async def test_excluding_everything_ends_the_crawl(self, tmp_path: Path) -> None:
        session = session_on(write(tmp_path), Web())
        await session.start(paused=True)
        await session.exclude(pattern=".")
        session.resume()
        assert (await session.wait())["ended"] == "frontier empty"

    async def test_orders_between_two_runs(self, tmp_path: Path) -> None:
        web = Web()
        session = session_on(write(tmp_path, pages=20), web)
        await session.start()
        await session.wait()
        what = orders.exclusion("b.example")
        assert offline.count(tmp_path, what) == offline.exclude(tmp_path, what) > 0
        assert offline.count(tmp_path, what) == 0
        outcome = offline.add(tmp_path, ["new.example", "http://b.example/99", HOSTS[0]])
        assert [*outcome.values()] == ["added", "excluded", "known"]
        again = session_on(tmp_path, web, "limits.pages=40")
        await again.start()
        await again.wait()
        assert "http://new.example/" in web.started
        assert not [url for url in web.started[20:] if "b.example" in url]

    def test_before_the_first_run_the_user_hears_what_to_do(self, tmp_path: Path) -> None:
        write(tmp_path)
        with pytest.raises(BadInput, match=r"nothing crawled yet: write seeds and exclusions to crawl\.toml"):
            offline.add(tmp_path, ["new.example"])
        assert not (tmp_path / "crawl.db").exists()


class Failing(Web):
    """A web of which one host does not answer."""

    def __init__(self, host: str) -> None:
        super().__init__()
        self.host = host

    async def fetch(self, lease: Lease) -> Reply:
        if self.host and self.host in lease.link.url:
            self.started.append(lease.link.url)
            return Reply(lease.link, url=lease.link.url, error="timeout")
        return await super().fetch(lease)


class TestQueue:
    @pytest.mark.parametrize("strategy", ["best-first", "ontology", "learned"])
    async def test_what_is_put_first_is_fetched_next(self, tmp_path: Path, strategy: str) -> None:
        web = Web()
        session = session_on(write(tmp_path, pages=60), web, f"strategy.kind={strategy}", "fetch.concurrency=1")
        await session.start()
        await until(lambda: len(web.started) > 25)
        session.pause()
        await until(lambda: session.summary()["in_flight"] == 0)
        fetched, waiting = len(web.started), session.summary()["waiting"]
        moved = await session.prefer("first", "b.example")
        assert moved == await session.count("b.example") > 3
        assert session.summary()["waiting"] == waiting
        session.resume()
        assert (await session.wait())["pages"] == 60
        assert all("b.example" in url for url in web.started[fetched : fetched + moved])

    @pytest.mark.parametrize("strategy", ["best-first", "learned"])
    async def test_what_is_put_last_waits_for_all_others_in_later_runs_too(self, tmp_path: Path, strategy: str) -> None:
        web = Web()
        session = session_on(write(tmp_path, pages=20), web, f"strategy.kind={strategy}")
        await finished(session)
        what = orders.exclusion("b.example")
        late = offline.count(tmp_path, what)
        assert offline.prefer(tmp_path, what, "last") == late > 1
        with sqlite3.connect(tmp_path / "crawl.db") as db:
            put_last = {url for (url,) in db.execute("SELECT url FROM urls WHERE band = 0")}
        again = session_on(tmp_path, web, "limits.pages=60", f"strategy.kind={strategy}")
        await finished(again)
        assert len(put_last) == late
        assert not put_last & {*web.started[20:]}  # found again on many pages, but others never ran out
        assert offline.prefer(tmp_path, what, "usual") >= late
        with sqlite3.connect(tmp_path / "crawl.db") as db:
            assert db.execute("SELECT count(*) FROM urls WHERE band = 0").fetchone() == (0,)

    async def test_a_crawl_of_nothing_but_what_is_last_goes_on(self, tmp_path: Path) -> None:
        web = Web()
        session = session_on(write(tmp_path, pages=30), web, "fetch.focus=0.9")
        await session.start(paused=True)
        assert await session.prefer("last", pattern=".") == 2
        session.resume()
        assert (await session.wait())["pages"] == 30

    async def test_failures_are_fetched_again_while_the_crawl_runs(self, tmp_path: Path) -> None:
        web = Failing("b.example")
        session = session_on(write(tmp_path, pages=30), web, "fetch.give_up_after=2")
        await session.start()
        await until(lambda: len(web.started) > 20)
        session.pause()
        await until(lambda: session.summary()["in_flight"] == 0)
        failed = {url for url in web.started if "b.example" in url}
        waiting = session.summary()["waiting"]
        assert session.retry(kind="dns") == 0
        assert session.retry([f"{HOSTS[1]}"], kind="timeout") == 1
        assert session.retry() == len(failed) - 1  # one of them waits already
        assert session.summary()["waiting"] >= waiting + len(failed)  # and the others at the reopened host
        web.host, fetched = "", len(web.started)
        session.resume()
        await session.wait()
        assert failed <= {*web.started[fetched:]}

    async def test_other_processes_may_order_both(self, tmp_path: Path) -> None:
        web = Failing("b.example")
        session = session_on(write(tmp_path, pages=30), web)
        await session.start()
        await until(lambda: len(web.started) > 20)
        session.pause()
        await until(lambda: session.summary()["in_flight"] == 0)
        first = Request("prefer", host="a.example", place="first")
        waiting = await session.count("a.example")
        assert await asyncio.to_thread(call, tmp_path, first) == waiting > 0
        assert await asyncio.to_thread(call, tmp_path, Request("retry", kind="timeout")) > 0
        session.stop()
        await session.wait()
        assert {"preferred", "retried"} <= {line["event"] for line in logged(tmp_path)}

    async def test_failures_are_fetched_again_by_the_next_run(self, tmp_path: Path) -> None:
        web = Failing("b.example")
        await finished(session_on(write(tmp_path, pages=20), web))
        failed = {url for url in web.started if "b.example" in url}
        assert offline.retry_failed(tmp_path, kind="http-404") == 0
        assert offline.retry_failed(tmp_path) == len(failed)
        web.host = ""
        again = session_on(tmp_path, web, "limits.pages=60")
        await finished(again)
        assert failed <= {*web.started[20:]}


# -- bugs in the parts of others --------------------------------------------------------------------------------------


@dataclasses.dataclass
class Fragile:
    """A strategy, and a judge, that breaks at a chosen call."""

    place: str = "learn"
    after: int = 10
    calls: int = dataclasses.field(default=0, init=False)

    def _count(self, place: str) -> None:
        if place == self.place:
            self.calls += 1
            if self.calls > self.after:
                raise OSError("no such table of mine")

    def prepare(self, folder: Path, other: Any) -> None:
        pass

    def score(self, visit: Visit) -> Sequence[float]:
        self._count("score")
        return [1.0] * len(visit.page.links)

    def merge(self, waiting: float, found: float) -> float:
        self._count("merge")
        return waiting

    def learn(self, visit: Visit) -> None:
        self._count("learn")

    def save(self) -> dict[str, Any]:
        self._count("save")
        return {}

    def load(self, state: dict[str, Any]) -> None:
        pass

    async def judge(self, page: Page) -> Verdict:
        self._count("judge")
        return Verdict(0.5, True)


class TestBugs:
    @pytest.mark.parametrize("place", ["learn", "score", "merge"])
    async def test_a_bug_in_a_strategy_is_named_and_nothing_is_lost(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
    ) -> None:
        monkeypatch.setitem(STRATEGIES, "fragile", Fragile)
        chosen = ["strategy.kind=fragile", f"strategy.place={place}"]
        session = session_on(write(tmp_path), Web(), *chosen, f"strategy.after={0 if place == 'merge' else 10}")
        with pytest.raises(PluginError) as caught:
            await finished(session)
        error = caught.value
        assert (error.part, error.module) == ("strategy", Fragile.__module__)
        assert (error.problem, error.log) == ("OSError: no such table of mine", tmp_path / "crawl.log")
        (bug,) = [line for line in logged(tmp_path) if "traceback" in line]
        assert "_count" in bug["traceback"]
        assert "disk" not in str(error)
        mended = session_on(tmp_path, Web(), *chosen, "strategy.after=100000")
        await mended.start()
        assert (await mended.wait())["pages"] == 40
        urls = [url for url, _ in visited(tmp_path)]
        assert len(urls) == len(set(urls)) == 40

    async def test_a_strategy_that_cannot_save_is_named(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(STRATEGIES, "fragile", Fragile)
        session = session_on(write(tmp_path), Web(), "strategy.kind=fragile", "strategy.place=save", "strategy.after=0")
        with pytest.raises(PluginError, match="a bug in the strategy"):
            await finished(session)

    async def test_a_judge_that_breaks_on_some_pages_costs_only_them(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setitem(JUDGES, "fragile", Fragile)
        seeds = json.dumps([f"http://a.example/{number}" for number in range(2 * MOST_FAILURES)])
        session = session_on(write(tmp_path), Web(), "topic={kind='fragile', place='judge', after=3}", f"seeds={seeds}")
        await session.start()
        summary = await session.wait()
        assert summary["pages"] == 3
        assert summary["errors"] == {"judge": len(visited(tmp_path)) - 3}
        assert summary["errors"]["judge"] >= MOST_FAILURES
        assert summary["may_pass"] == summary["errors"]["judge"]
        assert len([line for line in logged(tmp_path) if "traceback" in line]) == 1

    async def test_a_judge_that_breaks_on_every_page_ends_the_crawl_and_a_retry_gets_them(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setitem(JUDGES, "fragile", Fragile)
        topic = "topic={kind='fragile', place='judge', after=%d}"
        seeds = [f"http://a.example/{number}" for number in range(2 * MOST_FAILURES)]
        session = session_on(write(tmp_path), Web(), topic % 0, f"seeds={json.dumps(seeds)}")
        with pytest.raises(PluginError, match=rf"on each of the first {MOST_FAILURES} pages"):
            await finished(session)
        failed = visited(tmp_path)
        assert {error for _, error in failed} == {"judge"}
        assert len(failed) >= MOST_FAILURES - 2
        mended = session_on(tmp_path, Web(), topic % 100_000, f"seeds={json.dumps(seeds)}")
        await mended.start(retry_failed=True)
        assert (await mended.wait())["pages"] == 40
        assert {url for url, _ in failed} <= {url for url, error in visited(tmp_path) if not error}

    def test_the_command_line_says_so_in_one_line(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setitem(STRATEGIES, "fragile", Fragile)
        write(tmp_path)
        options = [
            "--set",
            "strategy.after=0",
            "--set",
            'seeds=["http://127.0.0.1/"]',
        ]  # a private address fails at once
        arguments = ["lycosa", "crawl", str(tmp_path), "--strategy", "fragile", *options]
        monkeypatch.setattr(sys, "argv", arguments)
        with pytest.raises(SystemExit) as ended:
            cli.main()
        assert ended.value.code == 70
        errors = capfd.readouterr().err
        assert errors == (
            f"lycosa: a bug in the strategy {Fragile.__module__}: OSError: no such table of mine;"
            f" the traceback is in {tmp_path / 'crawl.log'}\n"
        )
