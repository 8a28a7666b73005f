"""What a URL waits for: those ahead of it, its host, its robots.txt, or nothing any more."""

import pytest

from lycosa.output.waits import Waits, read_waits, waits_for
from lycosa.store.db import DONE, WAITING, CrawlDb
from lycosa.types import Band

NOW = 1_000.0


@pytest.fixture
def db() -> CrawlDb:
    """Four that wait, of which the last was found last; one that is done; one at a closed host."""
    made = CrawlDb(":memory:").open()
    rows = [
        (1, "http://a/1", 0.5, WAITING),
        (2, "http://b/2", 0.9, WAITING),
        (3, "http://b/3", 0.9, DONE),
        (4, "http://closed/4", 0.9, WAITING),
        (5, "http://a/5", 0.5, WAITING),
        (6, "http://a/6", 0.1, WAITING),
    ]
    for number, url, score, state in rows:
        made.execute("INSERT INTO urls VALUES (?, ?, 0, '', 1, ?, ?, 1, 0)", (number, url, score, state))
    made.execute("INSERT INTO hosts VALUES ('a', ?, 1.0, 0, 1, '')", (NOW + 60,))
    made.execute("INSERT INTO hosts VALUES ('closed', 0.0, 1.0, 5, 0, 'unreachable (dns)')")
    made.execute("INSERT INTO robots VALUES ('http://a', '', 'allow', ?)", (NOW + 1,))
    return made


def test_rank_and_what_is_fetched_first(db: CrawlDb) -> None:
    waits = read_waits(db, 5, NOW)
    assert (waits.ahead, waits.waiting) == (2, 5)
    assert waits.first == [("http://b/2", 0.9, 1), ("http://a/1", 0.5, 1)]  # of equals the one that was found first
    assert read_waits(db, 2, NOW).ahead == 0


def test_a_host_that_rests_and_a_robots_txt_that_is_not_known(db: CrawlDb) -> None:
    waits = read_waits(db, 1, NOW)
    assert (waits.rests_until, waits.unread_robots) == (NOW + 60, False)
    waits = read_waits(db, 1, NOW + 61)
    assert (waits.rests_until, waits.unread_robots) == (0.0, True)
    assert read_waits(db, 2, NOW).unread_robots


def test_what_is_on_the_list_comes_first(db: CrawlDb) -> None:
    db.put("list", "6 1")
    assert read_waits(db, 6, NOW).first == []
    assert read_waits(db, 1, NOW).first == [("http://a/6", 0.1, 1)]
    assert [url for url, _, _ in read_waits(db, 5, NOW).first] == ["http://a/1", "http://a/6", "http://b/2"]


def test_what_will_not_be_fetched_says_why(db: CrawlDb) -> None:
    assert read_waits(db, 4, NOW).refused == "its host is closed: unreachable (dns)"
    assert read_waits(db, 1, NOW, "max_depth").refused == "out of scope (max_depth)"
    assert waits_for(read_waits(db, 4, NOW)) == ["It will not be fetched: its host is closed: unreachable (dns)."]


def test_in_words() -> None:
    first = [("http://s/", 0.0, Band.FIRST), ("http://b/", 0.25, Band.FOUND)]
    told = waits_for(Waits(1_200, 34_000, first, "a", NOW, True, ended="limit of 10 pages"))
    assert told[0] == "1,200 of the 34,000 queued URLs come before it."
    assert told[1] == "The crawl is over: limit of 10 pages."
    assert told[2].startswith("Its host a rests until ")
    assert told[3] == "The robots.txt of a has to be fetched first."
    assert [line.split() for line in told[5:]] == [["first", "http://s/"], ["0.2500", "http://b/"]]
