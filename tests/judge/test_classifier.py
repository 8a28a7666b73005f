"""Verdicts from class probabilities: relevance, hard focus, the vote, and reasons that add up."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from lycosa.judge import classifier as module
from lycosa.judge.classifier import Classifier, Facts, Focus, agreed, contributions
from lycosa.judge.features import Features
from lycosa.judge.linear import Linear
from lycosa.judge.neural import Network
from lycosa.types import BadInput, Page, Verdict

TERMS = ["cat", "dog", "bird"]


def make(*weights: list[list[float]], labels: tuple[str, ...] = ("no", "yes")) -> Classifier:
    """One head for each table of weights, terms by classes; the values of a page are its counts."""
    heads = [Linear(np.array(table, np.float32), np.zeros(len(labels), np.float32)) for table in weights]
    facts = Facts(
        labels=list(labels),
        terms=TERMS,
        words=["cats", "dogs", "birds"],
        fields={},
        plain=True,
        heads=["svm"] * len(heads),
        top=[[("dogs", 0.5), ("cats", 0.25)]] * len(labels),
    )
    return Classifier(Features(TERMS, np.ones(3, np.float32), {}, plain=True), heads, facts)


def focus(*target: bool, threshold: float = 0.5, hard: bool = False) -> Focus:
    return Focus(np.array(target), threshold, hard)


def verdict(judge: Classifier, text: str, wanted: Focus) -> Verdict:
    return judge.verdict(Page(words=text.split()), wanted)


TWO = [[0.0, 2.0], [0.0, -1.0], [0.0, 0.5]]


def test_relevance_is_the_probability_of_the_target() -> None:
    found = verdict(make(TWO), "cat dog fish", focus(False, True))
    assert found.relevance == pytest.approx(1 / (1 + np.exp(-1)))
    assert found.on_topic
    assert found.label == "yes"
    assert found.classes == pytest.approx({"no": 1 - found.relevance, "yes": found.relevance})
    assert not verdict(make(TWO), "dog", focus(False, True)).on_topic


def test_reasons_of_two_classes_add_up_to_the_log_odds() -> None:
    found = verdict(make(TWO), "cat cat dog bird", focus(False, True))
    assert list(found.why) == ["cats", "dogs", "birds"]
    assert found.why == pytest.approx({"cats": 4.0, "dogs": -1.0, "birds": 0.5})
    odds = found.relevance / (1 - found.relevance)
    assert sum(found.why.values()) == pytest.approx(np.log(odds), rel=1e-4)
    turned = verdict(make(TWO), "cat cat dog bird", focus(True, False))
    assert turned.why["cats"] == pytest.approx(-4.0)


def test_at_most_ten_reasons() -> None:
    size = 30
    facts = Facts(["a", "b"], [f"w{n}" for n in range(size)], [f"w{n}" for n in range(size)], {}, True, ["nb"])
    weights = np.stack([np.zeros(size), np.arange(size)], axis=1).astype(np.float32)
    judge = Classifier(
        Features(facts.terms, np.ones(size, np.float32), {}, True), [Linear(weights, np.zeros(2, np.float32))], facts
    )
    found = verdict(judge, " ".join(facts.terms), focus(False, True))
    assert list(found.why) == [f"w{n}" for n in range(29, 19, -1)]


def test_several_targets_are_added() -> None:
    judge = make([[1.0, 0.0, 0.0]] * 3, labels=("a", "b", "c"))
    found = verdict(judge, "cat", focus(False, True, True))
    assert found.relevance == pytest.approx(found.classes["b"] + found.classes["c"])
    assert found.label == "a"


def test_hard_focus_asks_for_the_best_class_too() -> None:
    judge = make([[0.6, 0.3, 0.3]] * 3, labels=("a", "b", "c"))
    soft, hard = focus(False, True, True), focus(False, True, True, hard=True)
    assert verdict(judge, "cat", soft).relevance > 0.5
    assert verdict(judge, "cat", soft).on_topic
    assert verdict(judge, "cat", hard).relevance == verdict(judge, "cat", soft).relevance
    assert not verdict(judge, "cat", hard).on_topic


def test_a_page_that_says_nothing_known_is_off_topic() -> None:
    for text in ("", "fish", "the"):
        assert verdict(make(TWO), text, focus(False, True)) == Verdict()


def test_an_extreme_page_has_finite_reasons() -> None:
    found = verdict(make([[0.0, 500.0]] * 3), "cat dog bird", focus(False, True))
    assert found.relevance == 1.0
    assert np.isfinite(list(found.why.values())).all()
    assert verdict(make([[500.0, 0.0]] * 3), "cat dog bird", focus(False, True)).relevance >= 0


@given(st.lists(st.floats(0, 1), min_size=1, max_size=5).filter(lambda found: len(found) % 2), st.floats(0.1, 0.9))
def test_the_vote_is_above_the_threshold_just_when_most_are(relevances: list[float], threshold: float) -> None:
    found = agreed(np.array(relevances), threshold)
    most = sum(value >= threshold for value in relevances) > len(relevances) / 2
    assert (found >= threshold - 1e-12) == most or abs(found - threshold) < 1e-9
    assert min(relevances) - 1e-12 <= found <= max(relevances) + 1e-12


def test_two_of_three_decide() -> None:
    strong, weak, against = [[0.0, 3.0]] * 3, [[0.0, 1.0]] * 3, [[0.0, -9.0]] * 3
    found = verdict(make(strong, weak, against), "cat", focus(False, True))
    assert found.on_topic
    assert found.relevance == pytest.approx((1 / (1 + np.exp(-3)) + 1 / (1 + np.exp(-1))) / 2, rel=1e-5)
    assert not verdict(make(strong, against, against), "cat", focus(False, True)).on_topic


def test_reasons_of_a_vote_are_the_mean_of_the_heads() -> None:
    judge = make([[0.0, 3.0]] * 3, [[0.0, 1.0]] * 3, [[0.0, -1.0]] * 3)
    opinion = judge.look(np.array([0], np.int32), np.ones(1, np.float32))
    assert contributions(opinion, np.array([False, True])) == pytest.approx([1.0])


def test_describe_cuts_the_lists() -> None:
    assert make(TWO).describe(1) == [("no", [("dogs", 0.5)]), ("yes", [("dogs", 0.5)])]


def test_saved_and_loaded_it_judges_alike(tmp_path: Path) -> None:
    judge = make(TWO)
    net = Network(*(np.random.default_rng(0).normal(size=size).astype(np.float32) for size in ((3, 4), 4, (4, 2), 2)))
    judge.heads = [*judge.heads, net]
    judge.facts = replace(judge.facts, heads=["svm", "mlp"])
    judge.save(tmp_path / "m", "examples")
    back = module.load(tmp_path / "m", "examples")
    assert back.facts == judge.facts
    for text in ("cat", "dog bird bird", "fish"):
        assert verdict(back, text, focus(False, True)) == verdict(judge, text, focus(False, True))


@pytest.mark.parametrize(
    "change",
    [
        {"terms": ["cat"]},
        {"words": ["cats"]},
        {"labels": ["yes"]},
        {"labels": ["yes", "yes"]},
        {"labels": ["a", "b", "c"], "top": [[], [], []]},
        {"heads": []},
        {"heads": ["svm", "svm"]},
        {"heads": ["mlp"]},
        {"top": []},
    ],
    ids=str,
)
def test_parts_that_do_not_fit_are_refused(tmp_path: Path, change: dict[str, list[str]]) -> None:
    judge = make(TWO)
    judge.facts = replace(judge.facts, **change)
    judge.save(tmp_path / "m", "examples")
    with pytest.raises(BadInput, match="m: damaged: its parts do not match"):
        module.load(tmp_path / "m", "examples")


@pytest.mark.parametrize("shape", [(2, 2), (3, 3), (3,), (3, 2, 1), (0, 2)])
def test_weights_of_a_wrong_shape_are_refused(tmp_path: Path, shape: tuple[int, ...]) -> None:
    judge = make(TWO)
    judge.heads = [Linear(np.zeros(shape, np.float32), np.zeros(2, np.float32))]
    judge.save(tmp_path / "m", "examples")
    with pytest.raises(BadInput, match="damaged"):
        module.load(tmp_path / "m", "examples")


def test_weights_beyond_reason_are_refused(tmp_path: Path) -> None:
    make([[0.0, 1e30]] * 3).save(tmp_path / "m", "examples")
    with pytest.raises(BadInput, match="weights out of range"):
        module.load(tmp_path / "m", "examples")
