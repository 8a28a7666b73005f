"""The rule-based strategy: what a page's links are worth by its class, and the published crawl orders."""

import heapq
import itertools
from collections.abc import Sequence
from pathlib import Path

import pytest

from lycosa.strategy.best_first import BestFirst
from lycosa.strategy.rule_base import RuleBase, save
from lycosa.strategy.rules import Rules, cooled
from lycosa.types import BadInput, Link, Page, Reply, Strategy, Verdict, Visit

CLASSES = ["CH", "DH", "PH", "SP"]
COUNTS = {
    "DH": {"CH": 8, "PH": 1, "SP": 1},
    "CH": {"DH": 2, "CH": 4, "PH": 4},
    "PH": {"DH": 3, "CH": 4, "PH": 3},
    "SP": {"SP": 10},
}


class Topic:
    """As much of a topic as the rules ask of it."""

    def targets(self, known: Sequence[str]) -> list[str]:
        return [name for name in known if name == "PH"]


TOPIC = Topic()


def ready(folder: Path, strategy: Rules, rules: RuleBase | None = None) -> Rules:
    save(rules or RuleBase(CLASSES, COUNTS), folder / "rules.json")
    strategy.prepare(folder, TOPIC)
    return strategy


def judged(label: str, relevance: float = 0.05, **classes: float) -> Verdict:
    return Verdict(relevance, label == "PH", label, classes or {label: 1.0})


def visit_of(verdict: Verdict, links: int = 2) -> Visit:
    link = Link("http://x/", "http://seed/")
    page = Page(link.url, links=tuple(Link(f"http://x/{number}", link.url) for number in range(links)))
    return Visit(Reply(link, url=link.url, status=200), page, verdict)


def test_links_are_worth_what_the_class_of_their_page_leads_to(tmp_path: Path) -> None:
    strategy = ready(tmp_path, Rules())
    assert strategy.score(visit_of(judged("DH"))) == pytest.approx([0.42, 0.42])
    assert strategy.score(visit_of(judged("CH"), links=3)) == pytest.approx([0.42] * 3)
    assert strategy.score(visit_of(judged("PH", 0.99))) == pytest.approx([0.3, 0.3])
    assert strategy.score(visit_of(judged("DH"), links=0)) == []


def test_where_no_rule_leads_to_the_target_the_page_s_relevance_counts(tmp_path: Path) -> None:
    strategy = ready(tmp_path, Rules())
    assert strategy.worth(judged("SP", 0.07)) == 0.07
    assert strategy.worth(judged("unheard of", 0.08)) == 0.08
    assert strategy.worth(Verdict()) == 0.0


@pytest.mark.parametrize(
    ("options", "department", "course"),
    [
        ({"max_depth": 1}, 0.1, 0.4),
        ({"max_depth": 2}, 0.42, 0.42),
        ({"max_depth": 2, "paths": "max"}, 0.32, 0.4),
        ({"max_depth": 3}, 0.42, 0.42),
    ],
)
def test_depth_and_merging(tmp_path: Path, options: dict[str, object], department: float, course: float) -> None:
    strategy = ready(tmp_path, Rules(**options))  # type: ignore[arg-type]
    assert strategy.worth(judged("DH")) == pytest.approx(department)
    assert strategy.worth(judged("CH")) == pytest.approx(course)


def test_expected_weighs_all_classes_of_the_page(tmp_path: Path) -> None:
    strategy = ready(tmp_path, Rules(max_depth=1, expected=True))
    verdict = judged("DH", 0.2, DH=0.5, CH=0.25, PH=0.2, SP=0.05)
    ruled = 0.5 * 0.1 + 0.25 * 0.4 + 0.2 * 0.3
    assert strategy.worth(verdict) == pytest.approx(ruled + 0.05 * 0.2)  # SP has no rule: there the relevance counts
    assert strategy.worth(judged("DH", DH=1.0)) == pytest.approx(0.1)
    assert strategy.worth(Verdict(0.6, True)) == pytest.approx(0.6)


