"""Several crawls side by side."""

from pathlib import Path

from rich.console import Console

from lycosa.output.report import read_report
from lycosa.output.side_by_side import draw_beside, names, side_by_side
from lycosa.store.db import CrawlDb

_COLUMNS = "n, url, final_url, error, digest, duplicate_of, relevance, on_topic"
_VISIT = f"INSERT INTO visits ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"


def crawled(folder: Path, *relevances: float | None) -> CrawlDb:
    """A crawl with such pages; None is a failure."""
    folder.mkdir(parents=True)
    db = CrawlDb(folder / "crawl.db").open()
    for n, relevance in enumerate(relevances, 1):
        url = f"http://x/{n}"
        good = relevance is not None
        db.execute(_VISIT, (n, url, url, "" if good else "dns", url * good, "", relevance, (relevance or 0) > 0.5))
    db.execute("INSERT INTO hosts VALUES ('x', 0.0, 1.0, 0, 2, '')")
    db.put("strategy", "best-first")
    db.put("spent_s", "4.0")
    db.put("ended", "limit of 3 pages")
    db.commit()
    return db


def test_totals_come_first(tmp_path: Path) -> None:
    folders = [tmp_path / "one", tmp_path / "two"]
    databases = [crawled(folders[0], 0.9, None, 0.2), crawled(folders[1], 0.8, 0.9, 0.1, 0.7)]
    crawls = side_by_side(folders, [*map(read_report, databases)])
    console = Console(width=160)
    with console.capture() as capture:
        draw_beside(crawls, console)
    lines = [" ".join(line.split()) for line in capture.get().splitlines()]
    for words in (
        "one two",
        "strategy best-first best-first",
        "pages 2 4",
        "relevant 1 3",
        "harvest rate 0.500 0.750",
        "errors 1 0",
        "hosts 1 1",
        "time 4 s 4 s",
        "pages/s 0.5 1.0",
        "stopped limit of 3 pages limit of 3 pages",
    ):
        assert words in lines
    assert lines.index("harvest rate 0.500 0.750") < lines.index("pages by relevance")
    (curves,) = (line for line in lines if line.startswith("by pages fetched"))
    assert curves.split()[3:] == ["█▄", "██▅▆"]
    for db in databases:
        db.close()


def test_crawls_without_pages_can_stand_there_too(tmp_path: Path) -> None:
    db = crawled(tmp_path / "none")
    console = Console(width=160)
    with console.capture() as capture:
        draw_beside(side_by_side([tmp_path / "none"], [read_report(db)]), console)
    db.close()
    assert "harvest rate" in capture.get()


def test_every_crawl_has_a_name_of_its_own() -> None:
    assert names([Path("a/one"), Path("b/two")]) == ["one", "two"]
    assert names([Path("a/one"), Path("b/one")]) == ["a/one", "b/one"]
    assert names([Path("one"), Path("one")]) == ["one", "one (2)"]
    assert names([Path("."), Path("two")])[0]
