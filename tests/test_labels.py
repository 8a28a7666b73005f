"""Labels for a crawl that runs, for one that does not, and for one that is killed."""

import asyncio
import os
import signal
import sqlite3
import sys
from pathlib import Path
from typing import Any

import pytest

from lycosa import offline
from lycosa.control import Request, call
from lycosa.errors import BadInput
from lycosa.rejudge import rejudge_folder
from lycosa.session import Session
from lycosa.types import Exchange, Lease, Reply

SEED = "http://a.example/0"
SKY = "galaxy nebula quasar eclipse orbit comet meteor lunar solar cosmic"
FOOD = "bread flour butter oven garlic onion pasta salad roast soup"


def is_sky(url: str) -> bool:
    return int(url.rpartition("/")[2]) % 2 == 1


class Web:
    """Pages on the sky and on food in turn; each links to the next two. All have the word that is looked for."""

    def __init__(self) -> None:
        self.gate = asyncio.Event()
        self.gate.set()
        self.fetched = 0

    async def fetch(self, lease: Lease) -> Reply:
        await self.gate.wait()
        await asyncio.sleep(0)
        self.fetched += 1
        url = lease.link.url
        number = int(url.rpartition("/")[2])
        links = "".join(f"<a href='/{number + step}'>next</a> " for step in (1, 2))
        text = f"{'sky ' * 20} {(SKY if is_sky(url) else FOOD) * 2} page {number}"
        body = f"<title>Page {number}</title><p>{text}</p>{links}".encode()
        head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
        exchange = Exchange(url, b"GET / HTTP/1.1\r\n\r\n", head, body, 1.0)
        return Reply(lease.link, url, 200, "text/html", body, exchanges=(exchange,))


def write(folder: Path, pages: int = 40) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "crawl.toml").write_text(
        f"seeds = ['{SEED}']\ntopic = {{ kind = 'keywords', words = ['sky'], adapt = false }}\n"
        f"[strategy]\nkind = 'best-first'\n[fetch]\ndelay_s = 0.0\ndelay_factor = 0.0\nconcurrency = 1\nfocus = 0.0\n"
        f"[limits]\npages = {pages}\n"
    )
    return folder


def session_on(folder: Path, web: Web, *overrides: str) -> Session:
    return Session(folder, overrides, fetcher=lambda parts: web)


async def crawl(folder: Path, *overrides: str) -> dict[str, Any]:
    session = session_on(folder, Web(), *overrides)
    await session.start()
    return await session.wait()


def verdicts(folder: Path) -> dict[str, bool]:
    with sqlite3.connect(folder / "crawl.db") as db:
        return {url: bool(said) for url, said in db.execute("SELECT url, on_topic FROM visits ORDER BY n")}


def stored(folder: Path) -> dict[str, bool]:
    with sqlite3.connect(folder / "crawl.db") as db:
        return {url: bool(said) for url, said in db.execute("SELECT url, on_topic FROM labels")}


def mistakes(folder: Path) -> int:
    return sum(said != is_sky(url) for url, said in verdicts(folder).items())


LABELS: dict[str, bool | None] = {f"http://a.example/{number}": is_sky(f"/{number}") for number in range(8)}


async def until(web: Web, number: int) -> None:
    while web.fetched < number:
        await asyncio.sleep(0)


