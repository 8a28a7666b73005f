"""What a crawl tells of itself: report, chart, path of links, progress."""

import io
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from lycosa.output.progress import Progress, waits_for
from lycosa.output.report import harvest_curve, read_report
from lycosa.output.show import chart, draw, duration, status
from lycosa.output.why import draw_path, draw_why, read_path
from lycosa.store.db import CrawlDb
from lycosa.store.visits import Totals, VisitStore
from lycosa.types import BadInput, Link, Origin, Page, Reply, Verdict, Visit


def visit(url: str, source: str = "", relevance: float = 0.0, **more: Any) -> Visit:
    reply = Reply(
        Link(url, source, "the anchor [red]" if source else ""), url=url, status=200, body=b"x" * 10, at=5.0, **more
    )
    verdict = Verdict(relevance, relevance >= 0.5, "good", why={"spider": 0.7, "web": -0.1})
    page = Page(url, f"title of {url}")
    return Visit(reply, page, verdict, 0.25 if source else 0.0, digest="" if reply.error else url)


@pytest.fixture
def db() -> CrawlDb:
    made = CrawlDb(":memory:").open()
    store = VisitStore(made, None)
    store.open()
    for one in (
        visit("http://a/", relevance=0.9),
        visit("http://a/b", "http://a/", 0.2),
        visit("http://c/", "http://a/b", 0.6),
        visit("http://d/", "http://a/", error="http-404", detail="gone"),
        Visit(Reply(Link("http://e/", "http://a/"), url="http://e/"), digest="x", duplicate_of="http://a/b"),
    ):
        store.write(one)
    made.execute("INSERT INTO urls VALUES (1, 'http://w/', 0, 'waits', 1, 0.5, 0, 1, 0)")
    made.execute("INSERT INTO hosts VALUES ('a', 2000.0, 1.0, 0, 2, '')")
    made.execute("INSERT INTO hosts VALUES ('z', 0.0, 1.0, 9, 0, 'unreachable (dns)')")
    made.put("ended", "frontier empty")
    made.put("outlook", '{"waiting": 1, "next_due": 2000.0}')
    made.put("spent_s", "10.0")
    return made


def test_the_report(db: CrawlDb) -> None:
    report = read_report(db)
    assert (report.visits, report.pages, report.relevant, report.duplicates) == (5, 3, 2, 1)
    assert report.errors == {"http-404": 1}
    assert report.harvest_rate == 2 / 3
    assert [page.url for page in report.best] == ["http://a/", "http://c/", "http://a/b"]
    assert [(host.host, host.relevant) for host in report.hosts] == [("a", 1), ("z", 0)]
    assert (report.known, report.waiting) == (1, 1)


def test_totals_are_the_same_counted_as_they_come_and_read_back(db: CrawlDb) -> None:
    totals = Totals(distinct=True)
    totals.load(db)
    assert (totals.visits, totals.pages, totals.relevant, totals.duplicates) == (5, 3, 2, 1)
    assert totals.errors == {"http-404": 1}


def text_of(call: Any) -> str:
    console = Console(file=io.StringIO(), width=120)
    call(console)
    return console.file.getvalue()  # type: ignore[attr-defined, no-any-return]


def test_show_draws_all_of_it(db: CrawlDb) -> None:
    text = text_of(lambda console: draw(read_report(db), console, running=False, now=1_000.0))
    for words in (
        "ended: frontier empty",
        "0.667",
        "title of http://a/",
        "http-404",
        "unreachable (dns)",
        "rests until",
    ):
        assert words in text


@pytest.mark.parametrize(
    ("account", "line"),
    [
        ('{"day": 20000, "asked": 12}', "12 queries on 2024-10-04"),
        ('{"day": 20000, "asked": 1, "failures": 1, "trouble": "http-429"}', "; the last one failed (http-429)"),
        (
            '{"day": 20000, "asked": 5, "failures": 4, "trouble": "[b]timeout\\u001b", "rests_until": 5000}',
            "5 queries on 2024-10-04; the last 4 failed ([b]timeout ), rests until ",
        ),
    ],
)
def test_show_says_whether_the_search_engine_answers(db: CrawlDb, account: str, line: str) -> None:
    def shown() -> str:
        return text_of(lambda console: draw(read_report(db), console, running=False, now=1_000.0))

    assert "search" not in shown()
    assert read_report(db).search is None
    db.put("search", account)
    assert line in shown()
    assert read_report(db).search is not None


