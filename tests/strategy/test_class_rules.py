"""Which classes lead to the target: what is counted, what it starts from, what it is worth."""

from collections.abc import Sequence

import msgspec
import pytest

from lycosa.strategy.class_rules import BEFOREHAND, EVERY, ClassRules
from lycosa.strategy.rule_base import RuleBase

RULES = RuleBase(
    ["home", "list", "course", "other"],
    {"home": {"list": 5, "other": 5}, "list": {"course": 8, "other": 2}, "other": {"other": 10}},
)


def courses(known: Sequence[str]) -> list[str]:
    return [name for name in known if name == "course"]


def started() -> ClassRules:
    rules = ClassRules()
    rules.start(courses, RULES)
    return rules


def test_a_path_through_classes_off_topic_is_worth_its_chance() -> None:
    rules = started()
    assert rules.worth == pytest.approx({"list": 0.8, "home": 0.4})
    assert rules.surplus("list") > rules.surplus("home") > rules.surplus("other")


def test_what_nobody_knows_speaks_neither_for_nor_against() -> None:
    assert started().surplus("") == started().surplus("new") == ClassRules().surplus("list") == 0.0


def test_without_classes_there_is_nothing_to_count() -> None:
    rules = ClassRules()
    assert not rules.see("list", "course")
    rules.start(courses, None)
    assert not rules.see("", "course")
    assert not rules.see("list", "")
    assert rules.counts == {}


def test_rules_are_found_while_the_crawl_goes_on() -> None:
    rules = ClassRules()
    rules.start(courses, None)
    for _ in range(EVERY // 2):
        assert rules.surplus("list") == 0.0
        assert rules.see("list", "course")
        assert rules.see("other", "other")
    assert rules.worth == {"list": 1.0}
    assert rules.surplus("list") > 0 > rules.surplus("other")


def test_what_is_seen_here_soon_counts_more_than_what_was_mined_elsewhere() -> None:
    rules = started()
    for _ in range(int(BEFOREHAND)):
        rules.see("list", "other")
    assert rules.worth["list"] == pytest.approx(0.4)


def test_a_crawl_without_any_target_is_no_trouble() -> None:
    rules = ClassRules()
    rules.start(lambda known: [], None)
    for _ in range(EVERY):
        rules.see("a", "b")
    assert rules.surplus("a") == 0.0


def test_it_goes_on_where_it_was() -> None:
    rules = started()
    for number in range(EVERY + 3):
        rules.see("list", "course" if number % 3 else "other")
    again = started()
    again.load(*msgspec.json.decode(msgspec.json.encode([rules.save(), rules.counts])))
    for name in RULES.classes:
        assert again.surplus(name) == rules.surplus(name)
    for _ in range(EVERY):
        rules.see("home", "course")
        again.see("home", "course")
    assert again.worth == rules.worth
