"""From scores and company to probabilities: the first belief, what the pages teach, and how far it may go."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lycosa.judge.calibration import THRESHOLDS, Calibration, fit


def two_kinds(pages: int, boundary: float, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:  # type: ignore[type-arg]
    """Scores, companies and truth, where half of the pages at the boundary are on topic."""
    chance = np.random.default_rng(seed)
    scores = chance.uniform(0.01, 0.99, pages)
    odds = np.log(scores / (1 - scores)) - np.log(boundary / (1 - boundary))
    truth = chance.uniform(size=pages) < 1 / (1 + np.exp(-3 * odds))
    return scores, chance.normal(np.where(truth, 1.0, -1.0), 0.5), truth


def test_before_anything_is_learned_the_score_is_the_probability() -> None:
    first = Calibration()
    assert [first.probability(score, 2.0) for score in (0.0, 0.25, 0.5, 1.0)] == [0, 0.25, 0.5, 1]
    assert fit(np.array([0.1, 0.5]), np.array([np.nan, np.nan]), 0.6, 0.3) == first


@pytest.mark.parametrize("boundary", [0.25, 0.5, 0.7])
def test_the_boundary_is_found(boundary: float) -> None:
    scores, companies, truth = two_kinds(400, boundary)
    found = fit(scores, companies, 0.75, 0.2)
    assert found.probability(boundary) == pytest.approx(0.5, abs=0.12)
    said = np.array([found.probability(*pair) for pair in zip(scores.tolist(), companies.tolist(), strict=True)])
    assert ((said >= 0.5) == truth).mean() > 0.93
    assert ((said - truth) ** 2).mean() < 0.06


def test_a_few_pages_move_it_little() -> None:
    scores, companies, _ = two_kinds(20, 0.25)
    assert 0.35 < fit(scores, companies, 0.75, 0.2).probability(0.5) < 0.65


def test_what_was_learned_from_forgotten_pages_counts() -> None:
    before = fit(*two_kinds(300, 0.25)[:2], 0.75, 0.2)
    scores, companies, _ = two_kinds(300, 0.7, seed=1)
    alone, all_remembered = (fit(scores, companies, 0.75, 0.2, one, 0) for one in (None, before))
    both = fit(scores, companies, 0.75, 0.2, before, 5_000)
    some = fit(scores, companies, 0.75, 0.2, before, 20)
    assert all_remembered == alone
    said = [one.probability(0.5) for one in (alone, some, both, before)]
    assert said == sorted(said)
    assert len(set(said)) == 4


def test_the_first_belief_does_not_count_twice() -> None:
    scores, companies, _ = two_kinds(300, 0.25)
    assert fit(scores, companies, 0.75, 0.2, Calibration(), 300) == fit(scores, companies, 0.75, 0.2)


def test_company_that_does_not_differ_teaches_nothing() -> None:
    scores, companies, _ = two_kinds(400, 0.3)
    same = fit(scores, np.zeros_like(companies), 0.75, 0.2)
    assert same == Calibration()
    reversed_ = fit(scores, -companies, 0.75, 0.2)
    assert reversed_ == Calibration()


def test_the_other_words_move_the_odds_by_a_factor_of_e_at_most() -> None:
    learned = Calibration(weight=2.0, middle=0.5)
    odds = [one / (1 - one) for one in (learned.probability(0.3, company) for company in (-50.0, 50.0))]
    assert odds == pytest.approx([3 / 7 / np.e, 3 / 7 * np.e])


def test_the_boundary_stays_within_bounds() -> None:
    scores, companies, _ = two_kinds(2_000, 0.06)
    low = fit(scores, companies, 0.5, 0.03)
    assert low.probability(THRESHOLDS[0] - 0.01) < 0.5 <= low.probability(THRESHOLDS[0] + 0.001)


@given(st.floats(0, 1), st.floats(0, 1), st.floats(-9, 9), st.sampled_from([0, 1, 2]))
def test_more_of_the_words_never_make_a_page_less_probable(one: float, other: float, company: float, seed: int) -> None:
    scores, companies, _ = two_kinds(100, 0.4, seed)
    found = fit(scores, companies, 0.75, 0.2)
    low, high = sorted((one, other))
    assert 0 <= found.probability(low, company) <= found.probability(high, company) <= 1
    many = found.probabilities(np.array([low, high]), np.array([company, np.nan]))
    assert many.tolist() == pytest.approx([found.probability(low, company), found.probability(high)])
