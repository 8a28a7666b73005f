"""The commands on a crawl folder, as a user calls them."""

import asyncio
import json
import os
import signal
import sqlite3
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from lycosa import cli, config
from lycosa.lab.generated import GeneratedWeb, Text
from lycosa.lab.serve import Server
from lycosa.locking import lock
from lycosa.strategy.reasons import IN_WORDS


class Outcome(NamedTuple):
    code: int
    out: str
    err: str


Call = Callable[..., Outcome]


@pytest.fixture
def lycosa(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Call:
    """Call the command line in this process; the exit code and what it printed."""

    def call(*arguments: str | Path) -> Outcome:
        monkeypatch.setattr(sys, "argv", ["lycosa", *map(str, arguments)])
        monkeypatch.setenv("COLUMNS", "200")
        code = 0
        try:
            cli.main()
        except SystemExit as stop:
            code = int(stop.code or 0)
        return Outcome(code, *capfd.readouterr())

    return call


@pytest.fixture
async def web() -> Any:
    made = GeneratedWeb(pages=60, hosts=4, ip_hosts=True, seed=3, text=Text(size_bytes=(1_000, 3_000)))
    async with Server(made, bind="0.0.0.0") as server:
        yield made, server.port


@pytest.fixture
def in_thread(lycosa: Call) -> Callable[..., Awaitable[Outcome]]:
    """The same beside a server that runs in this test's loop."""
    return lambda *arguments: asyncio.to_thread(lycosa, *arguments)


def write(folder: Path, seeds: Any = ("http://example.org/",), more: str = "") -> Path:
    folder.mkdir(exist_ok=True)
    text = f"seeds = {list(seeds)!r}\n" if not isinstance(seeds, str) else f'seeds = "{seeds}"\n'
    text += '[topic]\nkind = "keywords"\nwords = ["astronomy", "telescope"]\n'
    text += "[fetch]\ndelay_s = 0.0\ndelay_factor = 0.0\nallow_private = true\nretries = 0\n" + more
    (folder / "crawl.toml").write_text(text)
    return folder


@pytest.fixture
async def crawled(web: Any, in_thread: Any, tmp_path: Path) -> Any:
    made, port = web
    folder = write(tmp_path / "mycrawl", made.seeds(port), "[limits]\npages = 30\n")
    outcome = await in_thread("crawl", folder, "--json")
    assert outcome.code == 0, outcome.err
    return folder, json.loads(outcome.out)


# -- new --------------------------------------------------------------------------------------------------------------


def test_new_writes_a_folder_that_can_be_read(lycosa: Call, tmp_path: Path) -> None:
    outcome = lycosa("new", tmp_path / "mine")
    assert outcome.code == 0
    assert "lycosa crawl" in outcome.out
    settings, _ = config.load(tmp_path / "mine")
    assert settings.limits == config.Limits()
    assert settings.scope == config.Scope()
    assert settings.strategy == config.Config().strategy == {"kind": "learned"}


def test_new_overwrites_nothing(lycosa: Call, tmp_path: Path) -> None:
    write(tmp_path)
    outcome = lycosa("new", tmp_path)
    assert (outcome.code, outcome.err) == (2, f"lycosa: {tmp_path}/crawl.toml: already exists\n")


# -- crawl ------------------------------------------------------------------------------------------------------------


async def test_a_crawl_stops_at_its_limit_and_goes_on_with_a_higher_one(crawled: Any, in_thread: Any) -> None:
    folder, summary = crawled
    assert summary["pages"] == 30
    assert summary["ended"] == "limit of 30 pages"
    assert json.loads((folder / "summary.json").read_text())["pages"] == 30
    again = json.loads((await in_thread("crawl", folder, "--pages", "40", "--json")).out)
    assert again["pages"] == 40
    rest = json.loads((await in_thread("crawl", folder, "--pages", "0", "--json")).out)
    assert rest["ended"] == "frontier empty"
    assert rest["pages"] > 40


async def test_further_seeds_strategies_and_any_key_from_the_command_line(
    web: Any, in_thread: Any, tmp_path: Path
) -> None:
    made, port = web
    folder = write(tmp_path / "c", ["http://127.0.0.9:1/"])
    outcome = await in_thread(
        *("crawl", folder, "--seed", made.seeds(port)[0], "--strategy", "breadth-first"),
        *("--set", "limits.pages=5", "--set", "store.warc=false", "--json"),
    )
    assert json.loads(outcome.out)["pages"] == 5
    assert not (folder / "warc").exists()


async def test_through_a_proxy(web: Any, in_thread: Any, tmp_path: Path, server: Any, answer: Any) -> None:
    server.handle = answer(b"<p>astronomy with a telescope")
    folder = write(tmp_path / "c", ["http://far.example/"])
    outcome = await in_thread("crawl", folder, "--proxy", server.url, "--json")
    assert json.loads(outcome.out)["pages"] == 1
    assert [path for path, _ in server.requests] == ["http://far.example/robots.txt", "http://far.example/"]


async def test_without_a_terminal_it_prints_plain_lines(web: Any, in_thread: Any, tmp_path: Path) -> None:
    made, port = web
    folder = write(tmp_path / "c", made.seeds(port), "[limits]\npages = 5\n")
    outcome = await in_thread("crawl", folder)
    assert outcome.out.startswith("c: pages 5 of 5, pages/s ")
    assert ", limit of 5 pages\n" in outcome.out
    assert "pages/s 0.0" not in outcome.out  # also a crawl that is over in no time has a speed


async def test_bad_seeds_are_named_and_skipped(web: Any, in_thread: Any, tmp_path: Path) -> None:
    made, port = web
    folder = write(tmp_path / "c", "seeds.txt", "[limits]\npages = 3\n")
    (folder / "seeds.txt").write_text(f"# where to start\nhttp://\n\n{made.seeds(port)[0]}  # good\nno url at all\n")
    outcome = await in_thread("crawl", folder, "--json")
    assert outcome.code == 0
    assert "lycosa: seeds.txt, line 2: 'http://' is not a web URL, skipped" in outcome.err
    assert "lycosa: seeds.txt, line 5: 'no url at all' is not a web URL, skipped" in outcome.err
    assert json.loads(outcome.out)["pages"] == 3


@pytest.mark.parametrize("wanted", [True, False])
async def test_sitemaps_named_in_robots_txt_are_offered_like_seeds(
    wanted: bool, server: Any, in_thread: Any, tmp_path: Path
) -> None:
    xml = "<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>{}</urlset>"
    locations = "".join(f"<url><loc>{server.url}/hidden{n}</loc></url>" for n in range(3))
    pages = {
        "/robots.txt": ("text/plain", f"User-agent: *\nSitemap: {server.url}/map.xml\n"),
        "/map.xml": ("application/xml", xml.format(locations)),
        "/": ("text/html", "<p>astronomy"),
        **{f"/hidden{n}": ("text/html", f"<p>telescope {n}") for n in range(3)},
    }

    async def handle(path: str, headers: dict[str, str], writer: asyncio.StreamWriter) -> None:
        kind, text = pages[path]
        writer.write(f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {len(text)}\r\n\r\n{text}".encode())

    server.handle = handle
    folder = write(tmp_path / "c", [f"{server.url}/"])
    outcome = await in_thread("crawl", folder, "--json", "--set", f"scope.sitemaps={str(wanted).lower()}")
    summary = json.loads(outcome.out)
    assert summary["pages"] == (4 if wanted else 1)
    assert summary["errors"] == {}


async def test_a_crawl_keeps_its_strategy(crawled: Any, in_thread: Any) -> None:
    folder, _ = crawled
    outcome = await in_thread("crawl", folder, "--strategy", "breadth-first")
    assert outcome.code == 2
    assert "began with strategy learned" in outcome.err


async def test_ctrl_c_stops_it_and_the_same_command_goes_on(web: Any, in_thread: Any, tmp_path: Path) -> None:
    made, port = web
    folder = write(tmp_path / "c", made.seeds(port), "[limits]\npages = 0\n")
    (folder / "crawl.toml").write_text((folder / "crawl.toml").read_text().replace("delay_s = 0.0", "delay_s = 0.3"))
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-u", "-m", "lycosa", "crawl", str(folder)),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stdout
    await process.stdout.readline()  # the first line of progress
    process.send_signal(signal.SIGINT)
    out, errors = await process.communicate()
    assert process.returncode == 130
    assert b"stopped by the user" in out
    assert errors == b""
    with sqlite3.connect(folder / "crawl.db") as db:
        before = db.execute("SELECT count(*) FROM visits").fetchone()[0]
    assert 0 < before < 60
    outcome = await in_thread("crawl", folder, "--set", "fetch.delay_s=0", "--json")
    assert json.loads(outcome.out)["pages"] >= 50


async def test_two_at_once_are_refused(crawled: Any, in_thread: Any) -> None:
    folder, _ = crawled
    with lock(folder):
        outcome = await in_thread("crawl", folder)
        assert (outcome.code, outcome.err) == (2, f"lycosa: {folder}: another lycosa is at work in this folder\n")
        assert "running" in (await in_thread("show", folder)).out


# -- bad input --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("[fetch]\ndelay = 1\n", "crawl.toml, line 5: fetch.delay: unknown key"),
        ('[fetch]\ndelay_s = "slow"\n', "crawl.toml, line 5: fetch.delay_s: expected a number, got text"),
        ("[fetch]\nconcurrency = 0\n", "crawl.toml, line 5: fetch.concurrency: expected a whole number >= 1"),
        ("[limits]\npages = 1.5\n", "crawl.toml, line 5: limits.pages: expected a whole number, got a decimal number"),
        ("[lmits]\npages = 1\n", "crawl.toml, line 4: lmits: unknown key"),
        ('[strategy]\nkind = "best"\n', "crawl.toml, line 5: strategy.kind: there is no kind 'best' (there are: "),
        (
            '[strategy]\nkind = "best-first"\nspeed = 3\n',
            "crawl.toml, line 6: strategy.speed: unknown key for best-first",
        ),
        ("[scope]\nexclude = ['(']\n", "crawl.toml, line 5: scope.exclude: '(' is not a regular expression"),
        ("[scope]\nhosts = ['a b']\n", "crawl.toml, line 5: scope.hosts: 'a b' is not a host or domain name"),
        (
            "[fetch]\nproxy = 'socks5://x:1'\n",
            "crawl.toml, line 5: fetch.proxy: 'socks5://x:1' is not http://host:port",
        ),
        ("[scope\n", "crawl.toml: not valid TOML: "),
    ],
)
def test_what_is_wrong_in_crawl_toml_is_named_with_its_line(
    lycosa: Call, tmp_path: Path, change: str, words: str
) -> None:
    (tmp_path / "crawl.toml").write_text('seeds = ["http://example.org/"]\n[topic]\nkind = "keywords"\n' + change)
    outcome = lycosa("crawl", tmp_path, "--set", "topic.words=['x']")
    assert outcome.code == 2
    assert outcome.err.startswith("lycosa: ")
    assert words in outcome.err
    assert outcome.err.count("\n") == 1
    assert not (tmp_path / "crawl.db").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--set", "fetch.delay_s"), "--set fetch.delay_s: write section.key=value"),
        (("--set", "fetch.delay_s=abc"), "--set fetch.delay_s: expected a number, got text"),
        (("--set", "nothing.here=1"), "--set nothing: unknown key"),
        (("--strategy", "psychic"), "--set strategy.kind: there is no kind 'psychic'"),
        (("--set", "topic.words=[]"), "topic.words"),
        (("--set", "topic.wrods=['a']"), "topic.wrods: unknown key for keywords"),
        (("--set", "seeds=nowhere.txt"), "seeds: cannot read"),
        (("--set", "seeds=[]"), "seeds: say where to start"),
        (("--seed", "nonsense"), "--seed nonsense: not a web URL"),
        (("--set", "scope.domains=uic.edu"), """write --set 'scope.domains=["uic.edu"]'"""),
        (("--set", "scope.domains=['http://uic.edu/']"), "--set scope.domains: 'http://uic.edu/' is a URL"),
        (("--set", "seeds=['::']"), "seeds[0]: '::' is not a web URL, skipped"),
    ],
)
def test_what_is_wrong_on_the_command_line_is_named(
    lycosa: Call, tmp_path: Path, arguments: tuple[str, ...], words: str
) -> None:
    outcome = lycosa("crawl", write(tmp_path / "c"), *arguments)
    assert outcome.code == 2
    assert words in outcome.err
    assert outcome.err.count("\n") == 1


