"""What a crawl knows of URLs and hosts, of each robots.txt and of each search."""

from array import array
from collections.abc import Iterator

import pytest

from lycosa.store import known, robots, waiting
from lycosa.store.db import DONE, WAITING, CrawlDb
from lycosa.store.robots import StoredRobots
from lycosa.store.searches import Searches

URLS = [  # id, url, source, anchor, depth, score, state
    (1, "http://a/", 0, "", 0, 9.0, DONE),
    (2, "http://a/2", 1, "two", 1, 0.5, DONE),
    (3, "http://b/3", 2, "three", 2, 0.7, WAITING),
    (4, "http://c/4", 2, "four", 2, 0.7, WAITING),
    (5, "http://c/5", 5, "itself", 2, 0.1, WAITING),
]


@pytest.fixture
def db() -> Iterator[CrawlDb]:
    db = CrawlDb(":memory:").open()
    db.executemany("INSERT INTO urls VALUES (?, ?, ?, ?, ?, ?, ?, 1, 0)", URLS)
    db.execute("INSERT INTO hosts VALUES ('b', 7.0, 1.0, 2, 3, 'unreachable (dns)')")
    db.executemany("INSERT INTO links VALUES (?, ?)", [(2, array("I", [3, 4])), (1, array("I", [2]))])
    yield db
    db.close()


def test_a_path_leads_back_to_the_seed(db: CrawlDb) -> None:
    path = known.path_to(db, "http://b/3")
    assert [(step.id, step.anchor, step.is_done) for step in path] == [
        (3, "three", False),
        (2, "two", True),
        (1, "", True),
    ]


def test_a_path_does_not_run_in_circles(db: CrawlDb) -> None:
    assert [step.id for step in known.path_to(db, "http://c/5")] == [5]


@pytest.mark.parametrize("url", ["", "http://a/unknown"])
def test_an_unknown_url_has_no_path(db: CrawlDb, url: str) -> None:
    assert known.path_to(db, url) == []


def test_links_come_by_their_source(db: CrawlDb) -> None:
    assert [(source, targets.tolist()) for source, targets in known.links(db)] == [(1, [2]), (2, [3, 4])]


def test_a_host_that_is_not_known_is_open_and_due(db: CrawlDb) -> None:
    assert known.host_of(db, "b") == known.Host("b", 3, 2, 7.0, "unreachable (dns)")
    assert known.host_of(db, "new") == known.Host("new", 0, 0, 0.0, "")
    assert known.closed_hosts(db) == {"b"}


def test_what_waits_at_a_closed_host_is_not_ahead(db: CrawlDb) -> None:
    last = known.url_of(db, 5)
    assert last
    assert waiting.ahead_of(db, last, 3) == (1, 3, [("http://c/4", 0.7, 1)])
    db.execute("UPDATE hosts SET closed = ''")
    assert waiting.ahead_of(db, last, 1) == (2, 3, [("http://b/3", 0.7, 1)])
    assert [*waiting.waiting_with(db, 0.7)] == ["http://b/3", "http://c/4"]


def test_a_robots_file_holds_until_it_expires(db: CrawlDb) -> None:
    robots.store_robots(db, "http://a", StoredRobots(b"User-agent: *", "rules", 10.0))
    assert robots.stored_robots(db, "http://a") == StoredRobots(b"User-agent: *", "rules", 10.0)
    assert robots.stored_robots(db, "http://b") is None
    assert robots.holds(db, "http://a", 9.9)
    assert not robots.holds(db, "http://a", 10.0)
    assert not robots.holds(db, "http://b", 0.0)


def test_an_empty_answer_is_an_answer(db: CrawlDb) -> None:
    searches = Searches(db)
    searches.open()
    assert searches.get("spiders") is None
    searches.put("spiders", [], 1.0)
    assert "spiders" in searches
    assert searches.get("spiders") == []
    assert "ants" not in searches
