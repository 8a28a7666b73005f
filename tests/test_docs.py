"""Every command, topic, strategy and key is documented, links lead somewhere, and the examples can be read."""

import contextlib
import csv
import importlib.util
import os
import re
import socket
import subprocess
import sys
import tomllib
from pathlib import Path
from random import sample

import msgspec
import pytest

from lycosa import build, config
from lycosa.cli.template import TEMPLATE
from lycosa.judge import JUDGES
from lycosa.pages import read_pages
from lycosa.strategy import STRATEGIES

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = sorted(
    [
        *DOCS.rglob("*.md"),
        ROOT / "README.md",
        ROOT / "CONTRIBUTING.md",
        ROOT / "bench" / "README.md",
        *ROOT.glob("examples/**/README.md"),
    ]
)
EXAMPLES = sorted((ROOT / "examples").glob("*/crawl.toml"))


def test_the_command_line_page_is_what_help_says() -> None:
    spec = importlib.util.spec_from_file_location("command_line", ROOT / "scripts" / "command_line.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert (DOCS / "command-line.md").read_text() == module.page(), "run: python scripts/command_line.py"


def test_every_command_that_docs_and_console_name_exists() -> None:
    known = set(re.findall(r"^## lycosa (.+)$", (DOCS / "command-line.md").read_text(), re.MULTILINE))
    groups = {name.split()[0] for name in known if " " in name}
    templates = (ROOT / "src" / "lycosa" / "console" / "templates").glob("*.html")
    for path in [*PAGES, ROOT / "SECURITY.md", *templates]:
        for first, second in re.findall(r"(?:`|<code>)lycosa ([a-z]+)(?: ([a-z]+))?", path.read_text()):
            name = f"{first} {second}" if first in groups and second else first
            assert name in known, f"{path.name}: lycosa {name}"


@pytest.mark.parametrize("kind", JUDGES)
def test_every_kind_of_topic_has_a_page(kind: str) -> None:
    assert (DOCS / "topics" / f"{kind}.md").exists()
    assert f"({kind}.md)" in (DOCS / "topics" / "README.md").read_text()


@pytest.mark.parametrize("kind", STRATEGIES)
def test_every_strategy_has_a_page_that_names_its_keys(kind: str) -> None:
    text = (DOCS / "strategies" / f"{kind}.md").read_text()
    assert f"({kind}.md)" in (DOCS / "strategies" / "README.md").read_text()
    for name, field in STRATEGIES[kind].__dataclass_fields__.items():
        if field.init:
            assert f"`{name}`" in text, f"{kind}: {name} is not documented"


@pytest.mark.parametrize("section", ["scope", "fetch", "limits", "recall", "store"])
def test_every_key_of_crawl_toml_is_documented(section: str) -> None:
    text = (DOCS / "crawl-folder.md").read_text()
    for field in msgspec.structs.fields(config.Config):
        if field.name == section:
            for key in msgspec.structs.fields(field.type):
                assert f"`{key.name}`" in text, f"{section}.{key.name} is not documented"


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_between_pages_lead_somewhere(path: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", path.read_text()):
        if "://" not in target:
            assert (path.parent / target).exists(), f"{path.name}: {target}"


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.parent.name)
def test_examples_build_a_judge_and_a_strategy(path: Path) -> None:
    settings, source = config.load(path.parent)
    judge = build.make_judge(settings, source)
    assert hasattr(judge, "judge")
    if settings.strategy["kind"] != "rules":  # its rules are mined first
        build.make_strategy(settings, source, judge)


def test_the_template_names_real_keys_with_their_defaults() -> None:
    given = tomllib.loads(TEMPLATE)
    for section in ("scope", "fetch", "limits", "recall", "store"):
        defaults = msgspec.to_builtins(getattr(config.Config(), section))
        for key, value in given[section].items():
            if key != "user_agent":
                assert value == defaults[key], f"{section}.{key}"


def run_as_written(block: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """A block of shell commands, but for the installation, the port, and waits that last as long as needed."""
    lines = re.sub("^pip install .*\n", "", block.removeprefix("sh\n"), flags=re.MULTILINE)
    lines = lines.replace("--port 8000", "--port 0 > served").replace("<<'TOML'", "<<TOML").replace("8000", "$port")
    ready = "until port=$(grep -oE '[0-9]+' served); do kill -0 %1; sleep 0.1; done"  # it prints the port it chose
    # until it has a page: the only seed is on the host that the example excludes
    running = "for _ in $(seq 600); do grep -qs '\"pages\": *[1-9]' stars/summary.json && break; sleep 0.1; done"
    clean_up = "trap 'kill $(jobs -p) 2>/dev/null || true' EXIT\n"  # a failed line would leave the server behind
    lines = lines.replace("sleep 2", ready).replace("sleep 5", running)
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "-e", "-c", f"set -m\n{clean_up}{lines}"],
        cwd=folder,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
    )


