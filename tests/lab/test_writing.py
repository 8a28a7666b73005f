"""What cannot be written is one line, whoever wanted to write."""

import errno
import os
import resource
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from lycosa.cli.lab import app
from lycosa.lab.reproduce import reproduce
from lycosa.lab.reproduce.testbed import Request
from lycosa.lab.writing import check_folder, make_folder, writing
from lycosa.types import BadInput

PLAN = """
strategies = ["best-first"]
pages = 8
[[task]]
name = "small"
web = "generated:pages=120,hosts=8,seed=3,size_bytes=400-900,count=4-9"
target = ["law"]
"""


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    path = tmp_path / "plan.toml"
    path.write_text(PLAN)
    return path


@pytest.fixture
def short_files() -> Iterator[None]:
    """No file may have more than half a kilobyte, as if the disk were full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    usual = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (512, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)
    signal.signal(signal.SIGXFSZ, usual)


def refused(*arguments: str | Path) -> str:
    got = CliRunner().invoke(app, list(map(str, arguments)))
    assert isinstance(got.exception, BadInput), got.exception
    assert "\n" not in str(got.exception)
    return str(got.exception)


def test_the_file_that_failed_is_named() -> None:
    with pytest.raises(BadInput, match=r"^there/file: cannot be written: No space left on device$"), writing(Path("x")):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "there/file")


def test_else_the_path_that_was_meant() -> None:
    with pytest.raises(BadInput, match=r"^x: cannot be written: encoder error -2$"), writing(Path("x")):
        raise OSError("encoder error -2")


def test_other_mistakes_are_not_hidden() -> None:
    with pytest.raises(ZeroDivisionError), writing(Path("x")):
        _ = 1 / 0


def test_a_folder_where_a_file_is(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    make_folder(tmp_path / "a" / "b")
    make_folder(tmp_path / "a" / "b")
    for place in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(BadInput, match="cannot be written"):
            make_folder(place)
        with pytest.raises(BadInput, match=r"cannot be written: .*file is not a folder"):
            check_folder(place)


def test_a_check_leaves_nothing_behind(tmp_path: Path) -> None:
    check_folder(tmp_path / "new" / "below")
    assert not (tmp_path / "new").exists()


def test_a_folder_of_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # whoever runs the tests may own all folders
    with pytest.raises(BadInput, match="no permission to write to"):
        check_folder(tmp_path / "new")


@pytest.mark.parametrize("name", ["runs", "tasks"])
def test_a_comparison_whose_folders_are_files(name: str, plan: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / name).touch()
    assert f"out/{name}: cannot be written: File exists" in refused("compare", plan, "--out", tmp_path / "out")


@pytest.mark.parametrize("name", ["results.json", "table.md", "recall.png", "harvest.svg"])
def test_a_comparison_whose_files_are_folders(name: str, plan: Path, tmp_path: Path) -> None:
    (tmp_path / "out" / name).mkdir(parents=True)
    told = refused("compare", plan, "--out", tmp_path / "out")
    assert f"out/{name}: cannot be written: Is a directory" in told


def test_a_comparison_in_a_place_that_is_a_file(plan: Path) -> None:
    assert "cannot be written: Not a directory" in refused("compare", plan, "--out", plan)


def test_a_comparison_on_a_full_disk(plan: Path, tmp_path: Path, short_files: None) -> None:
    assert "cannot be written: File too large" in refused("compare", plan, "--out", tmp_path / "out")


def test_examples_on_a_full_disk(plan: Path, tmp_path: Path, short_files: None) -> None:
    """The pages that are given away as examples are written before anything is crawled."""
    plan.write_bytes(f"{PLAN}examples_from_targets = 3\n".encode()[:512])
    told = refused("compare", plan, "--out", tmp_path / "out")
    assert "out/topics/" in told
    assert "cannot be written: File too large" in told


def test_a_model_that_does_not_exist(plan: Path, tmp_path: Path) -> None:
    told = refused("compare", plan, "--model", "oracle", "--out", tmp_path / "out")
    assert told == "--model oracle: there are nb, svm, logistic, mlp, vote"


def test_an_experiment_says_so_before_it_starts(plan: Path) -> None:
    done: list[int] = []
    with pytest.raises(BadInput, match="is not a folder"):
        reproduce("rules", Request(pages=20), plan / "below", watch=lambda count, total: done.append(count))
    assert done == []
