"""The package in examples/plugin/: installed without a network, found by the command line, and run end to end."""

import os
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from lycosa.lab.generated import GeneratedWeb
from lycosa.lab.serve import Server
from lycosa.plugins import KINDS

Install = Callable[[str, str, dict[str, dict[str, str]]], Path]
Serve = Callable[[Server], AbstractContextManager[Server]]
PLUGIN = Path(__file__).parent.parent / "examples" / "plugin"
WEB = GeneratedWeb(pages=200, hosts=4, seed=1)
CRAWL = """
seeds = {seeds}
[topic]
kind = "mentions"
word = "galaxy"
times = 2
[strategy]
kind = "shallow-first"
[fetch]
delay_s = 0.0
allow_private = true
[limits]
pages = 40
"""


@pytest.fixture
def site(install: Install) -> Path:
    """Where the package is installed: its module, and the entry points that its pyproject.toml names."""
    project = tomllib.loads((PLUGIN / "pyproject.toml").read_text())["project"]
    groups = project["entry-points"]
    assert set(groups) <= {kind.group for kind in KINDS}
    return install(project["name"].replace("-", "_"), (PLUGIN / "lycosa_example_plugin.py").read_text(), groups)


@pytest.fixture
def port(serve: Serve) -> Iterator[int]:
    with serve(Server(WEB)) as server:
        yield server.port


def run(site: Path, *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", *command],
        env={**os.environ, "PYTHONPATH": str(site)},
        capture_output=True,
        text=True,
    )


def test_it_crawls_and_is_explained(site: Path, port: int, tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    folder.mkdir()
    seeds = WEB.seeds(port, 2)
    (folder / "crawl.toml").write_text(CRAWL.format(seeds=str(seeds).replace("'", '"')))
    done = run(site, "lycosa", "crawl", str(folder))
    assert done.returncode == 0, done.stderr
    assert "limit of 40 pages" in done.stdout
    shown = run(site, "lycosa", "show", str(folder))
    assert "shallow-first" in shown.stdout
    why = run(site, "lycosa", "why", str(folder), seeds[0])
    assert why.returncode == 0, why.stderr
    assert "galaxy" in run(site, "lycosa", "topic", "try", str(folder), str(_page(tmp_path))).stdout
    again = run(site, "lycosa", "rejudge", str(folder))
    assert again.returncode == 0, again.stderr


def _page(folder: Path) -> Path:
    page = folder / "page.html"
    page.write_text("<p>A galaxy, and a galaxy.")
    return page


def test_the_lab_knows_its_strategy(site: Path, tmp_path: Path) -> None:
    web = "generated:pages=200,hosts=4,seed=1"
    options = ["--target", "astronomy", "--pages", "20", "--no-oracle", "--out", str(tmp_path / "out")]
    done = run(site, "lycosa", "lab", "compare", "--web", web, "--strategies", "shallow-first", *options)
    assert done.returncode == 0, done.stderr
    assert "shallow-first" in (tmp_path / "out" / "table.md").read_text()


def test_its_own_tests_pass(site: Path) -> None:
    done = run(site, "pytest", "-q", "-c", os.devnull, "-p", "no:cacheprovider", str(PLUGIN))
    assert done.returncode == 0, done.stdout
    assert "2 passed" in done.stdout


def test_without_it_the_kinds_are_unknown(tmp_path: Path) -> None:
    (tmp_path / "crawl.toml").write_text(CRAWL.format(seeds="[]").replace("mentions", "no-such-judge"))
    done = run(tmp_path, "lycosa", "crawl", str(tmp_path))
    assert done.returncode == 2
    assert "topic.kind: there is no kind 'no-such-judge'" in done.stderr
