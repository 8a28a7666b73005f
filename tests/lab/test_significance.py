"""The t-test against worked numbers, printed tables and an independent implementation."""

from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lycosa.lab.significance import half_width, mean, paired_t_test, standard_error, t_critical, t_survival

FIRST = [0.31, 0.28, 0.40, 0.22, 0.35, 0.30, 0.27, 0.33]
SECOND = [0.25, 0.27, 0.33, 0.20, 0.30, 0.31, 0.22, 0.28]
near = pytest.approx


class TestPairedTest:
    def test_worked_example(self) -> None:
        got = paired_t_test(FIRST, SECOND)
        assert (got.difference, got.error) == near((0.0375, 0.009774), abs=1e-6)
        assert got.t == near(3.8366, abs=1e-4)
        assert got.freedom == 7
        assert got.t > t_critical(0.05, 7)
        assert got.is_significant()
        assert not got.is_significant(0.001)

    def test_the_other_way_round(self) -> None:
        one, other = paired_t_test(FIRST, SECOND), paired_t_test(SECOND, FIRST)
        assert other.t == near(-one.t)
        assert one.p + other.p == near(1.0)
        assert not other.is_significant()

    def test_against_scipy(self) -> None:
        stats = pytest.importorskip("scipy.stats")
        theirs = stats.ttest_rel(FIRST, SECOND, alternative="greater")
        ours = paired_t_test(FIRST, SECOND)
        assert (ours.t, ours.p) == near((theirs.statistic, theirs.pvalue), rel=1e-10)

    def test_the_same_difference_everywhere(self) -> None:
        always = paired_t_test([0.2, 0.4, 0.6], [0.1, 0.3, 0.5])
        assert (always.t, always.p) == (inf, 0.0)
        never = paired_t_test([0.1, 0.3, 0.5], [0.2, 0.4, 0.6])
        assert (never.t, never.p) == (-inf, 1.0)

    def test_no_difference_at_all(self) -> None:
        got = paired_t_test(FIRST, FIRST)
        assert (got.t, got.p) == (0.0, near(0.5))
        assert not got.is_significant()

    def test_pairs_are_needed(self) -> None:
        with pytest.raises(ValueError, match="zip"):
            paired_t_test([0.1, 0.2], [0.1])
        with pytest.raises(ValueError, match="two values"):
            paired_t_test([0.1], [0.2])
        with pytest.raises(ValueError, match="no values"):
            paired_t_test([], [])


class TestErrors:
    def test_standard_error(self) -> None:
        assert standard_error([1.0, 2.0, 3.0, 4.0]) == near((5 / 3) ** 0.5 / 2)
        assert mean([1.0, 2.0, 6.0]) == 3.0

    def test_half_width_of_a_published_running_time(self) -> None:
        assert half_width(102.31, 9) == near(231.4, abs=0.1)

    def test_a_wider_interval_is_surer(self) -> None:
        assert half_width(1.0, 9, 0.99) > half_width(1.0, 9, 0.95) > half_width(1.0, 9, 0.5)


class TestStudent:
    @pytest.mark.parametrize(
        ("p", "freedom", "expected"),
        [(0.05, 29, 1.699), (0.05, 7, 1.895), (0.025, 9, 2.262), (0.05, 1, 6.314), (0.005, 10, 3.169)],
    )
    def test_printed_table(self, p: float, freedom: int, expected: float) -> None:
        assert t_critical(p, freedom) == near(expected, abs=5e-4)
        assert t_critical(1 - p, freedom) == near(-expected, abs=5e-4)

    def test_the_middle(self) -> None:
        assert t_survival(0.0, 5) == 0.5
        assert t_critical(0.5, 5) == 0.0

    def test_the_ends(self) -> None:
        assert (t_survival(inf, 3), t_survival(-inf, 3)) == (0.0, 1.0)
        assert 0.0 < t_survival(1e6, 1) < 1e-6
        for p in (0.0, 1.0, -1.0, 2.0):
            with pytest.raises(ValueError, match="probability"):
                t_critical(p, 3)

    def test_one_degree_of_freedom_is_cauchy(self) -> None:
        assert t_survival(1.0, 1) == near(0.25)

    def test_many_degrees_of_freedom_are_normal(self) -> None:
        assert t_survival(1.959964, 10**7) == near(0.025, abs=1e-6)

    @given(st.floats(-40, 40), st.integers(1, 5_000))
    def test_against_scipy(self, t: float, freedom: int) -> None:
        stats = pytest.importorskip("scipy.stats")
        assert t_survival(t, freedom) == near(stats.t.sf(t, freedom), rel=1e-8, abs=1e-300)

    @given(st.floats(0.0001, 0.9999), st.integers(1, 200))
    def test_critical_and_survival_are_inverse(self, p: float, freedom: int) -> None:
        assert t_survival(t_critical(p, freedom), freedom) == near(p, rel=1e-9)
