"""The demo tells which figure is which, and ends with a command that works."""

import io
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console

from lycosa.lab import demo


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An installation that is not on the path."""
    script = tmp_path / "env" / "bin" / "lycosa"
    script.parent.mkdir(parents=True)
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(script.with_name("python")))
    monkeypatch.setenv("PATH", "/nowhere")
    return script


class TestCommand:
    def test_from_the_folder_above_it(self, installed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(installed.parents[2])
        assert demo.command() == "env/bin/lycosa"

    def test_from_elsewhere(
        self, installed: Path, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
    ) -> None:
        monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
        assert demo.command() == str(installed)

    def test_on_the_path(self, installed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PATH", str(installed.parent))
        assert demo.command() == "lycosa"

    def test_another_one_on_the_path(self, installed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        other = installed.parents[2] / "other" / "lycosa"
        other.parent.mkdir()
        other.write_text("#!/bin/sh\n")
        other.chmod(0o755)
        monkeypatch.setenv("PATH", str(other.parent))
        monkeypatch.chdir(installed.parents[2])
        assert demo.command() == "env/bin/lycosa"

    def test_no_script(self, installed: Path) -> None:
        installed.unlink()
        assert demo.command() == f"{sys.executable} -m lycosa"


async def test_figures_and_hint(tmp_path: Path) -> None:
    told = io.StringIO()
    found = await demo.run_demo(tmp_path / "out", 30, Console(file=told, width=300))
    assert {len(one.truth) for one in found.values()} == {30}
    text = told.getvalue()
    assert '"judged relevant" is what the crawler knows' in text
    assert '"truly on topic" is known from how this web was generated' in text
    for one in found.values():
        assert f" {one.judged} " in text
        assert f" {sum(one.truth)} " in text
    assert (tmp_path / "out" / "harvest.png").stat().st_size > 1_000
    hint = shlex.split(text.partition("More: ")[2])
    done = subprocess.run(hint, capture_output=True, text=True, check=True)
    assert "30 pages" in done.stdout
