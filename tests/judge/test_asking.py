"""Which pages a person is asked about."""

from collections import Counter

from lycosa.judge.asking import choose
from lycosa.store.labels import Candidate


def page(number: int, relevance: float, simhash: int | None = None) -> Candidate:
    spread = number * 0x9E3779B97F4A7C15 % (1 << 63)  # far apart, as the pages of a crawl are
    simhash = spread if simhash is None else simhash
    return Candidate(f"http://a/{number}", "", relevance, relevance >= 0.5, "", {}, simhash, "", "", "", 0)


PAGES = [page(number, number / 100) for number in range(100)]


def test_half_uncertain_a_quarter_best_a_quarter_random() -> None:
    found = choose(PAGES, (), 20, seed=3)
    assert Counter(question.chosen for question in found) == {"uncertain": 10, "best": 5, "random": 5}
    assert len({question.page.url for question in found}) == 20
    assert all(question.page.on_topic for question in found if question.chosen == "random")
    uncertain = [question.page.relevance for question in found if question.chosen == "uncertain"]
    assert all(0.4 <= relevance <= 0.6 for relevance in uncertain)
    best = [question.page.relevance for question in found if question.chosen == "best"]
    assert min(best) >= 0.85


def test_chance_is_seeded() -> None:
    assert choose(PAGES, (), 20, seed=3) == choose(PAGES, (), 20, seed=3)
    assert choose(PAGES, (), 20, seed=3) != choose(PAGES, (), 20, seed=4)


def test_whoever_stops_early_has_answered_some_of_each() -> None:
    assert [question.chosen for question in choose(PAGES, (), 20)[:4]] == ["uncertain", "best", "uncertain", "random"]


def test_no_page_is_asked_about_twice() -> None:
    first = {question.page.url for question in choose(PAGES, (), 20)}
    assert not first & {question.page.url for question in choose(PAGES, first, 20)}
    assert choose(PAGES, {one.url for one in PAGES}, 20) == []
    assert len(choose(PAGES[:3], (), 20)) == 3


def test_near_duplicates_are_asked_about_once() -> None:
    pages = [page(1, 0.9, simhash=0b1000_0000), page(2, 0.9, simhash=0b1000_0111), page(3, 0.9, simhash=-1)]
    assert {question.page.url for question in choose(pages, (), 9)} < {"http://a/1", "http://a/2", "http://a/3"}
    assert [question.page.url for question in choose(pages, {"http://a/2"}, 9)] == ["http://a/3"]


def test_the_line_is_where_the_judge_draws_it() -> None:
    """Some judges call a page relevant from 0.1 on."""
    pages = [page(number, number / 100)._replace(on_topic=number >= 10) for number in range(100)]
    uncertain = [one.page.relevance for one in choose(pages, (), 8) if one.chosen == "uncertain"]
    assert all(abs(relevance - 0.1) <= 0.04 for relevance in uncertain)
