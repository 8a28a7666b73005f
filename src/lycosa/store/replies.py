"""The stored replies of a crawl in fetch order: their rows in crawl.db, and their bodies from the WARC."""

from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from lycosa.store.db import CrawlDb
from lycosa.store.visits import Kept
from lycosa.store.warc_reader import Response, read_responses
from lycosa.types import BadInput, Exchange, Link, Reply

_READ_AGAIN = "parse"  # an error of ours, not of the Web: it may have been the judge's, which may since have been fixed
_ROWS = (
    "SELECT n, bytes, warc, warc_offset, url, source, anchor, depth, final_url, status, content_type, error, detail,"
    " fetched_at, seconds FROM {} ORDER BY n"
)
_UNSTORED = "SELECT count(*) FROM visits WHERE warc = '' AND error = ''"


class Stored(NamedTuple):
    """One visit that can be replayed."""

    reply: Reply
    kept: Kept


def count_unstored(db: CrawlDb) -> int:
    """The number of fetched pages that are not in the WARC."""
    return int(db.execute(_UNSTORED).fetchone()[0])


def stored_replies(db: CrawlDb, table: str, folder: Path, max_bytes: int) -> Generator[Stored, None, None]:
    """Every visit of a table of visits. The WARC files are read once, from start to end."""
    answers = _Answers(folder, max_bytes)
    for n, size, warc, offset, url, source, anchor, depth, *facts in db.execute(_ROWS.format(table)):
        found = answers.up_to(warc, offset) if warc else []
        reply = _reply(Link(url, source, anchor, depth), facts, found)
        if found and found[-1].error and not reply.error:
            raise BadInput(f"{folder / warc}: the page at byte {offset} is {found[-1].error}")
        yield Stored(reply, Kept(n, size, warc, offset))


def _reply(link: Link, facts: list[Any], found: list[Response]) -> Reply:
    """The reply as the fetcher returned it; for a failure, without the body."""
    url, status, content_type, error, detail, at, seconds = facts
    if error == _READ_AGAIN:
        error = detail = ""
    answer = found[-1] if found and not error else None
    return Reply(
        link,
        url=url,
        status=status,
        content_type=content_type,
        body=answer.body if answer else b"",
        error=error,
        detail=detail,
        at=at,
        seconds=seconds,
        exchanges=tuple(Exchange(one.url, b"", b"", b"", at) for one in found),
        robots_tag=answer.headers.get("x-robots-tag", "") if answer else "",
    )


class _Answers:
    """The replies of all files, read on demand."""

    def __init__(self, folder: Path, max_bytes: int) -> None:
        self._folder = folder
        self._max_bytes = max_bytes
        self._rest: dict[str, Iterator[Response]] = {}  # by file

    def up_to(self, name: str, offset: int) -> list[Response]:
        """The replies of one visit: redirects first, the final reply at the offset last."""
        if name not in self._rest:
            self._rest[name] = read_responses(self._folder / name, self._max_bytes)
        found = []
        for answer in self._rest[name]:
            found.append(answer)
            if answer.offset >= offset:
                break
        if not found or found[-1].offset != offset:
            raise BadInput(f"{self._folder / name}: no reply at byte {offset}, where the crawl stored one")
        return found
