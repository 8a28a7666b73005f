"""Blocking calls work whether or not a loop is running, and a run leaves the process as it was."""

import asyncio
import gc
import os
import resource
import signal
import threading
from pathlib import Path
from typing import Any

import pytest

from lycosa import config
from lycosa.clock import WallClock
from lycosa.lab.generated import GeneratedWeb
from lycosa.lab.one import crawl_web
from lycosa.lab.serve import Server
from lycosa.lab.webs import GeneratedPages
from lycosa.loops import blocking
from lycosa.run import Run
from lycosa.session import run_folder
from lycosa.strategy import STRATEGIES
from lycosa.types import Page, Verdict

WEB = GeneratedWeb(pages=100, hosts=3, seed=1)
CRAWL = """
seeds = {seeds}
[topic]
kind = "keywords"
words = ["galaxy"]
[strategy]
kind = "best-first"
[fetch]
delay_s = 0.0
allow_private = true
proxy = "http://127.0.0.1:{port}"
[limits]
pages = 10
"""


@blocking
def thread_name(fails: bool = False) -> str:
    asyncio.run(asyncio.sleep(0))
    if fails:
        raise LookupError("inside")
    return threading.current_thread().name


def test_without_a_loop_the_call_stays_in_its_thread() -> None:
    assert thread_name() == threading.current_thread().name


async def test_with_a_loop_it_gets_one_of_its_own() -> None:
    assert thread_name().startswith("lycosa")
    with pytest.raises(LookupError, match="inside"):
        thread_name(fails=True)


class Judge:
    async def judge(self, page: Page) -> Verdict:
        return Verdict(0.5, True)


async def test_the_lab_crawls_in_a_running_loop() -> None:
    pages = GeneratedPages(WEB)
    found = crawl_web(pages, pages.seeds(2), Judge(), STRATEGIES["breadth-first"](), 20)
    assert len(found.pages) == 20


def write(folder: Path, port: int) -> Path:
    folder.mkdir()
    seeds = str(WEB.seeds(80, 2)).replace("'", '"')
    (folder / "crawl.toml").write_text(CRAWL.format(seeds=seeds, port=port))
    return folder


def state() -> Any:
    handlers = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    return handlers, gc.get_threshold(), resource.getrlimit(resource.RLIMIT_NOFILE)


async def test_a_folder_is_crawled_in_a_running_loop(tmp_path: Path) -> None:
    before = state()
    async with Server(WEB) as server:
        folder = write(tmp_path / "c", server.port)
        summary, run = await asyncio.to_thread(asyncio.run, _crawl(folder))
    assert summary["pages"] == 10
    assert not run.stopped_by_user
    assert state() == before


async def _crawl(folder: Path) -> Any:
    return run_folder(folder, [], [], lambda summary: None)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_a_run_puts_signal_handlers_back(tmp_path: Path, number: signal.Signals) -> None:
    heard: list[int] = []
    usual = signal.signal(number, lambda got, frame: heard.append(got))
    try:
        before = state()
        async with Server(WEB) as server:
            folder = write(tmp_path / "c", server.port)
            settings, source = config.load(folder)
            run = Run(folder, settings, source, WallClock())

            def watch(summary: object) -> None:
                """Called once, at the end: the handlers are ours no more."""

            await run.run([], watch)
        assert state() == before
        os.kill(os.getpid(), number)
        await asyncio.sleep(0)
        assert heard == [number]
        assert not run.stopped_by_user
    finally:
        signal.signal(number, usual)


async def test_a_signal_stops_a_run_and_only_that(tmp_path: Path) -> None:
    heard: list[int] = []
    usual = signal.signal(signal.SIGTERM, lambda got, frame: heard.append(got))
    try:
        async with Server(WEB) as server:
            folder = write(tmp_path / "c", server.port)
            settings, source = config.load(folder)

            class Kills:
                def write(self, visit: object) -> None:
                    os.kill(os.getpid(), signal.SIGTERM)

            run = Run(folder, settings, source, WallClock(), [Kills()])
            summary = await run.run([], lambda summary: None)
        assert run.stopped_by_user
        assert summary["ended"] == "stopped by the user"
        assert heard == []
    finally:
        signal.signal(signal.SIGTERM, usual)


def test_an_error_has_no_other_error_behind_it() -> None:
    """The first lines of a logged traceback are those of the failure, not of the search for a running loop."""
    with pytest.raises(ZeroDivisionError) as caught:
        blocking(lambda: 1 // 0)()
    assert caught.value.__context__ is None
