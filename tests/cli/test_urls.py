"""`lycosa urls` trains, tests and classifies."""

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from lycosa.cli.urls import app
from lycosa.types import BadInput

PUBS, HOME = "http://a.org/~ada/pubs.html", "http://a.org/~ada/"


def run(*arguments: str, text: str | None = None) -> Result:
    result = CliRunner().invoke(app, list(arguments), input=text)
    if isinstance(result.exception, BadInput):
        raise result.exception
    return result


@pytest.fixture
def labels(tmp_path: Path) -> str:
    path = tmp_path / "labels.tsv"
    lines = [f"http://a.org/courses/c{n}.html\tcourse [1]\nhttp://a.org/people/p{n}.html\tperson" for n in range(10)]
    path.write_text("\n".join(lines))
    return str(path)


def test_classify_with_what_is_built_in() -> None:
    result = run("classify", PUBS, HOME)
    assert result.exit_code == 0
    (first, chance, url), (second, *_) = (line.split("\t") for line in result.output.splitlines())
    assert (first, second, url) == ("publication", "homepage", PUBS)
    assert 0.5 < float(chance) <= 1


def test_classify_lines_of_the_input() -> None:
    result = run("classify", text=f"{PUBS}\n\n  a.org/~ada/  \n")
    assert [line.split("\t")[0] for line in result.output.splitlines()] == ["publication", "homepage"]


def test_train_then_use_the_model(tmp_path: Path, labels: str) -> None:
    out = str(tmp_path / "my.model")
    trained = run("train", labels, "--out", out)
    assert trained.exit_code == 0
    assert "2 classes" in trained.output
    assert run("classify", "--model", out, "http://a.org/courses/new.html").output.startswith("course [1]\t")
    tested = run("test", labels, "--model", out)
    assert "course [1]" in tested.output
    assert "1.000 of 20 URLs" in tested.output


def test_cross_validation_of_a_list(labels: str) -> None:
    assert "1.000 of 20 URLs" in run("test", labels, "--folds", "4").output


def test_cross_validation_of_the_built_in_list() -> None:
    result = run("test", "--folds", "3")
    assert result.exit_code == 0
    for name in ("publication", "homepage", "staff", "department", "other", "precision"):
        assert name in result.output


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["train", "none.tsv"], "none.tsv: cannot be read"),
        (["test", "--model", "none.model"], "none.model: cannot be read"),
        (["classify", "--model", "none.model", PUBS], "none.model: cannot be read"),
        (["classify", "no url"], "'no url' is not a web URL"),
    ],
)
def test_bad_input_is_one_line(arguments: list[str], problem: str) -> None:
    with pytest.raises(BadInput, match=problem):
        run(*arguments)


@pytest.mark.parametrize("command", ["train", "test", "classify"])
def test_every_command_has_help(command: str) -> None:
    result = run(command, "--help")
    assert result.exit_code == 0
    assert "Usage" in result.output
