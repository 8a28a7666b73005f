"""The socket of a running crawl: who may use it, what it answers to nonsense, and real processes that use it."""

import asyncio
import json
import os
import signal
import socket
import sqlite3
import stat
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from lycosa import control
from lycosa.control import NAME, Door, Request, Unreachable, call
from lycosa.errors import BadInput
from lycosa.events import StateChange
from lycosa.lab.generated import GeneratedWeb, Text
from lycosa.lab.serve import Server


class Crawl:
    """What a door leads to."""

    def __init__(self) -> None:
        self.orders: list[Request] = []

    async def handle(self, request: Request) -> Any:
        self.orders.append(request)
        if request.do == "exclude":
            raise BadInput("not\nthis")
        return {"did": request.do}

    async def events(self) -> AsyncIterator[Any]:
        yield StateChange("paused", "x")
        yield StateChange("ended")


def door(folder: Path, crawl: Crawl) -> Door:
    return Door(folder, crawl.handle, crawl.events)


async def say(folder: Path, *lines: bytes) -> list[Any]:
    """Raw lines to the socket; all answers until it hangs up."""
    reader, writer = await asyncio.open_unix_connection(str(folder / NAME), limit=10_000_000)
    for line in lines:
        writer.write(line)
    writer.write_eof()
    answers = [json.loads(line) async for line in reader]
    writer.close()
    return answers


