"""What a row of crawl.db holds of a visit."""

import msgspec

from lycosa.store.db import CrawlDb
from lycosa.store.visits import VisitStore
from lycosa.types import Link, Page, Reply, Verdict, Visit


def stored_classes(verdict: Verdict) -> str:
    db = CrawlDb(":memory:").open()
    store = VisitStore(db, None)
    store.open()
    store.write(Visit(Reply(Link("http://a/")), Page("http://a/"), verdict, digest="d"))
    try:
        return str(db.execute("SELECT classes FROM visits").fetchone()[0])
    finally:
        db.close()


def test_classes_are_stored_most_probable_first_without_those_that_say_nothing() -> None:
    text = stored_classes(Verdict(0.7, True, "sky", {"law": 0.2999, "sky": 0.70001, "soup": 0.00009}))
    assert list(msgspec.json.decode(text).items()) == [("sky", 0.7), ("law", 0.2999)]


def test_a_narrow_lead_is_not_lost_by_rounding() -> None:
    text = stored_classes(Verdict(0.5, True, "sky", {"law": 0.49999, "sky": 0.50001}))
    assert list(msgspec.json.decode(text)) == ["sky", "law"]


def test_a_topic_without_classes_stores_none() -> None:
    assert stored_classes(Verdict(0.7, True)) == ""