def test_why_it_stopped_or_what_it_waits_for(db: CrawlDb) -> None:
    report = read_report(db)
    assert status(report, running=False) == "ended: frontier empty"
    db.put("ended", "")
    assert status(read_report(db), running=False).startswith("interrupted")
    assert status(read_report(db), running=True) == "running"
    db.put("outlook", '{"waiting": 1, "status": "2 good hosts resting; 9 others have nothing good enough"}')
    assert status(read_report(db), running=True).startswith("running: 2 good hosts resting; 9 others")
    db.put("outlook", '{"status": "no network since 14:02:11; next try 14:07:11"}')
    assert status(read_report(db), running=True) == "running: no network since 14:02:11; next try 14:07:11"


@given(st.lists(st.booleans(), max_size=300), st.integers(1, 80))
def test_the_harvest_curve_ends_with_the_rate(on_topic: list[bool], points: int) -> None:
    curve = harvest_curve(on_topic, points)
    assert len(curve) <= points
    assert all(0 <= value <= 1 for value in curve)
    if on_topic:
        assert curve[-1] == sum(on_topic) / len(on_topic)


@given(st.lists(st.floats(0, 1), max_size=80), st.integers(1, 10))
def test_the_chart_has_its_size(values: list[float], height: int) -> None:
    lines = chart(values, height)
    assert len(lines) == height
    assert {len(line) for line in lines} == {7 + len(values)}


@pytest.fixture
def linked(db: CrawlDb) -> CrawlDb:
    """With the links between its pages."""
    rows = [("http://a/", 0), ("http://a/b", 2), ("http://c/", 3), ("http://d/", 2), ("http://e/", 2)]
    for number, (url, source) in enumerate(rows, 2):
        values = (number, url, source, "the anchor [red]" if source else "", int(bool(source)), 0.25)
        db.execute("INSERT INTO urls VALUES (?, ?, ?, ?, ?, ?, 1, 1, ?)", (*values, 0 if source else Origin.SEED))
    return db


def test_the_path_from_a_seed(linked: CrawlDb) -> None:
    path = read_path(linked, "http://c")
    assert [step.url for step in path] == ["http://a/", "http://a/b", "http://c/"]
    text = text_of(lambda console: draw_why(path, console, None))
    for words in (
        "a seed",
        "score 0.2500",
        "“the anchor [red]”",
        "relevance 0.6000, on topic, class good",
        "+0.700  spider",
    ):
        assert words in text


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("http://d/", "visit 4: http-404 (gone)"),
        ("http://e/", "the same body as http://a/b"),
        ("http://w/", "not visited: it is queued"),
    ],
)
def test_why_for_every_fate(linked: CrawlDb, url: str, words: str) -> None:
    assert words in text_of(lambda console: draw_path(read_path(linked, url), console))


@pytest.mark.parametrize("url", ["http://nobody/", "no url", ""])
def test_an_unknown_url(db: CrawlDb, url: str) -> None:
    with pytest.raises(BadInput, match="does not know"):
        read_path(db, url)


def summary(**more: Any) -> dict[str, Any]:
    return {
        "pages": 10,
        "relevant": 4,
        "harvest_rate": 0.4,
        "waiting": 7,
        "hosts_due": 0,
        "hosts_resting": 0,
        "in_flight": 0,
        "next_due": None,
        "errors": {"dns": 2},
        "ended": "",
        **more,
    }


def test_what_it_waits_for() -> None:
    assert waits_for(summary()) == ""
    assert waits_for(summary(status="4 hosts resting until 14:05:00")) == "4 hosts resting until 14:05:00"
    assert waits_for(summary(ended="limit of 3 pages")) == "limit of 3 pages"


