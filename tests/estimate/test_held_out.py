"""Pages that the user knows and the crawl was not told: how they are drawn, and when one counts as found."""

from pathlib import Path

import pytest

from lycosa.estimate.held_out import LEAST, HeldOut, draw, key, leaving_out, wilson
from lycosa.types import Exchange, Link, Page, Reply, Visit

KNOWN = [f"http://site.test/{number}" for number in range(100)]


def visit(url: str, final: str = "", error: str = "", canonical: str = "", hops: tuple[str, ...] = ()) -> Visit:
    exchanges = tuple(Exchange(hop, b"", b"", b"", 0.0) for hop in hops)
    return Visit(Reply(Link(url), url=final or url, error=error, exchanges=exchanges), Page(canonical=canonical))


@pytest.mark.parametrize(
    ("found", "of", "low", "high"),
    [(14, 17, 0.590, 0.938), (10, 10, 0.722, 1.0), (0, 10, 0.0, 0.278), (50, 100, 0.404, 0.596), (0, 0, 0.0, 1.0)],
)
def test_wilson_gives_the_published_figures(found: int, of: int, low: float, high: float) -> None:
    assert wilson(found, of) == pytest.approx((low, high), abs=0.001)


def test_a_fifth_of_the_known_pages_is_set_aside_and_always_the_same() -> None:
    drawn = draw(KNOWN, [], [], 0.2, 7)
    assert len(drawn.urls) == 20
    assert drawn == draw([*reversed(KNOWN)], [], [], 0.2, 7)
    assert drawn != draw(KNOWN, [], [], 0.2, 8)


def test_of_few_known_pages_at_least_ten_are_set_aside() -> None:
    assert len(draw(KNOWN[:20], [], [], 0.2, 0).urls) == LEAST


def test_too_few_known_pages_are_told_in_one_sentence() -> None:
    drawn = draw(KNOWN[:12], KNOWN[:5], [], 0.2, 0)
    assert drawn.urls == []
    assert drawn.problem == (
        "recall is estimated from the harvest curve only: at least 10 pages must be set aside, but only 7 can be"
        " (5 more are out of scope, or were given to the crawl)"
    )


def test_no_known_pages_are_no_problem() -> None:
    assert draw([], [], ["http://site.test/"], 0.2, 0) == ([], "")


def test_the_last_seed_is_never_set_aside() -> None:
    assert "every seed would be set aside" in draw(KNOWN[:10], [], KNOWN[:10], 0.2, 0).problem
    assert draw(KNOWN[:10], [], [*KNOWN[:10], "http://else.test/"], 0.2, 0).urls


@pytest.mark.parametrize(
    "other",
    ["https://site.test/a/", "http://www.site.test/a", "http://site.test/a/index.html", "http://site.test/a/#top"],
)
def test_one_page_has_one_key(other: str) -> None:
    assert key(other) == key("http://site.test/a") != key("http://site.test/A")


@pytest.mark.parametrize(
    "seen",
    [
        visit(KNOWN[0]),
        visit("http://b.test/", final=KNOWN[0]),
        visit("http://b.test/", canonical=KNOWN[0]),
        visit("http://b.test/", final="http://c.test/", hops=("http://b.test/", KNOWN[0])),
        visit(KNOWN[0], final="http://c.test/"),
        visit(KNOWN[0], error="redirect-known"),
    ],
    ids=["itself", "redirect target", "canonical", "hop", "redirects away", "leads to a known page"],
)
def test_a_page_is_found_at_whatever_address_it_answers_to(seen: Visit) -> None:
    held = HeldOut(KNOWN[:3])
    held.write(seen)
    assert held.found == {key(KNOWN[0])}


@pytest.mark.parametrize("error", ["timeout", "http-500", "dns"])
def test_a_failed_fetch_finds_nothing_but_may_yet_succeed(error: str) -> None:
    held = HeldOut(KNOWN[:3])
    held.write(visit(KNOWN[0], error=error))
    assert (len(held), held.found) == (3, set())


@pytest.mark.parametrize("error", ["http-404", "http-410", "robots"])
def test_what_no_crawl_can_fetch_does_not_count(error: str) -> None:
    held = HeldOut(KNOWN[:3])
    held.write(visit(KNOWN[0], error=error))
    assert (len(held), held.found) == (2, set())


def test_a_page_that_the_crawl_is_told_of_does_not_count_any_more() -> None:
    held = HeldOut(KNOWN[:3])
    held.write(visit(KNOWN[0]))
    held.drop([KNOWN[0], "http://never.test/"])
    assert (len(held), held.found) == (2, set())


def test_state_survives() -> None:
    held, again = HeldOut(KNOWN[:12]), HeldOut()
    held.write(visit(KNOWN[3]))
    again.load(held.save())
    assert (again.urls, again.found) == (held.urls, held.found)


def test_training_leaves_them_out() -> None:
    pages = [(url, Page(url=url)) for url in KNOWN[:4]]
    read = leaving_out(HeldOut(KNOWN[:2]), lambda path: pages)
    assert [name for name, _ in read(Path())] == KNOWN[2:4]
    assert len([*leaving_out(HeldOut(), lambda path: pages)(Path())]) == 4
