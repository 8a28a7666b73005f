"""What a page is worth to a crawl that looks for a class."""

import pytest

from lycosa.strategy import link_value
from lycosa.strategy.link_value import DISCOUNT, STEPS, values

D = DISCOUNT


def value(page: str, graph: dict[str, list[str]], classes: dict[str, str], label: str = "course") -> float:
    (found,) = values([page], graph, classes)
    return found.get(label, 0.0)


def test_a_target_is_worth_one_and_a_page_that_leads_nowhere_nothing() -> None:
    classes = {"a": "course", "b": "other"}
    assert value("a", {}, classes) == 1.0
    assert value("b", {}, classes) == 0.0


def test_targets_behind_a_page_count_by_the_pages_fetched_before_them() -> None:
    """Two of them directly, one more behind another page: it takes two steps."""
    graph = {"list": ["a", "x", "b"], "x": ["c"]}
    classes = {"list": "other", "x": "other", "a": "course", "b": "course", "c": "course"}
    assert value("list", graph, classes) == pytest.approx(D + D**2 + D**4)
    assert value("x", graph, classes) == pytest.approx(D)
    assert value("x", graph, classes, "other") == 1.0


def test_a_page_on_the_way_to_several_targets_is_fetched_once() -> None:
    graph = {"home": ["list"], "list": ["a", "b"]}
    assert value("home", graph, {"a": "course", "b": "course"}) == pytest.approx(D**2 + D**3)


def test_what_is_far_away_is_worth_nothing() -> None:
    graph = {"a": ["b"], "b": ["c"], "c": ["d"], "d": ["e"]}
    assert value("a", graph, {"d": "course"}) == pytest.approx(D**3)
    assert value("a", graph, {"e": "course"}) == 0.0
    many = [f"t{number}" for number in range(100)]
    found = value("list", {"list": many}, dict.fromkeys(many, "course"))
    assert found == pytest.approx(sum(D**step for step in range(1, STEPS + 1)))


def test_links_in_a_circle_and_to_itself_end() -> None:
    graph = {"a": ["a", "b"], "b": ["a", "b"]}
    assert value("a", graph, {"a": "course", "b": "course"}) == pytest.approx(1 + D)


def test_a_large_web_is_looked_at_only_nearby(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(link_value, "MOST_REACHED", 10)
    graph = {"a": [f"b{number}" for number in range(20)], "b0": ["c"]}
    assert value("a", graph, {"c": "course"}) == 0.0
