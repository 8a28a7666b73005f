"""What `check` finds in a damaged crawl, and how it goes on after `repair`."""

import gzip
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from lycosa.parse import content_digest
from lycosa.store.check import Findings, check, repair
from lycosa.store.db import DONE, WAITING, CrawlDb
from lycosa.store.visits import VisitStore
from lycosa.store.warc import WarcWriter
from lycosa.types import BadInput, Exchange, Link, Page, Reply, Visit

FIRST, SECOND, THIRD = (f"lycosa-{number:05}.warc.gz" for number in (1, 2, 3))
VISITS = 9


def url(number: int) -> str:
    return f"http://e.org/{number}"


def visit(number: int) -> Visit:
    """Every third page is reached by a redirect, every fourth was sent packed, number 5 is an error."""
    body = b"<title>page %d</title>" % number + b"<p>word" * 400
    packed = number % 4 == 0
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n" + (b"Content-Encoding: gzip\r\n" if packed else b"")
    final = url(number) + ("/moved" if number % 3 == 0 else "")
    exchanges = [
        Exchange(final, b"GET / HTTP/1.1\r\n\r\n", head + b"\r\n", gzip.compress(body) if packed else body, 1.0)
    ]
    if number % 3 == 0:
        exchanges.insert(0, Exchange(url(number), b"", b"HTTP/1.1 302 Found\r\nLocation: moved\r\n\r\n", b"", 1.0))
    error = "http-404" if number == 5 else ""
    reply = Reply(Link(url(number)), final, 200, "text/html", body, error, exchanges=tuple(exchanges))
    return Visit(reply, Page(), digest="" if error else content_digest(body))


