"""The OTIE experiment: four algorithms, settings, time, and what is concluded."""

from collections.abc import Sequence
from typing import Any

import pytest

from lycosa.lab.generated import GeneratedWeb
from lycosa.lab.reproduce import otie
from lycosa.lab.reproduce.effects import CANNOT, NOT_REPRODUCED, REPRODUCED, Effect
from lycosa.lab.reproduce.otie import (
    BREADTH,
    CONTEXT,
    OPIC,
    ORDER,
    OTIE,
    SETTINGS,
    Job,
    conclude,
    effects,
    plan,
    rounds,
    work,
)
from lycosa.lab.reproduce.report import page
from lycosa.lab.reproduce.testbed import Request

# as the document has it: OTIE best in recall, link-context early, both high in harvest rate
RECALL = {BREADTH: (0.0, 0.1), CONTEXT: (0.1, 0.22), OPIC: (0.0, 0.2), OTIE: (0.05, 0.4)}
HARVEST = {BREADTH: 0.1, CONTEXT: 0.41, OPIC: 0.11, OTIE: 0.4}
ROUNDS = {BREADTH: 90, CONTEXT: 286, OPIC: 103, OTIE: 100}


@pytest.fixture(autouse=True)
def few_examples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(otie, "POSITIVES", 12)
    monkeypatch.setattr(otie, "NEGATIVES", 24)


def curve(first: float, last: float, shift: float) -> list[float]:
    return [first + shift] * 20 + [last + shift] * 20


def outcome(number: int, swept: bool = True) -> dict[str, Any]:
    """Topics differ by a little, and not all by the same."""
    shift = number / 500
    found = {
        name: {
            "pages": 500,
            "recall": curve(*RECALL[name], shift + (number % 3) / 1000 * (name == OTIE)),
            "harvest": curve(0.5, HARVEST[name], shift - (number % 2) / 50 * (name == CONTEXT)),
            "rounds": ROUNDS[name] + number,
        }
        for name in ORDER
    }
    settings = {}
    for a, d in SETTINGS if swept else ():
        gain = a / 10 + number / 1000 * a
        settings[f"a = {a:g}, d = {d}"] = {"recall": curve(0, 0.5 - gain, 0), "harvest": curve(0, 0.2 + gain, 0)}
    return {"target": f"topic {number}", "algorithms": found, "settings": settings}


def outcomes(found: Sequence[Effect]) -> list[str]:
    return [effect.outcome for effect in found]


def test_one_job_a_topic_and_settings_on_three() -> None:
    jobs = plan(Request(pages=10))
    assert len(jobs) == otie.TARGETS
    assert [job.sweep for job in jobs] == [True] * 3 + [False] * (otie.TARGETS - 3)


def test_all_algorithms_on_one_topic(small: GeneratedWeb) -> None:
    job = Job(Request(), small, "astronomy", 40, True)
    found = work(job)
    assert list(found["algorithms"]) == list(ORDER)
    for figures in found["algorithms"].values():
        assert figures["pages"] == 40
        assert figures["recall"] == sorted(figures["recall"])
        assert all(0 <= value <= 1 for value in figures["recall"] + figures["harvest"])
        assert 2 <= figures["rounds"] <= 40
    assert len(found["settings"]) == len(SETTINGS)
    assert found["settings"]["a = 0.85, d = 3"] == found["algorithms"][OTIE]
    assert found == work(job)


def test_without_the_settings(small: GeneratedWeb) -> None:
    assert work(Job(Request(), small, "astronomy", 12, False))["settings"] == {}


def test_time_is_set_by_the_busiest_host_of_each_list() -> None:
    one = [f"http://a.example/{number}" for number in range(50)]
    many = [f"http://h{number}.example/" for number in range(50)]
    assert rounds(one) == 50
    assert rounds(many) == 2  # thirty threads for fifty URLs
    assert rounds(one + many) == 52
    assert rounds([]) == 0


def test_figures_like_the_documents_reproduce() -> None:
    found = effects([outcome(number) for number in range(6)])
    assert outcomes(found) == [REPRODUCED] * 10


def test_other_figures_do_not() -> None:
    rows = [outcome(number) for number in range(6)]
    for row in rows:
        algorithms = row["algorithms"]
        algorithms[OTIE], algorithms[BREADTH] = algorithms[BREADTH], algorithms[OTIE]
    found = outcomes(effects(rows))
    assert found[0] == found[3] == found[4] == NOT_REPRODUCED


def test_settings_on_one_topic_show_nothing() -> None:
    found = effects([outcome(0), outcome(1, swept=False), outcome(2, swept=False)])
    assert outcomes(found)[-3:] == [CANNOT] * 3


def test_on_one_host_time_shows_nothing() -> None:
    rows = [outcome(number) for number in range(3)]
    for row in rows:
        for figures in row["algorithms"].values():
            figures["rounds"] = 480
    assert outcomes(effects(rows))[6] == CANNOT


def test_the_report() -> None:
    report = conclude(Request(pages=500), [outcome(number) for number in range(4)])
    text = page(report)
    assert "| link-context | 4115.73 ± 156.13 |" in text
    assert "published 2.86, ours 2.83" in text
    assert "a = 1.5, d = 3" in text
    assert [picture.name for picture in report.pictures] == ["algorithms", "settings"]


def test_a_recorded_web(school: Any) -> None:
    request = school.request(pages=10, target=("astronomy", "cooking"))
    report = conclude(request, [work(job) for job in plan(request)])
    assert len(report.data["topics"]) == 2
    assert "pages of the label" in report.ours
