"""Curves of many crawls on the same marks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lycosa.lab.reproduce.measures import averaged, marks, sampled, text_of


def test_marks_end_with_the_last_page() -> None:
    assert marks(100, 4) == [25, 50, 75, 100]
    assert marks(3, 40) == [1, 2, 3]


@given(st.integers(1, 5_000), st.integers(1, 60))
def test_marks_rise_and_are_pages(pages: int, points: int) -> None:
    found = marks(pages, points)
    assert found[-1] == pages
    assert found == sorted(set(found))
    assert found[0] >= 1


def test_a_crawl_that_ended_early_keeps_its_last_value() -> None:
    assert sampled([0.1, 0.2], 4) == [0.1, 0.2, 0.2, 0.2]
    assert sampled([], 2) == [0.0, 0.0]


def test_mean_and_standard_error() -> None:
    middle, error = averaged([[0.0, 1.0], [1.0, 1.0]])
    assert middle == [0.5, 1.0]
    assert error == pytest.approx([0.5, 0.0])
    assert averaged([[0.3]]) == ([0.3], [])


def test_values_as_text() -> None:
    assert text_of([]) == "-"
    assert text_of([0.25]) == "0.250"
    assert text_of([1.0, 3.0], 1) == "2.0 ± 1.0"
