"""The commands of the lab, as a user calls them."""

import asyncio
import json
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from lycosa.cli.lab import Lines, Log, app, mine
from lycosa.judge.taxonomy import Taxonomy
from lycosa.lab.recorded import RecordedWeb
from lycosa.lab.webs import GeneratedPages, open_web
from lycosa.pages import read_pages
from lycosa.store.warc import WarcWriter
from lycosa.types import BadInput, Exchange

H = "http://a.example"
WEB = "generated:pages=120,hosts=8,seed=3,size_bytes=400-900,count=4-9"
HTML = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
SERVE = "from lycosa.cli.lab import app; app()"


def call(*arguments: str | Path) -> Result:
    got = CliRunner().invoke(app, list(map(str, arguments)))
    if isinstance(got.exception, BadInput):
        raise got.exception
    assert got.exception is None or isinstance(got.exception, SystemExit), got.exception
    return got


def write(folder: Path, pages: dict[str, str]) -> Path:
    """A crawl folder with what it recorded."""
    writer = WarcWriter(folder / "warc", "test")
    writer.open()
    for path, body in pages.items():
        writer.write([Exchange(H + path, b"GET / HTTP/1.1\r\n\r\n", HTML, body.encode(), 1.0)])
    writer.close()
    (folder / "crawl.toml").write_text('[topic]\nkind = "keywords"\nwords = ["course", "lecture"]\n')
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    links = "".join(f"<a href='/{number}'>page {number}</a>" for number in range(6))
    pages = {f"/{number}": f"{'lecture course' if number % 2 else 'nothing'} {number}" for number in range(6)}
    (tmp_path / "labels.tsv").write_text(
        "".join(f"{H}/{number}\t{'course' if number % 2 else 'other'}\n" for number in range(6))
    )
    return write(tmp_path / "crawl", {"/": f"home {links}", **pages, "/island": "nobody links here"})


class TestInfo:
    def test_a_recorded_web(self, folder: Path, tmp_path: Path) -> None:
        got = call("info", folder, "--labels", tmp_path / "labels.tsv", "--seeds", H)
        lines = [" ".join(line.split()) for line in got.stdout.splitlines()]
        assert lines == [
            *("URLs 8", "pages 8", "hosts 1", "internal links 6", "reachable from seeds 7"),
            *("label course 3, 3 reachable", "label other 3, 3 reachable"),
        ]

    def test_without_seeds(self, folder: Path) -> None:
        assert "(give --seeds)" in call("info", folder).stdout

    def test_several_seeds(self, folder: Path) -> None:
        got = json.loads(call("info", folder, "--seeds", H, "--seeds", f"{H}/island", "--json").stdout)
        assert (got["pages"], got["reachable"]) == (8, 8)

    def test_a_generated_web(self) -> None:
        got = json.loads(call("info", WEB, "--json").stdout)
        assert (got["pages"], got["addresses"], got["reachable"]) == (120, 120, 119)
        assert sum(got["labels"].values()) == 120

    def test_mistakes(self, folder: Path, tmp_path: Path) -> None:
        with pytest.raises(BadInput, match="no such file or folder"):
            call("info", tmp_path / "nothing")
        with pytest.raises(BadInput, match="is not a web URL"):
            call("info", folder, "--seeds", "not a url")
        (tmp_path / "bad.tsv").write_text("no tab")
        with pytest.raises(BadInput, match=r"bad\.tsv, line 1"):
            call("info", folder, "--labels", tmp_path / "bad.tsv")


class TestRecord:
    def test_checked_and_explained(self, folder: Path) -> None:
        got = call("record", folder)
        assert "8 pages on 1 hosts, 8 URLs in 1 files" in got.stdout
        assert f"lycosa lab serve {folder}" in got.stdout
        assert not list((folder / "warc").glob("*.lycosa-index"))

    def test_one_file(self, folder: Path, tmp_path: Path) -> None:
        got = call("record", folder, "--out", tmp_path / "web.warc.gz", "--json")
        assert json.loads(got.stdout)["pages"] == 8
        assert len(RecordedWeb(tmp_path / "web.warc.gz").open()) == 8

    def test_nothing_crawled(self, tmp_path: Path) -> None:
        with pytest.raises(BadInput, match="no WARC here"):
            call("record", tmp_path)


