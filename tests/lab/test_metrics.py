"""Every measure with numbers worked out by hand, or published with the crawlers they measured."""

from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lycosa.lab.metrics import (
    area_under_recall,
    distances_of_best,
    effectiveness,
    estimated_total,
    exclusive_harvest,
    harvest_curve,
    harvest_rate,
    harvest_ratio,
    improvement,
    link_distances,
    overlap,
    pages_per_relevant_site,
    recall_curve,
    relevance_distribution,
    relevance_histogram,
    robustness,
    running_mean,
    target_recall,
)

RELEVANT = [bool(one) for one in (1, 0, 1, 1, 0, 0, 1, 0, 1, 1)]
RELEVANCES = [0.05, 0.12, 0.31, 0.33, 0.35, 0.92]
near = pytest.approx


def names(*numbers: int) -> list[str]:
    return [f"http://h/{number}" for number in numbers]


class TestHarvest:
    def test_rate_counts_pages(self) -> None:
        assert harvest_rate(RELEVANT) == 0.6

    def test_rate_of_the_last_pages(self) -> None:
        assert harvest_rate(RELEVANT, window=5) == 0.6
        assert harvest_rate(RELEVANT, window=3) == near(2 / 3)
        assert harvest_rate(RELEVANT, window=50) == 0.6

    def test_ratio_is_a_mean(self) -> None:
        assert harvest_ratio([0.9, 0.2, 0.7]) == near(0.6)

    def test_nothing_fetched(self) -> None:
        assert harvest_rate([]) == harvest_ratio([]) == 0.0
        assert harvest_curve([]) == running_mean([]) == []

    def test_the_curve_ends_at_the_rate(self) -> None:
        assert harvest_curve(RELEVANT)[:4] == [1.0, 0.5, near(2 / 3), 0.75]
        assert harvest_curve(RELEVANT)[-1] == harvest_rate(RELEVANT)

    def test_the_curve_of_a_window(self) -> None:
        assert harvest_curve(RELEVANT, window=2) == [1.0, 0.5, 0.5, 1.0, 0.5, 0.0, 0.5, 0.5, 0.5, 1.0]

    @given(st.lists(st.booleans(), max_size=60), st.integers(0, 70))
    def test_the_curve_is_the_rate_of_every_beginning(self, relevant: list[bool], window: int) -> None:
        expected = [harvest_rate(relevant[:n], window) for n in range(1, len(relevant) + 1)]
        assert harvest_curve(relevant, window) == near(expected)

    def test_running_mean(self) -> None:
        assert running_mean([0.9, 0.2, 0.7]) == near([0.9, 0.55, 0.6])
        assert running_mean(RELEVANCES)[-1] == near(0.346667, abs=1e-6)


class TestRecall:
    FETCHED, TARGETS = names(1, 2, 3, 9), set(names(2, 3, 4, 5, 6))

    def test_share_of_the_targets(self) -> None:
        assert target_recall(self.FETCHED, self.TARGETS) == 0.4

    def test_curve(self) -> None:
        assert recall_curve(self.FETCHED, self.TARGETS) == [0.0, 0.2, 0.4, 0.4]

    def test_a_page_counts_once(self) -> None:
        assert recall_curve(names(2, 2, 3), self.TARGETS) == [0.2, 0.2, 0.4]
        assert target_recall(names(2, 2, 3), self.TARGETS) == 0.4

    def test_no_targets(self) -> None:
        assert target_recall(self.FETCHED, set()) == 0.0
        assert recall_curve(self.FETCHED, set()) == [0.0] * 4

    def test_area(self) -> None:
        assert area_under_recall(self.FETCHED, self.TARGETS, 4) == near((0 + 0.2 + 0.4 + 0.4) / 4)

    def test_area_of_a_part(self) -> None:
        assert area_under_recall(self.FETCHED, self.TARGETS, 2) == near(0.1)

    def test_a_crawl_that_ended_early_keeps_what_it_has(self) -> None:
        assert area_under_recall(self.FETCHED, self.TARGETS, 10) == near((0.2 + 0.4 * 8) / 10)

    def test_nothing(self) -> None:
        assert area_under_recall([], self.TARGETS, 10) == 0.0
        assert area_under_recall(self.FETCHED, set(), 10) == 0.0
        assert area_under_recall(self.FETCHED, self.TARGETS, 0) == 0.0

    @given(st.permutations(names(*range(12))))
    def test_no_order_beats_targets_first(self, order: list[str]) -> None:
        targets = set(names(0, 1, 2))
        best = area_under_recall(names(*range(12)), targets, 12)
        worst = area_under_recall(names(*reversed(range(12))), targets, 12)
        assert worst <= area_under_recall(order, targets, 12) <= best <= 1.0


