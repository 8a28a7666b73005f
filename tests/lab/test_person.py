"""A simulated person answers as the labels of the web say, or wrongly, about the pages that were fetched."""

from typing import Any

import pytest

from lycosa.lab.person import Asked, Person, person_of
from lycosa.types import BadInput, Link, Page, Reply, Verdict, Visit


class Judge:
    """Everything is half relevant."""

    async def judge(self, page: Page) -> Verdict:
        return Verdict(0.5, on_topic=True)

    def relevance_of(self, words: Any) -> float:
        return 0.25


def is_target(url: str) -> bool:
    return int(url.rpartition("/")[2]) % 2 == 0


def visit(number: int, **more: Any) -> Visit:
    url = f"http://a.example/{number}"
    words = ["even" if is_target(url) else "odd", f"word{number}"]
    return Visit(Reply(Link(url), url, 200), Page(url, words=words), Verdict(0.5, on_topic=True), digest="-", **more)


def asked(pages: int = 20, **options: Any) -> Asked:
    found = Asked(Judge(), Person(**{"answers": 2, "every": 10} | options), is_target)
    for number in range(pages):
        found.learn(visit(number))
        found.revised()
    return found


class TestAsked:
    @pytest.mark.parametrize("choose", ["mixed", "random"])
    def test_answers_are_true_and_as_many_as_the_budget_allows(self, choose: str) -> None:
        found = asked(29, choose=choose)
        assert len(found.labels) == 4
        assert all(label == is_target(url) for url, label in found.labels.items())

    def test_every_answer_wrong(self) -> None:
        assert all(label != is_target(url) for url, label in asked(wrong=1.0).labels.items())

    def test_some_answers_wrong(self) -> None:
        labels = asked(200, answers=10, wrong=0.3).labels
        assert 40 < sum(label != is_target(url) for url, label in labels.items()) < 80

    def test_the_same_seed_gives_the_same_labels(self) -> None:
        one, same, other = (asked(100, wrong=0.5, choose="random", seed=seed).labels for seed in (1, 1, 2))
        assert one == same != other

    def test_the_judge_learns_from_the_answers(self) -> None:
        found = asked(40, answers=8)
        assert {url: found.seen[url].on_topic for url in found.labels} == found.labels
        rest = [one for url, one in found.seen.items() if url not in found.labels]
        right = sum(one.on_topic == is_target(one.url) for one in rest)
        assert rest
        assert right == len(rest)

    def test_duplicates_and_failures_are_not_asked_about(self) -> None:
        found = Asked(Judge(), Person(1, 1), is_target)
        found.learn(visit(0, duplicate_of="http://a.example/9"))
        found.learn(Visit(Reply(Link("http://a.example/1"), error="timeout")))
        assert not found.seen
        assert not found.labels

    def test_it_has_the_other_methods_of_the_judge(self) -> None:
        assert asked().relevance_of(["word"]) == 0.25


class TestOptions:
    def test_nobody(self) -> None:
        assert person_of({"kind": "otie"}, "otie") is None

    def test_defaults(self) -> None:
        assert person_of({"person": {"wrong": 0.1}}, "otie") == Person(5, 50, 0.1, "mixed")

    @pytest.mark.parametrize(
        ("given", "problem"),
        [
            ({"answer": 3}, "strategy.otie.person.answer: unknown key"),
            ({"wrong": 1.5}, "strategy.otie.person.wrong: expected a number <= 1"),
            ({"every": 0}, "strategy.otie.person.every: expected a whole number >= 1"),
            ({"choose": "best"}, "strategy.otie.person.choose: invalid enum value 'best'"),
            (5, "strategy.otie.person: expected a table, got a whole number"),
        ],
    )
    def test_problems(self, given: Any, problem: str) -> None:
        with pytest.raises(BadInput) as error:
            person_of({"person": given}, "otie")
        assert str(error.value).startswith(problem)
