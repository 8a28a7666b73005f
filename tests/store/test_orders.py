"""Orders are kept in crawl.db; an exclusion means what a person expects."""

import pytest

from lycosa.errors import BadInput
from lycosa.store import orders
from lycosa.store.db import CrawlDb


@pytest.fixture
def db() -> CrawlDb:
    return CrawlDb(":memory:").open()


def test_seeds_and_exclusions_are_kept_once_and_in_order(db: CrawlDb) -> None:
    orders.add_seeds(db, ["http://a/", "http://b/"])
    orders.add_seeds(db, ["http://b/", "http://c/"])
    assert orders.added_seeds(db) == ["http://a/", "http://b/", "http://c/"]
    for what in (orders.exclusion(host="a.example"), orders.exclusion(pattern="x+"), orders.exclusion("a.example")):
        orders.add_exclusion(db, what)
    assert [*map(str, orders.exclusions(db))] == ["a.example", "pattern x+"]


@pytest.mark.parametrize(
    ("host", "url", "excluded"),
    [
        ("a.example", "http://a.example/x", True),
        ("A.Example", "https://a.example/", True),
        ("a.example", "http://a.example:8080/", True),
        ("a.example:8080", "http://a.example:8080/", True),
        ("a.example:8080", "http://a.example/", False),
        ("a.example", "http://www.a.example/", False),
        ("a.example", "http://aXexample/", False),
        ("a.example", "http://b.example/?http://a.example/", False),
        ("[::1]", "http://[::1]:80/", True),
        ("bücher.example", "http://xn--bcher-kva.example/", True),
    ],
)
def test_a_host(host: str, url: str, excluded: bool) -> None:
    assert bool(orders.exclusion(host=host).compiled().search(url)) == excluded


@pytest.mark.parametrize(
    ("host", "pattern", "problem"),
    [
        ("", "", "name a host or a pattern"),
        ("a.example", "x", "name a host or a pattern"),
        ("http://a.example/", "", "write the name alone, a.example"),
        ("a.example/path", "", "not a host name"),
        ("two words", "", "not a host name"),
        ("", "(", "not a regular expression"),
    ],
)
def test_what_cannot_be_used_is_named(host: str, pattern: str, problem: str) -> None:
    with pytest.raises(BadInput, match=problem):
        orders.exclusion(host, pattern)


def test_only_what_waits_until_now_is_counted(db: CrawlDb) -> None:
    rows = [
        ("http://a.example/1", 0),
        ("http://a.example/2", 1),
        ("http://a.example/deep", 0),
        ("http://closed.example/a.example", 0),
    ]
    for number, (url, state) in enumerate(rows, 1):
        db.execute("INSERT INTO urls VALUES (?, ?, 0, '', 0, 1.0, ?, 1, 0)", (number, url, state))
    db.execute("INSERT INTO hosts VALUES ('closed.example', 0, 0, 0, 0, 'unreachable')")
    found = orders.waiting_urls(db, orders.exclusion(pattern="a.example"), lambda url, depth: "x" * ("deep" in url))
    assert found == [1]