class TestEffectiveness:
    """Tables 1 and 2 of the Publication Spider report, and its F1."""

    CRAWLED = (100, 129, 200, 300, 400, 500, 600, 700, 800, 900, 1000, 1100, 1200, 1300, 1400)
    BASELINE = (0, 1, 11, 18, 38, 45, 45, 45, 45, 45, 45, 45, 45, 45, 45)
    IMPROVED = (20, 34, 40, 53, 71, 80, 87, 90, 96, 99, 106, 112, 114, 115, 117)
    PRECISION = (20, 26.36, 20, 17.67, 17.75, 16, 14.5, 12.86, 12, 11, 10.6, 10.18, 9.5, 8.85, 8.36)
    RECALL = (11.83, 20.12, 23.67, 31.36, 42.01, 47.34, 51.48, 53.25, 56.80, 58.58, 62.72, 66.27, 67.46, 68.05, 69.23)
    TIMES = (inf, 3400, 364, 294, 187, 178, 193, 200, 213, 220, 236, 249, 253, 256, 260)
    TOTAL = 169

    def test_the_total_is_estimated_from_samples(self) -> None:
        assert 100 + round(estimated_total(114, 28, 10)) + round(estimated_total(83, 21, 7)) == self.TOTAL

    def test_published_precision_and_recall(self) -> None:
        for crawled, found, precision, recall in zip(
            self.CRAWLED, self.IMPROVED, self.PRECISION, self.RECALL, strict=True
        ):
            got = effectiveness(found, crawled, self.TOTAL)
            assert (100 * got.precision, 100 * got.recall) == near((precision, recall), abs=0.006)

    def test_published_improvement(self) -> None:
        for improved, baseline, times in zip(self.IMPROVED, self.BASELINE, self.TIMES, strict=True):
            assert 100 * improvement(improved, baseline) == near(times, abs=0.56)

    def test_published_f1(self) -> None:
        assert effectiveness(45, 1400, self.TOTAL).f1 == near(0.057, abs=6e-4)
        assert effectiveness(117, 1400, self.TOTAL).f1 == near(0.149, abs=6e-4)

    def test_f1_is_the_harmonic_mean(self) -> None:
        got = effectiveness(117, 1400, self.TOTAL)
        assert got.f1 == near(2 * got.precision * got.recall / (got.precision + got.recall), abs=1e-12)

    def test_nothing(self) -> None:
        got = effectiveness(0, 0, 0)
        assert (got.precision, got.recall, got.f1) == (0.0, 0.0, 0.0)

    def test_improvement(self) -> None:
        assert improvement(4115.73, 1437.93) == near(2.862, abs=1e-3)  # minutes for 100,000 pages: link context, OTIE
        assert improvement(0, 0) == 1.0