class TestCompare:
    def flags(self, folder: Path, *more: str) -> list[str | Path]:
        labels, out = folder.parent / "labels.tsv", folder.parent / "out"
        flags = ["--labels", labels, "--target", "course", "--seeds", H, "--topic", folder, "--out", out]
        return ["compare", "--web", folder, *flags, "--pages", "5", *more]

    def test_by_flags(self, folder: Path, tmp_path: Path) -> None:
        got = call(*self.flags(folder, "--strategies", "best-first, link-context"))
        for name in ("breadth-first", "random", "best-first", "link-context", "oracle"):
            assert name in got.stdout
        files = {path.name for path in (tmp_path / "out").iterdir() if path.is_file()}
        assert files == {"results.json", "table.md", "recall.png", "recall.svg", "harvest.png", "harvest.svg"}
        found = json.loads((tmp_path / "out" / "results.json").read_bytes())
        assert [task["name"] for task in found["tasks"]] == ["crawl course"]
        assert {run["strategy"]: run["found"][-1] for run in found["runs"]}["oracle"] == 3
        assert "# 5 strategies on 1 task" in (tmp_path / "out" / "table.md").read_text()

    def test_without_an_upper_bound_no_plan_is_made(
        self, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def fail(*_: object) -> None:
            raise AssertionError("nobody wants a plan")

        monkeypatch.setattr("lycosa.lab.prepare.plan", fail)
        got = call(*self.flags(folder, "--strategies", "best-first", "--no-oracle"))
        assert "oracle" not in got.stdout
        assert "oracle" not in (tmp_path / "out" / "table.md").read_text()
        found = json.loads((tmp_path / "out" / "results.json").read_bytes())
        assert list(found["strategies"]) == ["breadth-first", "random", "best-first"]

    def test_several_labels(self, folder: Path, tmp_path: Path) -> None:
        call(*self.flags(folder, "--target", "other,course", "--strategies", "best-first"))
        found = json.loads((tmp_path / "out" / "results.json").read_bytes())
        assert found["tasks"][0]["targets"] == 6

    def test_from_a_file(self, tmp_path: Path) -> None:
        (tmp_path / "c.toml").write_text(
            f'strategies = ["best-first"]\npages = 30\n[[task]]\nname = "music"\nweb = "{WEB}"\ntarget = ["music"]\n'
            f'[[task]]\nname = "law"\nweb = "{WEB}"\ntarget = ["law"]\n'
        )
        call("compare", tmp_path / "c.toml", "--out", tmp_path / "out", "--pages", "12", "--repeat", "2", "--jobs", "2")
        found = json.loads((tmp_path / "out" / "results.json").read_bytes())
        assert [(task["name"], task["repeat"], task["pages"]) for task in found["tasks"]] == [
            *(("music", 0, 12), ("music", 1, 12), ("law", 0, 12), ("law", 1, 12))
        ]

    def test_without_matplotlib(self, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("lycosa.cli.lab.find_spec", lambda name: None)
        got = call(*self.flags(folder, "--strategies", "best-first"))
        assert "no plots: pip install 'lycosa[plots]'" in got.stderr
        assert (tmp_path / "out" / "table.md").exists()
        assert not (tmp_path / "out" / "recall.png").exists()

    def test_mistakes(self, folder: Path, tmp_path: Path) -> None:
        with pytest.raises(BadInput, match="give a TOML file with tasks, or --web"):
            call("compare")
        with pytest.raises(BadInput, match=r"--web: the tasks are in .*c\.toml"):
            call("compare", tmp_path / "c.toml", "--web", WEB)
        with pytest.raises(BadInput, match=r"c\.toml: cannot be read"):
            call("compare", tmp_path / "c.toml")
        with pytest.raises(BadInput, match="there is no kind 'none'"):
            call(*self.flags(folder, "--strategies", "none"))
        with pytest.raises(BadInput, match="--model brain: there are nb, svm"):
            call(*self.flags(folder, "--model", "brain"))

    def test_lines_where_there_is_no_terminal(self, capsys: pytest.CaptureFixture[str]) -> None:
        now = [0.0]
        lines = Lines(lambda: now[0])
        lines("preparing a", 0, 1)
        for done in range(5):
            now[0] += 2.0
            lines("crawling", done, 4)
        assert capsys.readouterr().err.splitlines() == [
            *("preparing a: 0 of 1", "crawling: 0 of 4", "crawling: 3 of 4", "crawling: 4 of 4")
        ]

    def test_rules_are_mined_from_what_the_judge_learned_from(self, tmp_path: Path) -> None:
        words = {"course": "lecture homework exam syllabus", "person": "family hobbies photo resume"}
        pages = {
            f"/{label}{number}": f"{words[label]} {number} <a href='/course{number}'>x</a><a href='/person1'>x</a>"
            for number in range(4)
            for label in words
        }
        write(tmp_path, pages)
        (tmp_path / "labels.tsv").write_text("".join(f"{H}{path}\t{path[1:7]}\n" for path in pages))
        judge = Taxonomy("warc/lycosa-00001.warc.gz", ["course"], "labels.tsv", min_pages=1)
        judge.prepare(tmp_path, read_pages)
        rules = mine(judge, tmp_path).rules()
        assert rules["person"] == {"course": 0.8, "person": 0.2}
        assert rules["course"] == {"person": 1.0}  # a link to the page itself is none


class TestServe:
    def test_a_line_now_and_then(self, capsys: pytest.CaptureFixture[str]) -> None:
        log = Log(2)
        for number in range(5):
            log(0.0, "a.example", f"/{number}")
        assert capsys.readouterr().out.splitlines() == [
            "2 requests, the last for http://a.example/1",
            "4 requests, the last for http://a.example/3",
        ]
        quiet = Log(0)
        quiet(0.0, "a.example", "/")
        assert (quiet.requests, capsys.readouterr().out) == (1, "")

    def test_robots_must_be_a_file(self, tmp_path: Path) -> None:
        with pytest.raises(BadInput, match="--robots all: not none, recorded or a readable file"):
            call("serve", WEB, "--robots", "all")

    def test_a_port_in_use(self, tmp_path: Path) -> None:
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            with pytest.raises(BadInput, match="cannot serve on"):
                call("serve", WEB, "--port", str(taken.getsockname()[1]))
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler

    async def test_any_crawler_can_be_tried_on_it(self, tmp_path: Path) -> None:
        """In a process of its own, crawled by the command line, ended by Ctrl-C."""
        robots = tmp_path / "robots.txt"
        robots.write_text("User-agent: *\nDisallow: /private/\n")
        flags = ["--every", "10", "--latency", "0.001", "--errors", "0.4", "--robots", str(robots)]
        server = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", SERVE, "serve", WEB, *flags),
            stdout=subprocess.PIPE,
        )
        assert server.stdout
        try:
            first = (await asyncio.wait_for(server.stdout.readline(), 30)).decode()
            proxy = first.split(" --proxy ")[1].strip()
            assert first.startswith(f"serving 120 URLs at the proxy {proxy}: ")
            summary = await self.crawl(tmp_path / "crawl", proxy)
            assert summary["pages"] == 25
            assert summary["errors"]
            status, body = await ask(proxy, "CONNECT a.example:443 HTTP/1.1\r\nHost: a.example:443\r\n\r\n")
            assert status == 405
            assert b"http URLs, not https" in body
        finally:
            server.send_signal(signal.SIGINT)
            rest, _ = await asyncio.wait_for(server.communicate(), 30)
        assert server.returncode == 0
        lines = rest.decode().splitlines()
        assert lines[0].startswith("10 requests, the last for http://")
        assert lines[-1].endswith(" requests served")

    async def crawl(self, folder: Path, proxy: str) -> dict[str, Any]:
        web = open_web(WEB)
        assert isinstance(web, GeneratedPages)
        folder.mkdir()
        (folder / "crawl.toml").write_text(
            f"seeds = {json.dumps(web.seeds())}\n"
            '[topic]\nkind = "keywords"\nwords = ["music"]\n'
            "[fetch]\ndelay_s = 0.0\ndelay_factor = 0.0\nretries = 0\nmax_delay_s = 0.0\n"
        )
        crawler = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "lycosa", "crawl", str(folder), "--proxy", proxy, "--pages", "25", "--json"),
            *("--set", "fetch.allow_private=true"),  # its hosts are named *.localhost
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        out, err = await asyncio.wait_for(crawler.communicate(), 60)
        assert crawler.returncode == 0, err.decode()
        found: dict[str, Any] = json.loads(out)
        return found


async def ask(proxy: str, request: str) -> tuple[int, bytes]:
    host, port = proxy.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(request.encode())
    answer = await asyncio.wait_for(reader.read(), 10)
    writer.close()
    return int(answer.split()[1]), answer
