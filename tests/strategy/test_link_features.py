"""What speaks for a link: counts against the going rate, scales, kinds of address, words."""

from math import log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lycosa.strategy.link_features import AREA, MEMORY, Scale, Surpluses, Tally
from lycosa.strategy.links import Names
from lycosa.strategy.url_features import MOST_WORDS, folder_of, levels_down, marks_of, twins, words_of
from lycosa.types import Link, Page


def test_the_surplus_compares_with_what_was_to_be_expected() -> None:
    assert Tally().surplus(0.1) == 0
    assert Tally(1, 10).surplus(0.1) == 0
    assert Tally(3, 10).surplus(0.1) == pytest.approx(log(4 / 2))
    assert Tally(0, 10).surplus(0.1) == pytest.approx(log(1 / 2))


def test_where_good_pages_are_rare_failures_tell_little() -> None:
    assert Tally(0, 10).surplus(0.01) > Tally(0, 10).surplus(0.3)


def test_a_tally_forgets_slowly() -> None:
    tally = Tally()
    for _ in range(MEMORY):
        tally.add(1.0)
    for _ in range(3 * MEMORY):
        tally.add(0.0)
    assert tally.good / tally.tried < 0.15
    assert tally.tried <= MEMORY


def test_credit_adds_no_try() -> None:
    tally = Tally(1, 2)
    tally.add(0.3, 0.0)
    assert (tally.good, tally.tried) == (1.3, 2)


@given(st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=50))
def test_a_scale_knows_mean_and_spread(values: list[float]) -> None:
    scale = Scale()
    scale.add(values[:2])
    scale.add(values[2:])
    mean = sum(values) / len(values)
    assert scale.mean == pytest.approx(mean, abs=1e-6)
    assert scale.square == pytest.approx(sum((value - mean) ** 2 for value in values) / len(values), abs=1e-4)
    assert all(-3 <= scale.of(value) <= 3 for value in values)
    assert Scale(*scale.state()).of(1.0) == scale.of(1.0)


def test_a_scale_without_spread_tells_nothing() -> None:
    scale = Scale()
    assert scale.of(5.0) == 0
    scale.add([2.0])
    assert scale.of(5.0) == 0


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("http://a.example/users/ann/", "http://a.example/users/bob/"),
        ("http://a.example/docs/x.html", "http://a.example/docs/y.htm"),
        ("http://a.example/~ann/", "http://a.example/~bob/"),
        ("http://a.example/show?id=1", "http://a.example/view?id=2"),
    ],
)
def test_addresses_of_one_kind(one: str, other: str) -> None:
    assert marks_of(one)[1] == marks_of(other)[1]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("http://a.example/users/ann/", "http://b.example/users/ann/"),
        ("http://a.example/users/ann/", "http://a.example/docs/ann/"),
        ("http://a.example/users/ann/", "http://a.example/users/ann/papers/"),
        ("http://a.example/users/ann/", "http://a.example/users/ann.html"),
        ("http://a.example/show", "http://a.example/show?id=1"),
    ],
)
def test_addresses_of_different_kinds(one: str, other: str) -> None:
    assert marks_of(one)[1] != marks_of(other)[1]


@pytest.mark.parametrize(
    ("url", "levels"),
    [
        ("http://a.example/", 0),
        ("http://a.example/index.html", 0),
        ("http://a.example/?page=2", 1),
        ("http://a.example/docs/", 1),
        ("http://a.example/docs", 1),
        ("http://a.example/docs/people.html", 2),
        ("http://a.example/~ann/papers/Index.html", 2),
        ("http://a.example/show?id=1/2/3", 2),
    ],
)
def test_how_far_an_address_is_below_the_root_of_its_host(url: str, levels: int) -> None:
    assert levels_down(url) == levels


def test_words_come_from_anchor_and_address() -> None:
    page = Page(words=["see", "the", "courses", "of", "ann", "here"])
    link = Link("http://a.example/~ann/Courses/cs101.html?x=1", "", "The Courses of Ann", 1, 1, 5)
    judged, counted = words_of(link, page)
    assert judged == ["the", "courses", "of", "ann", "~", "ann", "courses", "cs", "html"]
    assert counted == ["“cours”", "“ann”", "/~", "/ann", "/courses", "/cs", "/html"]


def test_a_word_is_counted_once() -> None:
    link = Link("http://a.example/art/art/of/art.html", "", "Art and arts")
    assert words_of(link, Page()) == (
        ["art", "and", "arts", "art", "art", "of", "art", "html"],
        ["“art”", "/art", "/of", "/html"],
    )


def test_no_link_has_many_words() -> None:
    link = Link(f"http://a.example/{'/'.join(['word' + chr(97 + n) for n in range(26)])}", "", "many words " * 50)
    judged, counted = words_of(link, Page())
    assert len(judged) <= 2 * MOST_WORDS
    assert len(counted) <= MOST_WORDS
    assert words_of(Link("http://a.example/"), Page()) == ([], [])


def test_an_image_has_a_label_for_an_anchor() -> None:
    assert words_of(Link("http://a.example/", "", "Our Courses"), Page(words=["else"])) == (
        ["our", "courses"],
        ["“cours”"],
    )