class TestTwoCrawls:
    ONE, OTHER = names(*range(100)), names(*range(90, 190))
    RELEVANCE = {page: 0.5 if number < 90 else 0.9 for number, page in enumerate(ONE)}  # noqa: RUF012

    def test_overlap(self) -> None:
        assert overlap(self.ONE, self.OTHER) == 0.1
        assert overlap(self.ONE, self.ONE) == 1.0

    def test_overlap_of_crawls_of_different_length(self) -> None:
        assert overlap(self.ONE, self.ONE[:50]) == 0.5
        assert overlap([], []) == 0.0

    def test_exclusive_harvest(self) -> None:
        assert harvest_ratio(self.RELEVANCE.values()) == near(0.54)
        assert exclusive_harvest(self.RELEVANCE, self.OTHER) == near(0.5)
        assert exclusive_harvest(self.RELEVANCE, self.ONE) == 0.0

    def test_published_robustness(self) -> None:
        one, other = names(*range(20_761)), names(*range(10_439, 31_200))
        assert robustness(one, other) == near(0.497, abs=5e-4)

    def test_robustness_compares_equally_many(self) -> None:
        assert robustness(names(1, 2, 3, 4), names(4, 3)) == 0.0
        assert robustness(names(3, 2, 1, 4), names(4, 3)) == 0.5


class TestDistribution:
    def test_histogram(self) -> None:
        assert relevance_histogram(RELEVANCES) == [1, 1, 0, 3, 0, 0, 0, 0, 0, 1]

    def test_percent(self) -> None:
        assert relevance_distribution(RELEVANCES)[3] == 50.0
        assert sum(relevance_distribution(RELEVANCES, bins=3)) == near(100.0)
        assert relevance_distribution([]) == [0.0] * 10

    def test_the_ends(self) -> None:
        assert relevance_histogram([0.0, 1.0], bins=4) == [1, 0, 0, 1]

    @given(st.lists(st.floats(0, 1), max_size=50), st.integers(1, 20))
    def test_every_page_is_in_one_part(self, relevances: list[float], bins: int) -> None:
        assert sum(relevance_histogram(relevances, bins)) == len(relevances)


class TestDistance:
    LINKS = {"A": ["C", "D"], "B": ["C", "E"], "C": ["A", "D"], "D": ["A"], "E": []}  # noqa: RUF012

    def test_clicks_from_one_seed(self) -> None:
        assert link_distances(self.LINKS.__getitem__, ["A"]) == {"A": 0, "C": 1, "D": 1}

    def test_the_nearest_seed_counts(self) -> None:
        assert link_distances(self.LINKS.__getitem__, ["B", "D"]) == {"B": 0, "D": 0, "C": 1, "E": 1, "A": 1}
        assert link_distances(self.LINKS.__getitem__, []) == {}

    def test_nearest_first(self) -> None:
        chain = {"A": ["B"], "B": ["C"], "C": ["D"], "D": []}
        assert list(link_distances(chain.__getitem__, ["A"]).items()) == [("A", 0), ("B", 1), ("C", 2), ("D", 3)]

    def test_of_the_best(self) -> None:
        relevances = {"A": 0.1, "D": 0.9, "C": 0.5, "E": 0.7}
        distances = link_distances(self.LINKS.__getitem__, ["A"])
        assert distances_of_best(relevances, distances, 3) == [1, None, 1]
        assert distances_of_best(relevances, distances) == [1, None, 1, 0]


class TestSites:
    def test_published_example(self) -> None:
        pages = [f"http://site{number % 100}.example/{number}" for number in range(370)]
        relevant = [number % 100 < 50 for number in range(370)]
        assert pages_per_relevant_site(pages, relevant) == near(7.4)

    def test_what_is_a_site(self) -> None:
        pages = ["http://a.x.org/", "http://b.x.org/", "http://y.org/"]
        assert pages_per_relevant_site(pages, [True, True, False]) == 1.5
        assert pages_per_relevant_site(pages, [True, True, False], lambda url: url.split("/")[2][-5:]) == 3.0

    def test_no_relevant_site(self) -> None:
        assert pages_per_relevant_site(names(1, 2), [False, False]) == inf
