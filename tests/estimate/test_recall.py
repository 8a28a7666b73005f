"""The sink that puts the estimates together: what it says, when it stops the crawl, what survives."""

import json

import pytest

from lycosa.estimate.held_out import HeldOut
from lycosa.estimate.recall import ALONE_FOUND, Estimate
from lycosa.types import Link, Reply, Verdict, Visit

HELD = [f"http://site.test/good/{number}" for number in range(20)]


def visit(url: str, on_topic: bool, source: str = "http://site.test/", **facts: str) -> Visit:
    error, twin = facts.get("error", ""), facts.get("duplicate_of", "")
    reply = Reply(Link(url, source=source), url=url, error=error)
    return Visit(reply, verdict=Verdict(float(on_topic), on_topic), digest="" if error else "-", duplicate_of=twin)


def good(estimate: Estimate, numbers: range, source: str = "http://site.test/") -> None:
    for number in numbers:
        estimate.write(visit(f"http://site.test/good/{number}", True, source))


def bad(estimate: Estimate, pages: int) -> None:
    for number in range(pages):
        estimate.write(visit(f"http://site.test/bad/{number}", False))


def test_it_tells_both_estimates_in_words() -> None:
    estimate = Estimate(HeldOut(HELD))
    good(estimate, range(3, 100))
    bad(estimate, 300)
    assert estimate.words() == "about 85 % found: 17 of 20 held-out pages (64-95 %); the harvest curve says 99-100 %"
    summary = estimate.summary()
    assert summary["recall"]["held_out"] == {"found": 17, "of": 20, "low": pytest.approx(0.64, abs=0.01)} | {
        "high": pytest.approx(0.948, abs=0.01)
    }
    assert summary["recall"]["curve"]["low"] > 0.9
    assert summary["drift"] == ""


def test_without_known_pages_it_tells_what_the_curve_says_and_why_only_that() -> None:
    estimate = Estimate(problem="only the curve: nobody knows a page")
    assert estimate.words() == ""
    good(estimate, range(100))
    bad(estimate, 300)
    assert estimate.words() == "about 100 % found: the harvest curve says 98-100 %"
    assert estimate.told()["recall"].endswith("; only the curve: nobody knows a page")
    assert estimate.summary()["recall"]["problem"] == "only the curve: nobody knows a page"


def test_failures_and_duplicates_are_no_pages_of_the_curve() -> None:
    estimate = Estimate()
    good(estimate, range(20))
    before = estimate.save()["curve"]
    estimate.write(visit("http://site.test/x", False, error="timeout"))
    estimate.write(visit("http://site.test/y", False, duplicate_of="http://site.test/good/1"))
    assert estimate.save()["curve"] == before


def test_it_is_enough_when_both_say_so_and_no_list_came_lately() -> None:
    estimate = Estimate(HeldOut(HELD), target=0.8)
    good(estimate, range(100))
    assert estimate.reached() == ""  # all that was set aside is found, but the harvest is as good as ever
    bad(estimate, 300)
    assert estimate.reached() == "limit of 80 % recall"


def test_pages_that_are_missing_keep_it_going() -> None:
    estimate = Estimate(HeldOut(HELD), target=0.8)
    good(estimate, range(4, 100))
    bad(estimate, 300)
    assert estimate.reached() == ""


def test_a_list_found_just_now_keeps_it_going() -> None:
    estimate = Estimate(HeldOut(HELD), target=0.8)
    good(estimate, range(100))
    bad(estimate, 600)
    assert estimate.reached()
    good(estimate, range(100, 112), source="http://site.test/list")
    bad(estimate, 20)
    assert estimate.reached() == ""
    bad(estimate, 200)
    assert estimate.reached()


def test_the_curve_alone_needs_more() -> None:
    few, many = Estimate(target=0.8), Estimate(target=0.8)
    good(few, range(ALONE_FOUND - 1))
    good(many, range(2 * ALONE_FOUND))
    for estimate in (few, many):
        bad(estimate, 1_000)
    assert few.reached() == ""
    assert many.reached() == "limit of 80 % recall"


def test_held_out_pages_that_do_not_exist_leave_only_the_curve() -> None:
    estimate = Estimate(HeldOut(HELD))
    good(estimate, range(11, 100))
    for url in HELD[:11]:
        estimate.write(visit(url, False, error="http-404"))
    bad(estimate, 300)
    assert estimate.words().endswith("; only 9 held-out pages are left, too few to count")


def test_it_warns_of_a_target_that_can_never_be_proved() -> None:
    assert Estimate(HeldOut(HELD), target=0.9).notes() == []
    assert Estimate(HeldOut(HELD), target=0.95, problem="few").notes() == [
        "few",
        "20 held-out pages cannot prove a recall of 0.95, even if all are found: 32 must be set aside,"
        " or the crawl ends by its other limits",
    ]
    enough = Estimate(HeldOut(f"http://site.test/good/{number}" for number in range(32)), target=0.95)
    assert enough.notes() == []
    good(enough, range(200))
    bad(enough, 1_000)
    assert enough.reached()


def test_a_restart_changes_nothing() -> None:
    whole, parts = Estimate(HeldOut(HELD), target=0.8), Estimate(HeldOut(HELD), target=0.8)
    for estimate in (whole, parts):
        good(estimate, range(3, 60))
    again = Estimate(target=0.8)
    again.load(json.loads(json.dumps(parts.save())))
    for estimate in (whole, again):
        good(estimate, range(60, 100))
        good(estimate, range(2))
        bad(estimate, 300)
    assert again.save() == whole.save()
    assert again.reached() == whole.reached() == "limit of 80 % recall"


def test_a_crawl_that_has_enough_stays_ended_until_more_is_wanted() -> None:
    done, more = Estimate(target=0.8), Estimate(target=0.99)
    first = Estimate(HeldOut(HELD))
    good(first, range(100))
    bad(first, 300)
    for estimate in (done, more):
        estimate.load(first.save())
    assert done.reached() == "limit of 80 % recall"
    assert more.reached() == ""


def test_what_shards_count_adds_up() -> None:
    """One counts for the whole crawl, and hears of the pages that others fetched."""
    counter, other, alone = (Estimate(HeldOut(HELD), target=0.8) for _ in range(3))
    other.share()
    for estimate in (other, alone):
        good(estimate, range(100))
        bad(estimate, 60)
        estimate.write(visit(HELD[5], False, error="http-404"))
    counter.study(other.lesson())
    assert other.lesson() == {}
    bad(other, 40)
    bad(alone, 40)
    counter.study(other.lesson())
    for part in ("held_out", "curve", "lists"):
        assert counter.save()[part] == alone.save()[part]
    assert len(counter.held_out) == 19
    assert counter.reached() == alone.reached() == "limit of 80 % recall"
