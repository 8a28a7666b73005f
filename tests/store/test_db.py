"""crawl.db: transactions that hold whole visits, versions, notes."""

import re
import sqlite3
from pathlib import Path

import pytest

from lycosa.store.db import SCHEMA, VERSION, CrawlDb
from lycosa.types import BadInput, Band, Origin


def test_what_was_not_committed_is_gone(tmp_path: Path) -> None:
    db = CrawlDb(tmp_path / "crawl.db").open()
    db.put("a", "1")
    db.commit()
    db.put("a", "2")
    db.close()
    again = CrawlDb(tmp_path / "crawl.db").open()
    assert again.get("a") == "1"
    assert again.get("b", "none") == "none"
    again.close()


def test_what_belongs_to_a_commit_is_asked_for_before_it(tmp_path: Path) -> None:
    db = CrawlDb(tmp_path / "crawl.db").open()
    db.before_commit.append(lambda: db.put("state", "fresh"))
    db.commit()
    db.close()
    assert CrawlDb(tmp_path / "crawl.db", readonly=True).open().get("state") == "fresh"


def test_after_a_failure_nothing_is_written_any_more(tmp_path: Path) -> None:
    """SQLite ends the transaction when the disk is full: what came next would be committed piece by piece."""
    db = CrawlDb(tmp_path / "crawl.db").open()
    db.put("visit", "whole")
    db.commit()
    db.execute("PRAGMA max_page_count = 16")
    with pytest.raises(sqlite3.OperationalError, match="full"):
        db.put("visit", "x" * 1_000_000)
    for late in (lambda: db.put("visit", "half"), lambda: db.get("visit"), db.commit):
        with pytest.raises(sqlite3.OperationalError, match="full"):
            late()
    with pytest.raises(sqlite3.OperationalError, match="full"):
        db.executemany("INSERT INTO meta VALUES (?, ?)", [("late", "half")])
    db.close()
    again = CrawlDb(tmp_path / "crawl.db").open()
    assert (again.get("visit"), again.get("late")) == ("whole", "")
    again.close()


def test_others_may_read_while_one_writes(tmp_path: Path) -> None:
    db = CrawlDb(tmp_path / "crawl.db").open()
    db.put("a", "1")
    db.commit()
    db.put("a", "2")
    reader = CrawlDb(tmp_path / "crawl.db", readonly=True).open()
    assert reader.get("a") == "1"
    with pytest.raises(sqlite3.OperationalError):
        reader.put("a", "3")
    reader.close()
    db.close()


def test_a_newer_format_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "crawl.db"
    CrawlDb(path).open().close()
    with sqlite3.connect(path) as raw:
        raw.execute(f"PRAGMA user_version={VERSION + 1}")
    with pytest.raises(BadInput, match="made by a newer Lycosa"):
        CrawlDb(path).open()


def test_what_is_no_database_is_named(tmp_path: Path) -> None:
    (tmp_path / "crawl.db").write_text("not a database, by far" * 100)
    with pytest.raises(BadInput, match=r"crawl\.db: cannot be used"):
        CrawlDb(tmp_path / "crawl.db").open()
    with pytest.raises(BadInput, match="nothing crawled yet"):
        CrawlDb(tmp_path / "other.db", readonly=True).open()


def test_notes() -> None:
    db = CrawlDb(":memory:").open()
    db.note("cash:http://a/", "1")
    db.note("cash:http://b/é", "2")
    db.note("cash:http://a/", "3")
    db.note("links:http://a/", "[]")
    assert dict(db.notes("cash:")) == {"http://a/": "3", "http://b/é": "2"}
    assert db.noted("links:http://a/") == "[]"
    assert db.noted("links:nobody") == ""
    db.note("links:http://b/é", '["é"]'.encode())
    assert db.noted("links:http://b/é") == '["é"]'
    db.close()


def first_version(path: Path) -> None:
    """A database as the first version wrote it, with one visit."""
    with sqlite3.connect(path) as raw:
        added = "band INTEGER DEFAULT 1, origin INTEGER DEFAULT 0"
        raw.executescript(re.sub(rf",\s*{added}", "", SCHEMA.replace(", classes TEXT DEFAULT ''", "")))
        raw.execute("INSERT INTO visits (n, url, score) VALUES (1, 'http://a/', 1e9)")
        rows = [
            (1, "http://a/", 0, "", 0, 1e9, 1),
            (2, "http://a/b", 1, "b", 1, 0.5, 0),
            (3, "http://c/", 0, "words", 0, 1e9, 0),
            (4, "http://d/", 0, "", 0, 0.25, 0),
        ]
        raw.executemany("INSERT INTO urls VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
        raw.execute("PRAGMA user_version=1")


SEEN_NOW = [
    (1, 0.0, Band.FIRST, Origin.SEED),
    (2, 0.5, Band.FOUND, Origin.PAGE),
    (3, 0.0, Band.FIRST, Origin.SEARCH),
    (4, 0.25, Band.FOUND, Origin.SEED),  # of a strategy that gives seeds a score
]


def test_a_reader_sees_an_old_database_as_a_new_one_and_leaves_it_as_it_is(tmp_path: Path) -> None:
    first_version(tmp_path / "crawl.db")
    db = CrawlDb(tmp_path / "crawl.db", readonly=True).open()
    assert db.execute("SELECT url, score, classes FROM visits").fetchall() == [("http://a/", None, "")]
    assert db.execute("SELECT id, score, band, origin FROM urls").fetchall() == SEEN_NOW
    db.close()
    with sqlite3.connect(tmp_path / "crawl.db") as raw:
        assert raw.execute("PRAGMA user_version").fetchone() == (1,)


def test_a_writer_brings_an_old_database_up_to_date(tmp_path: Path) -> None:
    first_version(tmp_path / "crawl.db")
    db = CrawlDb(tmp_path / "crawl.db").open()
    assert not db.is_new
    assert db.execute("SELECT url, score, classes FROM visits").fetchall() == [("http://a/", None, "")]
    assert db.execute("SELECT id, score, band, origin FROM urls").fetchall() == SEEN_NOW
    db.close()
    new = CrawlDb(":memory:").open()
    with sqlite3.connect(tmp_path / "crawl.db") as raw:
        assert raw.execute("PRAGMA user_version").fetchone() == (VERSION,)
        columns = [name for _, name, *_ in raw.execute("PRAGMA table_info(visits)")]
    assert columns == [name for _, name, *_ in new.execute("PRAGMA table_info(visits)")]  # a row is inserted by place
    new.close()


def test_tables_set_aside_are_back_after_a_rollback(tmp_path: Path) -> None:
    db = CrawlDb(tmp_path / "crawl.db").open()
    db.note("a", "before")
    db.commit()
    db.set_aside()
    assert db.noted("a") == ""
    db.note("a", "after")
    assert db.execute("SELECT value FROM before_notes").fetchall() == [("before",)]
    db.close()
    again = CrawlDb(tmp_path / "crawl.db").open()
    assert again.noted("a") == "before"
    again.set_aside()
    again.note("a", "after")
    again.forget_aside()
    again.commit()
    assert again.noted("a") == "after"
    names = {name for (name,) in again.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    assert names == {"meta", "hosts", "urls", "notes", "links", "robots", "visits"}
    again.close()
