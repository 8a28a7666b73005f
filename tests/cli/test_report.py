"""`lycosa report` and `lycosa show --plot`, as a user calls them."""

import json
import sys
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import pytest

from lycosa import cli
from lycosa.output.html import without_secrets
from lycosa.store.db import CrawlDb
from lycosa.store.visits import VisitStore
from lycosa.types import Link, Page, Reply, Verdict, Visit

EVIL = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>\u202e"
Call = Callable[..., tuple[int, str, str]]


@pytest.fixture
def lycosa(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Call:
    def call(*arguments: str | Path) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["lycosa", *map(str, arguments)])
        code = 0
        try:
            cli.main()
        except SystemExit as stop:
            code = int(stop.code or 0)
        return (code, *capsys.readouterr())

    return call


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A crawl of pages that mean no good."""
    folder = tmp_path / "my <b>crawl"
    folder.mkdir()
    (folder / "crawl.toml").write_text(
        'seeds = ["http://a/"]\n[topic]\nkind = "keywords"\nwords = ["</pre><script>"]\n'
        '[fetch]\nproxy = "http://me:hunter2@proxy:3128"\n[search]\nengine = "x"\nheaders = { X-Key = "hunter2" }\n'
    )
    db = CrawlDb(folder / "crawl.db").open()
    store = VisitStore(db, None)
    store.open()
    for number in range(150):
        url = f"http://host{number % 40}/{'?q=%22%3E' * (number % 2)}{number}"
        reply = Reply(Link(url), url=url, status=200, error=f"bad {EVIL}" * (number % 10 == 3))
        verdict = Verdict(number / 150, number % 3 == 0, f"class {EVIL}")
        store.write(Visit(reply, Page(url, f"page {number} {EVIL}"), verdict, 1.0, digest=url * (not reply.error)))
        db.execute("INSERT OR IGNORE INTO hosts VALUES (?, 0, 1, 0, 3, ?)", (f"host{number % 40}", EVIL))
    store.write(Visit(Reply(Link("javascript:alert(3)"), url="x:/a/b"), Page(), Verdict(1.0), 1.0, digest="js"))
    db.put("strategy", "best-first")
    db.put("ended", "limit of 150 pages")
    db.put("spent_s", "75.0")
    db.commit()
    db.close()
    return folder


class Reader(HTMLParser):
    """What a browser would make of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.names: set[str] = set()
        self.targets: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.names |= {name for name, _ in attrs}
        self.targets += [value or "" for name, value in attrs if name in ("href", "src", "xlink:href", "data")]

    def handle_data(self, data: str) -> None:
        self.text += data


def test_the_report_is_one_safe_file(folder: Path, lycosa: Call) -> None:
    code, out, _ = lycosa("report", folder)
    assert (code, out) == (0, f"report written to {folder / 'report.html'}\n")
    text = (folder / "report.html").read_text()
    page = Reader()
    page.feed(text)
    assert not page.tags & {"script", "img", "iframe", "object", "link", "b", "image", "form", "base"}
    assert not any(name.startswith("on") for name in page.names)
    assert all(target.startswith(("http://host", "#")) for target in page.targets)
    assert "default-src 'none'" in text
    assert "\u202e" not in text
    assert "hunter2" not in text
    assert [path.name for path in folder.glob("*.part")] == []


def test_the_report_tells_what_happened(folder: Path, lycosa: Call, tmp_path: Path) -> None:
    lycosa("report", folder, "--out", tmp_path / "other.html")
    page = Reader()
    page.feed((tmp_path / "other.html").read_text())
    words = " ".join(page.text.split())
    for expected in (
        "my <b>crawl",
        "ended: limit of 150 pages",
        "pages136",
        "harvest rate",
        "75 s",
        "Best pages",
        "page 149 <script>",
        "Errors",
        "Hosts (25 of 40)",
        "crawl.toml",
        'words = ["</pre><script>"]',
        'proxy = "http://...@proxy:3128"',
        'headers = "..."',
    ):
        assert expected in words
    assert "svg" in page.tags


def test_a_report_of_a_crawl_without_pages(tmp_path: Path, lycosa: Call) -> None:
    (tmp_path / "crawl.toml").write_text('seeds = ["http://a/"]\n')
    assert lycosa("report", tmp_path)[0] == 2
    db = CrawlDb(tmp_path / "crawl.db").open()
    db.commit()
    db.close()
    assert lycosa("report", tmp_path)[0] == 0
    assert "<svg" not in (tmp_path / "report.html").read_text()


def test_where_nothing_can_be_written(folder: Path, lycosa: Call, tmp_path: Path) -> None:
    for arguments in (("report", folder, "--out"), ("show", folder, "--plot")):
        code, _, errors = lycosa(*arguments, tmp_path / "no" / "x.png")
        assert (code, errors.count("\n")) == (2, 1)
        assert "cannot be written" in errors


def test_show_draws_one_crawl_or_several(folder: Path, lycosa: Call, tmp_path: Path) -> None:
    code, out, errors = lycosa("show", folder, "--plot", tmp_path / "one.png")
    assert (code, errors) == (0, f"{tmp_path / 'one.png'} written\n")
    assert "best pages" in out
    code, out, _ = lycosa("show", folder, folder, "--plot", tmp_path / "two.svg", "--json")
    assert code == 0
    assert "<svg" in (tmp_path / "two.svg").read_text()
    one, other = json.loads(out)
    assert one["totals"]["pages"] == other["totals"]["pages"] == 136
    assert one["name"] != other["name"]


def test_secrets_are_found_wherever_they_stand() -> None:
    given = {"api_key": "x", "a": [{"Password": 1, "b": "ftp://u:p@h/"}], "search": {"headers": {"q": "x"}}, "n": 3}
    assert without_secrets(given) == {
        "api_key": "...",
        "a": [{"Password": "...", "b": "ftp://...@h/"}],
        "search": {"headers": "..."},
        "n": 3,
    }
