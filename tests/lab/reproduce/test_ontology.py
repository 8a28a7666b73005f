"""The ontology experiment: maps, crawls, and what is concluded."""

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from lycosa import ontology as concepts
from lycosa.judge.ontology import Ontology, read_idf
from lycosa.lab.generated import GeneratedWeb
from lycosa.lab.reproduce import ontology
from lycosa.lab.reproduce.effects import NOT_REPRODUCED, REPRODUCED
from lycosa.lab.reproduce.ontology import FOCUSED, LIMITS, STRAY, UNFOCUSED, Job, Watched, count_concepts, plan, work
from lycosa.lab.reproduce.ontology_findings import conclude, effects
from lycosa.lab.reproduce.report import page
from lycosa.lab.reproduce.subject import made, subject
from lycosa.lab.reproduce.testbed import Generated, Request
from lycosa.types import BadInput, Link, Page, Reply, Visit

RATES = {
    f"{FOCUSED} 0.01": (0.6, 0.58, 0.62),
    f"{FOCUSED} 0.02": (0.55, 0.5, 0.56),
    f"{UNFOCUSED} 0.01": (0.3, 0.5, 0.2),
    f"{UNFOCUSED} 0.02": (0.15, 0.3, 0.1),
    f"{STRAY} 0.01": (0.1, 0.09, 0.11),
    f"{STRAY} 0.02": (0.08, 0.05, 0.1),
    "without analysis 0.02": (0.5, 0.5, 0.5),
    "own unfocused 0.02": (0.3, 0.3, 0.3),
}


def outcome(number: int, sign: int = 1) -> dict[str, Any]:
    """As the thesis has it; with another sign, the contrary."""
    shift = number / 200
    rates = {}
    for place, (name, values) in enumerate(RATES.items()):
        whole, first, last = (0.4 + sign * (value - 0.4) + shift + number * place / 5000 for value in values)
        rates[name] = {
            "pages": 10,
            "harvest": whole,
            "first_quarter": first,
            "last_quarter": last,
            "true_harvest": whole,
            "curve": [whole] * 10,
        }
    return {
        "target": f"topic {number}",
        "draw": 0,
        "rates": rates,
        "robustness": {"pages": 9, "overlap": 0.5 + shift, "by_chance": 0.5 + shift - sign * (0.2 + shift)},
        "own_frequencies": {"pages": 5, "focused": 0.1 - shift, "unfocused": 0.1 - shift + sign * (0.05 + shift)},
        "distance": {f"{FOCUSED} 0.02": 2.5, UNFOCUSED: 2.0},
    }


def test_a_map_of_a_topic(tmp_path: Path) -> None:
    name, focus = subject(Request(), "music", tmp_path)
    found = concepts.read(tmp_path / name)
    assert focus == ["music"]
    assert len(found) == len(made("music")) == 40
    judge = Ontology(name, focus=focus)
    judge.prepare(tmp_path, lambda _: [])
    weights = sorted(judge.weights_.values())
    assert weights.count(1.0) == 1
    assert weights.count(0.8) == weights.count(0.5) == 12
    assert weights.count(0.1) == 15


def test_the_users_map_is_taken(tmp_path: Path) -> None:
    given = tmp_path / "mine.xtm"
    folder = tmp_path / "folder"
    folder.mkdir()
    subject(Request(), "law", tmp_path)
    (tmp_path / "map.xtm").rename(given)
    name, focus = subject(Request(topic_map=str(given), focus=("court", "judge")), "music", folder)
    assert (folder / name).read_text() == given.read_text()
    assert focus == ["court", "judge"]


def test_frequencies_are_counted_on_other_pages(small: GeneratedWeb, tmp_path: Path) -> None:
    name, _ = subject(Request(), "music", tmp_path)
    count_concepts(Generated(small), name, tmp_path)
    pages, counts = read_idf(tmp_path / "idf.tsv")
    assert pages == 4 * ontology.SAMPLE
    assert 0 < max(counts.values()) <= pages


