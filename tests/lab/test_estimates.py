"""Estimates of recall are compared with the truth that the lab knows."""

import pytest

from lycosa.lab.estimates import CURVE, POINTS, Step, Steps, hold_out, points_of, recall, sample, score
from lycosa.types import Link, Page, Reply, Verdict, Visit

SHARES = (10, 25, 50, 100)
TARGETS = [f"page {number}" for number in range(0, 80, 2)]


def steps(number: int = 100) -> list[Step]:
    """Every second page is a target, up to the 80th."""
    pages = [f"page {place}" for place in range(number)]
    return [Step(f"http://a.example/{page[5:]}", page, "http://a.example/", page in TARGETS) for page in pages]


def test_a_sink_keeps_distinct_pages_as_first_judged() -> None:
    found = Steps(lambda url: url.rpartition("/")[2])
    link = Link("http://a.example/old", source="http://a.example/")
    reply = Reply(link, "http://a.example/new", 200)
    found.write(Visit(reply, Page(), Verdict(0.9, on_topic=True), digest="-"))
    found.write(Visit(reply, Page(), digest="-", duplicate_of="http://a.example/x"))
    found.write(Visit(Reply(link, error="timeout")))
    assert found.all == [Step("http://a.example/new", "new", "http://a.example/", True)]
    assert found.all[0].visit().is_distinct


def test_the_true_recall() -> None:
    curve = recall(steps(), TARGETS)
    assert curve[0] == pytest.approx(1 / 40)
    assert curve[39] == pytest.approx(0.5)
    assert curve[78] == curve[-1] == 1


def test_a_page_is_held_out_under_the_url_that_the_crawl_found() -> None:
    held = hold_out(["page 4", "lost"], steps())
    assert "http://a.example/4" in held
    assert len(held) == 2


def test_samples_differ_by_seed() -> None:
    assert sample(TARGETS, 10, 0) == sample(TARGETS, 10, 0) != sample(TARGETS, 10, 1)
    assert sorted(sample(TARGETS, 100, 0)) == sorted(TARGETS)


def test_points() -> None:
    assert points_of(200) == set(range(10, 201, 10))
    assert points_of(3) == {1, 2, 3}
    assert len(points_of(1_000)) == POINTS


class TestScore:
    def test_all_targets_held_out_make_no_error(self) -> None:
        exact = score(steps(), TARGETS, [len(TARGETS)], SHARES)[0]
        assert exact.kind == "40 held out"
        assert exact.error == pytest.approx(0)
        assert exact.covered == 1
        assert exact.at == pytest.approx({"10": 0, "25": 0, "50": 0, "100": 0})

    def test_more_held_out_pages_make_smaller_errors(self) -> None:
        few, many, curve = score(steps(), TARGETS, [10, 30], SHARES)
        assert 0 < many.error < few.error < 0.2
        assert few.covered > 0.8
        assert curve.kind == CURVE

    def test_the_harvest_curve_is_unsure_at_first_and_right_at_the_end(self) -> None:
        (curve,) = score(steps(400), TARGETS, [], SHARES)
        assert curve.at["100"] < 0.1
        first = score(steps(4), TARGETS, [], SHARES)[0]
        assert first.at["10"] == pytest.approx(0.5 - 1 / 40)

    def test_a_crawl_without_pages(self) -> None:
        assert score([], TARGETS, [10], SHARES) == []