def test_calibrate_takes_back_what_is_over_confident(tmp_path: Path) -> None:
    rules = RuleBase(CLASSES, COUNTS, temperature=2.0)
    sure = judged("SP", 0.16, SP=0.64, PH=0.16, CH=0.16, DH=0.04)
    assert ready(tmp_path, Rules(), rules).worth(sure) == 0.16
    assert ready(tmp_path, Rules(calibrate=True), rules).worth(sure) == pytest.approx(0.4 / 1.8)
    assert ready(tmp_path, Rules(calibrate=True), rules).worth(Verdict(0.3)) == 0.3
    assert ready(tmp_path, Rules(calibrate=True), rules).worth(judged("DH")) == pytest.approx(0.42)


def test_cooled_probabilities() -> None:
    assert cooled({"a": 0.5, "b": 0.5}, ["a"], 0.1) == pytest.approx(0.5)
    assert cooled({"a": 0.99, "b": 0.01}, ["a"], 1e-9) == pytest.approx(0.5, abs=1e-6)
    assert cooled({"a": 1.0, "b": 0.0}, ["b"], 0.5) == 0.0
    assert cooled({"a": 0.0}, ["a"], 0.5) == 0.0


def test_the_first_find_counts_unless_the_best_is_asked_for() -> None:
    assert Rules().merge(0.1, 0.4) == 0.1
    assert Rules(found_again="max").merge(0.1, 0.4) == 0.4


def test_without_rules_the_command_that_makes_them_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"rules\.json: no such file; create it with: lycosa topic rules "):
        Rules().prepare(tmp_path, TOPIC)


def test_rules_for_other_classes_are_refused(tmp_path: Path) -> None:
    save(RuleBase(["A", "B"], {"A": {"B": 1}}), tmp_path / "rules.json")
    with pytest.raises(
        BadInput, match=r"the topic has other classes than these rules; create them again: lycosa topic rules "
    ):
        Rules().prepare(tmp_path, TOPIC)


def test_a_topic_without_classes_is_refused(tmp_path: Path) -> None:
    save(RuleBase(CLASSES, COUNTS), tmp_path / "rules.json")
    with pytest.raises(BadInput, match=r"strategy\.kind: rules needs a topic with classes"):
        Rules().prepare(tmp_path, object())


def crawl(strategy: Strategy) -> list[str]:
    """Figure 3: the seed S is a PH and links to U1 CH, U2 DH, U3 PH, U4 SP; U1 links to U5 PH. Equals wait in line."""
    links = {"S": ["U1", "U2", "U3", "U4"], "U1": ["U5"]}
    verdicts = {
        "S": judged("PH", 0.97),
        "U1": judged("CH", 0.05),
        "U2": judged("DH", 0.02),
        "U3": judged("PH", 0.9),
        "U4": judged("SP", 0.0),
        "U5": judged("PH", 0.9),
    }
    numbers = itertools.count()
    waiting, seen, order = [(-1.0, next(numbers), "S")], {"S"}, []
    while waiting:
        _, _, url = heapq.heappop(waiting)
        order.append(url)
        page = Page(url, links=tuple(Link(target, url) for target in links.get(url, [])))
        visit = Visit(Reply(Link(url)), page, verdicts[url])
        for link, score in zip(page.links, strategy.score(visit), strict=True):
            if link.url not in seen:
                seen.add(link.url)
                heapq.heappush(waiting, (-score, next(numbers), link.url))
    return order


@pytest.mark.parametrize("max_depth", [1, 2, 3])
def test_rules_reach_the_fifth_page_at_once(tmp_path: Path, max_depth: int) -> None:
    assert crawl(ready(tmp_path, Rules(max_depth=max_depth))) == ["S", "U1", "U5", "U2", "U3", "U4"]


def test_soft_focus_reaches_the_fifth_page_last() -> None:
    assert crawl(BestFirst()) == ["S", "U1", "U2", "U3", "U4", "U5"]
