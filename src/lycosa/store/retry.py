"""Retry failed URLs: queue them again and reopen their hosts. The recorded visits stay as they are."""

from collections.abc import Callable, Iterable, Sequence

import msgspec
from msgspec import Struct

from lycosa import urls
from lycosa.store.db import DONE, WAITING, CrawlDb

REDIRECTED = "redirect-known"
_LISTED = "SELECT value FROM json_each(?)"
_LAST = (
    "SELECT n, url, final_url, error, detail FROM (SELECT max(n) AS n, url, final_url, error, detail FROM visits"
    " WHERE url IN ({}) GROUP BY url) WHERE error != '' ORDER BY n"
)
_LAST_OF_ALL = _LAST.format("SELECT url FROM visits WHERE error != ''")
_LAST_OF_LISTED = _LAST.format(_LISTED)
_IN_STATE = f"SELECT url FROM urls WHERE state = ? AND url IN ({_LISTED})"
# a URL that returned a page is never fetched again, whatever redirects to it
_GOOD = f"SELECT url FROM visits WHERE error = '' AND url IN ({_LISTED})"
_REOPEN = f"UPDATE urls SET state = {WAITING} WHERE state = {DONE} AND url IN ({_LISTED}) AND url NOT IN ({_GOOD})"
_OPEN = (
    "UPDATE hosts SET closed = CASE WHEN closed LIKE 'unreachable%' THEN '' ELSE closed END, failures = 0, due_at = 0"
    " WHERE failures > 0"
)
_FORGET_ROBOTS = f"DELETE FROM robots WHERE origin IN ({_LISTED})"


class Failure(Struct, frozen=True):
    """A URL whose last visit failed and that is not queued."""

    n: int  # of that visit
    url: str
    final_url: str  # where its redirects ended
    error: str
    detail: str


def failures(db: CrawlDb, among: Sequence[str] | None = None) -> list[Failure]:
    """All URLs whose last visit failed, or those of them that are listed, in fetch order."""
    rows = db.execute(_LAST_OF_ALL) if among is None else db.execute(_LAST_OF_LISTED, (_json(among),))
    found = [Failure(*row) for row in rows]
    done = _in_state(db, DONE, [failure.url for failure in found])
    return [failure for failure in found if failure.url in done]


def chosen(db: CrawlDb, among: Sequence[str] | None, kind: str, refuses: Callable[[str, int], str]) -> list[Failure]:
    """The failures that a user means: the listed URLs or all, of one kind or any, without those out of scope. A
    redirect to a known URL is not a failure: that URL is fetched separately."""
    found = failures(db, among)
    wanted = [one for one in found if one.error == kind or (not kind and one.error != REDIRECTED)]
    return [one for one in wanted if not refuses(one.url, 0)]


def reopen(db: CrawlDb, failed: Sequence[Failure]) -> None:
    """Queue these URLs again. Call it before the frontier loads."""
    addresses = {url for failure in failed for url in (failure.url, failure.final_url) if url}
    db.execute(_REOPEN, (_json(addresses),) * 2)
    open_hosts(db, addresses)
    forbidden = {urls.origin(failure.final_url or failure.url) for failure in failed if "robots" in failure.error}
    db.execute(_FORGET_ROBOTS, (_json(forbidden),))


def open_hosts(db: CrawlDb, addresses: Iterable[str] | None = None) -> None:
    """Reopen hosts that could not be reached: those of some URLs, or all.

    Only hosts whose last request failed this way: they did not reply, so they did not ask us to wait either.
    """
    if addresses is None:
        db.execute(_OPEN)
    else:
        db.execute(f"{_OPEN} AND name IN ({_LISTED})", (_json({*map(urls.host, addresses)}),))


def unknown(db: CrawlDb, addresses: Sequence[str]) -> list[str]:
    """Those of the URLs that the crawl does not know yet."""
    known = {url for (url,) in db.execute(f"SELECT url FROM urls WHERE url IN ({_LISTED})", (_json(addresses),))}
    return [url for url in addresses if url not in known]


def waiting(db: CrawlDb, addresses: Sequence[str]) -> int:
    """How many of the URLs are queued."""
    return len(_in_state(db, WAITING, addresses))


def _in_state(db: CrawlDb, state: int, addresses: Sequence[str]) -> set[str]:
    return {url for (url,) in db.execute(_IN_STATE, (state, _json(addresses)))}


def _json(values: Iterable[str]) -> str:
    return msgspec.json.encode(sorted(values)).decode()
