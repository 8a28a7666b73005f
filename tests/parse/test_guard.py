"""Which pages of a crawl are parsed aside: the costly ones, and the last one before a kill."""

import asyncio
import errno
import gc
import subprocess
from pathlib import Path

import pytest
from msgspec.json import encode as to_json

from lycosa.errors import TooCostly
from lycosa.parse import Guarded, Parsers
from lycosa.parse.guard import NAME
from lycosa.types import Link, Page, Reply

BODY = b"<title>t</title><p>word <a href=/x>link</a>"


def reply(url: str, body: bytes = BODY) -> Reply:
    return Reply(Link(url), url=url, status=200, content_type="text/html", body=body)


def killed(guarded: Guarded) -> None:
    """Forget it without the orderly end, as a kill does."""
    (guarded.folder / NAME).rename(guarded.folder / "kept")
    (guarded.folder / NAME).write_bytes((guarded.folder / "kept").read_bytes())


def test_an_ordinary_page_is_there_at_once(tmp_path: Path) -> None:
    assert isinstance(Guarded(Parsers(), tmp_path).parse(reply("http://e.org/")), Page)


async def test_a_large_page_is_waited_for(tmp_path: Path) -> None:
    body = BODY * 10_000
    parsed = Guarded(Parsers(), tmp_path).parse(reply("http://e.org/", body))
    assert not isinstance(parsed, Page)
    assert to_json(await parsed) == to_json(Parsers().parse_here(reply("http://e.org/", body)))


async def test_the_last_page_before_a_kill_is_parsed_aside_from_then_on(tmp_path: Path) -> None:
    guarded = Guarded(Parsers(), tmp_path)
    for url in ("http://e.org/1", "http://e.org/2"):
        guarded.parse(reply(url))
    killed(guarded)
    for run in range(2):  # it stays so in every later run
        guarded = Guarded(Parsers(), tmp_path)
        parsed = guarded.parse(reply("http://e.org/2"))
        assert not isinstance(parsed, Page)
        assert (await parsed).title == "t"
        assert isinstance(guarded.parse(reply(f"http://e.org/another/{run}")), Page)
        killed(guarded)


async def test_a_page_whose_turn_was_over_at_the_kill_is_no_suspect(tmp_path: Path) -> None:
    guarded = Guarded(Parsers(), tmp_path)
    guarded.parse(reply("http://e.org/1"))
    await asyncio.sleep(0)
    killed(guarded)
    assert isinstance(Guarded(Parsers(), tmp_path).parse(reply("http://e.org/1")), Page)


async def test_after_three_tries_a_page_is_given_up(tmp_path: Path) -> None:
    """Parsing it went well each time but the first, yet the crawl died of it: the judge, for example, may have hung."""
    for tries in range(3):
        guarded = Guarded(Parsers(), tmp_path)
        parsed = guarded.parse(reply("http://e.org/poison"))
        assert isinstance(parsed, Page) if tries == 0 else isinstance(await parsed, Page)  # type: ignore[misc]
        killed(guarded)
    for _ in range(2):  # for good
        guarded = Guarded(Parsers(), tmp_path)
        with pytest.raises(TooCostly, match="skipped after 3 tries: each time, the crawl ended while parsing"):
            guarded.parse(reply("http://e.org/poison"))
        assert isinstance(guarded.parse(reply("http://e.org/another")), Page)
        await asyncio.sleep(0)
        killed(guarded)


def test_an_orderly_end_leaves_no_suspect(tmp_path: Path) -> None:
    guarded = Guarded(Parsers(), tmp_path)
    guarded.parse(reply("http://e.org/1"))
    del guarded
    gc.collect()
    assert isinstance(Guarded(Parsers(), tmp_path).parse(reply("http://e.org/1")), Page)


@pytest.mark.parametrize("content", [b"", b"short", b"x" * 100_000])
def test_any_file_of_that_name_is_survived(tmp_path: Path, content: bytes) -> None:
    (tmp_path / NAME).write_bytes(content)
    assert isinstance(Guarded(Parsers(), tmp_path).parse(reply("http://e.org/1")), Page)


def test_a_link_under_its_name_is_not_written_to(tmp_path: Path) -> None:
    (tmp_path / "other").write_bytes(b"precious")
    (tmp_path / NAME).symlink_to("other")
    assert isinstance(Guarded(Parsers(), tmp_path).parse(reply("http://e.org/1")), Page)
    assert (tmp_path / "other").read_bytes() == b"precious"


async def test_no_room_for_another_process_is_not_the_fault_of_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_descriptors(*given: object, **more: object) -> None:
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr(subprocess, "Popen", no_descriptors)
    body = b"<title>large</title>" + b"<p>text</p>" * 30_000
    parsed = Guarded(Parsers(), tmp_path).parse(reply("http://a/", body))
    assert not isinstance(parsed, Page)
    assert (await parsed).title == "large"
