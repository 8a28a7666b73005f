"""Digests with a secret of their own, and what is set aside while all pages are judged again."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from lycosa.parse import content_digest
from lycosa.store import before
from lycosa.store.db import DONE, WAITING, CrawlDb
from lycosa.store.host_rows import HostRow, HostRows
from lycosa.store.secret import Digests
from lycosa.types import Band, Link, Origin

_URL = "INSERT INTO urls VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
_VISIT = "INSERT INTO visits (n, url, relevance, on_topic) VALUES (?, ?, ?, ?)"


@pytest.fixture
def db() -> Iterator[CrawlDb]:
    made = CrawlDb(":memory:").open()
    yield made
    made.close()


def test_the_digests_of_a_crawl_stay_the_same_and_differ_from_those_of_others(tmp_path: Path) -> None:
    found = {}
    for name in ("one", "other"):
        db = CrawlDb(tmp_path / f"{name}.db").open()
        found[name] = Digests(db, content_digest)(b"body")
        db.commit()
        db.close()
        again = CrawlDb(tmp_path / f"{name}.db").open()
        assert Digests(again, content_digest)(b"body") == found[name]
        again.close()
        reader = CrawlDb(tmp_path / f"{name}.db", readonly=True).open()
        assert Digests(reader, content_digest)(b"body") == found[name]
        reader.close()
    assert found["one"] != found["other"]


def test_a_crawl_that_began_without_a_secret_goes_on_without_one(db: CrawlDb) -> None:
    db.execute(_VISIT, (1, "http://a/", 0.5, 1))
    assert Digests(db, content_digest)(b"body") == content_digest(b"body", 0)
    assert db.get("secret") == ""


def test_a_host_is_stored_once_in_its_last_state(db: CrawlDb) -> None:
    rows = HostRows(db)
    rows.write(HostRow("a", 1.0, 2.0, 0, 1, ""))
    rows.write(HostRow("b", 5.0, 0.0, 0, 0, ""))
    rows.write(HostRow("a", 9.0, 2.0, 3, 1, "unreachable (dns)"))
    assert sorted(rows.all()) == [HostRow("a", 9.0, 2.0, 3, 1, "unreachable (dns)"), HostRow("b", 5.0, 0.0, 0, 0, "")]


@pytest.fixture
def aside(db: CrawlDb) -> CrawlDb:
    """A seed, a page found on it, a sitemap, what it lists, a search result; then everything is set aside."""
    rows = [
        (1, "http://a/", 0, "", 0, 0.0, DONE, Band.FIRST, Origin.SEED),
        (2, "http://a/1", 1, "one", 1, 0.5, WAITING, Band.FOUND, Origin.PAGE),
        (3, "http://a/sitemap.xml", 0, "", 0, 0.0, DONE, Band.FIRST, Origin.ROBOTS),
        (4, "http://a/2", 3, "", 1, 0.25, WAITING, Band.FOUND, Origin.SITEMAP),
        (5, "http://b/", 0, "a title", 0, 0.75, WAITING, Band.FIRST, Origin.SEARCH),
    ]
    db.executemany(_URL, rows)
    for number, (relevance, on_topic) in enumerate([(0.9, 1), (0.1, 0), (0.8, 1), (None, None)], 1):
        db.execute(_VISIT, (number, f"http://a/{number}", relevance, on_topic))
    HostRows(db).write(HostRow("a", 1.0, 2.0, 3, 4, ""))
    db.set_aside()
    return db


def test_a_crawl_starts_again_from_all_that_no_page_led_to(aside: CrawlDb) -> None:
    assert [*before.starts(aside)] == [
        before.Start(Link("http://a/", origin=Origin.SEED), 0.0, Band.FIRST),
        before.Start(Link("http://a/sitemap.xml", origin=Origin.ROBOTS), 0.0, Band.FIRST),
        before.Start(Link("http://b/", anchor="a title", origin=Origin.SEARCH), 0.75, Band.FIRST),
    ]


def test_what_changed_is_counted(aside: CrawlDb) -> None:
    for number, (relevance, on_topic) in enumerate([(0.2, 0), (0.6, 1), (0.8, 1), (None, None)], 1):
        aside.execute(_VISIT, (number, f"http://a/{number}", relevance, on_topic))
    aside.execute(_URL, (1, "http://a/1", 0, "", 1, 0.1, WAITING, Band.FOUND, Origin.PAGE))
    assert before.changes(aside) == before.Changes(judged=3, now_relevant=1, no_longer=1, dropped=2)


def test_what_is_known_of_hosts_is_not_learned_again(aside: CrawlDb) -> None:
    rows = HostRows(aside)
    assert [*rows.all()] == []
    rows.write(HostRow("a", 0.0, 0.0, 0, 99, ""))
    before.restore_hosts(aside)
    assert [*rows.all()] == [HostRow("a", 1.0, 2.0, 3, 4, "")]