class Crawl:
    """A crawl folder of nine visits in three files."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.warc = folder / "warc"
        with self.open() as (db, store):
            for number in range(1, VISITS + 1):
                db.execute("INSERT INTO urls VALUES (?, ?, 0, '', 0, 1.0, ?, 1, 0)", (number, url(number), DONE))
                store.write(visit(number))

    @contextmanager
    def open(self) -> Iterator[tuple[CrawlDb, VisitStore]]:
        """As the next run would."""
        db = CrawlDb(self.folder / "crawl.db").open()
        store = VisitStore(db, WarcWriter(self.warc, max_bytes=2_000))
        try:
            store.open()
            yield db, store
            db.commit()
        finally:
            store.close()
            db.close()

    def next_run(self, *visits: Visit) -> None:
        with self.open() as (_, store):
            for each in visits:
                store.write(each)

    def check(self) -> Findings:
        with closing(CrawlDb(self.folder / "crawl.db", readonly=True).open()) as db:
            return check(db, self.warc, content_digest)

    def repair(self, fetch_again: bool = True) -> None:
        with closing(CrawlDb(self.folder / "crawl.db").open()) as db:
            repair(db, self.check(), WarcWriter(self.warc), fetch_again)

    def execute(self, sql: str) -> list[Any]:
        db = CrawlDb(self.folder / "crawl.db").open()
        rows = db.execute(sql).fetchall()
        db.commit()
        db.close()
        return rows

    def place(self, number: int) -> tuple[Path, int]:
        [(name, offset)] = self.execute(f"SELECT warc, warc_offset FROM visits WHERE n = {number}")
        return self.warc / name, offset


@pytest.fixture
def crawl(tmp_path: Path) -> Iterator[Crawl]:
    made = Crawl(tmp_path)
    assert WarcWriter(made.warc).names() == [FIRST, SECOND, THIRD]
    return made


def flip(path: Path, at: int) -> None:
    data = bytearray(path.read_bytes())
    data[at] ^= 0x40
    path.write_bytes(data)


def test_nothing_is_wrong_with_a_whole_crawl(crawl: Crawl) -> None:
    found = crawl.check()
    assert (found.problems, found.lost) == ([], [])
    assert found.visits == VISITS
    assert (
        found.records.total() == VISITS * 2 + VISITS // 3 + 3
    )  # answers and requests, redirects, and what begins a file


def test_what_was_never_committed_is_nobody_s_loss(crawl: Crawl) -> None:
    with (crawl.warc / THIRD).open("ab") as file:
        file.write(b"half a record")
    assert crawl.check().problems == []


def test_a_lost_file_is_noticed_by_the_next_crawl_and_its_pages_can_be_fetched_again(crawl: Crawl) -> None:
    (crawl.warc / FIRST).unlink()
    with pytest.raises(
        BadInput, match=r"lycosa-00001.warc.gz: the crawl wrote this file, but it is missing \(`lycosa check`"
    ):
        crawl.next_run()
    found = crawl.check()
    lost = [visit.n for visit in found.lost]
    assert 1 <= len(lost) < VISITS
    assert found.problems == [f"{crawl.warc / FIRST}: is missing, and with it the records of {len(lost)} visits"]
    crawl.repair()
    assert crawl.check().problems == []
    assert crawl.execute(f"SELECT id FROM urls WHERE state = {WAITING}") == [(n,) for n in lost]
    crawl.next_run(visit(1))
    assert crawl.execute("SELECT max(n) FROM visits") == [(VISITS + 1,)]


def test_visits_can_be_kept_without_their_records(crawl: Crawl) -> None:
    (crawl.warc / FIRST).unlink()
    crawl.repair(fetch_again=False)
    assert crawl.check().problems == []
    assert crawl.execute("SELECT count(*) FROM visits") == [(VISITS,)]
    crawl.next_run()


@pytest.mark.parametrize("name", [FIRST, THIRD])
def test_a_file_that_was_cut(crawl: Crawl, name: str) -> None:
    data = (crawl.warc / name).read_bytes()
    (crawl.warc / name).write_bytes(data[: len(data) // 2])
    with pytest.raises(BadInput, match=f"{name}: has .* bytes, but the crawl wrote"):
        crawl.next_run()
    assert crawl.check().lost
    crawl.repair()
    assert crawl.check().problems == []
    crawl.next_run(visit(5))


def test_the_last_file_can_be_lost_too(crawl: Crawl) -> None:
    (crawl.warc / THIRD).unlink()
    crawl.repair()
    assert crawl.check().problems == []
    crawl.next_run()


@pytest.mark.parametrize("into", [20, 200, 700])
@pytest.mark.parametrize("number", range(1, VISITS + 1))
def test_a_flipped_bit_costs_one_visit_at_most(crawl: Crawl, number: int, into: int) -> None:
    path, offset = crawl.place(number)
    if offset + into >= path.stat().st_size:
        pytest.skip("the record is shorter")
    flip(path, offset + into)
    found = crawl.check()
    assert found.problems
    assert len(found.lost) <= 1
    crawl.repair()
    assert (crawl.check().lost, crawl.check().problems) == ([], [])


def test_a_record_of_another_page_is_noticed(crawl: Crawl) -> None:
    crawl.execute("UPDATE visits SET final_url = 'http://e.org/other' WHERE n = 2")
    assert any("not of http://e.org/other" in problem for problem in crawl.check().problems)
    crawl.execute("UPDATE visits SET digest = 'other' WHERE n = 4")
    assert any("not the page of visit 4" in problem for problem in crawl.check().problems)


def test_order_and_state_are_checked(crawl: Crawl) -> None:
    crawl.execute("UPDATE visits SET n = 100 WHERE n = 1")
    crawl.execute(f"UPDATE urls SET state = {WAITING} WHERE id = 3")
    problems = crawl.check().problems
    assert "visit 3 of http://e.org/3: the URL is not marked as done" in problems
    assert "visit 100 of http://e.org/1: its record does not follow those of the visits before" in problems
    crawl.repair()
    assert crawl.execute(f"SELECT id FROM urls WHERE state = {WAITING}") == []


def test_a_failed_url_may_have_been_queued_again(crawl: Crawl) -> None:
    """By `lycosa retry`, or because it is a seed; nothing is wrong with it, and it stays queued."""
    crawl.execute(f"UPDATE urls SET state = {WAITING} WHERE id = 5")
    assert crawl.check().problems == []
    crawl.repair()
    assert crawl.execute(f"SELECT id FROM urls WHERE state = {WAITING}") == [(5,)]


def test_what_is_not_ours_is_not_cut(crawl: Crawl) -> None:
    (crawl.warc / THIRD).write_bytes(b"precious")
    with pytest.raises(BadInput, match="contains nothing that the crawl wrote; move it away"):
        crawl.repair()
    (crawl.warc / THIRD).write_bytes(b"precious" * 100_000)
    with pytest.raises(BadInput, match="not written by this crawl; move it away"):
        crawl.next_run()
    assert (crawl.warc / THIRD).read_bytes() == b"precious" * 100_000
