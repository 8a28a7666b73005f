"""What counts as a page: the same in the database as in memory, for every kind of visit."""

from collections.abc import Iterator

import pytest

from lycosa.contract.samples import odd_visits, web
from lycosa.store import visited
from lycosa.store.db import CrawlDb
from lycosa.store.visits import VisitStore
from lycosa.types import Visit

VISITS = web()


@pytest.fixture
def db() -> Iterator[CrawlDb]:
    db = CrawlDb(":memory:").open()
    store = VisitStore(db, None)
    store.open()
    for visit in VISITS:
        store.write(visit)
    yield db
    db.close()


def those(db: CrawlDb, condition: str) -> list[int]:
    return [n - 1 for (n,) in db.execute(f"SELECT n FROM visits WHERE {condition} ORDER BY n")]


@pytest.mark.parametrize(
    ("condition", "attribute"), [(visited.IS_PAGE, "is_page"), (visited.IS_DISTINCT, "is_distinct")]
)
def test_a_condition_on_rows_is_that_on_visits(db: CrawlDb, condition: str, attribute: str) -> None:
    assert those(db, condition) == [at for at, visit in enumerate(VISITS) if getattr(visit, attribute)]


def test_what_is_judged_is_what_is_distinct(db: CrawlDb) -> None:
    assert those(db, visited.IS_JUDGED) == those(db, visited.IS_DISTINCT)


def test_failures_sitemaps_and_copies_are_told_apart() -> None:
    kinds = [(visit.is_page, visit.is_distinct) for visit in odd_visits()]
    failed, copy, page = (False, False), (True, False), (True, True)
    assert kinds == [failed, failed, failed, copy, page, page, failed]


def test_a_page_that_could_not_be_judged_is_no_page() -> None:
    seen = next(visit for visit in VISITS if visit.is_distinct)
    failed = Visit(type(seen.reply)(seen.reply.link, error="judge"), digest=seen.digest)
    assert not failed.is_page


def test_visits_are_counted_in_one_pass(db: CrawlDb) -> None:
    distinct = [visit for visit in VISITS if visit.is_distinct]
    found = visited.tally(db)
    assert (found.visits, found.pages, found.duplicates) == (len(VISITS), len(distinct), 1)
    assert found.relevant == sum(visit.verdict.on_topic for visit in distinct)
    assert found.mean_relevance == pytest.approx(sum(visit.verdict.relevance for visit in distinct) / len(distinct))
    assert visited.count_visits(db) == found.visits
    assert visited.errors(db) == {"http-404": 1, "robots": 1, "timeout": 1}


def test_pages_are_read_in_the_order_of_fetching(db: CrawlDb) -> None:
    distinct = [visit for visit in VISITS if visit.is_distinct]
    assert visited.page_addresses(db) == [visit.reply.url for visit in distinct]
    assert visited.relevance_order(db) == [visit.verdict.on_topic for visit in distinct]
    assert visited.relevances(db) == [visit.verdict.relevance for visit in distinct]
    relevant = [visit for visit in distinct if visit.verdict.on_topic]
    latest = visited.latest_relevant(db, 3)
    assert [page.url for page in latest] == [visit.reply.link.url for visit in relevant[-3:]]
    assert [page.why for page in latest] == [visit.verdict.why for visit in relevant[-3:]]


def test_the_best_pages_come_first(db: CrawlDb) -> None:
    relevances = [relevance for _, _, relevance, _ in visited.best_pages(db, 4)]
    assert relevances == sorted(visited.relevances(db), reverse=True)[:4]


def test_only_the_last_addresses_that_answered_are_remembered(db: CrawlDb) -> None:
    answered = [visit.reply.url for visit in VISITS if visit.reply.status]
    assert visited.last_answered(db, 2) == answered[-2:]
    assert visited.last_answered(db) == answered


def test_the_last_visit_of_a_url_counts(db: CrawlDb) -> None:
    odd = "http://a.example/odd"
    found = visited.last_visits(db, [odd, "http://never.example/"])
    assert [*found] == [odd]
    assert found[odd].n == max(n for n, visit in enumerate(VISITS, 1) if visit.reply.link.url == odd)


def test_a_crawl_without_verdicts_is_not_judged(db: CrawlDb) -> None:
    assert visited.is_judged(db)
    empty = CrawlDb(":memory:").open()
    assert not visited.is_judged(empty)
    assert visited.tally(empty) == (0, 0, 0, 0.0, 0, 0)
    empty.close()
