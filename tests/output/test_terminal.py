"""Nothing from the web speaks to the terminal, whatever the command; files and pipes get data as it is."""

import io
import os
import pty
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rich.text import Text
from typer.main import get_command

from lycosa.cli import mount_the_rest
from lycosa.output import terminal
from lycosa.store.db import DONE, CrawlDb
from lycosa.store.visits import VisitStore
from lycosa.store.warc import WarcWriter
from lycosa.types import Exchange, Link, Page, Reply, Verdict, Visit

SOURCES = Path(__file__).parent.parent.parent / "src" / "lycosa"
EVIL = "e\x1b]52;c;ZXZpbA==\x07\x1b]0;evil\x07\x1b[2J\x1b[1A\x9b31m\x90q\x9c\x7f\x08\r"
EVIL += "\u202eevil\u2066\u200f\u2028[/x][link=x]"
URL = "http://e.example/"
FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2028\u2029\u2066-\u2069]")


@pytest.mark.parametrize("char", ["\x1b", "\x07", "\x9b", "\x7f", "\u202e", "\u2066", "\ufeff", "\udc80", "\r"])
def test_what_is_cleaned(char: str) -> None:
    assert terminal.clean(f"a{char}b") == terminal.printable(f"a{char}b") == "a b"


def test_what_stays() -> None:
    text = "Straße\tnaïve 漢字 اللغة 👩\u200d🚀\r\nnext"
    assert terminal.clean(text) == text.replace("\r", "")
    assert "\n" not in terminal.printable(text)


def test_a_console_takes_no_text_for_markup_and_keeps_its_own_styles(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    out = io.StringIO()
    console = terminal.console()
    console.file, console._force_terminal, console._color_system = out, True, 1
    console.print(Text(EVIL, style="bold"), EVIL)
    assert re.sub(r"\x1b\[\d*m", "", out.getvalue()).count("[/x][link=x]") == 2
    assert not FORBIDDEN.search(re.sub(r"\x1b\[[\d;]*m", "", out.getvalue()))


def test_there_is_no_other_way_to_the_terminal() -> None:
    for path in SOURCES.rglob("*.py"):
        if path.name != "terminal.py":
            assert not re.search(r"(?<!\.)\bConsole\(", path.read_text()), f"{path}: use output.terminal.console"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A crawl in which everything that can be hostile is."""
    folder = tmp_path_factory.mktemp("crawl")
    body = f"<title>{EVIL}</title><p>spider {EVIL} <a href=/x>{EVIL}</a>".encode(errors="replace")
    (folder / "crawl.toml").write_text(
        f'seeds = ["{URL}"]\nstrategy = {{ kind = "best-first" }}\n'
        '[topic]\nkind = "keywords"\nwords = ["spider \\u202e \\u009b"]\n'
    )
    exchange = Exchange(
        URL, b"GET / HTTP/1.1\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n", body, 1.0
    )
    db = CrawlDb(folder / "crawl.db").open()
    store = VisitStore(db, WarcWriter(folder / "warc"))
    store.open()
    for number, url in enumerate((URL, URL + EVIL), 1):
        db.execute("INSERT INTO urls VALUES (?, ?, 0, ?, 0, 1.0, ?, 1, 0)", (number, url, EVIL, DONE))
        reply = Reply(Link(url, "", EVIL), url, 200, EVIL, body, "", EVIL, exchanges=(exchange,))
        verdict = Verdict(0.5, True, EVIL, why={EVIL: 1.0})
        store.write(Visit(reply, Page(title=EVIL), verdict, 0.5, EVIL))
    db.execute("INSERT INTO hosts VALUES (?, 1.0, 1.0, 0, 40, ?)", (EVIL, EVIL))
    db.put("strategy", EVIL)
    db.put("ended", EVIL)
    db.put("refused", '{"\\u202e\\u009b": 3}')
    db.commit()
    store.close()
    db.close()
    for label in ("good", EVIL.replace("/", "")):
        (folder / "pages" / label).mkdir(parents=True)
        for number in range(6):
            (folder / "pages" / label / f"{number}.html").write_text(f"<p>{label[:4]} word{number} spider {label[:4]}")
    (folder / "examples.toml").write_text(
        f'seeds = ["{URL}"]\n[topic]\nkind = "examples"\nexamples = "pages"\ntarget = ["good"]\n'
    )
    http = exchange.head + body
    head = b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://e.example/%b\r\nContent-Length: %d\r\n\r\n"
    head %= EVIL.replace("\r", "").encode(errors="replace"), len(http)
    (folder / "web.warc").write_bytes(head + http + b"\r\n\r\n")
    (folder / "labels.tsv").write_text(f"{URL}\t{EVIL.replace(chr(13), '').replace(chr(0x2028), '')}\n")
    return folder


COMMANDS = {
    "show": "show {}",
    "show as json": "show {} --json",
    "why": f"why {{}} {URL}",
    "export": "export {}",
    "export as csv": "export {} --format csv",
    "check": "check {}",
    "again": "again {} {}/next",
    "crawl": "crawl {}",
    "topic show": "topic show {}",
    "topic show examples": "topic show {}/examples.toml",
    "topic test": "topic test {}/examples.toml --folds 2",
    "topic try": "topic try {} {}/web.warc",
    "topic try as json": "topic try {} {}/web.warc --json",
    "lab info": "lab info {}/warc/lycosa-00001.warc.gz --labels {}/labels.tsv",
    "lab record": "lab record {}",
    "repair": "repair {}",
    "new": "new {}",
    "topic train": "topic train {}/examples.toml",
    "topic rules": "topic rules {}/examples.toml",
    "lab compare": "lab compare --web {}/web.warc --labels {}/labels.tsv --target x --seeds {url} --topic {}",
    "lab serve": "lab serve {}/{name}",
    "lab reproduce": "lab reproduce {name}",
    "urls": "urls classify {}/{name} {url}{name}",
    "urls train": "urls train {}/labels.tsv --out {}/{name}",
    "urls test": "urls test {}/labels.tsv --folds 2",
    "topic export": "topic export {} {}/{name}",
    "find": "find {} spider",
    "label": "label {}",
    "report": "report {} --out {}/{name}",
    "rejudge": "rejudge {}",
    "add": "add {} {url}{name} mailto:{name}",
    "exclude": "exclude {} --pattern {name} --yes",
    "prefer": "prefer {} first {name}",
    "retry": "retry {} {url}{name} --kind {name}",
    "pause": "pause {}/{name}",
    "resume": "resume {}/{name}",
    "stop": "stop {}/{name}",
    "console": "console {}/{name} --host {name}",
    "bad option": f"show --{EVIL.replace(chr(0x2028), '').split(chr(13))[0]}",
}


# these print what was put into the crawl or the command line, so that there is something to clean
SHOWN = {*COMMANDS} - {
    "again", "topic show", "lab record", "new", "topic train", "topic rules", "lab compare", "urls train", "urls test",
    "topic export", "rejudge", "bad option",
}  # fmt: skip
CHANGES = ("repair", "rejudge", "add", "exclude", "prefer", "retry", "find", "label")


def on_a_terminal(term: str, *arguments: str) -> str:
    """What a command prints on a pseudo-terminal, standard error too."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "lycosa", *arguments],
        stdout=theirs,
        stderr=theirs,
        stdin=subprocess.DEVNULL,
        env=os.environ | {"TERM": term, "COLUMNS": "100"},
    )
    os.close(theirs)
    parts = []
    try:
        while part := os.read(ours, 65_536):
            parts.append(part)
    except OSError:  # Linux says so when the other side is closed
        pass
    os.close(ours)
    process.wait()
    return b"".join(parts).decode(errors="replace")


