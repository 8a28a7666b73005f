"""The rules experiment: its web, its lessons, one comparison, and what is concluded."""

from typing import Any

import pytest
from msgspec.structs import replace

from lycosa.lab.generated import GeneratedWeb
from lycosa.lab.reproduce import rules
from lycosa.lab.reproduce.effects import CANNOT, NOT_REPRODUCED, REPRODUCED
from lycosa.lab.reproduce.report import page
from lycosa.lab.reproduce.rules import (
    BASE,
    PUBLISHED,
    RULED,
    SHARES,
    Job,
    SoftFocus,
    conclude,
    effects,
    lessons,
    plan,
    ringed,
    work,
)
from lycosa.lab.reproduce.testbed import Request
from lycosa.types import BadInput

MATRIX = ((0.2, 0.6, 0.1, 0.1), (0.1, 0.2, 0.6, 0.1), (0.1, 0.1, 0.2, 0.6), (0.6, 0.1, 0.1, 0.2))


@pytest.fixture
def ring(small: GeneratedWeb, monkeypatch: pytest.MonkeyPatch) -> GeneratedWeb:
    """astronomy -> cooking -> medicine -> music -> astronomy."""
    monkeypatch.setattr(rules, "EXAMPLES", 8)
    monkeypatch.setattr(rules, "LINKED", 24)
    return replace(small, links=replace(small.links, matrix=MATRIX))


def row(target: str, run: str, base: float, ruled: float, **more: Any) -> dict[str, Any]:
    """An outcome as `work` makes it."""
    sides = {
        name: {
            "pages": 10,
            "harvest_ratio": value,
            "exclusive_harvest_ratio": value - 0.01,
            "true_harvest_rate": value,
            "curve": [value] * 10,
        }
        for name, value in ((BASE, base), (RULED, ruled))
    }
    return {"target": target, "run": run, "web": 0, "overlap": 0.1, **sides, **more}


def published_rows() -> list[dict[str, Any]]:
    return [row(topic, f"set {number}", base, ruled) for topic, number, base, ruled, *_ in PUBLISHED]


def test_every_class_leads_to_the_next_of_its_family() -> None:
    own, following = SHARES[0]
    web = ringed(0, own, following)
    for topic, weights in enumerate(web.links.matrix):
        assert sum(weights) == pytest.approx(1)
        assert weights[topic] == pytest.approx(own + 0.25 / 20)
        assert max(weights) == pytest.approx(following + 0.25 / 20)
    strongest = [weights.index(max(weights)) for weights in web.links.matrix]
    assert sorted(strongest) == list(range(20))  # each is led to by exactly one other
    assert web.links.matrix != ringed(1, own, following).links.matrix


def test_the_plan_is_the_documents() -> None:
    jobs = plan(Request(pages=10))
    main = [job for job in jobs if job.run.startswith("set")]
    assert len(main) == 12  # three targets, two sets of seeds, two webs
    assert {len(job.seeds) for job in main} == {10}
    first, second = main[0], main[1]
    assert first.target == second.target
    assert not set(first.seeds) & set(second.seeds)
    assert [len(job.seeds) for job in jobs if job.run == "50 seeds"] == [50] * 6
    assert {job.run for job in jobs} == {"set 1", "set 2", "50 seeds", "30% own, 30% next", "45% own, 15% next"}
    assert jobs == plan(Request(pages=10))


def test_rules_are_learned_from_another_web(ring: GeneratedWeb) -> None:
    classifier, base = lessons(Request(), ring)
    assert classifier.labels == ["astronomy", "cooking", "medicine", "music"]
    found = base.rules()
    assert {round(sum(row.values()), 6) for row in found.values()} == {1.0}
    names = ring.text.topics

    def led(step: int) -> float:
        """How often classes lead to the one so many steps ahead in the ring, by the rules."""
        return sum(found[name].get(names[(place + step) % 4], 0.0) for place, name in enumerate(names)) / 4

    assert led(1) > max(led(2), led(3))


def test_one_comparison(ring: GeneratedWeb) -> None:
    seeds = tuple(ring.seeds(80, 4, "music"))
    job = Job(Request(), ring, "music", seeds, 60, "set 1")
    found = work(job)
    assert found[BASE]["pages"] == found[RULED]["pages"] == 60
    assert 0 < found["overlap"] < 1
    for name in (BASE, RULED):
        assert found[name]["curve"][-1] == pytest.approx(found[name]["harvest_ratio"])
        assert 0 < found[name]["true_harvest_rate"] < 1
    assert found == work(job)


def test_of_a_url_found_again_the_first_score_stays() -> None:
    assert SoftFocus().merge(0.2, 0.9) == 0.2


def test_the_published_figures_reproduce_themselves() -> None:
    more = [row("Open source", "50 seeds", 0.5, 0.58), row("Computer history", "50 seeds", 0.3, 0.39)]
    found = effects(published_rows(), more)
    assert [effect.outcome for effect in found[:4]] == [REPRODUCED] * 4
    assert found[0].measured.startswith("harvest ratio: rules 0.422, soft focus 0.363")


def test_figures_the_other_way_round_do_not() -> None:
    swapped = [row(topic, f"set {number}", ruled, base) for topic, number, base, ruled, *_ in PUBLISHED]
    found = effects(swapped, [])
    assert [effect.outcome for effect in found] == [NOT_REPRODUCED, REPRODUCED, NOT_REPRODUCED, CANNOT]


def test_the_report_has_both_tables() -> None:
    others = [row("a", "30% own, 30% next", 0.3, 0.2), row("b", "30% own, 30% next", 0.3, 0.25)]
    report = conclude(Request(), [*published_rows(), *others])
    text = page(report)
    assert "| Computer history | 1 | 0.29 | 0.40 | +38% | 27% | 0.26 | 0.39 | +50% |" in text
    assert "### Ours" in text
    assert "30% own, 30% next" in text
    assert [picture.name for picture in report.pictures] == ["harvest"]


def test_a_recorded_web(school: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    request = school.request(pages=12, target=("cooking", "medicine"))
    jobs = plan(request)
    assert [(job.target, job.run) for job in jobs] == [
        ("cooking", "set 1"),
        ("cooking", "set 2"),
        ("medicine", "set 1"),
        ("medicine", "set 2"),
    ]
    report = conclude(request, [work(job) for job in jobs])
    assert f"recorded web `{school.web}`" in report.ours
    assert report.effects[-1].outcome == CANNOT


def test_too_few_pages_for_seeds(school: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BadInput, match="too few to sample two sets"):
        plan(school.request(target=("other",)))