class TestDoor:
    async def test_only_the_owner_may_come_in_and_it_is_gone_at_the_end(self, tmp_path: Path) -> None:
        async with door(tmp_path, Crawl()):
            mode = (tmp_path / NAME).stat().st_mode
            assert stat.S_ISSOCK(mode)
            assert stat.S_IMODE(mode) == 0o600
        assert not (tmp_path / NAME).exists()

    async def test_orders_and_answers(self, tmp_path: Path) -> None:
        crawl = Crawl()
        async with door(tmp_path, crawl):
            assert await asyncio.to_thread(call, tmp_path, Request("pause")) == {"did": "pause"}
            with pytest.raises(BadInput, match=r": not this$"):
                await asyncio.to_thread(call, tmp_path, Request("exclude", host="a.example"))
        assert crawl.orders == [Request("pause"), Request("exclude", host="a.example")]

    async def test_events_are_followed(self, tmp_path: Path) -> None:
        async with door(tmp_path, Crawl()):
            answer, *events = await say(tmp_path, b'{"do":"events"}\n')
        assert answer["ok"]
        assert events == [
            {"event": "state", "state": state, "why": why} for state, why in [("paused", "x"), ("ended", "")]
        ]

    @pytest.mark.parametrize(
        "line",
        [
            b"pause",
            b"\xff\xfe\x00",
            b"{}",
            b"[]",
            b"null",
            b'{"do":"explode"}',
            b'{"do":"pause","force":1}',
            b'{"do":"add","urls":"http://a/"}',
            b'{"do":"pause","v":2}',
            b'{"do":"pause","v":99999999999999999999999}',
            b"[" * 100_000,
            b'{"do":"pause","x":' + b"[" * 100_000,
            b'{"do":"exclude","host":"x"}',
            b"GET / HTTP/1.1\r",
        ],
        ids=range(14),
    )
    async def test_nonsense_gets_one_line_and_the_next_order_is_heard(self, tmp_path: Path, line: bytes) -> None:
        async with door(tmp_path, Crawl()):
            refused, done = await say(tmp_path, line + b"\n", b'\n{"do":"resume"}\n')
        assert (refused["ok"], refused["v"]) == (False, 1)
        assert refused["error"]
        assert "\n" not in refused["error"]
        assert done == {"ok": True, "v": 1, "result": {"did": "resume"}, "error": ""}

    async def test_a_line_without_end_is_cut_off(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(control, "_MOST_LINE", 1_000)
        async with door(tmp_path, Crawl()):
            (refused,) = await say(tmp_path, b"x" * 2_000)
            assert "more than 1000 bytes" in refused["error"]
            assert await asyncio.to_thread(call, tmp_path, Request("pause"))

    async def test_too_many_clients_are_sent_away(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(control, "_MOST_CLIENTS", 1)
        async with door(tmp_path, Crawl()):
            _, silent = await asyncio.open_unix_connection(str(tmp_path / NAME))
            (refused,) = await say(tmp_path)
            silent.close()
        assert refused["error"] == "too many clients at once"

    async def test_what_a_killed_crawl_left_is_replaced(self, tmp_path: Path) -> None:
        with socket.socket(socket.AF_UNIX) as stale:
            stale.bind(str(tmp_path / NAME))
        with pytest.raises(Unreachable):
            call(tmp_path, Request("pause"))
        async with door(tmp_path, Crawl()):
            assert await asyncio.to_thread(call, tmp_path, Request("pause"))

    async def test_a_file_of_the_users_is_left_alone(self, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
        (tmp_path / NAME).write_text("mine")
        async with door(tmp_path, Crawl()):
            pass
        assert (tmp_path / NAME).read_text() == "mine"
        assert "exists and was not created by Lycosa" in caplog.text

    async def test_a_path_that_is_too_long_for_a_socket(self, tmp_path: Path) -> None:
        folder = tmp_path / ("long" * 40) / ("longer" * 30)
        folder.mkdir(parents=True)
        before = len(os.listdir("/proc/self/fd"))
        async with door(folder, Crawl()):
            assert stat.S_IMODE((folder / NAME).stat().st_mode) == 0o600
            assert await asyncio.to_thread(call, folder, Request("pause")) == {"did": "pause"}
        assert not (folder / NAME).exists()
        assert len(os.listdir("/proc/self/fd")) <= before

    def test_nobody_there(self, tmp_path: Path) -> None:
        with pytest.raises(Unreachable):
            call(tmp_path, Request("pause"))


# -- real processes ---------------------------------------------------------------------------------------------------


async def start(*arguments: str | Path) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "lycosa", *map(str, arguments)),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )


async def lycosa(*arguments: str | Path) -> tuple[int, str, str]:
    process = await start(*arguments)
    out, errors = await process.communicate()
    assert "Traceback" not in errors.decode()
    return process.returncode or 0, out.decode(), errors.decode()


class Watch:
    """The server's log; rings when so many requests have come."""

    def __init__(self) -> None:
        self.hosts: list[str] = []
        self._bells: list[tuple[int, asyncio.Event]] = []

    def __call__(self, when: float, host: str, path: str) -> None:
        self.hosts.append(host)
        for count, bell in self._bells:
            if len(self.hosts) >= count:
                bell.set()

    async def requests(self, more: int) -> None:
        bell = asyncio.Event()
        self._bells.append((len(self.hosts) + more, bell))
        await bell.wait()


def write(folder: Path, seeds: list[str]) -> Path:
    folder.mkdir()
    (folder / "crawl.toml").write_text(
        f"seeds = {seeds!r}\ntopic = {{ kind = 'keywords', words = ['astronomy'] }}\nlimits = {{ pages = 0 }}\n"
        "strategy = { kind = 'breadth-first' }\n"
        "[fetch]\ndelay_s = 0.05\ndelay_factor = 0.0\nallow_private = true\nretries = 0\nfocus = 0.0\n"
    )
    return folder


def visited(folder: Path) -> list[str]:
    with sqlite3.connect(folder / "crawl.db") as db:
        return [url for (url,) in db.execute("SELECT url FROM visits ORDER BY n")]


WEB = GeneratedWeb(pages=900, hosts=12, ip_hosts=True, seed=9, text=Text(size_bytes=(1_000, 2_000)))
ENDLESS = GeneratedWeb(pages=90_000, hosts=12, ip_hosts=True, seed=9, text=Text(size_bytes=(1_000, 2_000)))


@pytest.mark.slow
@pytest.mark.xdist_group("processes")
async def test_orders_from_other_processes_outlive_a_kill(tmp_path: Path) -> None:
    watch = Watch()
    async with Server(WEB, bind="0.0.0.0", log=watch) as server:
        folder = write(tmp_path / "c", WEB.seeds(server.port))
        crawling = await start("crawl", folder)
        await watch.requests(60)
        code, out, errors = await lycosa("pause", folder)
        assert (code, errors) == (0, "")
        assert out.startswith("paused")
        while (await asyncio.to_thread(call, folder, Request("status")))["in_flight"]:
            pass
        assert "running: paused" in (await lycosa("show", folder))[1]
        stopped_at = len(watch.hosts)

        victim = watch.hosts[-1]
        added = f"http://127.0.0.99:{server.port}/"
        code, out, _ = await lycosa("add", folder, added)
        assert (code, out) == (0, "1 seed added\n")
        code, out, errors = await lycosa("exclude", folder, victim)
        assert (code, out) == (2, "")
        assert "would be dropped; nothing was changed; --yes skips the question" in errors
        code, out, _ = await lycosa("exclude", folder, victim, "--yes")
        assert code == 0
        assert int(out.split(": ")[1].split()[0]) > 0
        assert len(watch.hosts) == stopped_at, "a request started while the crawl was paused"
        crawling.send_signal(signal.SIGKILL)
        await crawling.communicate()
        assert (folder / NAME).exists()

        code, out, errors = await lycosa("crawl", folder)  # it was paused when it died: a new run crawls all the same
        assert code == 0, errors
        assert "frontier empty" in out
    assert victim not in watch.hosts[stopped_at:]
    urls = visited(folder)
    assert added in urls
    assert len(urls) == len(set(urls))
    shown = json.loads((await lycosa("show", folder, "--json"))[1])
    assert (shown["added_seeds"], shown["excluded"]) == ([added], [victim])


@pytest.mark.xdist_group("processes")
async def test_stop_waits_for_the_end_and_without_a_crawl_there_is_nothing_to_stop(tmp_path: Path) -> None:
    watch = Watch()
    async with Server(ENDLESS, bind="0.0.0.0", log=watch) as server:  # a busy machine takes seconds per command
        folder = write(tmp_path / "c", ENDLESS.seeds(server.port))
        crawling = await start("crawl", folder)
        await watch.requests(20)
        code, out, _ = await lycosa("resume", folder)
        assert (code, out) == (0, "it is not paused\n")
        code, out, _ = await lycosa("stop", folder)
        assert (code, out) == (0, f"stopped. Continue with: lycosa crawl {folder}\n")
        told, _ = await crawling.communicate()
        assert crawling.returncode == 130
        assert b"stopped by the user" in told
    assert len(visited(folder)) >= 10
    for command in ("pause", "resume", "stop"):
        code, out, errors = await lycosa(command, folder)
        assert (code, out) == (2, "")
        assert errors == f"lycosa: {folder}: no crawl is running here; start one with: lycosa crawl {folder}\n"
    code, out, _ = await lycosa("add", folder, "new.example")
    assert (code, out) == (0, f"1 seed added, to be fetched by the next run: lycosa crawl {folder}\n")
