"""Which classes lead to the target: what is counted, what it starts from, what it is worth."""

from collections.abc import Sequence

import msgspec
import pytest

from lycosa.strategy.leads import BEFOREHAND, EVERY, Leads
from lycosa.strategy.rule_base import RuleBase

RULES = RuleBase(
    ["home", "list", "course", "other"],
    {"home": {"list": 5, "other": 5}, "list": {"course": 8, "other": 2}, "other": {"other": 10}},
)


def courses(known: Sequence[str]) -> list[str]:
    return [name for name in known if name == "course"]


def started() -> Leads:
    leads = Leads()
    leads.start(courses, RULES)
    return leads


def test_a_path_through_classes_off_topic_is_worth_its_chance() -> None:
    leads = started()
    assert leads.worth == pytest.approx({"list": 0.8, "home": 0.4})
    assert leads.surplus("list") > leads.surplus("home") > leads.surplus("other")


def test_what_nobody_knows_speaks_neither_for_nor_against() -> None:
    assert started().surplus("") == started().surplus("new") == Leads().surplus("list") == 0.0


def test_without_classes_there_is_nothing_to_count() -> None:
    leads = Leads()
    assert not leads.see("list", "course")
    leads.start(courses, None)
    assert not leads.see("", "course")
    assert not leads.see("list", "")
    assert leads.counts == {}


def test_rules_are_found_while_the_crawl_goes_on() -> None:
    leads = Leads()
    leads.start(courses, None)
    for _ in range(EVERY // 2):
        assert leads.surplus("list") == 0.0
        assert leads.see("list", "course")
        assert leads.see("other", "other")
    assert leads.worth == {"list": 1.0}
    assert leads.surplus("list") > 0 > leads.surplus("other")


def test_what_is_seen_here_soon_counts_more_than_what_was_mined_elsewhere() -> None:
    leads = started()
    for _ in range(int(BEFOREHAND)):
        leads.see("list", "other")
    assert leads.worth["list"] == pytest.approx(0.4)


def test_a_crawl_without_any_target_is_no_trouble() -> None:
    leads = Leads()
    leads.start(lambda known: [], None)
    for _ in range(EVERY):
        leads.see("a", "b")
    assert leads.surplus("a") == 0.0


def test_it_goes_on_where_it_was() -> None:
    leads = started()
    for number in range(EVERY + 3):
        leads.see("list", "course" if number % 3 else "other")
    again = started()
    again.load(*msgspec.json.decode(msgspec.json.encode([leads.save(), leads.counts])))
    for name in RULES.classes:
        assert again.surplus(name) == leads.surplus(name)
    for _ in range(EVERY):
        leads.see("home", "course")
        again.see("home", "course")
    assert again.worth == leads.worth
