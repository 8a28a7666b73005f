"""Links in arrays behave as objects in a dict would: found by address, before and after the frontier knows them."""

import random
from typing import Any

import pytest

from lycosa.strategy import links as module
from lycosa.strategy.links import SOURCES, WORDS_KEPT, Find, Finds, Links, Names
from lycosa.strategy.sources import Source

LOW, HIGH = Source(0, 0.2, "", 1, 0.1, 1.0), Source(1, 0.8, "course", 0, 0.1, 1.0)


def find(words: tuple[int, ...] = (), **given: Any) -> Find:
    values = {"spot": 0, "depth": 2, "context": 0.1, "own": 0.2, "elsewhere": 0.0, "value": 0.0}
    return Find(words=words, **(values | given))  # type: ignore[arg-type]


def finds(urls: list[str], words: tuple[int, ...] = ()) -> Finds:
    """New links of one page, which says the same of all of them."""
    columns = {
        "ids": 0,
        "hosts": 1,
        "places": 2,
        "areas": 3,
        "contexts": 0.1,
        "owns": 0.2,
        "elsewheres": 0.0,
        "values": 0.0,
    }
    columns |= {"depths": 2, "spots": 0, "word_counts": len(words)}
    lists: dict[str, list[float]] = {name: [value] * len(urls) for name, value in columns.items()}
    return Finds(urls, [0] * len(urls), lists | {"words": [*words] * len(urls)})


def add(links: Links, source: Source, url: str = "http://a/x", words: tuple[int, ...] = ()) -> int:
    (row,) = links.add(source, finds([url], words), [0])
    return row


def test_a_name_has_one_number_and_none_has_zero() -> None:
    names = Names()
    assert [names["host a"], names["/x"], names["host a"], names[""]] == [1, 2, 1, 0]
    assert names.fresh() == ["host a", "/x"]
    assert names.fresh() == []
    same = Names()
    same.load(["host a", "/x"])
    assert (same["/x"], same.fresh(), same["new"], same.fresh()) == (2, [], 3, ["new"])


def test_a_link_is_found_by_its_address_before_and_after_the_frontier_knows_it() -> None:
    links, known = Links(), dict[str, int]()
    links.connect(lambda urls: [known.get(url, 0) for url in urls])
    row = add(links, LOW)
    assert links.find("http://a/x") == row
    assert links.find("http://a/y") == 0
    known["http://a/x"] = 70_000
    assert links.find("http://a/x") == row
    links.settle()
    assert (links.find("http://a/x"), links.row_of(70_000), links.ids[row]) == (row, row, 70_000)
    assert links.row_of(70_001) == links.row_of(1_000_000) == links.row_of(0) == 0
    assert links.take("http://a/x") == row
    assert links.find("http://a/x") == links.take("http://a/x") == 0


def test_a_link_that_the_frontier_refuses_keeps_its_name() -> None:
    links = Links()
    row = add(links, LOW)
    links.settle()
    assert (links.find("http://a/x"), links.ids[row], links.name_of(row)) == (row, 0, "http://a/x")
    assert links.take("http://a/x") == row
    assert links.find("http://a/x") == 0


def test_the_most_relevant_page_speaks_for_a_link() -> None:
    links = Links()
    row = add(links, LOW)
    assert links.best[row] == LOW.number
    links.again(row, HIGH, find(spot=3, depth=1, context=0.3, own=0.1, elsewhere=0.5, value=0.25, words=(9,)), LOW)
    assert links.best[row] == HIGH.number
    assert (links.depths[row], links.contexts[row], links.owns[row]) == (1, 0.3, 0.2)
    assert (links.elsewheres[row], links.values[row]) == (0.5, 0.25)
    assert (list(links.words(row)), links.found(row)) == ([9], [(0, 0), (1, 3)])
    links.again(row, LOW, None, HIGH)
    assert (links.counts[row], links.cash[row]) == (2, pytest.approx(0.3))


def test_words_of_all_its_pages_count_up_to_some() -> None:
    links = Links()
    row = add(links, LOW, words=(1, 2, 3))
    links.again(row, HIGH, find(words=(3, 4)), LOW)
    assert list(links.words(row)) == [1, 2, 3, 4]
    links.again(row, HIGH, find(words=tuple(range(50))), LOW)
    assert len(links.words(row)) == WORDS_KEPT
    assert links.counts[row] == SOURCES


def test_a_row_is_used_again_and_starts_empty() -> None:
    links = Links()
    row = add(links, LOW, words=(1, 2))
    links.twins[row] = links.turns[row] = 1
    links.release(links.take("http://a/x"))
    assert len(links) == 0
    again = add(links, HIGH, "http://a/y")
    assert again == row
    assert (links.twins[row], links.turns[row], list(links.words(row)), links.found(row)) == (0, 0, [], [(1, 0)])


def test_words_of_links_that_are_gone_are_swept_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_FEW", 50)
    links, chance = Links(), random.Random(1)
    left: dict[str, list[int]] = {}
    for number in range(6_000):
        url, words = f"http://a/{number}", [chance.randrange(99) for _ in range(chance.randrange(9))]
        add(links, LOW, url, tuple(words))
        left[url] = words
        if len(left) > 40:
            gone = chance.choice(list(left))
            links.release(links.take(gone))
            del left[gone]
    assert {url: list(links.words(links.find(url))) for url in left} == left
    assert len(links._words) < 1_000
    assert len(links) == len(left)


def test_links_that_fill_gaps_keep_to_their_rows() -> None:
    links = Links()
    urls = [f"http://a/{number}" for number in range(5_000)]
    rows = links.add(LOW, finds(urls, (7,)), range(len(urls)))
    assert [links.find(url) for url in urls] == [*rows]
    for url in urls[::3]:
        links.release(links.take(url))
    more = [f"http://b/{number}" for number in range(3_000)]
    chosen = [at for at in range(len(more)) if at % 2]
    added = links.add(HIGH, finds(more, (8, 9)), chosen)
    assert len({*added}) == len(chosen)
    assert [links.find(more[at]) for at in chosen] == [*added]
    assert all(list(links.words(row)) == [8, 9] and links.found(row) == [(1, 0)] for row in added)
    left = [url for at, url in enumerate(urls) if at % 3]
    assert all(list(links.words(links.find(url))) == [7] and links.found(links.find(url)) == [(0, 0)] for url in left)
