"""The TIDS experiment: hubs, three crawls, and what is concluded."""

from typing import Any

import pytest

from lycosa.lab.generated import GeneratedWeb
from lycosa.lab.reproduce.effects import CANNOT, NOT_REPRODUCED, REPRODUCED
from lycosa.lab.reproduce.report import page
from lycosa.lab.reproduce.testbed import Request
from lycosa.lab.reproduce.tids import (
    BINS,
    CONTROL,
    CRAWLS,
    FIRST,
    SECOND,
    THIRD,
    Job,
    Watched,
    best_hubs,
    conclude,
    effects,
    first_seeds,
    plan,
    work,
)
from lycosa.types import Link, Page, Reply, Visit


def visit(url: str, *targets: str) -> Visit:
    page = Page(url=url, links=[Link(target) for target in targets])
    return Visit(Reply(Link(url), url=url), page)


def outcome(target: str, *means: float, above: float = 0.0) -> dict[str, Any]:
    crawls = {}
    for name, value in zip(CRAWLS, means, strict=True):
        crawls[name] = {
            "pages": 10,
            "mean": value,
            "distribution": [100 / BINS] * BINS,
            "20 to 70": value,
            "30 to 65": value,
            "above 65": above,
            "true_harvest_rate": value / 100,
        }
    return {"target": target, "table_pages": 5, "overlap": {f"{FIRST} and {SECOND}": 0.5}, "crawls": crawls}


def test_the_best_hubs_link_to_the_best_authorities() -> None:
    watched = Watched()
    for url, targets in (("1", "34"), ("2", "345"), ("3", "5"), ("4", ""), ("5", "9")):
        watched.learn(visit(url, *targets))
    assert watched.hubs(10) == ["2", "1", "3"]  # 9 is no page of the crawl
    assert watched.hubs(1) == ["2"]


def test_without_links_there_are_no_hubs() -> None:
    watched = Watched()
    watched.learn(visit("1"))
    watched.learn(Visit(Reply(Link("2"), error="timeout")))
    assert watched.hubs(5) == []
    assert list(watched.pages_) == ["1"]


def test_seeds_and_hubs_are_scaled_down() -> None:
    assert first_seeds(20_000) == 100
    assert best_hubs(20_000) == 600
    assert first_seeds(100) == 5


def test_one_job_a_topic() -> None:
    jobs = plan(Request(pages=10))
    assert len(jobs) == 6
    assert len({job.target for job in jobs}) == 6


def test_three_crawls_and_one_for_comparison(small: GeneratedWeb) -> None:
    job = Job(Request(), small, "cooking", 40)
    found = work(job)
    assert set(found["crawls"]) == set(CRAWLS)
    for figures in found["crawls"].values():
        assert figures["pages"] == 40
        assert sum(figures["distribution"]) == pytest.approx(100)
        assert 0 <= figures["20 to 70"] <= 100
        assert 0 < figures["true_harvest_rate"] <= 1
    assert found["table_pages"] >= 10
    assert all(0 <= share <= 1 for share in found["overlap"].values())
    assert found == work(job)


def test_rising_scores_reproduce() -> None:
    rows = [
        outcome("a", 30, 35, 40, 31, above=5),
        outcome("b", 32, 38, 41, 33, above=6),
        outcome("c", 31, 36, 42, 30, above=4),
    ]
    assert [effect.outcome for effect in effects(rows)] == [REPRODUCED] * 5


def test_level_scores_do_not() -> None:
    rows = [outcome("a", 30, 30, 30, 30), outcome("b", 32, 32, 32, 32)]
    found = [effect.outcome for effect in effects(rows)]
    assert found == [NOT_REPRODUCED, NOT_REPRODUCED, CANNOT, NOT_REPRODUCED, NOT_REPRODUCED]


def test_the_report_tells_of_the_comparison() -> None:
    report = conclude(Request(pages=40), [outcome("a", 30, 35, 40, 31), outcome("b", 32, 38, 41, 33)])
    text = page(report)
    assert CONTROL in text
    assert "| mean score | rises from crawl to crawl | 31.00 ± 1.00 | 36.50 ± 1.50 |" in text
    assert THIRD in text
    assert "crawls of 40 pages" in text


def test_a_recorded_web(school: Any) -> None:
    request = school.request(pages=10, target=("astronomy",))
    (job,) = plan(request)
    report = conclude(request, [work(job)])
    assert {effect.outcome for effect in report.effects} == {CANNOT}
