"""The harvest curve, kept small, and what it says of the pages still to come."""

import json
from math import exp
from random import Random

import pytest

from lycosa.estimate.decay import LEAST_FOUND, MOST_BINS, Curve, extrapolate


def curve(rates: list[float], seed: int = 0) -> Curve:
    """Pages that are relevant with these probabilities."""
    made, chance = Curve(), Random(seed)
    for rate in rates:
        made.add(chance.random() < rate)
    return made


def fading(pages: int, speed: float, start: float = 0.9) -> list[float]:
    return [start * exp(-page / speed) for page in range(pages)]


def test_it_says_nothing_about_a_handful_of_pages() -> None:
    made = curve([0.0] * 500)
    assert extrapolate(made) is None
    for _ in range(LEAST_FOUND):
        made.add(True)
    assert extrapolate(made) is not None


def test_a_steady_harvest_leaves_everything_open() -> None:
    low, middle, high = extrapolate(curve([0.5] * 1_000)) or (1, 1, 1)
    assert low == 0.0
    assert middle < 0.6
    assert high > 0.9


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("lengths", [1.0, 2.0, 3.0])
def test_a_fading_harvest_is_extrapolated(lengths: float, seed: int) -> None:
    pages, speed = 1_000, 1_000 / lengths
    truth = 1 - exp(-lengths)
    found = extrapolate(curve(fading(pages, speed), seed))
    assert found
    assert found.low - 0.05 <= truth <= found.high + 0.05
    assert abs(found.middle - truth) < 0.15


def test_a_harvest_that_broke_off_is_complete() -> None:
    found = extrapolate(curve([0.8] * 200 + [0.0] * 800))
    assert found
    assert found.low > 0.95


def test_a_new_list_makes_it_humble_again() -> None:
    done = curve([0.8] * 200 + [0.0] * 400)
    before = extrapolate(done)
    for _ in range(60):
        done.add(True)
    after = extrapolate(done)
    assert before
    assert after
    assert after.low < before.low - 0.3


def test_it_stays_small_and_loses_no_page() -> None:
    made = curve([0.3] * 100_000)
    assert len(made.bins) <= MOST_BINS
    assert made.pages == 100_000
    assert made.width * (len(made.bins) - 1) < made.pages <= made.width * len(made.bins)
    assert made.found == pytest.approx(30_000, abs=600)
    assert len(json.dumps(made.save())) < 1_500


def test_state_survives() -> None:
    made, again = curve(fading(777, 300)), Curve()
    again.load(json.loads(json.dumps(made.save())))
    for both in (made, again):
        both.add(True)
    assert again.save() == made.save()
    assert extrapolate(again) == extrapolate(made)
