"""What failed waits again, and nothing else does."""

from typing import Any

import pytest

from lycosa.store import retry
from lycosa.store.db import DONE, WAITING, CrawlDb

_VISIT = "INSERT INTO visits (n, url, final_url, error, detail) VALUES (?, ?, ?, ?, '')"


@pytest.fixture
def db() -> Any:
    """/a failed, then came; /b came; /c failed twice; /d led to /e, which failed; /f failed and waits; /g waits."""
    made = CrawlDb(":memory:").open()
    for number, (name, state) in enumerate(zip("abcdefg", [DONE] * 5 + [WAITING] * 2, strict=True), 1):
        made.execute("INSERT INTO urls VALUES (?, ?, 0, '', 0, 0.5, ?, 1, 0)", (number, f"http://{name}/", state))
    for n, (url, final, error) in enumerate(
        [
            ("a", "a", "timeout"),
            ("b", "b", ""),
            ("c", "c", "dns"),
            ("d", "e", "http-503"),
            ("f", "f", "connect"),
            ("a", "a", ""),
            ("c", "c", "robots-unreachable"),
        ],
        1,
    ):
        made.execute(_VISIT, (n, f"http://{url}/", f"http://{final}/", error))
    for name, failures, closed in (
        ("a", 0, ""),
        ("c", 10, "unreachable (dns)"),
        ("d", 0, ""),
        ("e", 2, "max_pages_per_host"),
        ("z", 10, "unreachable (tls)"),
    ):
        made.execute("INSERT INTO hosts VALUES (?, 900.0, 1.0, ?, 0, ?)", (name, failures, closed))
    for name in "cde":
        made.execute("INSERT INTO robots VALUES (?, '', 'unreachable', 9e9)", (f"http://{name}",))
    yield made
    made.close()


def waiting(db: CrawlDb) -> list[str]:
    return [url[7] for (url,) in db.execute("SELECT url FROM urls WHERE state = ? ORDER BY id", (WAITING,))]


def test_failures_are_by_the_last_visit_and_only_of_what_is_done(db: CrawlDb) -> None:
    found = [(one.n, one.url, one.final_url, one.error) for one in retry.failures(db)]
    assert found == [
        (4, "http://d/", "http://e/", "http-503"),
        (7, "http://c/", "http://c/", "robots-unreachable"),
    ]
    assert [one.url for one in retry.failures(db, ["http://c/", "http://a/", "http://f/", "http://unknown/"])] == [
        "http://c/"
    ]
    assert retry.failures(db, []) == []


def test_what_is_reopened_waits_with_its_redirects_at_open_hosts(db: CrawlDb) -> None:
    retry.reopen(db, retry.failures(db))
    assert waiting(db) == ["c", "d", "e", "f", "g"]
    hosts = db.execute("SELECT name, due_at, failures, closed FROM hosts ORDER BY name").fetchall()
    assert hosts == [
        ("a", 900.0, 0, ""),
        ("c", 0.0, 0, ""),
        ("d", 900.0, 0, ""),  # it answered last time, so what it asked for counts
        ("e", 0.0, 0, "max_pages_per_host"),
        ("z", 900.0, 10, "unreachable (tls)"),
    ]
    assert db.execute("SELECT origin FROM robots ORDER BY origin").fetchall() == [("http://d",), ("http://e",)]
    assert db.execute("SELECT count(*) FROM visits").fetchone() == (7,)


def test_a_page_that_came_is_never_fetched_again(db: CrawlDb) -> None:
    db.execute(_VISIT, (8, "http://d/", "http://b/", "timeout"))
    retry.reopen(db, retry.failures(db))
    assert "b" not in waiting(db)
    assert "d" in waiting(db)


def test_all_hosts_that_were_given_up_can_be_opened(db: CrawlDb) -> None:
    retry.open_hosts(db)
    assert db.execute("SELECT name FROM hosts WHERE closed != ''").fetchall() == [("e",)]


def test_which_urls_are_new_and_how_many_wait(db: CrawlDb) -> None:
    assert retry.unknown(db, ["http://a/", "http://x/", "http://g/"]) == ["http://x/"]
    assert retry.waiting(db, ["http://a/", "http://f/", "http://x/"]) == 1
