"""Labelling as a user meets it: questions on a plain pipe, files, what is said at the end, and bad input."""

import asyncio
import io
import json
import re
import shutil
import sqlite3
import sys
from contextlib import ExitStack
from pathlib import Path
from threading import Timer
from typing import Any

import pytest

from lycosa import cli, config, labelling
from lycosa.clock import WallClock
from lycosa.lab.generated import GeneratedWeb, Text
from lycosa.lab.serve import Server
from lycosa.locking import lock
from lycosa.run import Run
from lycosa.session import Session

WEB = GeneratedWeb(pages=200, hosts=5, ip_hosts=True, seed=3, text=Text(size_bytes=(1_000, 2_000)))


@pytest.fixture
def lycosa(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Any:
    def call(*arguments: str | Path, keys: str = "") -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["lycosa", *map(str, arguments)])
        monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{key}\n" for key in keys)))
        code = 0
        try:
            cli.main()
        except SystemExit as stop:
            code = int(stop.code or 0)
        return code, *capfd.readouterr()

    return call


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return asyncio.run(crawled(tmp_path_factory.mktemp("label") / "crawl"))


@pytest.fixture
def folder(original: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(original, tmp_path / "crawl"))


async def crawled(folder: Path, more: str = "") -> Path:
    folder.mkdir()
    async with Server(WEB, bind="0.0.0.0") as server:
        (folder / "crawl.toml").write_text(
            f"seeds = {WEB.seeds(server.port)!r}\ntopic = {{ kind = 'keywords', words = ['astronomy', 'planet'] }}\n"
            "limits = { pages = 40 }\n[fetch]\ndelay_s = 0.0\ndelay_factor = 0.0\nallow_private = true\n"
            f"concurrency = 1\n{more}"
        )
        await Run(folder, *config.load(folder), WallClock()).run([], lambda summary: None)
    return folder


def asked(out: str) -> list[str]:
    """The URL of each question."""
    return re.findall(r"^\[\d+/\d+\] \w+\n.*\n(http\S+)", out, re.MULTILINE)


def verdicts(folder: Path) -> dict[str, bool]:
    with sqlite3.connect(folder / "crawl.db") as db:
        return dict(db.execute("SELECT url, on_topic FROM visits"))