@pytest.mark.parametrize("command", ["crawl", "show", "export"])
def test_a_folder_without_crawl_toml(lycosa: Call, tmp_path: Path, command: str) -> None:
    outcome = lycosa(command, tmp_path / "empty")
    assert outcome.code == 2
    assert "no crawl.toml here" in outcome.err


@pytest.mark.parametrize("command", [("show",), ("export",), ("why", "http://example.org/")])
def test_a_folder_where_nothing_was_crawled(lycosa: Call, tmp_path: Path, command: tuple[str, ...]) -> None:
    outcome = lycosa(command[0], write(tmp_path / "c"), *command[1:])
    assert (outcome.code, "nothing crawled yet" in outcome.err) == (2, True)


async def test_a_database_of_a_newer_version(crawled: Any, in_thread: Any) -> None:
    folder, _ = crawled
    with sqlite3.connect(folder / "crawl.db") as db:
        db.execute("PRAGMA user_version=99")
    before = (folder / "crawl.db").read_bytes()
    for command in ("crawl", "show", "export"):
        outcome = await in_thread(command, folder)
        assert outcome.code == 2
        assert "made by a newer Lycosa (format 99" in outcome.err
    assert (folder / "crawl.db").read_bytes() == before


async def test_a_database_that_is_none(crawled: Any, in_thread: Any) -> None:
    folder, _ = crawled
    (folder / "crawl.db").write_bytes(b"this is no database" * 1_000)
    outcome = await in_thread("show", folder)
    assert outcome.code == 2
    assert "cannot be used" in outcome.err