def test_link_analysis_can_be_left_out() -> None:
    visit = Visit(Reply(Link("http://a.example/")), Page(url="x", links=[Link("http://b.example/")]))
    for analyses in (True, False):
        strategy = Watched(analyses=analyses)
        strategy.learn(visit)
        strategy.connect(SimpleNamespace(graph=lambda: None))
        assert (strategy.effects().job is not None) is analyses
        assert strategy.links_ == {"http://a.example/": ["http://b.example/"]}


def test_one_job_a_topic() -> None:
    jobs = plan(Request(pages=5))
    assert len(jobs) == 6
    assert {job.draw for job in jobs} == {0}


def test_all_crawls_of_a_topic(small: GeneratedWeb) -> None:
    job = Job(Request(), small, "medicine", 0, 30)
    found = work(job)
    runs = [f"{run} {limit}" for run in (FOCUSED, UNFOCUSED, STRAY) for limit in LIMITS]
    assert set(runs) <= set(found["rates"])
    for run, rate in found["rates"].items():
        assert rate["pages"] <= 30, run
        assert 0 <= rate["harvest"] <= 1
        assert rate["curve"][-1] == pytest.approx(rate["harvest"])
    for run in (UNFOCUSED, STRAY):
        assert found["rates"][f"{run} 0.01"]["harvest"] >= found["rates"][f"{run} 0.02"]["harvest"]
    assert 0 <= found["robustness"]["by_chance"] <= 1
    assert found["distance"][UNFOCUSED] >= 0
    assert found == work(job)


def test_figures_like_the_thesis_reproduce() -> None:
    found = effects([outcome(number) for number in range(4)])
    assert [effect.outcome for effect in found] == [REPRODUCED] * 9


def test_the_contrary_does_not() -> None:
    found = effects([outcome(number, sign=-1) for number in range(4)])
    assert {effect.outcome for effect in found} == {NOT_REPRODUCED}


def test_the_report() -> None:
    text = page(conclude(Request(pages=10), [outcome(number) for number in range(3)]))
    assert "10,322 of 20,761 = .497" in text
    assert "| focused | 0.01 | ≈ .60, slight rise | 0.605 ±" in text
    assert "clicks from the seeds to the 100 best pages" in text


def test_a_recorded_web_needs_a_map(school: Any) -> None:
    with pytest.raises(BadInput, match="--map"):
        plan(school.request(target=("cooking",)))


@pytest.mark.parametrize(
    ("text", "focus", "problem"),
    [
        ("", (), r"--map .*own\.xtm: no such file"),
        ("<topicMap", (), r"--map .*own\.xtm: own\.xtm:1: "),
        ("good", ("toyota",), r"--focus toyota: no topic 'toyota' in own\.xtm"),
    ],
)
def test_a_map_of_no_use_is_named_before_anything_is_crawled(
    school: Any, tmp_path: Path, text: str, focus: tuple[str, ...], problem: str
) -> None:
    given = tmp_path / "own.xtm"
    if text == "good":
        subject(Request(), "cooking", tmp_path)
        (tmp_path / "map.xtm").rename(given)
    elif text:
        given.write_text(text)
    with pytest.raises(BadInput, match=problem):
        plan(school.request(target=("cooking",), topic_map=str(given), focus=focus))


def test_a_recorded_web(school: Any, tmp_path: Path) -> None:
    subject(Request(), "cooking", tmp_path)
    request = school.request(
        pages=10, target=("cooking",), topic_map=str(tmp_path / "map.xtm"), focus=("cooking",), seed=2
    )
    jobs = plan(request)
    assert [job.draw for job in jobs] == list(range(ontology.DRAWS))
    report = conclude(request, [work(job) for job in jobs[:2]])
    assert "with the map" in report.ours
    assert asyncio.run(Ontology("x").judge(Page())).on_topic is False


def test_too_few_pages_for_seeds(school: Any, tmp_path: Path) -> None:
    subject(Request(), "cooking", tmp_path)
    request = school.request(pages=5, target=("other",), topic_map=str(tmp_path / "map.xtm"))
    with pytest.raises(BadInput, match="too few to sample seeds"):
        work(plan(request)[0])
