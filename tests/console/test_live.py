"""The live view: what it says, and that reading costs the crawl nothing."""

import contextlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from lycosa import remote
from lycosa.console.jobs import Jobs
from lycosa.console.overview import overview
from lycosa.estimate.decay import Curve, extrapolate
from lycosa.estimate.history import history
from lycosa.output.lately import read_lately
from lycosa.store.db import CrawlDb
from lycosa.store.overview import LateVisit, latest_visits
from lycosa.store.visited import relevance_order


def test_a_finished_crawl(console: TestClient) -> None:
    page = console.get("/crawls/stars/").text
    for words in ("limit of 60 pages", "Last pages", "Hosts lately", "Recall estimate", "Continue"):
        assert words in page
    now = console.get("/api/crawls/stars/now").json()
    assert now["crawl"]["pages"] == 60
    assert now["errors"]
    assert len(now["lately"]["pages"]) == 40
    assert sum(host["visits"] for host in now["lately"]["hosts"]) == 60 + sum(now["errors"].values())
    assert now["pages_per_s"] > 0


def test_the_curves_end_where_the_crawl_is(console: TestClient) -> None:
    found = console.get("/api/crawls/stars/history").json()
    assert found["pages"][-1] == 60
    assert found["harvest"][-1] == pytest.approx(console.get("/api/crawls/stars").json()["harvest_rate"])
    folder: Path = console.app.state.console_site.folders.find("stars")  # type: ignore[attr-defined]
    curve = Curve()
    with contextlib.closing(CrawlDb(folder / "crawl.db", readonly=True).open()) as db:
        for is_relevant in relevance_order(db):
            curve.add(is_relevant)
    assert tuple(found[name][-1] for name in ("low", "middle", "high")) == pytest.approx(extrapolate(curve))


def test_a_crawl_that_was_never_started(console: TestClient) -> None:
    assert "No page has been fetched yet" in console.get("/crawls/unborn/").text
    assert console.get("/api/crawls/unborn/history").json()["pages"] == []


def test_drift_is_said_at_the_top(console: TestClient, crawls: Path) -> None:
    path = crawls / "stars" / "summary.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"drift": "recent pages are unlike the first ones"}))
    assert "recent pages are unlike the first ones" in console.get("/crawls/stars/").text


@pytest.mark.parametrize("text", ["", "{", "[]", '{"pages": 3}'])
def test_a_damaged_summary_is_no_error(text: str, console: TestClient, crawls: Path) -> None:
    (crawls / "stars" / "summary.json").write_text(text)
    assert console.get("/").status_code == 200
    assert console.get("/crawls/stars/").status_code == 200


async def test_news_are_sent_when_there_are_some(console: TestClient, crawls: Path, monkeypatch: Any) -> None:
    """The stream is read by hand: a test client would wait for its end."""
    from starlette.requests import Request

    from lycosa.console import live

    naps = []

    async def nap(seconds: float) -> None:
        naps.append(seconds)
        if len(naps) == 2:
            (crawls / "stars" / "summary.json").write_text('{"pages": 61, "ended": ""}')

    monkeypatch.setattr("lycosa.console.live.asyncio.sleep", nap)
    closing: Callable[[], bool] = lambda: len(naps) > 3  # noqa: E731
    console.app.state.is_closing = closing  # type: ignore[attr-defined]

    async def receive() -> dict[str, str]:
        await forever()
        return {"type": "http.disconnect"}

    scope = {"type": "http", "app": console.app, "path_params": {"name": "stars"}, "headers": [], "path": "/"}
    request = Request(scope, receive)
    told = [chunk async for chunk in live._news(request, crawls / "stars")]
    assert [json.loads(chunk.removeprefix(b"data: "))["now"]["crawl"]["pages"] for chunk in told] == [60, 61]


async def forever() -> None:
    import asyncio

    await asyncio.Event().wait()


def visit(n: int, error: str = "", host: str = "a.example") -> LateVisit:
    return LateVisit(n, f"http://{host}/{n}", "", "", None if error else 0.5, not error, "", error, "", float(n), 0.1)


def test_frequent_failures_get_a_sentence(monkeypatch: pytest.MonkeyPatch, finished: Path) -> None:
    visits = [visit(n, "robots" if n % 2 else "") for n in range(100)]
    monkeypatch.setattr("lycosa.output.lately.latest_visits", lambda db, most: visits)
    db = CrawlDb(finished / "crawl.db", readonly=True).open()
    assert read_lately(db).notes == ["robots.txt of a.example forbids 50 of the last 100 links chosen"]
    visits[:] = [visit(n, "timeout", f"h{n}.example") for n in range(40)]
    assert read_lately(db).notes == ["40 of the last 40 fetches failed: timeout"]
    visits[:] = visits[:5]
    assert read_lately(db).notes == []
    monkeypatch.undo()
    latest = [one.n for one in latest_visits(db, 3)]
    assert latest == [latest[0], latest[0] - 1, latest[0] - 2]
    db.close()


def test_history() -> None:
    assert history([]).pages == []
    found = history([True, False] * 200, points=4)
    assert found.pages == [100, 200, 300, 400]
    assert found.harvest == [0.5, 0.5, 0.5, 0.5]
    assert found.recent == [0.5, 0.5, 0.5, 0.5]
    assert history([False] * 50, points=2).middle == [None, None]


def test_states(crawls: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    jobs, stars = Jobs(), crawls / "stars"

    def state() -> tuple[str, str]:
        found = overview("stars", stars, jobs)
        return found.state, found.status

    assert state() == ("ended", "limit of 60 pages")
    (stars / "summary.json").write_text('{"pages": 5, "ended": "", "status": "4 hosts resting until 14:05:00"}')
    assert state() == ("interrupted", "interrupted; start it again to continue")
    monkeypatch.setattr(remote, "is_listening", lambda folder: True)
    assert state() == ("crawling", "4 hosts resting until 14:05:00")
    (stars / "summary.json").write_text('{"pages": 5, "ended": "", "status": "paused", "paused": true}')
    assert state() == ("paused", "paused")
