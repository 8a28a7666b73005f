"""A damaged crawl.db is one line on the standard error, whatever the command. Damage by seed number."""

import io
import json
import random
import resource
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing, redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

from lycosa import cli
from lycosa.parse import content_digest
from lycosa.session import run_folder
from lycosa.store.db import DONE, CrawlDb
from lycosa.store.visits import VisitStore
from lycosa.store.warc import WarcWriter
from lycosa.types import BadInput, Exchange, Link, Page, Reply, Verdict, Visit

URL = "http://e.invalid/%d"
COMMANDS = (("show",), ("show", "--json"), ("why", URL % 20), ("export",), ("check",), ("repair",), ("crawl",))


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A crawl whose URLs are all done, so that nothing is fetched when it goes on."""
    folder = tmp_path_factory.mktemp("crawled")
    (folder / "crawl.toml").write_text(
        f"seeds = ['{URL % 1}']\nstrategy = {{ kind = 'best-first' }}\n"
        "topic = { kind = 'keywords', words = ['spider'] }\n"
    )
    db = CrawlDb(folder / "crawl.db").open()
    store = VisitStore(db, WarcWriter(folder / "warc"))
    store.open()
    for number in range(1, 41):
        url, body = URL % number, b"<title>spider %d</title>" % number + b"<p>spider " * number
        db.execute("INSERT INTO urls VALUES (?, ?, ?, 'anchor', 1, 0.5, ?, 1, 0)", (number, url, number // 2, DONE))
        exchange = Exchange(url, b"GET / HTTP/1.1\r\n\r\n", b"HTTP/1.1 200 OK\r\n\r\n", body, 1.0)
        reply = Reply(Link(url, URL % (number // 2)), url, 200, "text/html", body, exchanges=(exchange,))
        verdict = Verdict(0.5, True, why={"spider": 1.0})
        store.write(Visit(reply, Page(title="spider"), verdict, 0.5, content_digest(body)))
    db.execute("INSERT INTO hosts VALUES ('e.invalid', 1.0, 1.0, 0, 40, '')")
    db.put("strategy", "best-first")
    db.put("outlook", '{"waiting": 0, "next_due": null}')
    db.commit()
    store.close()
    db.close()
    with closing(sqlite3.connect(folder / "crawl.db")) as raw:  # or its files vanish while they are copied
        raw.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return folder


def damage(data: bytes, seed: int) -> bytes:
    chance, broken = random.Random(seed), bytearray(data)
    match seed % 5:
        case 0:
            for _ in range(chance.randint(1, 500)):
                broken[chance.randrange(len(broken))] = chance.randrange(256)
        case 1:
            for _ in range(chance.randint(1, 20)):
                broken[chance.randrange(len(broken))] ^= 1 << chance.randrange(8)
        case 2:
            start = chance.randrange(len(broken))
            broken[start : start + 8192] = bytes(len(broken[start : start + 8192]))
        case 3:
            del broken[chance.randrange(len(broken)) :]
        case 4:
            for _ in range(60):
                at = chance.randrange(len(broken) - 5)
                broken[at : at + 5] = chance.choice([b"\xff\xfe\x80\x81\x00", b'{}[]"', b"12345", b"     "])
    return bytes(broken)


def lycosa(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> tuple[int, str]:
    """Exit code and standard error of a command, in this process: hundreds of new ones would take minutes."""
    monkeypatch.setattr(sys, "argv", ["lycosa", *arguments])
    out, errors = io.TextIOWrapper(io.BytesIO()), io.StringIO()
    with redirect_stdout(out), redirect_stderr(errors), pytest.raises(SystemExit) as ended:
        cli.main()
    code = ended.value.code
    return code if isinstance(code, int) else 0, errors.getvalue()


@pytest.mark.parametrize("seed", range(25))
def test_damage_is_one_line(seed: int, crawled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "crawl"
    shutil.copytree(crawled, folder)
    data = (folder / "crawl.db").read_bytes()
    for command, *more in COMMANDS:
        for left in folder.glob("crawl.db*"):
            left.unlink()
        (folder / "crawl.db").write_bytes(damage(data, seed))
        code, errors = lycosa(monkeypatch, command, str(folder), *more)
        assert code in ((0, 1, 2) if command == "check" else (0, 2)), errors
        assert "Traceback" not in errors
        if code == 2:
            assert len(errors.splitlines()) == 1


def test_a_malformed_database_is_not_called_a_full_disk(crawled: Path, tmp_path: Path) -> None:
    shutil.copytree(crawled, tmp_path / "crawl")
    with sqlite3.connect(tmp_path / "crawl" / "crawl.db") as db:
        [(page,)] = db.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'visits'")
    with (tmp_path / "crawl" / "crawl.db").open("r+b") as file:
        file.seek((page - 1) * 8192)
        file.write(b"\xff" * 8192)
    with pytest.raises(BadInput, match=r"crawl.db: is damaged \(database disk image is malformed\)"):
        run_folder(tmp_path / "crawl", [], [], lambda _: None)


def test_too_little_memory_is_one_line(crawled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def too_much(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr("lycosa.cli.folder.read_report", too_much)
    assert lycosa(monkeypatch, "show", str(crawled)) == (2, "lycosa: not enough memory\n")


@pytest.mark.parametrize("megabytes", [60, 110, 180, 250, 500])
@pytest.mark.parametrize("command", ["show", "crawl"])
def test_too_little_memory_to_start_is_one_line(command: str, megabytes: int, crawled: Path) -> None:
    """While they are loaded or start threads, libraries would crash or hang: a crawl did with 200 MB."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))

    ended = subprocess.run(
        [sys.executable, "-m", "lycosa", command, str(crawled)],
        capture_output=True,
        text=True,
        preexec_fn=limit,
        timeout=60,
    )
    assert ended.returncode == 2
    assert ended.stderr == (
        f"lycosa: not enough memory: the limit is {megabytes} MB (ulimit -v), and 512 MB are needed to start\n"
    )