@pytest.mark.xdist_group("processes")
def test_the_ten_lines_of_the_readme_run(tmp_path: Path) -> None:
    block = (ROOT / "README.md").read_text().partition("## Ten lines that run")[2].split("```")[1]
    done = run_as_written(block, tmp_path)
    assert done.returncode == 0, done.stderr
    assert "limit of 100 pages" in done.stdout
    assert "best pages" in done.stdout
    with (tmp_path / "stars.csv").open(newline="") as file:
        assert len(list(csv.DictReader(file))) > 20
    assert "<html" in (tmp_path / "stars" / "report.html").read_text()


@pytest.mark.xdist_group("processes")
def test_the_tutorial_runs_as_written(tmp_path: Path) -> None:
    blocks = (DOCS / "tutorial.md").read_text().split("```")[1::2]
    done = run_as_written("".join(block.removeprefix("sh\n") for block in blocks if block.startswith("sh\n")), tmp_path)
    assert done.returncode == 0, done.stderr
    for printed in ("on topic, relevance 0.562", "limit of 150 pages", "150 pages re-judged", "Fetched because"):
        assert printed in done.stdout
        assert any(printed in block for block in blocks), f"not in the tutorial: {printed}"
    focused, plain = (int(found) for found in re.findall(r"100 pages in .*?, (\d+) relevant", done.stdout))
    assert focused > 2 * plain
    assert "<svg" in (tmp_path / "stars" / "report.html").read_text()
    with (tmp_path / "stars.csv").open(newline="") as file:
        assert len(list(csv.DictReader(file))) > 40


def test_tests_that_the_guarantees_name_exist() -> None:
    named = re.findall(r"`(?:[\w/]+/)?(test_\w+\.py)(?:::(\w+))?`", (DOCS / "guarantees.md").read_text())
    assert len(named) > 30
    for file, test in named:
        sources = [path.read_text() for path in (ROOT / "tests").rglob(file)]
        assert sources, file
        assert any(test in source for source in sources), f"{file}::{test}"


@pytest.mark.xdist_group("processes")
def test_a_running_crawl_is_controlled_as_written(tmp_path: Path) -> None:
    shell, python = (DOCS / "session.md").read_text().split("```")[1:4:2]
    done = run_as_written(shell, tmp_path)
    assert done.returncode == 0, done.stderr
    for told in ("paused", "1 seed added", "sara0.localhost excluded", "running: paused", "resumed", "stopped."):
        assert told in done.stdout
    before = shell.partition("lycosa crawl")[0]
    code = python.removeprefix("python\n").replace("limits.pages=50", "limits.pages=5")
    (tmp_path / "more").mkdir()
    done = run_as_written(f"{before}python - <<PYTHON\n{code}PYTHON\nkill %1\n", tmp_path / "more")
    assert done.returncode == 0, done.stderr
    assert "URLs would be dropped" in done.stdout
    assert "ended limit of 5 pages" in done.stdout
    assert done.stdout.endswith("5 pages\n")


def free_port() -> int:
    """A port that stays free: the system gives those below 32,768 only to programs that name them."""
    for port in sample(range(20_000, 30_000), 100):
        with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port
    raise AssertionError("no free port")


@pytest.mark.xdist_group("processes")
def test_recall_is_estimated_as_written(tmp_path: Path) -> None:
    block = (DOCS / "recall.md").read_text().partition("## An example that runs")[2].split("```")[1]
    port = free_port()
    ready = f"until (: < /dev/tcp/127.0.0.1/{port}) 2>/dev/null; do kill -0 %1; sleep 0.1; done"
    done = run_as_written(block.replace("8000", str(port)).replace("sleep 2", ready), tmp_path)
    assert done.returncode == 0, done.stderr
    assert "ended: limit of 80 % recall" in done.stdout
    assert re.search(r"About \d+ % found: \d\d of 20 held-out pages", done.stdout)


def test_one_crawl_in_the_lab_runs_as_written(capsys: pytest.CaptureFixture[str]) -> None:
    block = (DOCS / "lab.md").read_text().partition("## One crawl")[2].split("```")[1]
    names: dict[str, object] = {}
    exec(block.removeprefix("python\n"), names)
    found = re.fullmatch(r"(\d+) of 100 pages are on topic\n", capsys.readouterr().out)
    assert found
    assert int(found[1]) > 10


def test_example_pages_can_be_read() -> None:
    pages = dict(read_pages(ROOT / "examples"))
    assert len(pages) > 30
    assert all(page.words for page in pages.values())
