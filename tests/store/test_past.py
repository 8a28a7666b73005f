"""What a crawl did, read back by what was not there to see it."""

from pathlib import Path

from lycosa.store.db import CrawlDb
from lycosa.store.past import past_visits, seed_urls
from lycosa.store.visits import VisitStore
from lycosa.types import Link, Reply, Verdict, Visit


def test_visits_come_back_in_order(tmp_path: Path) -> None:
    db = CrawlDb(tmp_path / "crawl.db").open()
    store = VisitStore(db, None)
    store.open()
    page = Visit(
        Reply(Link("http://a.test/x", source="http://a.test/"), url="http://a.test/y"),
        verdict=Verdict(0.75, True),
        digest="d",
    )
    failed = Visit(Reply(Link("http://b.test/"), error="timeout"))
    twin = Visit(Reply(Link("http://c.test/"), url="http://c.test/"), digest="d", duplicate_of="http://a.test/x")
    for visit in (page, failed, twin):
        store.write(visit)
    assert [*past_visits(db)] == [page, failed, twin]
    db.close()


def test_seeds_are_what_no_page_led_to(tmp_path: Path) -> None:
    db = CrawlDb(tmp_path / "crawl.db").open()
    db.executemany(
        "INSERT INTO urls VALUES (?, ?, ?, '', 0, 1.0, 0, 1, 0)", [(1, "http://a.test/", 0), (2, "http://a.test/x", 1)]
    )
    assert seed_urls(db) == ["http://a.test/"]
    db.close()
