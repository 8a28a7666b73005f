"""An experiment from request to files, one or all, the same each time."""

import json
from pathlib import Path
from typing import Any

import pytest

from lycosa.lab import reproduce as package
from lycosa.lab.reproduce import EXPERIMENTS, Experiment, reproduce, tids
from lycosa.lab.reproduce.report import CURVES, PAGE, RESULTS, TIMINGS
from lycosa.lab.reproduce.testbed import Request
from lycosa.types import BadInput


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch, smaller_webs: None) -> None:
    monkeypatch.setattr(tids, "TARGETS", 2)


def test_every_document_has_its_experiment() -> None:
    assert list(EXPERIMENTS) == ["rules", "tids", "publications", "otie", "ontology"]


def test_an_experiment_writes_its_report(tmp_path: Path) -> None:
    heard: list[tuple[int, int]] = []
    (report,) = reproduce("tids", Request(pages=12), tmp_path, watch=lambda done, total: heard.append((done, total)))
    assert heard == [(0, 2), (1, 2), (2, 2)]
    assert report.name == "tids"
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {PAGE, RESULTS, TIMINGS, CURVES, "scores.png", "scores.svg"}
    assert set(json.loads((tmp_path / TIMINGS).read_text())) == {"seconds", "cpu_seconds", "processes", "jobs"}


def test_the_same_twice_but_for_the_time(tmp_path: Path) -> None:
    for name in ("a", "b"):
        reproduce("tids", Request(pages=12), tmp_path / name)
    for name in (RESULTS, PAGE, "scores.png", "scores.svg"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    reproduce("tids", Request(pages=12, seed=1), tmp_path / "c")
    assert (tmp_path / "c" / RESULTS).read_bytes() != (tmp_path / "a" / RESULTS).read_bytes()


def test_in_the_field_hours_are_told(tmp_path: Path) -> None:
    reproduce("tids", Request(pages=12, field=True), tmp_path)
    text = (tmp_path / PAGE).read_text()
    assert "### Hours with politeness" in text
    assert "64 workers" in text
    hours = json.loads((tmp_path / RESULTS).read_text())["hours"]
    assert set(hours) == set(tids.CRAWLS)
    assert all(value > 0 for values in hours.values() for value in values)


@pytest.mark.parametrize("name", ["otie", "rules"])
def test_other_experiments_in_the_field(name: str, school: Any) -> None:
    experiment = EXPERIMENTS[name]
    job = experiment.plan(school.request(pages=10, target=("cooking", "medicine"), field=True))[0]
    assert '"hours":' in json.dumps(experiment.work(job))


def test_a_search_step_in_the_field() -> None:
    experiment = EXPERIMENTS["publications"]
    job = experiment.plan(Request(pages=10, field=True))[0]
    assert '"hours":' in json.dumps(experiment.work(job))


def test_all_of_them_with_a_page_over_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    few = {"tids": EXPERIMENTS["tids"]}
    monkeypatch.setattr(package, "EXPERIMENTS", few)
    reproduce("all", Request(pages=10), tmp_path)
    assert (tmp_path / "tids" / PAGE).exists()
    assert "[tids](tids/report.md)" in (tmp_path / PAGE).read_text()


def test_what_is_wrong_shows_before_anything_is_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(request: Request) -> list[Any]:
        raise BadInput("--map: is missing")

    done: list[Any] = []
    works = Experiment(lambda request: [1], lambda job: done.append(job) or {}, tids.conclude)  # type: ignore[func-returns-value]
    monkeypatch.setattr(package, "EXPERIMENTS", {"one": works, "two": works._replace(plan=refuse)})
    with pytest.raises(BadInput, match="--map"):
        reproduce("all", Request(), tmp_path)
    assert not done


def test_an_unknown_experiment(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"no experiment 'magic' \(there are: rules, tids"):
        reproduce("magic", Request(), tmp_path)
