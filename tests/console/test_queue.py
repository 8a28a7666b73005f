"""The frontier and the failures: what waits, what an exclusion would drop, and what is tried again."""

import threading
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from lycosa.console import frontier
from lycosa.console.pending import Pending
from lycosa.console.recent import Recent
from lycosa.errors import BadInput
from lycosa.store.db import CrawlDb

API, AT = "/api/crawls/stars", "/crawls/stars"


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """However slow the machine is, figures are waited for, and never those of another test."""
    recent = Recent(frontier._count)
    monkeypatch.setattr(recent, "get", lambda folder, get=recent.get: get(folder, 60.0))
    monkeypatch.setattr(frontier, "_recent", recent)
    pending = Pending(frontier._count_dropped)
    monkeypatch.setattr(pending, "ask", lambda question, ask=pending.ask: ask(question, 60.0))
    monkeypatch.setattr(frontier, "_pending", pending)


def busiest(console: TestClient) -> dict[str, object]:
    found: dict[str, object] = console.get(f"{API}/frontier").json()["hosts"][0]
    return found


def test_what_waits_by_host(console: TestClient) -> None:
    found = console.get(f"{API}/frontier").json()
    assert found["waiting"] == sum(host["waiting"] for host in found["hosts"]) > 0
    assert found["waiting"] == console.get(API).json()["waiting"]
    assert sum(host["pages"] for host in found["hosts"]) == 60
    best = console.get(f"{API}/frontier?sort=best").json()["hosts"]
    scores = [host["best"] for host in best if host["best"] is not None]
    assert scores == sorted(scores, reverse=True)
    some = console.get(f"{API}/frontier", params={"text": str(busiest(console)["name"])[:6]}).json()
    assert 0 < some["total"] < found["total"]
    page = console.get(f"{AT}/frontier").text
    assert f"{found['waiting']:,} queued URLs" in page


def test_the_number_is_shown_before_anything_is_dropped(console: TestClient) -> None:
    host = busiest(console)
    name, waiting = host["name"], host["waiting"]
    assert console.get(f"{API}/frontier/count", params={"host": name}).json()["urls"] == waiting
    preview = console.get(f"{AT}/frontier/count", params={"host": name}).text
    assert f"{waiting} queued URLs would be dropped" in preview
    assert busiest(console) == host
    done = console.post(f"{AT}/frontier/change", data={"host": name, "order": "exclude"}).text
    assert f"{waiting} URLs dropped" in done
    assert name in console.get(f"{API}/frontier").json()["excluded"]
    assert console.get(f"{API}/frontier/count", params={"host": name}).json()["urls"] == 0


def test_while_it_is_counted_the_page_says_so_and_asks_again(
    console: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(frontier._pending, "ask", lambda question: None)
    asks = {"pattern": "[ab]+&<c>"}
    assert console.get(f"{API}/frontier/count", params=asks).json() == {"what": "pattern [ab]+&<c>", "urls": None}
    page = console.get(f"{AT}/frontier/count", params=asks).text
    assert "Counting what <strong>pattern [ab]+&amp;&lt;c&gt;</strong> would drop" in page
    assert 'hx-get="/crawls/stars/frontier/count?host=&amp;pattern=%5Bab%5D%2B%26%3Cc%3E"' in page
    assert "Exclude for good" not in page


def test_a_pattern_too(console: TestClient) -> None:
    counted = console.get(f"{API}/frontier/count", params={"pattern": "html$"}).json()
    assert counted["what"] == "pattern html$"
    changed = console.post(f"{API}/frontier", json={"pattern": "html$", "order": "exclude"}).json()
    assert changed["urls"] == counted["urls"] > 0


def test_hosts_are_put_first_and_last(console: TestClient, crawls: Path) -> None:
    name, waiting = busiest(console)["name"], busiest(console)["waiting"]
    for order, key in (("first", "first"), ("last", "last")):
        assert console.post(f"{API}/frontier", json={"host": name, "order": order}).json()["urls"] == waiting
        host = next(one for one in console.get(f"{API}/frontier").json()["hosts"] if one["name"] == name)
        assert host[key] == waiting
    url = console.get(f"{API}/frontier/queued", params={"host": name}).json()[0]["url"]
    assert "it was put last" in console.get(f"{API}/why", params={"url": url}).json()["sentence"]
    console.post(f"{API}/frontier", json={"host": name, "order": "usual"})
    db = CrawlDb(crawls / "stars" / "crawl.db", readonly=True).open()
    assert db.execute("SELECT count(*) FROM urls WHERE band = 0").fetchone() == (0,)
    db.close()


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({}, "name a host or a pattern"),
        ({"host": "a.example", "pattern": "b"}, "name a host or a pattern"),
        ({"pattern": "("}, "is not a regular expression"),
        ({"host": "http://a.example/x"}, "is not a host name"),
        ({"host": "a.example", "order": "dance"}, "is not one of first, last, usual, exclude"),
    ],
)
def test_bad_orders_get_one_line(console: TestClient, body: dict[str, str], words: str) -> None:
    answer = console.post(f"{API}/frontier", json=body)
    assert answer.status_code == 400
    assert words in answer.json()["error"]


def test_failures_by_kind_are_tried_again(console: TestClient, crawls: Path) -> None:
    found = console.get(f"{API}/failures").json()
    kind = found["kinds"][0]
    assert kind["urls"] > 0
    assert kind["meaning"]
    page = console.get(f"{AT}/failures?kind={kind['kind']}").text
    assert kind["meaning"] in page
    listed = console.get(f"{API}/failures?kind={kind['kind']}").json()["failures"]
    assert {one["error"] for one in listed} == {kind["kind"]}
    one = console.post(f"{API}/failures/retry", json={"urls": [listed[0]["url"]]}).json()
    assert one == {"urls": 1, "is_running": False}
    rest = console.post(f"{AT}/failures/retry", data={"kind": kind["kind"]}).text
    assert f"{kind['urls'] - 1:,} queued for the next start" in rest or "already queued" in rest
    db = CrawlDb(crawls / "stars" / "crawl.db", readonly=True).open()
    assert db.execute("SELECT state FROM urls WHERE url = ?", (listed[0]["url"],)).fetchone() == (0,)
    db.close()


class TestRecent:
    """Figures that take a while."""

    def test_the_view_does_not_wait_for_ever_and_gets_them_next_time(self, tmp_path: Path) -> None:
        go = threading.Event()

        def count(folder: Path) -> int:
            go.wait(60)
            return 7

        recent = Recent(count)
        assert recent.get(tmp_path, 0.0) is None
        go.set()
        assert recent.get(tmp_path, 60.0) == 7

    def test_old_figures_are_shown_while_new_ones_are_counted(self, tmp_path: Path) -> None:
        now, counted, started = [0.0], threading.Event(), []

        def count(folder: Path) -> int:
            if started:
                counted.wait(60)
            started.append(folder)
            return len(started)

        recent = Recent(count, lambda: now[0])
        assert recent.get(tmp_path, 60.0) == 1
        assert recent.get(tmp_path, 60.0) == 1
        now[0] = 100.0
        assert recent.get(tmp_path, 60.0) == 1
        counted.set()
        recent.forget(tmp_path)
        assert (recent.get(tmp_path, 60.0) or 0) > 1

    def test_a_problem_is_the_callers(self, tmp_path: Path) -> None:
        def count(folder: Path) -> int:
            raise BadInput("gone")

        recent: Recent[int] = Recent(count)
        with pytest.raises(BadInput, match="gone"):
            recent.get(tmp_path, 60.0)
