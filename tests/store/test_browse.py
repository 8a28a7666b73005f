"""Browsing a crawl: every filter and order, a screenful at a time, and nothing twice or left out in between."""

from array import array
from collections.abc import Iterator

import msgspec
import pytest

from lycosa.store import browse, orders, queue
from lycosa.store.browse import PageQuery
from lycosa.store.db import DONE, WAITING, CrawlDb
from lycosa.store.labels import put_labels
from lycosa.store.url_rows import UrlRows
from lycosa.store.visits import VisitStore
from lycosa.types import Link, Page, Reply, Verdict, Visit

TITLES = ["Äpfel 100%", "under_score", "Comet", "comet tail", "", "x" * 5_000_000]


def url(number: int) -> str:
    return f"http{'s' if number % 4 == 0 else ''}://h{number % 3}.example:81/p/{number}"


def visit(number: int) -> Visit:
    link = Link(url(number), source=url(number // 2), anchor=f"to {number}")
    if number % 7 == 0:
        return Visit(Reply(link, url=link.url, error="timeout" if number % 2 else "http-404", detail="d", at=number))
    relevance = (number * 37 % 10) / 10
    why = {"comet": 0.5, 'say "hi"': -0.1} if number % 2 else {"comets": 0.1}
    verdict = Verdict(relevance, relevance >= 0.5, "AB"[number % 2], {"A": 0.9}, why)
    page = Page(link.url, TITLES[number % len(TITLES)], language="en", simhash=number)
    return Visit(Reply(link, link.url, 200, "text/html", at=float(number)), page, verdict, 0.5, digest=f"{number:x}")


@pytest.fixture(scope="module")
def db() -> Iterator[CrawlDb]:
    db = CrawlDb(":memory:").open()
    store, rows = VisitStore(db, None), UrlRows(db)
    store.open()
    for number in range(1, 61):
        done = DONE if number <= 40 else WAITING
        band = 0 if number in (59, 60) else 1
        rows.insert([(number, url(number), number // 2, f"to {number}", 1, number / 100, done, band, 0)])
    for number in range(1, 41):
        store.write(visit(number))
        rows.write_links(number, array("I", [2 * number, 2 * number + 1]))
    db.execute("INSERT INTO hosts VALUES ('h1.example:81', 77.0, 1.0, 0, 9, 'unreachable (dns)')")
    put_labels(db, {url(1): True, url(3): False}, "random", 5.0)
    yield db
    db.close()


def numbers(db: CrawlDb, query: PageQuery, size: int = 7) -> list[int]:
    """All pages of a query, by screenfuls."""
    found, after = [], None
    while True:
        some = browse.find_pages(db, query, after, size)
        found += [row.n for row in some.rows]
        assert len(some.rows) <= size
        if some.after is None:
            return found
        after = msgspec.json.decode(msgspec.json.encode(some.after), type=browse.Cursor)


PAGES = [n for n in range(1, 41) if n % 7]


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("sort", ["time", "relevance", "title", "host"])
def test_every_order_shows_every_page_once(db: CrawlDb, sort: browse.Sort, reverse: bool) -> None:
    found = numbers(db, PageQuery(sort=sort, reverse=reverse))
    assert sorted(found) == PAGES
    key = {
        "time": lambda n: n,
        "relevance": lambda n: (n * 37 % 10) / 10,
        "title": lambda n: TITLES[n % len(TITLES)][: browse.MOST_TITLE].replace("C", "c"),
        "host": lambda n: f"h{n % 3}.example:81",
    }[sort]
    keys = [key(n) for n in found]
    assert keys == sorted(keys, reverse=reverse != (sort in ("time", "relevance")))
    assert browse.count_pages(db, PageQuery()) == len(PAGES)


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        (PageQuery(text="comet"), lambda n: n % 6 in (2, 3)),
        (PageQuery(text="COMET tail"), lambda n: n % 6 == 3),
        (PageQuery(text="100%"), lambda n: n % 6 == 0),
        (PageQuery(text="r_s"), lambda n: n % 6 == 1),
        (PageQuery(text="/p/12"), lambda n: n == 12),
        (PageQuery(host="h1.example:81"), lambda n: n % 3 == 1),
        (PageQuery(host="h1.example"), lambda n: False),
        (PageQuery(label="A"), lambda n: n % 2 == 0),
        (PageQuery(relevant=True), lambda n: (n * 37 % 10) >= 5),
        (PageQuery(relevant=False), lambda n: (n * 37 % 10) < 5),
        (PageQuery(given="yes"), lambda n: n == 1),
        (PageQuery(given="no"), lambda n: n == 3),
        (PageQuery(given="none"), lambda n: n not in (1, 3)),
        (PageQuery(concept="comet"), lambda n: n % 2 == 1),
        (PageQuery(concept='say "hi"'), lambda n: n % 2 == 1),
        (PageQuery(since=30.0), lambda n: n >= 30),
    ],
)
def test_filters(db: CrawlDb, query: PageQuery, wanted: object) -> None:
    assert callable(wanted)
    expected = [n for n in PAGES if wanted(n)]
    assert sorted(numbers(db, query)) == expected
    assert browse.count_pages(db, query) == len(expected)


def test_a_row_says_what_people_said_and_shortens_a_title_without_end(db: CrawlDb) -> None:
    rows = {row.n: row for row in browse.find_pages(db, PageQuery(), size=100).rows}
    assert [rows[n].given for n in (1, 2, 3)] == [True, None, False]
    assert max(len(row.title) for row in rows.values()) == browse.MOST_TITLE
    assert rows[1].host == "h1.example:81"


def test_without_labels_nobody_said_anything() -> None:
    db = CrawlDb(":memory:").open()
    assert browse.find_pages(db, PageQuery(given="yes")).rows == []
    assert browse.count_pages(db, PageQuery(given="none")) == 0
    db.close()


def test_a_page_and_its_links(db: CrawlDb) -> None:
    page = browse.page_detail(db, 3)
    assert page
    assert page.why == {"comet": 0.5, 'say "hi"': -0.1}
    assert page.classes == {"A": 0.9}
    assert browse.page_detail(db, 99) is None
    assert browse.page_number(db, url(3)) == 3
    assert browse.page_number(db, url(7)) == browse.page_number(db, "http://unknown/") == 0
    links = browse.linked(db, 25)
    assert [(link.id, link.anchor, link.is_done) for link in links] == [(51, "to 51", False), (50, "to 50", False)]
    assert browse.linked(db, 60) == []


def test_failures_by_kind(db: CrawlDb) -> None:
    assert [(kind, urls) for kind, urls, _ in browse.failure_kinds(db)] == [("timeout", 3), ("http-404", 2)]
    first = browse.find_failures(db, size=3)
    assert first.after
    rest = browse.find_failures(db, before=first.after.n, size=3)
    assert [one.n for one in [*first.rows, *rest.rows]] == [35, 28, 21, 14, 7]
    assert rest.after is None
    assert [one.n for one in browse.find_failures(db, "http-404").rows] == [28, 14]


def test_classes_and_what_leads_to_what(db: CrawlDb) -> None:
    assert {row.label: row.pages for row in browse.classes(db)} == {
        label: sum("AB"[n % 2] == label for n in PAGES) for label in "AB"
    }
    counts = browse.class_links(db)
    pairs = [("AB"[n // 2 % 2], "AB"[n % 2]) for n in PAGES if n // 2 in PAGES]
    assert counts == {pair: pairs.count(pair) for pair in set(pairs)}


def test_reasons_count_relevant_pages_only(db: CrawlDb) -> None:
    odd = sum(n % 2 == 1 and n * 37 % 10 >= 5 for n in PAGES)
    assert browse.count_reasons(db)["comet"] == odd


def test_the_queue_by_host(db: CrawlDb, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queue, "CHUNK", 7)
    hosts = {host.name: host for host in queue.queued_hosts(db)}
    for at in range(3):
        host, mine = hosts[f"h{at}.example:81"], [n for n in range(41, 61) if n % 3 == at]
        assert (host.waiting, host.best) == (len(mine), max(mine) / 100)
        assert host.pages == sum(n % 3 == at for n in PAGES)
        assert host.relevant == sum(n % 3 == at and n * 37 % 10 >= 5 for n in PAGES)
        assert host.last == len({59, 60} & {*mine})
    assert hosts["h1.example:81"].closed == "unreachable (dns)"
    assert [one.id for one in queue.best_queued(db, "h0.example:81", 2)] == [57, 54]
    assert queue.best_queued(db, "example:81") == []


@pytest.mark.parametrize(
    "pattern", ["/p/5", "^http://", "h[01]", "p/5?", "p/4*5", "/5|/4", "(?i)H1", "p/(4|5)1", "5{1}", r"\d9$"]
)
def test_what_is_not_read_would_not_have_matched(db: CrawlDb, pattern: str) -> None:
    what = orders.exclusion(pattern=pattern)
    found = orders.waiting_urls(db, what, lambda url, depth: "")
    expected = [n for n in range(41, 61) if n % 3 != 1 and what.compiled().search(url(n))]
    assert found == expected