class TestWhileItRuns:
    async def test_labels_change_what_is_stored_and_what_comes(self, tmp_path: Path) -> None:
        web = Web()
        session = session_on(write(tmp_path, 60), web)
        await session.start()
        await until(web, 30)
        web.gate.clear()
        before = session.summary()["relevant"]
        flipped = session.label(LABELS)
        assert flipped >= 10
        assert session.summary()["relevant"] == before - flipped  # all were called relevant
        assert stored(tmp_path) == LABELS  # on disk when the call returns
        web.gate.set()
        summary = await session.wait()
        assert mistakes(tmp_path) == 0
        assert summary["relevant"] == sum(verdicts(tmp_path).values()) == 30

    async def test_another_process_can_send_them_and_take_them_back(self, tmp_path: Path) -> None:
        web = Web()
        session = session_on(write(tmp_path), web)
        await session.start()
        await until(web, 20)
        web.gate.clear()
        flipped = await asyncio.to_thread(call, tmp_path, Request("label", labels=LABELS, chosen="random"))
        back = dict.fromkeys(LABELS)
        assert await asyncio.to_thread(call, tmp_path, Request("label", labels=back, chosen="random")) == flipped > 0
        assert stored(tmp_path) == {}
        assert all(verdicts(tmp_path).values())
        for wrong, complaint in (
            (Request("label"), "at least one URL"),
            (Request("label", labels={"nonsense": True}), "nonsense: not a web URL"),
            (Request("label", labels={SEED: True}, chosen="whim"), "'whim' is not a way to choose pages"),
        ):
            with pytest.raises(BadInput, match=complaint):
                await asyncio.to_thread(call, tmp_path, wrong)
        web.gate.set()
        await session.wait()

    async def test_a_restart_goes_on_with_them(self, tmp_path: Path) -> None:
        await crawl(write(tmp_path), "limits.pages=30")
        offline.label(tmp_path, LABELS, "import")
        await crawl(tmp_path)
        assert mistakes(tmp_path) == 0
        before = verdicts(tmp_path)
        await crawl(tmp_path, "limits.pages=50")
        assert mistakes(tmp_path) == 0
        assert {url: verdicts(tmp_path)[url] for url in before} == before


class TestWhileNothingRuns:
    async def test_they_are_applied_at_once_or_by_the_next_run(self, tmp_path: Path) -> None:
        await crawl(write(tmp_path))
        ended = sqlite3.connect(tmp_path / "crawl.db").execute("SELECT value FROM meta WHERE key = 'ended'").fetchone()
        offline.label(tmp_path, LABELS, "import")
        assert mistakes(tmp_path) == 20
        assert offline.apply_labels(tmp_path) == 20
        assert mistakes(tmp_path) == 0
        assert offline.apply_labels(tmp_path) == 0
        with sqlite3.connect(tmp_path / "crawl.db") as db:
            assert db.execute("SELECT value FROM meta WHERE key = 'ended'").fetchone() == ended

    async def test_judging_again_keeps_labels_and_obeys_them(self, tmp_path: Path) -> None:
        await crawl(write(tmp_path))
        offline.label(tmp_path, LABELS, "import")
        report = await asyncio.to_thread(rejudge_folder, tmp_path, lambda done, total: None)
        assert report.no_longer == 20
        assert mistakes(tmp_path) == 0
        assert stored(tmp_path) == LABELS
        assert offline.apply_labels(tmp_path) == 0

    async def test_only_a_crawl_that_has_begun_takes_labels(self, tmp_path: Path) -> None:
        with pytest.raises(BadInput, match="nothing crawled yet"):
            offline.label(write(tmp_path), LABELS, "import")


KILLED = """
import asyncio, os, signal, sys
sys.path.insert(0, {tests!r})
from pathlib import Path
from test_labels import LABELS, Web, session_on, until

async def main():
    web = Web()
    session = session_on(Path({folder!r}), web)
    await session.start()
    await until(web, 20)
    {killed_in}
    session.label(LABELS)
    os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(main())
"""
IN_TURN = "session._run.parts.store.hear = lambda revised: os.kill(os.getpid(), signal.SIGKILL)"


@pytest.mark.parametrize("killed_in", ["", IN_TURN], ids=["afterwards", "before the verdicts are written"])
async def test_a_kill_loses_labels_and_verdicts_together_or_not_at_all(tmp_path: Path, killed_in: str) -> None:
    code = KILLED.format(tests=str(Path(__file__).parent), folder=str(write(tmp_path)), killed_in=killed_in)
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", code, env=dict(os.environ))
    assert await process.wait() == -signal.SIGKILL
    if killed_in:
        with sqlite3.connect(tmp_path / "crawl.db") as db:
            assert not db.execute("SELECT * FROM sqlite_master WHERE name = 'labels'").fetchall()
        assert all(verdicts(tmp_path).values())
    else:
        assert stored(tmp_path) == LABELS
        assert mistakes(tmp_path) == 0
        await crawl(tmp_path)
        assert mistakes(tmp_path) == 0
        assert len(verdicts(tmp_path)) >= 40