async def test_a_warc_that_lost_its_end(crawled: Any, in_thread: Any) -> None:
    folder, _ = crawled
    path = next((folder / "warc").iterdir())
    os.truncate(path, 100)
    outcome = await in_thread("crawl", folder, "--pages", "40")
    assert outcome.code == 2
    assert "its end is lost" in outcome.err


# -- show, why, export ------------------------------------------------------------------------------------------------


async def test_show(crawled: Any, in_thread: Any) -> None:
    folder, _ = crawled
    out = (await in_thread("show", folder)).out
    for words in ("ended: limit of 30 pages", "harvest rate", "best pages", "hosts", "127.0.0.", "30 pages"):
        assert words in out
    report = json.loads((await in_thread("show", folder, "--json")).out)
    assert report["pages"] == 30
    assert report["curve"][-1] == pytest.approx(report["harvest_rate"])
    assert report["best"][0]["relevance"] >= report["best"][-1]["relevance"]


async def test_show_tells_what_was_learned(crawled: Any, in_thread: Any) -> None:
    folder, _ = crawled
    out = (await in_thread("show", folder)).out
    for words in ("learned: weight of evidence", "learned: words", "learned: hosts"):
        assert words in out
    learned = json.loads((await in_thread("show", folder, "--json")).out)["learned"]
    with_classes = ("class", "leads", "elsewhere", "value")
    without_classes = {words for name, words in IN_WORDS.items() if name not in with_classes}
    assert set(learned["weight of evidence"]) == without_classes
    assert list(learned["words"].values()) == sorted(learned["words"].values(), reverse=True)
    assert all(name.startswith(("/", "“")) for name in learned["words"])