class TestQuestions:
    def test_answers_are_kept_and_told(self, folder: Path, lycosa: Any, tmp_path: Path) -> None:
        code, out, _ = lycosa("label", folder, "--count", "8", keys="ynyyssyn")
        assert code == 0
        assert len(asked(out)) == 8
        assert "the judge says o" in out
        assert "on topic? [y]es [n]o [s]kip [u]ndo [q]uit: y" in out
        assert re.search(r"^6 labels changed \d+ verdicts?$", out, re.MULTILINE)
        assert re.search(r"^estimated precision \d\.\d\d \(\d\.\d\d-\d\.\d\d\) from 2 random pages$", out, re.MULTILINE)
        shown = lycosa("show", folder)[1]
        assert re.search(r"labels +6 \(4 on topic\); estimated precision", shown)
        assert "ended: limit of 40 pages" in shown
        report = json.loads(lycosa("show", folder, "--json")[1])
        assert report["labels"]["on_topic"] == 4
        assert report["labels"]["precision"][3] == 2

    def test_telling_passages_are_shown_if_the_pages_are_stored(self, folder: Path, lycosa: Any) -> None:
        out = lycosa("label", folder, "--count", "4", keys="q")[1]
        assert re.search(r"  for +0\.\d\d  ", out)
        assert "*astronomy*" in out.lower() or "*planet*" in out.lower()

    def test_it_works_without_stored_pages(self, tmp_path: Path, lycosa: Any) -> None:
        bare = asyncio.run(crawled(tmp_path / "bare", "[store]\nwarc = false\n"))
        code, out, _ = lycosa("label", bare, "--count", "4", keys="ynyn")
        assert code == 0
        assert "4 labels changed" in out
        assert "  for " not in out

    def test_undo_asks_again(self, folder: Path, lycosa: Any, tmp_path: Path) -> None:
        _, out, _ = lycosa("label", folder, "--count", "4", keys="uyunsuyq")
        questions = [*dict.fromkeys(asked(out))]
        assert [questions.index(url) for url in asked(out)] == [0, 0, 1, 0, 1, 2, 1, 2]
        assert "nothing to undo" in out
        assert "2 labels changed" in out
        lycosa("label", folder, "--export", tmp_path / "a.tsv")
        assert (tmp_path / "a.tsv").read_text() == f"{questions[0]}\tno\n{questions[1]}\tyes\n"

    def test_no_page_twice_until_none_is_left(self, folder: Path, lycosa: Any) -> None:
        first = asked(lycosa("label", folder, "--count", "20", keys="y" * 20)[1])
        second = asked(lycosa("label", folder, "--count", "100", keys="n" * 100)[1])
        assert len(first) == 20
        assert second
        assert not {*first} & {*second}
        code, out, _ = lycosa("label", folder)
        assert (code, out) == (
            0,
            "there is no page left to ask about: all are labelled, or none has been judged yet\n",
        )

    def test_the_end_of_the_input_is_the_end(self, folder: Path, lycosa: Any) -> None:
        code, out, _ = lycosa("label", folder, keys="y")
        assert code == 0
        assert "1 label changed" in out

    async def test_a_running_crawl_is_told_and_what_changed_is_counted_once(
        self, folder: Path, lycosa: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """All but one answer are taken back: what they changed in between does not count."""
        before = verdicts(folder)
        session = Session(folder, ["limits.pages=1000"])
        await session.start(paused=True)
        answered: list[dict[str, bool | None]] = []
        heard = session._run.label
        monkeypatch.setattr(session._run, "label", lambda given, how: answered.append(given) or heard(given, how))
        code, out, _ = await asyncio.to_thread(lycosa, "label", folder, "--count", "8", keys="nnnnnuuuuuyq")
        session.stop()
        await session.wait()
        assert code == 0
        assert len(answered) == 11
        first = asked(out)[0]
        assert answered[-1] == {first: True}
        changed = re.search(r"^1 label changed (\d+) verdict", out, re.MULTILINE)
        assert changed
        assert int(changed[1]) == sum(before[url] != said for url, said in verdicts(folder).items())


class TestFiles:
    @pytest.mark.parametrize("suffix", ["tsv", "jsonl"])
    def test_what_is_written_can_be_read(
        self, original: Path, folder: Path, lycosa: Any, tmp_path: Path, suffix: str
    ) -> None:
        lycosa("label", folder, "--count", "8", keys="ynynynyn")
        first, second = tmp_path / f"a.{suffix}", tmp_path / f"b.{suffix}"
        assert lycosa("label", folder, "--export", first)[1] == f"8 labels written to {first}\n"
        other = shutil.copytree(original, tmp_path / "other")
        code, out, _ = lycosa("label", other, "--import", first)
        assert code == 0
        assert "8 labels changed" in out
        assert ("estimated precision" in out) == (suffix == "jsonl")  # it knows which were drawn at random
        lycosa("label", other, "--export", second)
        assert sorted(facts(second)) == sorted(facts(first))

    @pytest.mark.parametrize(
        ("name", "text", "complaint"),
        [
            ("a.tsv", "http://a/\tyes\nhttp://b/\tperhaps\n", "a.tsv, line 2: expected a URL, a tab, and yes or no"),
            ("a.tsv", "mailto:x\tyes\n", "a.tsv, line 1: 'mailto:x' is not a web URL"),
            ("a.tsv", "http://a/\tyes\nhttp://a/\tno\n", "a.tsv, line 2: http://a/ was labelled differently before"),
            ("a.tsv", "# none\n", "a.tsv: no labels in it"),
            ("a.tsv", b"\xff\xfe", "a.tsv: not text in UTF-8"),
            ("a.jsonl", "[]\n", "a.jsonl, line 1: not a label: Expected `object`, got `array`"),
            ("a.jsonl", '{"url":"http://a/","on_topic":true,"chosen":"whim"}', "line 1: chosen is 'whim', not one of"),
            ("a.csv", "", "a.csv: the name must end in .tsv or .jsonl"),
            ("b.tsv", None, "b.tsv: cannot be read: No such file or directory"),
        ],
    )
    def test_bad_files(
        self, folder: Path, lycosa: Any, tmp_path: Path, name: str, text: str | bytes | None, complaint: str
    ) -> None:
        if text is not None:
            (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
        code, out, errors = lycosa("label", folder, "--import", tmp_path / name)
        assert (code, out) == (2, "")
        assert complaint in errors
        assert errors.count("\n") == 1


def facts(path: Path) -> list[str]:
    """All but when a label was stored."""
    return [re.sub(r'"at":[\d.e+]+', "", line) for line in path.read_text().splitlines()]


def test_no_answer_is_lost_to_a_crawl_that_is_about_to_end(folder: Path, lycosa: Any) -> None:
    held = ExitStack()
    held.enter_context(lock(folder))
    Timer(0.7, held.close).start()
    code, out, _ = lycosa("label", folder, "--count", "2", keys="yy")
    assert code == 0
    assert "2 labels changed" in out


def test_bad_input(folder: Path, lycosa: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(labelling, "PATIENCE_S", 0.3)
    code, _, errors = lycosa("label", folder, keys="x")
    assert (code, errors) == (2, "lycosa: label: 'x' is not an answer; write one of y n s u q in each line\n")
    code, _, errors = lycosa("label", tmp_path)
    assert (code, errors.count("\n")) == (2, 1)
    code, _, errors = lycosa("label", folder, "--import", "a.tsv", "--export", "b.tsv")
    assert (code, errors) == (2, "lycosa: label: --import and --export do not go together\n")
    with lock(folder):
        code, _, errors = lycosa("label", folder, keys="y")
    assert code == 2
    assert "another lycosa is running here" in errors
    (folder / "crawl.toml").write_text((folder / "crawl.toml").read_text().replace("planet", "comet"))
    code, _, errors = lycosa("label", folder, keys="y")
    assert code == 2
    assert "the topic has changed" in errors
    assert "the labels are stored" in errors


def test_pages_are_tried_as_the_crawl_would_judge_them(folder: Path, lycosa: Any, tmp_path: Path) -> None:
    """A judge that knows the labels judges a page of the same words otherwise than before."""
    (tmp_path / "page.html").write_text("<title>A</title><p>" + "astronomy planet quasar eclipse orbit " * 9)
    before = lycosa("topic", "try", folder, tmp_path / "page.html")[1]
    lycosa("label", folder, "--count", "8", keys="nnnnnnnn")
    after = lycosa("topic", "try", folder, tmp_path / "page.html")[1]
    assert "(labels)" not in before
    assert "(labels)" in after


def test_pages_of_an_earlier_version_must_be_judged_again_first(folder: Path, lycosa: Any) -> None:
    with sqlite3.connect(folder / "crawl.db") as db:
        db.execute("DELETE FROM notes WHERE key LIKE 'labels page %'")
    code, out, errors = lycosa("label", folder, "--count", "8", keys="yyynnnnn")
    assert code == 0
    assert "8 labels changed 0 verdicts" in out
    assert errors.endswith(f"until they are judged again: lycosa rejudge {folder}\n")
    assert lycosa("rejudge", folder)[0] == 0
    assert "labels change nothing" not in lycosa("label", folder, keys="y")[2]
