"""A comparison from a program gives what the command line's gives."""

from pathlib import Path

import pytest

import lycosa
from lycosa.types import BadInput

WEB = "generated:pages=200,hosts=4,seed=1"


async def test_strategies_are_compared_in_a_running_loop(tmp_path: Path) -> None:
    found = lycosa.compare(WEB, ["best-first"], tmp_path / "out", target=["astronomy"], pages=30, oracle=False)
    assert [run.strategy for run in found.runs] == ["breadth-first", "random", "best-first"]
    frame = found.to_pandas()
    assert len(frame) == len(found.rows()) == 3
    assert {"task", "strategy", "area", "harvest_rate", "recall_100", "pages"} <= set(frame.columns)
    assert (tmp_path / "out" / "results.json").exists()
    again = lycosa.compare(WEB, ["best-first"], target=["astronomy"], pages=30, oracle=False)
    assert again.rows() == found.rows()


def test_tasks_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "tasks.toml").write_text(
        f'oracle = false\npages = 30\nstrategies = ["best-first"]\n[[task]]\nname = "stars"\nweb = "{WEB}"\n'
        'target = ["astronomy"]\n'
    )
    found = lycosa.compare(tmp_path / "tasks.toml", pages=20)
    assert {run.task for run in found.runs} == {"stars"}
    assert {run.pages for run in found.runs} == {20}


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"target": ["astronomy"], "colour": 1}, "unknown field `colour`"),
        ({}, "specify the targets"),
        ({"target": ["astronomy"], "pages": -1}, "pages"),
    ],
)
def test_what_cannot_be_compared_is_said(options: dict[str, object], problem: str) -> None:
    with pytest.raises(BadInput, match=problem):
        lycosa.compare(WEB, **options)  # type: ignore[arg-type]