def test_with_little_memory_threads_do_not_reserve_what_they_hardly_use() -> None:
    """Otherwise two dozen of them take more than a gigabyte of address space."""
    code = (
        "import threading; from lycosa.__main__ import _spare_memory; _spare_memory()\n"
        "barrier = threading.Barrier(24, timeout=20)\n"
        "def work(): kept = bytes(100_000), barrier.wait()\n"
        "threads = [threading.Thread(target=work) for _ in range(24)]\n"
        "for each in threads: each.start()\n"
        "for each in threads: each.join()\n"
        "print('fine')"
    )

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (540 << 20, 540 << 20))

    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, preexec_fn=limit, timeout=60)
    assert ended.stdout == "fine\n", ended.stderr


def test_a_file_that_cannot_be_used_is_no_bug(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise PermissionError(13, "Permission denied", "/a/file")

    monkeypatch.setattr("lycosa.config.load", broken)
    assert lycosa(monkeypatch, "topic", "show", "nowhere.toml") == (2, "lycosa: /a/file: Permission denied\n")


def test_a_bug_names_our_own_module(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not that of the library in which it showed."""
    monkeypatch.setattr("lycosa.config.load", lambda *_: json.loads("}"))
    code, said = lycosa(monkeypatch, "topic", "show", "nowhere.toml")
    assert code == 70
    assert ", in lycosa." in said


def test_a_traceback_can_be_asked_for(crawled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise KeyError("x")

    monkeypatch.setattr("lycosa.cli.folder.read_report", broken)
    assert "seems damaged, or this is a bug" in lycosa(monkeypatch, "show", str(crawled))[1]
    monkeypatch.setattr("lycosa.config.load", broken)
    code, said = lycosa(monkeypatch, "topic", "show", "nowhere.toml")
    assert code == 70
    assert said.startswith("lycosa: a bug, please report it: KeyError: 'x', in ")
    assert said.count("\n") == 1
    monkeypatch.setenv("LYCOSA_TRACEBACK", "1")
    monkeypatch.setattr(sys, "argv", ["lycosa", "show", str(crawled)])
    with pytest.raises(KeyError):
        cli.main()