def test_every_command_is_among_them() -> None:
    def names(group: Any, before: str = "") -> Iterator[str]:
        for name, command in group.commands.items():
            yield from names(command, f"{before}{name} ") if hasattr(command, "commands") else [f"{before}{name} "]

    given = [f"{command} " for command in COMMANDS.values()]
    commands = [*names(get_command(mount_the_rest()))]
    assert len(commands) > 30
    assert not [name for name in commands if not any(command.startswith(name) for command in given)]


@pytest.mark.parametrize("named", COMMANDS)
def test_no_command_lets_it_through(named: str, folder: Path, tmp_path: Path) -> None:
    name, command = EVIL.replace("/", ""), COMMANDS[named]
    if command.split()[0] in CHANGES:  # the crawl that the other tests look at
        folder = Path(shutil.copytree(folder, tmp_path / "copy"))
    arguments = [
        part.replace("{}", str(folder)).replace("{url}", URL).replace("{name}", name) for part in command.split(" ")
    ]
    printed = on_a_terminal("dumb", *arguments).replace("\r\n", "\n")
    assert printed.strip()
    assert "evil" in printed or named not in SHOWN
    assert "Traceback" not in printed
    assert not FORBIDDEN.search(printed), repr(FORBIDDEN.findall(printed))
    assert "\r" not in printed


@pytest.mark.parametrize("command", ["show", "topic test"])
def test_styles_are_all_that_a_terminal_obeys(command: str, folder: Path) -> None:
    arguments = [part.replace("{}", str(folder)) for part in COMMANDS[command].split(" ")]
    printed = on_a_terminal("xterm-256color", *arguments).replace("\r\n", "\n")
    assert "\x1b[" in printed
    ours = re.compile(
        r"\x1b\[[\d;]*m|\x1b\[\?25[lh]|\r?\x1b\[2K|\x1b\[1A|\r"
    )  # styles, and what redraws a progress bar
    assert not FORBIDDEN.search(ours.sub("", printed))
    assert "\x1b[31m" not in printed.replace("evil", "")


def test_pipes_get_data_as_it_is(folder: Path) -> None:
    out = subprocess.run(
        [sys.executable, "-m", "lycosa", "export", str(folder)], capture_output=True, check=True
    ).stdout
    assert "\u202eevil\u2066" in out.decode()
