"""Hard focus follows pages on topic, and seeds."""

import pytest

from lycosa.strategy.hard_focus import HardFocus
from lycosa.types import Link, Origin, Page, Reply, Verdict, Visit


def visit_of(verdict: Verdict, origin: Origin = Origin.PAGE) -> Visit:
    link = Link("http://x/", "http://seed/", origin=origin)
    page = Page(link.url, links=(Link("http://x/1", link.url), Link("http://x/2", link.url)))
    return Visit(Reply(link, url=link.url, status=200), page, verdict)


def test_links_of_a_page_on_topic_get_its_relevance() -> None:
    assert HardFocus().score(visit_of(Verdict(0.7, on_topic=True))) == [0.7, 0.7]


@pytest.mark.parametrize("relevance", [0.0, 0.49, 0.9])
def test_links_of_other_pages_are_dropped(relevance: float) -> None:
    """However relevant: its best class may be another one."""
    assert all(score < 0 for score in HardFocus().score(visit_of(Verdict(relevance, on_topic=False))))


def test_seeds_are_always_followed() -> None:
    assert HardFocus().score(visit_of(Verdict(0.1, on_topic=False), origin=Origin.SEED)) == [0.1, 0.1]


def test_a_page_without_links_has_no_scores() -> None:
    assert HardFocus().score(Visit(Reply(Link("http://x/"), error="timeout"))) == []


def test_the_best_find_counts() -> None:
    assert HardFocus().merge(0.2, 0.7) == HardFocus().merge(0.7, 0.2) == 0.7
