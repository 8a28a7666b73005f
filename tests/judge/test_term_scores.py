"""Scores of terms, by hand and by comparing the three ways to compute them."""

from math import log, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lycosa.judge.term_scores import FULL_TIMES, TermScores, any_of

TIMES = st.lists(st.floats(0, 50), min_size=5, max_size=5)
COMMON = st.lists(st.floats(0, 5), min_size=3, max_size=3)
MODELS = st.sampled_from(["bm25", "tfidf"])


def test_by_hand() -> None:
    """One term of four is mentioned three times, which is worth one half alone; the list asks for more."""
    score, parts = TermScores(4, "bm25", 3.0).of_page([(1, 3.0)], [0.0] * 4)
    assert score == pytest.approx(1 - 0.5 ** (1 / sqrt(4)))
    assert parts == {1: pytest.approx(score)}
    score, parts = TermScores(2, "tfidf").of_page([(0, FULL_TIMES), (1, 1.0)], [0.0] * 2)
    assert score == pytest.approx((1 + log(2) / log(1 + FULL_TIMES)) / 2)


def test_common_mentions_are_worth_nothing_and_unwanted_terms_count_against() -> None:
    scores = TermScores(1, "bm25", 3.0)
    assert scores.of_page([(0, 2.0)], [2.0]) == (0.0, {})
    score, parts = scores.of_page([(0, 3.0), (1, 3.0)], [0.0])
    assert score == pytest.approx(0.25)
    assert parts == {0: pytest.approx(0.5), 1: pytest.approx(-0.25)}


def test_without_mentions_there_is_no_score() -> None:
    assert TermScores(2).of_page([], [0.0, 0.0]) == (0.0, {})
    assert TermScores(2).of_texts([{}, {1: 1.0}], [1.0, 1.0])[0] == 0.0
    assert any_of({}) == (0.0, {})


@given(MODELS, TIMES, COMMON)
def test_one_page_and_many_pages_get_the_same(model: str, times: list[float], common: list[float]) -> None:
    scores = TermScores(3, model, 2.0)  # type: ignore[arg-type]
    score, parts = scores.of_page(enumerate(times), common)
    (same,) = scores.of_pages(np.array([times]), common)
    assert score == pytest.approx(same, abs=1e-9)
    assert sum(parts.values()) == pytest.approx(score, abs=1e-9)
    assert -1e-9 <= score <= 1 + 1e-9


@given(MODELS, TIMES)
def test_a_text_is_scored_like_a_page_on_which_nothing_is_common(model: str, times: list[float]) -> None:
    scores = TermScores(3, model, 2.0)  # type: ignore[arg-type]
    (score,) = scores.of_texts([dict(enumerate(times))], [1.0] * 3)
    assert score == pytest.approx(scores.of_page(enumerate(times), [0.0] * 3)[0], abs=1e-9)
