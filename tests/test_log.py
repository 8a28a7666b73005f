"""crawl.log: JSON lines, bounded, without passwords, each crawl's own."""

import asyncio
import json
import logging
from pathlib import Path
from typing import Any

import pytest

from lycosa.errors import StateError
from lycosa.log import CrawlLog, without_passwords
from lycosa.types import Link, Page, Reply, Verdict, Visit

log = logging.getLogger("lycosa.somewhere")


def lines(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "crawl.log").read_text().splitlines()]


def visit(url: str = "http://a.example/") -> Visit:
    reply = Reply(Link(url), url=url, status=200, body=b"x", seconds=0.12345)
    return Visit(reply, Page(url), Verdict(0.5, True), digest="d")


def test_state_changes_warnings_and_tracebacks_are_lines(tmp_path: Path) -> None:
    with CrawlLog(tmp_path).open() as crawl_log:
        crawl_log.event("paused", in_flight=3)
        log.warning("odd: %s", "this")
        log.info("not worth a line")
        try:
            raise ValueError("broken")
        except ValueError:
            log.exception("a bug")
    paused, odd, bug = lines(tmp_path)
    assert (paused["event"], paused["level"], paused["in_flight"]) == ("paused", "info", 3)
    assert (odd["level"], odd["message"], odd["logger"]) == ("warning", "odd: this", "lycosa.somewhere")
    assert bug["traceback"].startswith("Traceback")
    assert "ValueError: broken" in bug["traceback"]


@pytest.mark.parametrize("wanted", [True, False])
def test_visits_are_logged_on_request(tmp_path: Path, wanted: bool) -> None:
    with CrawlLog(tmp_path, visits=wanted).open() as crawl_log:
        crawl_log.write(visit())
    found = [(line["event"], line["url"], line["relevance"], line["seconds"]) for line in lines(tmp_path)]
    assert found == ([("visit", "http://a.example/", 0.5, 0.123)] if wanted else [])


@pytest.mark.parametrize("char", ["\x1b", "\x07", "\x7f", "\x9b", "\u061c", "\u202e", "\u2028", "\u2066", "\ufeff"])
def test_what_would_control_a_terminal_is_escaped_and_not_lost(tmp_path: Path, char: str) -> None:
    with CrawlLog(tmp_path).open() as crawl_log:
        crawl_log.event("visit", detail=f"漢字{char}[2J")
        log.warning("odd: %s", char)
    assert [line.get("detail", line.get("message")) for line in lines(tmp_path)] == [f"漢字{char}[2J", f"odd: {char}"]
    text = (tmp_path / "crawl.log").read_bytes().decode()
    assert char not in text
    assert "漢字" in text


def test_the_file_is_bounded(tmp_path: Path) -> None:
    with CrawlLog(tmp_path, visits=True, max_bytes=5_000).open() as crawl_log:
        for _ in range(500):
            crawl_log.write(visit())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["crawl.log", "crawl.log.1"]
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) <= 10_000
    assert lines(tmp_path)


def test_passwords_of_urls_are_left_out(tmp_path: Path) -> None:
    with CrawlLog(tmp_path).open() as crawl_log:
        crawl_log.event("started", proxy="http://me:hush@proxy.example:8080")
        try:
            raise OSError("cannot connect to http://me:hush@proxy.example:8080/")
        except OSError:
            log.exception("no proxy http://me:hush@proxy.example")
    text = (tmp_path / "crawl.log").read_text()
    assert "hush" not in text
    assert text.count("http://***@proxy.example") >= 3
    assert (
        without_passwords("mail me@x.example, see http://a.example/@b") == "mail me@x.example, see http://a.example/@b"
    )


async def test_two_crawls_in_one_process_keep_their_logs_apart(tmp_path: Path) -> None:
    async def crawl(name: str) -> None:
        (tmp_path / name).mkdir()
        with CrawlLog(tmp_path / name).open():
            await asyncio.sleep(0)
            log.warning("from %s", name)
            await asyncio.to_thread(log.warning, "from a thread of %s", name)

    await asyncio.gather(crawl("a"), crawl("b"))
    for name in ("a", "b"):
        assert [line["message"] for line in lines(tmp_path / name)] == [f"from {name}", f"from a thread of {name}"]


def test_nothing_of_the_callers_logging_is_changed(tmp_path: Path) -> None:
    logger = logging.getLogger("lycosa")
    before = (logger.level, [*logger.handlers], logger.propagate)
    with CrawlLog(tmp_path).open():
        assert logger.level == before[0]
    assert (logger.level, logger.handlers, logger.propagate) == before


def test_a_log_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "crawl.log").mkdir()
    with pytest.raises(StateError, match=r"crawl\.log: cannot be written"), CrawlLog(tmp_path).open():
        pass
