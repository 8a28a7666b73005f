"""Orders given to a crawl after it started: added seeds and exclusions. They are kept in crawl.db."""

import re
from collections.abc import Callable, Sequence

import msgspec
from msgspec import Struct

from lycosa import urls
from lycosa.errors import BadInput
from lycosa.store.db import WAITING, CrawlDb
from lycosa.store.known import closed_hosts
from lycosa.types import Band

_PLAIN = re.compile(r"[\w/:&=%~,;@!-]*")  # characters that stand for themselves in a regular expression
PLACES = {"first": Band.FIRST, "last": Band.LAST, "usual": Band.FOUND}
_ADDED, _EXCLUDED = "added_seeds", "excluded"  # keys of the table meta


class Exclusion(Struct, frozen=True, forbid_unknown_fields=True):
    """A host with all its ports (or host:port), or a regular expression searched in the whole URL."""

    host: str = ""
    pattern: str = ""

    def __str__(self) -> str:
        return self.host or f"pattern {self.pattern}"

    def compiled(self) -> re.Pattern[str]:
        if self.host:
            port = "" if ":" in self.host.rpartition("]")[2] else r"(:\d+)?"
            return re.compile(f"^https?://{re.escape(self.host)}{port}/")
        return re.compile(self.pattern)

    def literal(self) -> str:
        """A text that every URL it matches contains, so that most others need not be read; empty if unknown."""
        if self.host:
            return f"//{self.host}"
        if "|" in self.pattern:
            return ""
        start = _PLAIN.match(self.pattern.removeprefix("^"))
        assert start
        after = self.pattern.removeprefix("^")[start.end() : start.end() + 1]
        return start[0][:-1] if after and after in "?*{" else start[0]


def exclusion(host: str = "", pattern: str = "") -> Exclusion:
    """A valid exclusion from user input."""
    if bool(host) == bool(pattern):
        raise BadInput("exclude: name a host or a pattern")
    if pattern:
        try:
            re.compile(pattern)
        except (re.error, RecursionError, OverflowError) as error:
            raise BadInput(f"exclude: {pattern[:200]!r} is not a regular expression: {error}") from None
        return Exclusion(pattern=pattern)
    url = urls.from_person(host)
    if not url or "://" in host or urls.path_and_query(url) != "/":
        hint = f": write the name alone, {urls.host(url)}" if url else ""
        raise BadInput(f"exclude: {host[:200]!r} is not a host name{hint}")
    return Exclusion(host=urls.host(url))


def added_seeds(db: CrawlDb) -> list[str]:
    return msgspec.json.decode(db.get(_ADDED, "[]"), type=list[str])


def add_seeds(db: CrawlDb, found: Sequence[str]) -> None:
    """Store added seeds; they are part of every later run."""
    everything = dict.fromkeys([*added_seeds(db), *found])
    db.put(_ADDED, msgspec.json.encode([*everything]).decode())


def exclusions(db: CrawlDb) -> list[Exclusion]:
    return msgspec.json.decode(db.get(_EXCLUDED, "[]"), type=list[Exclusion])


def add_exclusion(db: CrawlDb, new: Exclusion) -> None:
    everything = dict.fromkeys([*exclusions(db), new])
    db.put(_EXCLUDED, msgspec.json.encode([*everything]).decode())


def known_urls(db: CrawlDb, among: Sequence[str]) -> set[str]:
    listed = msgspec.json.encode(among).decode()
    return {
        url for (url,) in db.execute("SELECT url FROM urls WHERE url IN (SELECT value FROM json_each(?))", (listed,))
    }


def waiting_urls(db: CrawlDb, of: Exclusion, refuses: Callable[[str, int], str]) -> list[int]:
    """The ids of queued URLs that this exclusion would drop; `refuses` is the scope without it."""
    search = of.compiled().search
    closed = closed_hosts(db)
    rows = db.execute(f"SELECT id, url, depth FROM urls WHERE state = {WAITING} AND instr(url, ?)", (of.literal(),))
    return [
        number
        for number, url, depth in rows
        if search(url) and urls.host(url) not in closed and not refuses(url, depth)
    ]