async def test_after_a_kill_show_says_so(crawled: Any, in_thread: Any) -> None:
    folder, _ = crawled
    with sqlite3.connect(folder / "crawl.db") as db:
        db.execute("UPDATE meta SET value='' WHERE key='ended'")
    assert "interrupted" in (await in_thread("show", folder)).out


async def test_why_tells_the_path_from_a_seed(crawled: Any, in_thread: Any) -> None:
    folder, _ = crawled
    with sqlite3.connect(folder / "crawl.db") as db:
        url, source = db.execute("SELECT url, source FROM visits WHERE depth = 2 LIMIT 1").fetchone()
        waiting = db.execute("SELECT url FROM urls WHERE state = 0 LIMIT 1").fetchone()[0]
    out = (await in_thread("why", folder, url)).out
    assert "a seed" in out
    assert out.index(source) < out.index(url)
    assert "score 0." in out
    assert "relevance" in out
    for asked in (url, waiting):
        told = (await in_thread("why", folder, asked)).out
        assert "contributions to the score (log-odds " in told
        assert "its own words, in anchor and URL" in told
    assert "it is queued" in told
    assert told.startswith("Not fetched yet. Its score is 0.")
    assert "queued URLs come before it." in told
    assert "The crawl is over: limit of 30 pages." in told
    outcome = await in_thread("why", folder, "http://nobody.knows/")
    assert (outcome.code, outcome.err) == (2, "lycosa: http://nobody.knows/: this crawl does not know this URL\n")


