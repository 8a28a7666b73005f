"""Labels are kept as they were given, whatever happens to the rest of crawl.db."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from lycosa.store.db import CrawlDb
from lycosa.store.labels import (
    Counts,
    Label,
    Precision,
    answers,
    candidates,
    count_labels,
    fetched_as,
    judged,
    precision,
    put_labels,
    read_labels,
    wilson,
)
from lycosa.store.visits import VisitStore
from lycosa.types import Link, Page, Reply, Verdict, Visit


@pytest.fixture
def db() -> Iterator[CrawlDb]:
    found = CrawlDb(":memory:").open()
    yield found
    found.close()


def visit(url: str, final: str = "", original: str = "", relevance: float = 0.5) -> Visit:
    reply = Reply(Link(url), url=final or url, status=200)
    verdict = Verdict(relevance, relevance >= 0.5, why={"word": relevance})
    return Visit(reply, Page(url, title=url, simhash=7), verdict, digest=url, duplicate_of=original)


def test_no_label_yet(db: CrawlDb) -> None:
    assert read_labels(db) == []
    assert count_labels(db) == Counts()
    assert precision(Counts()) is None


def test_labels_are_kept_replaced_and_taken_back(db: CrawlDb) -> None:
    put_labels(db, {"http://a/": True, "http://b/": False}, "random", 1.0)
    put_labels(db, {"http://c/": True}, "best", 2.0)
    assert read_labels(db)[-1] == Label("http://c/", True, 2.0, "best")
    put_labels(db, {"http://c/": False, "http://b/": None}, "import", 3.0)
    assert answers(db) == {"http://a/": True, "http://c/": False}
    assert count_labels(db) == Counts(1, 1, 1, 1)


def test_judging_again_keeps_them(tmp_path: Path) -> None:
    db = CrawlDb(tmp_path / "crawl.db").open()
    put_labels(db, {"http://a/": True}, "import", 1.0)
    db.set_aside()
    db.forget_aside()
    db.commit()
    db.close()
    db = CrawlDb(tmp_path / "crawl.db", readonly=True).open()
    assert answers(db) == {"http://a/": True}
    db.close()


def test_precision_comes_with_an_interval() -> None:
    low, high = wilson(20, 24)
    assert (round(low, 3), round(high, 3)) == (0.641, 0.933)  # as published tables have it
    assert wilson(0, 5)[0] == 0
    assert wilson(5, 5)[1] == 1
    assert precision(Counts(30, 10, 20, 24)) == Precision(20 / 24, low, high, 24)


def test_a_page_is_found_by_all_its_addresses(db: CrawlDb) -> None:
    store = VisitStore(db, None)
    store.open()
    for one in (
        visit("http://a/"),
        visit("http://old/", final="http://new/"),
        visit("http://twin/", original="http://a/"),
    ):
        store.write(one)
    names = ["http://a/", "http://new/", "http://twin/", "http://elsewhere/"]
    assert [*fetched_as(db, names).values()] == ["http://a/", "http://old/", "http://a/", "http://elsewhere/"]
    pages = judged(db)
    assert [page.url for page in pages] == ["http://a/", "http://old/"]
    full = candidates(db, [pages[0].n])
    assert [(n, page.url, page.why) for n, page in full.items()] == [(pages[0].n, "http://a/", {"word": 0.5})]
