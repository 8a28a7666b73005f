"""Where words say that a link leads: what is learned of them, and what is read off a page."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lycosa.parse import Parsers
from lycosa.strategy import link_training
from lycosa.strategy.link_training import LEAST_PAGES, OF_ONE_PAGE, OF_ONE_SITE, Linked, ordering, train
from lycosa.strategy.link_words import MOST_VALUE, NEAR, TITLE, LinkModel, LinkWords, near_words, title_words
from lycosa.strategy.url_features import words_of
from lycosa.types import Link, Page, Reply

HTML = (
    """<title>The Courses of the Department</title><p>Lectures this term</p>
<ul><li>on Monday <a href="/algebra">Algebra</a> with homework</ul>"""
    + "<p>filler and more of it</p>" * 10
    + """
<a href="/news/">Picnic</a>"""
)


def read(html: str = HTML) -> Page:
    return Parsers().parse(Reply(Link("http://a.example/"), url="http://a.example/", status=200, body=html.encode()))


def promised(page: Page, *models: LinkWords) -> list[float]:
    return LinkModel(models).of(page, page.links, [words_of(link, page)[1] for link in page.links])[0]


def linked(label: str, site: str, *words: str, links: int = 1) -> Linked:
    return Linked(label, site, [list(words)] * links)


def two_sites(label: str, *words: str, pages: int = 10) -> list[Linked]:
    return [linked(label, f"{number % 2}.example", *words) for number in range(pages)]


# -- what is read off a page -------------------------------------------------------------------------------------------


def test_a_page_says_of_a_link_what_stands_near_it_and_in_its_title() -> None:
    page = read()
    assert title_words(page) == ["title cours", "title depart"]
    algebra, news = (near_words(link, page) for link in page.links)
    assert {"near homework", "near lectur", "near algebra"} <= set(algebra)
    assert "near homework" not in news
    assert not any("the" in word.split() for word in algebra)


def test_own_words_near_ones_and_the_title_add_up() -> None:
    weights = {"“algebra”": 2.0, "/news": 1.0, "near homework": 1.0, "title cours": 3.0, "“picnic”": 0.5}
    algebra, news = promised(read(), LinkWords(-0.5, weights))
    assert algebra == pytest.approx(-0.5 + 2.0 + NEAR + 3.0 * TITLE)
    assert news == pytest.approx(-0.5 + 1.5 + 3.0 * TITLE)


def test_a_word_near_a_link_counts_as_often_as_it_stands_there() -> None:
    (found,) = promised(read('<p>exam exam <a href="/x">here</a> exams</p>'), LinkWords(0.0, {"near exam": 1.0}))
    assert found == pytest.approx(3 * NEAR)


def test_no_word_is_held_against_a_link() -> None:
    assert promised(read(), LinkWords(0.0, {"“algebra”": -2.0, "/news": -1.0})) == [0.0, 0.0]


def test_of_several_classes_that_are_sought_the_best_counts_and_of_none_nothing_is_known() -> None:
    models = LinkWords(0.0, {"“algebra”": 1.0}), LinkWords(0.0, {"“algebra”": -1.0, "“picnic”": 2.0})
    assert promised(read(), *models) == [1.0, 2.0]
    assert promised(read()) == [0.0, 0.0]


def test_value_is_read_off_the_same_words_and_bounded() -> None:
    page = read()
    words = [words_of(link, page)[1] for link in page.links]
    value = LinkWords(0.5, {"“algebra”": 2.0, "/news": -1.0})
    assert LinkModel([], [value]).of(page, page.links, words) == ([0.0, 0.0], [2.5, 0.0])
    assert LinkModel([LinkWords(0.0, {"“picnic”": 1.0})], [value]).of(page, page.links, words)[0] == [0.0, 1.0]
    assert LinkModel([], [LinkWords(50.0, {})]).of(page, page.links, words)[1] == [MOST_VALUE] * 2


# -- what is learned ---------------------------------------------------------------------------------------------------


def test_words_that_lead_to_a_class_are_learned() -> None:
    pages = two_sites("course", "“lectur”", "near term") + two_sites("other", "“news”", "near term")
    model = train(pages).links["course"]
    assert model.words["“lectur”"] > 0 > model.words["“news”"]
    assert abs(model.words.get("near term", 0.0)) < 0.01  # leads to both
    assert model.bias == pytest.approx(0.0, abs=0.01)
    assert set(train(pages).links) == {"course", "other"}


def test_words_of_links_to_lists_are_learned_in_standard_deviations() -> None:
    pages = two_sites("list", "“index”", pages=100) + two_sites("course", "“lectur”", pages=100)
    pages += two_sites("other", "“news”", pages=200)
    worth = {"list": {"course": 3.0}, "course": {"course": 1.0}, "other": {}}
    trained = train(pages, [worth[page.label] for page in pages])
    found = trained.values["course"]
    assert found.words["“index”"] > found.words["“lectur”"] > found.words["“news”"]
    scores = [found.bias + found.words[page.links[0][0]] for page in pages]
    assert sum(scores) == pytest.approx(0.0, abs=0.1)
    assert sum(score**2 for score in scores) / len(scores) == pytest.approx(1.0, abs=0.05)
    assert set(trained.values) == set(trained.links) == {"course", "list", "other"}
    assert trained.values["other"].words == {}, "nothing is worth anything there"


def test_a_word_that_only_one_site_has_tells_nothing_of_others() -> None:
    pages = two_sites("course", "“lectur”") + two_sites("other", "“news”")
    pages += [linked("course", "0.example", "“ann”")] * 20
    assert "“ann”" not in train(pages).links["course"].words
    assert train([linked("course", "a.example", "“x”"), linked("other", "a.example", "“x”")] * 9).links == {}


def test_a_page_counts_once_however_many_links_lead_to_it() -> None:
    pages = [*two_sites("course", "“x”", "“y”"), *two_sites("other", "“x”")]
    often = [page._replace(links=list(page.links) * 7) if page.label == "course" else page for page in pages]
    once, seven = train(pages).links["course"], train(often).links["course"]
    assert seven.words == pytest.approx(once.words, abs=0.01)
    more = [linked("course", "0.example", "“x”", "“y”", links=OF_ONE_PAGE), *pages]
    assert train([more[0]._replace(links=more[0].links * 50), *pages]) == train(more)


def test_a_large_site_counts_for_little_more_than_others() -> None:
    pages = [linked("course", "big.example", "“x”")] * (5 * OF_ONE_SITE)
    for site in ("a.example", "b.example", "c.example"):
        pages += [linked("other", site, "“x”")] * OF_ONE_SITE
    for site in ("d.example", "e.example"):
        pages += [linked(label, site, "“y”") for label in ("course", "other")] * (OF_ONE_SITE // 2)
    found = train(pages).links["course"].words
    assert found["“y”"] > 0 > found["“x”"]  # three sites know better than one, whatever its size


def test_of_very_many_pages_some_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    pages = two_sites("course", "“lectur”", pages=200) + two_sites("other", "“news”", pages=200)
    monkeypatch.setattr(link_training, "MOST_PAGES", 50)
    found = train(pages).links
    assert found == train(pages).links
    assert found["course"].words["“lectur”"] > 0 > found["course"].words["“news”"]


def test_a_class_of_few_pages_or_without_any_others_is_left_out() -> None:
    few = two_sites("course", "“lectur”", pages=LEAST_PAGES - 1)
    assert set(train(few + two_sites("other", "“news”")).links) == {"other"}
    assert train(two_sites("course", "“lectur”")).links == {}
    assert train([]).links == {}
    assert train([Linked("course", "a.example", [])]).links == {}


def test_how_well_links_are_ordered_is_tested_on_sites_that_were_left_out() -> None:
    """“index” leads to lists everywhere; what “x” leads to differs from site to site."""
    pages = [linked("list", f"{number % 6}.example", "“index”") for number in range(60)]
    pages += [linked("other", f"{number % 6}.example", "“news”") for number in range(60)]
    worth = [{"list": 3.0} if page.label == "list" else {} for page in pages]
    assert ordering(pages, worth)["list"] == 1.0
    blind = [page._replace(links=[["“x”"]]) for page in pages]
    assert ordering(blind, worth)["list"] == 0.5
    assert ordering(pages[:1], worth[:1]) == {}


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(0, 40)), min_size=1, max_size=8), st.integers(0, 100))
def test_what_stands_near_a_link_is_its_context(spans: list[tuple[int, int]], size: int) -> None:
    page = Page(words=["exam", "hall", "day"] * (size // 3))
    most = len(page.words)
    links = [Link(f"http://a.example/{at}", start=min(at, most), end=min(at + more, most)) for at, more in spans]
    found = LinkModel([LinkWords(0.0, {"near exam": 1.0, "near hall": 2.0})]).of(page, links, [()] * len(links))[0]
    for link, promise in zip(links, found, strict=True):
        words = page.context(link)
        assert promise == pytest.approx(NEAR * (words.count("exam") + 2 * words.count("hall")), abs=1e-3)
