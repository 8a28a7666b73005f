"""A few words are worth what the formula says, and what a page of these words would be, alone and among many."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lycosa.judge.classifier import Classifier, Facts, Focus
from lycosa.judge.features import Features
from lycosa.judge.linear import Linear
from lycosa.judge.neural import Network
from lycosa.judge.text_relevance import relevances

TERMS = [f"q{letter}x" for letter in "abcdefghijklmnopqrst"]  # their own stems
WORDS = [*TERMS, "unknown", "the", "17"]


def make(seed: int, classes: int, plain: bool = False, scale: float = 3.0) -> tuple[Features, Linear]:
    chance = np.random.default_rng(seed)
    idf = chance.uniform(0.5, 9, len(TERMS)).astype(np.float32)
    weights = chance.normal(0, scale, (len(TERMS), classes)).astype(np.float32)
    return Features(TERMS, idf, {}, plain), Linear(weights, chance.normal(0, 1, classes).astype(np.float32))


def long_way(features: Features, head: Linear, words: list[str], target: np.ndarray) -> float:
    """As the formula has it, in double precision."""
    counts = np.array([words.count(term) for term in TERMS], np.float64)
    values = counts.copy()
    if not features.plain:
        values[counts > 0] = (1 + np.log(counts[counts > 0])) * features.idf[counts > 0]
        values /= np.sqrt(values @ values) or 1.0
    scores = values @ head.weights.astype(np.float64) + head.bias
    odds = np.exp(scores - scores.max())
    return float(odds[target].sum() / odds.sum())


def alone(features: Features, head: Linear, words: list[str], target: np.ndarray) -> float:
    return relevances(features, head, [words], target)[0]


@given(
    st.integers(0, 1_000),
    st.sampled_from([2, 3, 7, 23, 24, 60]),
    st.booleans(),
    st.lists(st.sampled_from(WORDS), max_size=30),
)
def test_the_short_way_is_the_formula(seed: int, classes: int, plain: bool, words: list[str]) -> None:
    features, head = make(seed, classes, plain)
    target = np.arange(classes) % 3 == 1
    found = alone(features, head, words, target)
    assert found == pytest.approx(long_way(features, head, words, target), rel=1e-9)
    assert 0 <= found <= 1


@given(st.integers(0, 1_000), st.sampled_from([2, 7, 40]), st.lists(st.sampled_from(WORDS), max_size=30))
def test_a_few_words_say_what_the_judge_of_pages_would(seed: int, classes: int, words: list[str]) -> None:
    """That one counts in single precision, so a few millionths lie between them."""
    features, head = make(seed, classes)
    facts = Facts([f"c{n}" for n in range(classes)], TERMS, TERMS, {}, False, ["nb"], [[]] * classes)
    judge = Classifier(features, [head], facts)
    focus = Focus(np.arange(classes) == 1, 0.5)
    by_page = float((judge.look(*features.read_few(words)).probabilities @ focus.target)[0])
    assert judge.text_relevances([words], focus) == [pytest.approx(by_page, rel=1e-5)]


@pytest.mark.parametrize("classes", [2, 30])
def test_unknown_words_leave_what_is_known_before(classes: int) -> None:
    features, head = make(1, classes)
    target = np.arange(classes) == 0
    prior = np.exp(head.bias.astype(np.float64))
    for words in ([], ["unknown", "the"]):
        assert alone(features, head, words, target) == pytest.approx(prior[0] / prior.sum())


@pytest.mark.parametrize("classes", [2, 30])
def test_large_weights_do_not_overflow(classes: int) -> None:
    features, head = make(1, classes, plain=True, scale=1e6)
    found = alone(features, head, TERMS * 3, np.arange(classes) == 0)
    assert found in (0.0, 1.0)


@pytest.mark.parametrize("classes", [2, 30])
def test_a_term_that_weighs_nothing_divides_nothing_by_zero(classes: int) -> None:
    _, head = make(1, classes)
    features = Features(TERMS, np.zeros(len(TERMS), np.float32), {})
    target = np.arange(classes) == 0
    assert alone(features, head, ["qax"], target) == pytest.approx(alone(features, head, [], target))


def test_a_word_may_come_often() -> None:
    features, head = make(2, 3)
    target = np.array([True, False, False])
    for times in range(1, 40):
        words = ["qax"] * times + ["qbx"]
        assert alone(features, head, words, target) == pytest.approx(long_way(features, head, words, target), rel=1e-9)


def test_a_net_and_a_vote_go_the_long_way() -> None:
    features, head = make(3, 2)
    facts = Facts(["no", "yes"], TERMS, TERMS, {}, False, ["nb", "nb"], [[], []])
    focus = Focus(np.array([False, True]), 0.5)
    vote = Classifier(features, [head, head], facts)
    single = Classifier(features, [head], facts)
    assert vote.text_relevances([["qax", "qbx"]], focus) == pytest.approx(
        single.text_relevances([["qax", "qbx"]], focus), rel=1e-5
    )
    net = Network(head.weights, head.bias, np.eye(2, dtype=np.float32), np.zeros(2, np.float32))
    assert 0 < Classifier(features, [net], facts).text_relevances([["qax", "qbx"]], focus)[0] < 1


@given(
    st.integers(0, 100),
    st.sampled_from([2, 5, 30]),
    st.booleans(),
    st.lists(st.lists(st.sampled_from(WORDS), max_size=12), max_size=8),
)
def test_many_at_once_are_worth_what_each_is(seed: int, classes: int, plain: bool, many: list[list[str]]) -> None:
    features, head = make(seed, classes, plain)
    target = np.arange(classes) < 2
    focus = Focus(target, 0.5)
    facts = Facts([f"c{n}" for n in range(classes)], TERMS, TERMS, {}, plain, ["nb"], [[]] * classes)
    judge = Classifier(features, [head], facts)
    each = [long_way(features, head, words, target) for words in many]
    assert judge.text_relevances(many, focus) == pytest.approx(each, rel=1e-9)