def test_plain_lines_come_every_few_seconds_and_at_the_end() -> None:
    now = [0.0]
    console = Console(file=io.StringIO(), width=200)
    with Progress(console, "mine", lambda: now[0]) as progress:
        for second in range(12):
            now[0] = float(second)
            progress(summary(pages=second * 10))
        progress(summary(pages=120, ended="frontier empty"))
    lines = console.file.getvalue().splitlines()  # type: ignore[attr-defined]
    assert len(lines) == 4
    assert lines[0].startswith("mine: pages 10, pages/s 10.0, relevant 4, harvest 0.400")
    assert lines[-1].endswith("frontier empty")


LIMITS = {"pages": 0, "relevant": 0, "seconds": 0.0}


def live(*reports: dict[str, Any], every: float = 1.0) -> str:
    """What a terminal shows after some reports, without colours."""
    now = [0.0]
    console = Console(file=io.StringIO(), force_terminal=True, color_system=None, width=160, height=30)
    progress = Progress(console, "mine", lambda: now[0])
    for report in reports:
        console.file.truncate(0)  # type: ignore[attr-defined]
        progress(report)
        now[0] += every
    return str(console.file.getvalue())  # type: ignore[attr-defined]


def test_on_a_terminal_the_display_is_live() -> None:
    shown = live(summary(hosts_due=1, hosts_resting=12))
    for words in ("mine", "pages 10", "relevant 4", "harvest 0.400", "frontier 7", "resting 12", "errors 2"):
        assert words in shown
    assert "time left" not in shown


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        ({"pages": 1_000}, "pages 150 of 1,000  pages/s 10.0  time left about 85 s"),
        ({"relevant": 100}, "pages 150  pages/s 10.0  time left about 40 s"),
        ({"seconds": 60.0}, "pages 150  pages/s 10.0  time left about 35 s"),
        ({"pages": 1_000, "relevant": 100, "seconds": 60.0}, "time left about 35 s"),
        ({"pages": 100_000}, "time left about 3 h"),
    ],
)
def test_the_time_left_is_that_of_the_nearest_limit(limits: dict[str, float], words: str) -> None:
    reports = [
        summary(pages=100 + 10 * step, relevant=10 + 2 * step, seconds=20.0 + step, limits=LIMITS | limits)
        for step in range(6)
    ]
    assert words in live(*reports)


def test_the_trend_of_the_harvest() -> None:
    def shown(recent: float, pages: int = 100) -> str:
        return live(summary(pages=300, harvest_rate=0.4, recent_pages=pages, recent_harvest_rate=recent))

    assert "harvest 0.400 (rising: 0.500 of the last 100)" in shown(0.5)
    assert "harvest 0.400 (falling: 0.100 of the last 100)" in shown(0.1)
    assert "harvest 0.400 (steady: 0.410 of the last 100)" in shown(0.41)
    assert "of the last" not in shown(0.5, pages=5)


def test_the_last_good_page_does_not_speak_to_the_terminal() -> None:
    shown = live(summary(last_good={"url": "http://a/\x1b[2J", "title": "Stars [red] \x1b]0;owned\x07"}))
    assert "last relevant page Stars [red]" in shown
    assert "http://a/" in shown
    assert "\x1b]0" not in shown
    assert "\x1b[2J" not in shown


def test_at_the_end_the_speed_is_that_of_the_whole_crawl() -> None:
    shown = live(summary(pages=10, seconds=2.0), summary(pages=10, seconds=5.0, ended="frontier empty"))
    assert "pages/s 2.0" in shown
    assert "pages/s 5.0" in live(summary(pages=10, seconds=2.0))


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.04, "0 s"), (1.26, "1.3 s"), (8, "8 s"), (119, "119 s"), (150, "2 min"), (7_200, "2 h"), (1e6, "12 days")],
)
def test_durations(seconds: float, words: str) -> None:
    assert duration(seconds) == words


def test_a_folder_where_nothing_was_crawled(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="nothing crawled yet"):
        CrawlDb(tmp_path / "crawl.db", readonly=True).open()
