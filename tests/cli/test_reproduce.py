"""`lycosa lab reproduce`: from options to files, and a clean end when it is stopped."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner, Result

from lycosa.cli import reproduce as command
from lycosa.cli.reproduce import reproduce
from lycosa.lab.reproduce import testbed, tids
from lycosa.lab.reproduce.testbed import Request
from lycosa.types import BadInput

SCRIPT = """
import sys, typer
from lycosa.cli.reproduce import reproduce
from lycosa.lab.reproduce import rules

def told(request, plan=rules.plan):
    jobs = plan(request)
    print("begun", flush=True)
    return jobs

if __name__ == "__main__":
    from lycosa.lab import reproduce as package
    package.EXPERIMENTS["rules"] = package.EXPERIMENTS["rules"]._replace(plan=told)
    app = typer.Typer()
    app.command()(reproduce)
    app()
"""


def run(*arguments: str) -> Result:
    app = typer.Typer()
    app.command()(reproduce)
    return CliRunner().invoke(app, arguments)


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    for module, name, value in ((testbed, "TOPICS", 4), (testbed, "HOSTS", 10), (testbed, "PAGES", 10)):
        monkeypatch.setattr(module, name, value)
    monkeypatch.setattr(tids, "TARGETS", 2)


def test_an_experiment_is_done_and_told(quick: None, tmp_path: Path) -> None:
    result = run("tids", "--pages", "10", "--out", str(tmp_path / "out"), "--jobs", "1")
    assert result.exit_code == 0, result.output
    assert "not reproduced" in result.output
    assert f"{tmp_path / 'out' / 'report.md'} written" in result.output
    assert (tmp_path / "out" / "results.json").exists()


def test_the_default_place(quick: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("tids", "--pages", "8", "--jobs", "1").exit_code == 0
    assert (tmp_path / "reproduce-tids" / "report.md").exists()


def test_all_options_arrive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[str, Any] = {}

    def do(name: str, request: Request, out: Path, processes: int, watch: Any) -> list[Any]:
        asked.update(name=name, request=request, out=out, processes=processes)
        watch(1, 2)
        return []

    monkeypatch.setattr(command, "do", do)
    options = ["--web", "w.warc", "--labels", "l.tsv", "--train", "a:b", "--train", "C:/x:y", "--target", "course"]
    options += ["--seeds", "http://a.example/", "--map", "m.xtm", "--focus", "toyota", "--pages", "9", "--seed", "4"]
    assert run("ontology", *options, "--out", str(tmp_path), "--jobs", "3").exit_code == 0
    assert asked["request"] == Request(
        seed=4,
        pages=9,
        web="w.warc",
        labels="l.tsv",
        train=(("a", "b"), ("C:/x", "y")),
        target=("course",),
        seeds=("http://a.example/",),
        topic_map="m.xtm",
        focus=("toyota",),
    )
    assert (asked["name"], asked["out"], asked["processes"]) == ("ontology", tmp_path, 3)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["rules", "--labels", "x.tsv"], "--labels: this option needs a recorded web: add --web WARC"),
        (["ontology", "--map", "x.xtm"], "--map: this option needs a recorded web"),
        (["rules", "--web", "w.warc", "--train", "nothing"], "--train nothing: write WEB:LABELS"),
        (["magic"], "no experiment 'magic'"),
        (["rules", "--web", "nowhere.warc", "--labels", "x.tsv"], "no such file"),
    ],
)
def test_bad_input_is_one_line(arguments: list[str], problem: str, tmp_path: Path) -> None:
    result = run(*arguments, "--out", str(tmp_path))
    assert isinstance(result.exception, BadInput)
    assert problem in str(result.exception)


def test_a_limit_below_one_is_refused() -> None:
    assert run("rules", "--pages", "0").exit_code == 2


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_stopped_by_the_user(jobs: str, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT, encoding="utf-8")
    out = tmp_path / "out"
    with subprocess.Popen(
        [sys.executable, str(script), "rules", "--out", str(out), "--jobs", jobs],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stdout
        assert process.stdout.readline() == "begun\n"
        os.killpg(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in errors
    assert "stopped" in errors
    assert not out.exists()
