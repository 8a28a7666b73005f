"""How a crawl ends, and how it goes on: failed seeds, retries, more pages, more seeds, a limit of time."""

import asyncio
import json
import socket
import sqlite3
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from lycosa import cli, config
from lycosa.fetch import outage
from lycosa.run import Run
from lycosa.strategy import STRATEGIES


class Outcome(NamedTuple):
    code: int
    out: str
    err: str


Call = Callable[..., Awaitable[Outcome]]


@pytest.fixture
def lycosa(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Call:
    """Call the command line in a thread, beside a server that runs in this test's loop."""

    def call(*arguments: str | Path) -> Outcome:
        monkeypatch.setattr(sys, "argv", ["lycosa", *map(str, arguments)])
        monkeypatch.setenv("COLUMNS", "200")
        code = 0
        try:
            cli.main()
        except SystemExit as stop:
            code = int(stop.code or 0)
        return Outcome(code, *capfd.readouterr())

    return lambda *arguments: asyncio.to_thread(call, *arguments)


def write(folder: Path, seeds: list[str], more: str = "", fetch: str = "allow_private = true\n") -> Path:
    folder.mkdir()
    text = f"seeds = {seeds!r}\n" + '[topic]\nkind = "keywords"\nwords = ["astronomy", "telescope"]\n'
    text += f"[fetch]\ndelay_s = 0.0\ndelay_factor = 0.0\nbackoff_s = 0.0\nretries = 0\n{fetch}{more}"
    (folder / "crawl.toml").write_text(text)
    return folder


def rows(folder: Path, sql: str) -> list[Any]:
    with sqlite3.connect(folder / "crawl.db") as db:
        return db.execute(sql).fetchall()


class Site:
    """Pages by path: a body, or a status with headers; what is not there is not found."""

    def __init__(self, pages: dict[str, str | tuple[str, str]]) -> None:
        self.pages = pages

    async def __call__(self, path: str, headers: dict[str, str], writer: asyncio.StreamWriter) -> None:
        found = self.pages.get(path, ("404 Not Found", ""))
        status, head = ("200 OK", "") if isinstance(found, str) else found
        body = found if isinstance(found, str) else ""
        writer.write(
            f"HTTP/1.1 {status}\r\nContent-Type: text/html\r\n{head}Content-Length: {len(body)}\r\n\r\n{body}".encode()
        )


def links(*paths: str) -> str:
    return "<p>astronomy telescope " + " ".join(f'<a href="{path}">astronomy {path}</a>' for path in paths)


BUSY = ("503 Service Unavailable", "")


# -- the last lines ---------------------------------------------------------------------------------------------------


async def test_a_crawl_ends_with_what_it_brought_and_what_to_do_next(server: Any, lycosa: Call, tmp_path: Path) -> None:
    server.handle = Site({"/": links("/a", "/b", "/c"), "/a": links(), "/b": "<p>law"})
    folder = write(tmp_path / "c", [f"{server.url}/"], "[limits]\npages = 2\n")
    outcome = await lycosa("crawl", folder)
    first, last = outcome.out.splitlines()[-2:]
    assert first.startswith("c: 2 pages in ")
    assert "2 relevant (harvest rate 1.000); stopped: limit of 2 pages, 2 URLs still queued" in first
    assert last == f"Next: lycosa show {folder}   (more: lycosa crawl {folder} --pages 4)"
    assert (outcome.code, outcome.err) == (0, "")


async def test_with_json_the_last_lines_do_not_mix_with_it(server: Any, lycosa: Call, tmp_path: Path) -> None:
    server.handle = Site({"/": links()})
    outcome = await lycosa("crawl", write(tmp_path / "c", [f"{server.url}/"]), "--json")
    assert json.loads(outcome.out)["failed_seeds"] == []
    assert "Next: lycosa show" in outcome.err


async def test_seeds_that_failed_are_named_with_reason_and_remedy(server: Any, lycosa: Call, tmp_path: Path) -> None:
    server.handle = Site({"/": links(), "/busy": BUSY})
    folder = write(tmp_path / "c", [f"{server.url}/{path}" for path in ("", "gone", "busy")])
    outcome = await lycosa("crawl", folder)
    assert outcome.code == 0
    assert "2 of 3 seeds failed:" in outcome.out
    assert f"  {server.url}/gone: http-404, there is no such page: check the URL\n" in outcome.out
    assert f"  {server.url}/busy: http-503, the server has a problem: try again later\n" in outcome.out
    assert f"(retry 1 URL that failed: lycosa crawl {folder} --retry failed)" in outcome.out


# -- no pages at all --------------------------------------------------------------------------------------------------


async def test_without_any_page_the_code_is_1_and_the_remedy_works(server: Any, lycosa: Call, tmp_path: Path) -> None:
    server.handle = Site({"/": links()})
    folder = write(tmp_path / "c", [f"{server.url}/"], fetch="")
    outcome = await lycosa("crawl", folder)
    assert outcome.code == 1
    assert "c: no pages in " in outcome.out
    assert f"1 of 1 seed failed: {server.url}/: private-address" in outcome.out
    assert "allow_private = true under [fetch]" in outcome.out
    assert outcome.out.splitlines()[-1] == f"Next: lycosa crawl {folder}   (tries the seeds again)"
    assert server.requests == []
    again = await lycosa("crawl", folder, "--set", "fetch.allow_private=true", "--json")
    assert again.code == 0
    assert json.loads(again.out)["pages"] == 1
    assert rows(folder, "SELECT error FROM visits ORDER BY n") == [("private-address",), ("",)]


async def test_a_server_that_was_down_is_asked_by_the_next_run(
    server: Any, lycosa: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outage, "FIRST_PAUSE_S", 0.05)
    monkeypatch.setattr(outage, "PATIENCE_S", 0.3)
    free = socket.socket()
    free.bind(("127.0.0.1", 0))  # ours from now on, and connection refused yet
    folder = write(
        tmp_path / "c",
        [f"http://127.0.0.1:{free.getsockname()[1]}/"],
        fetch="allow_private = true\ngive_up_after = 1\n",
    )
    down = await lycosa("crawl", folder)
    assert down.code == 1
    assert "connect, connection refused: is the server running" in down.out
    assert rows(folder, "SELECT closed, failures FROM hosts") == [("", 0)]
    server.handle = Site({"/": links()})
    late = await asyncio.start_server(server._serve, sock=free)
    async with late:
        up = await lycosa("crawl", folder, "--json")
    assert up.code == 0
    assert json.loads(up.out)["pages"] == 1
    assert rows(folder, "SELECT closed, failures FROM hosts") == [("", 0)]


@pytest.mark.parametrize(
    ("robots", "words"),
    [
        ("User-agent: *\nDisallow: /\n", "robots, its robots.txt forbids it"),
        (BUSY, "robots-unreachable, its robots.txt could not be fetched"),
    ],
)
async def test_robots_txt_is_read_again_for_seeds_it_kept_out(
    robots: Any, words: str, server: Any, lycosa: Call, tmp_path: Path
) -> None:
    site = server.handle = Site({"/": links(), "/robots.txt": robots})
    folder = write(tmp_path / "c", [f"{server.url}/"])
    outcome = await lycosa("crawl", folder)
    assert (outcome.code, words in outcome.out) == (1, True)
    site.pages["/robots.txt"] = ""
    again = await lycosa("crawl", folder, "--json")
    assert (again.code, json.loads(again.out)["pages"]) == (0, 1)


async def test_a_seed_that_is_gone_is_not_asked_again_once_there_are_pages(
    server: Any, lycosa: Call, tmp_path: Path
) -> None:
    server.handle = Site({"/": links()})
    folder = write(tmp_path / "c", [f"{server.url}/", f"{server.url}/gone"])
    await lycosa("crawl", folder)
    await lycosa("crawl", folder)
    assert [path for path, _ in server.requests].count("/gone") == 1


# -- going on ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("strategy", [name for name in STRATEGIES if name not in ("rules", "tids")])
async def test_retry_fetches_what_failed_and_nothing_twice(
    strategy: str, server: Any, lycosa: Call, tmp_path: Path
) -> None:
    site = server.handle = Site(
        {"/": links("/a", "/b", "/gone"), "/a": BUSY, "/b": links("/d"), "/d": ("429 Too Many Requests", "")}
    )
    folder = write(tmp_path / "c", [f"{server.url}/"])
    first = await lycosa("crawl", folder, "--strategy", strategy, "--json")
    assert json.loads(first.out)["pages"] == 2
    assert json.loads(first.out)["may_pass"] == 2
    assert "retry 2 URLs that failed" in first.err
    site.pages |= {"/a": links("/b", "/e"), "/d": "<p>telescope", "/e": "<p>astronomy"}
    outcome = await lycosa("crawl", folder, "--strategy", strategy, "--retry", "failed", "--json")
    assert "Retried 2 failed URLs: 2 succeeded." in outcome.err
    summary = json.loads(outcome.out)
    assert (summary["pages"], summary["visits"], summary["may_pass"]) == (5, 8, 0)
    assert summary["errors"] == {"http-503": 1, "http-404": 1, "http-429": 1}
    report = json.loads((await lycosa("show", folder, "--json")).out)
    assert {name: report[name] for name in ("pages", "visits", "relevant", "errors")} == {
        name: summary[name] for name in ("pages", "visits", "relevant", "errors")
    }
    paths = [path for path, _ in server.requests]
    assert {path: paths.count(path) for path in ("/", "/a", "/b", "/d", "/e", "/gone")} == {
        **dict.fromkeys(("/", "/b", "/e", "/gone"), 1),
        **dict.fromkeys(("/a", "/d"), 2),
    }
    nothing = await lycosa("crawl", folder, "--strategy", strategy, "--retry", "failed")
    assert "Nothing to retry" in nothing.out
    assert (await lycosa("why", folder, f"{server.url}/a")).code == 0


async def test_retry_follows_a_redirect_to_the_page_that_failed(server: Any, lycosa: Call, tmp_path: Path) -> None:
    site = server.handle = Site({"/": ("302 Found", "Location: /mid\r\n"), "/mid": ("302 Found", "Location: /end\r\n")})
    site.pages["/end"] = BUSY
    folder = write(tmp_path / "c", [f"{server.url}/"])
    assert (await lycosa("crawl", folder)).code == 1
    site.pages["/end"] = links()
    for _ in range(2):
        outcome = await lycosa("crawl", folder, "--retry", "failed", "--json")
        assert json.loads(outcome.out)["pages"] == 1
        assert json.loads(outcome.out)["failed_seeds"] == []
    assert [path for path, _ in server.requests].count("/end") == 2


@pytest.mark.parametrize("retry", [(), ("--retry", "failed")])
async def test_the_next_run_opens_hosts_that_were_given_up(
    server: Any, lycosa: Call, tmp_path: Path, retry: tuple[str, ...]
) -> None:
    """What waited there is fetched."""
    server.handle = Site({"/": links("/a", "/b")})
    folder = write(tmp_path / "c", [f"{server.url}/"])
    await lycosa("crawl", folder, "--pages", "1")
    with sqlite3.connect(folder / "crawl.db") as db:
        db.execute("UPDATE hosts SET closed = 'unreachable (timeout)', failures = 10")
    server.handle = Site({"/": links("/a", "/b"), "/a": links(), "/b": "<p>law"})
    again = await lycosa("crawl", folder, *retry, "--json")
    assert json.loads(again.out)["pages"] == 3


async def test_retry_keeps_to_the_limit_and_says_so(server: Any, lycosa: Call, tmp_path: Path) -> None:
    site = server.handle = Site({"/": links("/a"), "/a": BUSY})
    folder = write(tmp_path / "c", [f"{server.url}/"])
    await lycosa("crawl", folder)
    site.pages["/a"] = links()
    full = await lycosa("crawl", folder, "--retry", "failed", "--pages", "1")
    assert "Retried 1 failed URL: 0 succeeded, 1 still queued." in full.out
    more = await lycosa("crawl", folder, "--pages", "2", "--json")
    assert json.loads(more.out)["pages"] == 2


async def test_a_finished_crawl_goes_on_with_further_seeds(server: Any, lycosa: Call, tmp_path: Path) -> None:
    """Even at a host that was given up."""
    server.handle = Site({"/": links(), "/other": links("/more"), "/more": "<p>telescope"})
    folder = write(tmp_path / "c", [f"{server.url}/"])
    assert "frontier empty" in (await lycosa("crawl", folder)).out
    with sqlite3.connect(folder / "crawl.db") as db:
        db.execute("UPDATE hosts SET closed = 'unreachable (dns)', failures = 10")
    outcome = await lycosa("crawl", folder, "--seed", f"{server.url}/other", "--json")
    assert json.loads(outcome.out)["pages"] == 3


async def test_what_else_can_be_retried_is_said(lycosa: Call, tmp_path: Path) -> None:
    outcome = await lycosa("crawl", write(tmp_path / "c", []), "--retry", "everything")
    assert outcome.code == 2
    assert "'failed'" in outcome.err


# -- a limit of time --------------------------------------------------------------------------------------------------


async def test_the_limit_of_seconds_does_not_wait_for_slow_servers(server: Any, tmp_path: Path, clock: Any) -> None:
    """What was in flight is fetched by the next run; nothing is lost, nothing is stored twice."""
    site, asked, answered = Site({"/": links("/slow"), "/slow": links()}), asyncio.Event(), asyncio.Event()

    async def handle(path: str, headers: dict[str, str], writer: asyncio.StreamWriter) -> None:
        if path == "/slow":
            asked.set()
            await answered.wait()
        await site(path, headers, writer)

    server.handle = handle
    folder = write(tmp_path / "c", [f"{server.url}/"], "[limits]\nseconds = 5\n")
    crawling = asyncio.create_task(Run(folder, *config.load(folder), clock).run([], lambda summary: None))
    await asked.wait()
    clock.advance(5.0)
    summary = await crawling
    assert (summary["ended"], summary["pages"], summary["seconds"]) == ("limit of 5 seconds", 1, 5.0)
    answered.set()
    more = Run(folder, *config.load(folder, ["limits.seconds=9"]), clock)
    summary = await more.run([], lambda summary: None)
    assert (summary["ended"], summary["pages"]) == ("frontier empty", 2)
    assert rows(folder, "SELECT url, error FROM visits") == [(f"{server.url}/", ""), (f"{server.url}/slow", "")]
    spent = await Run(folder, *config.load(folder), clock).run([], lambda summary: None)
    assert spent["ended"] == "limit of 5 seconds"