def test_a_surplus_holds_until_its_count_or_the_rate_changes() -> None:
    surplus = Surpluses()
    a, b, c = 1, 2, 3
    surplus.restore({a: Tally(3, 10), c: Tally(1, 2)})
    surplus.start(0.1)
    assert (surplus[a], surplus[b]) == (Tally(3, 10).surplus(surplus.rate), 0.0)
    surplus.count(a, 1.0)
    surplus.count(b, 0.0)
    surplus.start(0.1)
    assert (surplus[a], surplus[b]) == (Tally(4, 11).surplus(surplus.rate), Tally(0, 1).surplus(surplus.rate))
    assert surplus[c] == Tally(1, 2).surplus(surplus.rate)
    surplus.start(0.2)
    assert (surplus[a], surplus[b]) == (Tally(4, 11).surplus(surplus.rate), Tally(0, 1).surplus(surplus.rate))
    assert surplus[c] == Tally(1, 2).surplus(surplus.rate)


def test_a_rate_is_rounded_up_by_one_percent_at_most_so_that_small_changes_keep_what_is_known() -> None:
    surplus = Surpluses()
    surplus.restore({1: Tally(3, 10)})
    for rate in (0.0001, 0.0501, 0.1, 0.5, 0.99):
        surplus.start(rate)
        assert rate <= surplus.rate <= 1.0101 * rate
        assert surplus[1] == Tally(3, 10).surplus(surplus.rate)
    surplus.start(0.1)
    before = surplus[1]
    surplus.start(0.10001)
    assert surplus[1] == before
    surplus.start(0.102)
    assert surplus[1] < before


def test_the_surplus_of_words_is_that_of_each_and_of_areas_counts_against_links_only() -> None:
    surplus, good, bad, none = Surpluses(), 1, 2, 3
    surplus.reach(none + 1)
    surplus.start(0.1)
    for _ in range(2):
        surplus.count(good, 1.0)
        surplus.count(bad, 0.0)
        assert surplus.sum([good, none, bad]) == surplus[good] + surplus[bad] == surplus.sum([good, bad])
        assert surplus.sum([none, none]) == 0.0
        assert surplus.area(bad) == surplus.tallies[bad].surplus(surplus.rate, AREA) < 0.0
        assert (surplus.area(good), surplus.area(none)) == (0.0, 0.0)
        surplus.start(0.2)


def test_there_is_room_for_any_name() -> None:
    surplus = Surpluses()
    surplus.count(100_000, 1.0)
    surplus.start(0.1)
    assert surplus[100_000] == Tally(1, 1).surplus(surplus.rate)
    surplus.reach(200_000)
    assert surplus[199_999] == surplus[0] == 0.0


@pytest.mark.parametrize(
    ("url", "area"),
    [
        ("http://h/~ann", "h/~ann"),
        ("http://h/~ann/", "h/~ann"),
        ("http://h/~ann/cs1/notes.html", "h/~ann"),
        ("http://h/users/bob", "h/users/bob"),
        ("http://h/users/bob/", "h/users/bob"),
        ("http://h/users/bob/x/y.html?z=/q/r/s", "h/users/bob"),
        ("http://h/users/bob.v2/x.html", "h/users/bob.v2"),
        ("http://h/docs/list.html", ""),
        ("http://h/docs/", ""),
        ("http://h/docs", ""),
        ("http://h/", ""),
        ("http://h/?a/b/c", ""),
    ],
)
def test_a_person_s_or_project_s_part_of_a_host_is_told_by_its_folders(url: str, area: str) -> None:
    assert marks_of(url)[2] == (f"area {area}" if area else "")


@given(st.lists(st.sampled_from(["~", "ann", ".", "/", "?", "x.html", "cs"]), max_size=7))
def test_the_kind_of_an_address_is_remembered_by_all_that_tells_it(parts: list[str]) -> None:
    url = f"http://h/{''.join(parts)}"
    names = Names()
    for _ in range(2):
        (marks,) = names.marks([url])
        assert tuple(names.all[number] for number in marks) == marks_of(url)


@pytest.mark.parametrize(
    ("url", "folder"),
    [
        ("http://a.example/x/", "http://a.example/x"),
        ("http://a.example/x", "http://a.example/x"),
        ("http://a.example/x/index.html", "http://a.example/x"),
        ("http://a.example/x/Default.htm", "http://a.example/x"),
        ("http://a.example/", "http://a.example"),
        ("http://a.example/index.html?page=2", ""),
        ("http://a.example/x/?page=2", ""),
        ("http://a.example/x?page=2", ""),
        ("http://a.example/x/news.html", ""),
    ],
)
def test_addresses_of_one_folder_are_twins(url: str, folder: str) -> None:
    assert folder_of(url) == folder


def test_all_twins_have_one_folder() -> None:
    assert {folder_of(twin) for twin in twins("http://a.example/x")} == {"http://a.example/x"}


def test_good_pages_that_are_taken_back_never_leave_less_than_none() -> None:
    tally = Tally(1.0, 10.0)
    tally.add(-3.0, 0.0)
    assert tally.state() == [0.0, 10.0]
    assert tally.surplus(0.5) < 0