async def test_why_asks_the_strategy_that_crawled(web: Any, in_thread: Any, tmp_path: Path) -> None:
    """Also one that crawl.toml does not name."""
    made, port = web
    folder = write(tmp_path / "c", made.seeds(port))
    await in_thread("crawl", folder, "--pages", "10", "--strategy", "best-first")
    with sqlite3.connect(folder / "crawl.db") as db:
        url = db.execute("SELECT url FROM visits WHERE depth > 0 LIMIT 1").fetchone()[0]
    out = (await in_thread("why", folder, url)).out
    assert out.startswith("Fetched because the page it was found on has relevance 0.")
    assert "contributions to the score" not in out
    with sqlite3.connect(folder / "crawl.db") as db:
        db.execute("UPDATE meta SET value='of-a-package-that-is-gone' WHERE key='strategy'")
    assert (await in_thread("why", folder, url)).out.startswith("Fetched (the strategy does not explain its scores).")


def test_help_and_version(lycosa: Call) -> None:
    assert lycosa("--version").out.startswith("lycosa 0.")
    assert lycosa("--help").code == 0
    assert lycosa("crawl").code == 2
    assert lycosa("no-such-command").code == 2


# -- going on with other settings -------------------------------------------------------------------------------------


async def test_a_changed_scope_holds_for_what_waits_already(crawled: Any, in_thread: Any) -> None:
    folder, _ = crawled
    with sqlite3.connect(folder / "crawl.db") as db:
        before = db.execute("SELECT count(*) FROM visits").fetchone()[0]
    outcome = await in_thread("crawl", folder, "--pages", "0", "--set", "scope.exclude=['/']", "--json")
    assert json.loads(outcome.out)["visits"] == before
    assert json.loads(outcome.out)["ended"] == "frontier empty"


async def test_a_higher_limit_opens_hosts_that_were_full(web: Any, in_thread: Any, tmp_path: Path) -> None:
    made, port = web
    folder = write(tmp_path / "c", made.seeds(port), "[limits]\npages = 0\n")
    few = json.loads((await in_thread("crawl", folder, "--set", "scope.max_pages_per_host=2", "--json")).out)
    assert few["pages"] <= 8
    report = json.loads((await in_thread("show", folder, "--json")).out)
    assert report["waiting"] == few["waiting"] == 0
    more = json.loads((await in_thread("crawl", folder, "--set", "scope.max_pages_per_host=5", "--json")).out)
    assert few["pages"] < more["pages"] <= 20


async def test_a_crawl_whose_seeds_came_with_the_command_goes_on_without_them(
    web: Any, in_thread: Any, tmp_path: Path
) -> None:
    made, port = web
    folder = write(tmp_path / "c", [])
    await in_thread("crawl", folder, "--seed", made.seeds(port)[0], "--pages", "5")
    again = await in_thread("crawl", folder, "--pages", "8", "--json")
    assert json.loads(again.out)["pages"] == 8


async def test_seeds_out_of_scope_are_named(web: Any, in_thread: Any, tmp_path: Path) -> None:
    made, port = web
    folder = write(tmp_path / "c", [*made.seeds(port)[:1], "http://elsewhere.example/"])
    outcome = await in_thread("crawl", folder, "--pages", "3", "--set", "scope.domains=['127.0.0.2']", "--json")
    assert "http://elsewhere.example/: out-of-scope, skipped" in outcome.err
    wrong = await in_thread("crawl", folder, "--set", "scope.domains=['localhost:8080']")
    assert "names a port" in wrong.err


async def test_recordings_of_a_crawl_whose_database_is_gone_are_not_overwritten(crawled: Any, in_thread: Any) -> None:
    folder, _ = crawled
    (warc,) = (folder / "warc").iterdir()
    before = warc.read_bytes()
    (folder / "crawl.db").unlink()
    outcome = await in_thread("crawl", folder)
    assert (outcome.code, "whose crawl.db is gone" in outcome.err) == (2, True)
    assert warc.read_bytes() == before


async def test_a_page_does_not_speak_to_the_terminal(server: Any, answer: Any, in_thread: Any, tmp_path: Path) -> None:
    server.handle = answer(b"<title>astronomy \x1b]0;owned\x07</title><p>astronomy telescope")
    folder = write(tmp_path / "c", [f"{server.url}/"])
    await in_thread("crawl", folder)
    for out in ((await in_thread("show", folder)).out, (await in_thread("why", folder, f"{server.url}/")).out):
        assert "astronomy" in out
        assert "\x1b]0" not in out


def test_a_database_without_tables_is_a_crawl_that_has_not_begun(lycosa: Call, tmp_path: Path) -> None:
    folder = write(tmp_path / "c")
    (folder / "crawl.db").touch()
    for command in ("show", "export"):
        outcome = lycosa(command, folder)
        assert (outcome.code, "nothing crawled yet" in outcome.err) == (2, True)
