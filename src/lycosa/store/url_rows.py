"""The URLs known to a crawl and the links between them, as stored in crawl.db."""

from __future__ import annotations  # before Python 3.12, array[int] is valid only in annotations

from array import array
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from lycosa.store.db import DONE, CrawlDb
from lycosa.store.known import links
from lycosa.types import Link, Origin

Row = tuple[int, str, int, str, int, float, int, int, int]  # the columns of `urls`
Raised = tuple[float, int, str, int, int, int, int]  # score, source, anchor, depth, band, origin, id

_INSERT = "INSERT INTO urls VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
_RAISE = "UPDATE urls SET score=?, source=?, anchor=?, depth=?, band=?, origin=? WHERE id=?"
_RESCORE = "UPDATE urls SET score=? WHERE id=?"
_FOUND_ON = "SELECT u.id, u.url FROM json_each(?) t JOIN urls u ON u.id = t.value WHERE u.source=? ORDER BY u.id"
_ALL = "SELECT id, url, depth, score, state, band FROM urls ORDER BY id"
_TAKE = "SELECT u.url, s.url, u.anchor, u.depth, u.origin FROM urls u LEFT JOIN urls s ON s.id = u.source WHERE u.id=?"


class Known(NamedTuple):
    """What the frontier keeps in memory of each URL."""

    number: int
    url: str
    depth: int
    score: float
    state: int
    band: int


class UrlRows:
    """Reads and writes rows, without knowing their meaning."""

    def __init__(self, db: CrawlDb) -> None:
        self._db = db

    def all(self) -> Iterator[Known]:
        """In the order of discovery."""
        return map(Known._make, self._db.execute(_ALL))

    def link(self, number: int) -> Link:
        url, source, anchor, depth, origin = self._db.execute(_TAKE, (number,)).fetchone()
        return Link(url, source or "", anchor, depth, origin=Origin(origin))

    def url(self, number: int) -> str:
        url: str = self._db.execute("SELECT url FROM urls WHERE id=?", (number,)).fetchone()[0]
        return url

    def targets(self, source: int) -> array[int]:
        """The ids of the links of a page."""
        row = self._db.execute("SELECT targets FROM links WHERE source=?", (source,)).fetchone()
        return array("I", row[0] if row else b"")

    def found_on(self, source: int, among: Sequence[int]) -> list[tuple[int, str]]:
        """Ids and URLs of those among these whose priority comes from links of this page."""
        return self._db.execute(_FOUND_ON, (str([*among]), source)).fetchall()

    def insert(self, rows: Sequence[Row]) -> None:
        if rows:
            self._db.executemany(_INSERT, rows)

    def raise_(self, rows: Sequence[Raised]) -> None:
        """Other links determine the priority of these URLs from now on."""
        if rows:
            self._db.executemany(_RAISE, rows)

    def rescore(self, rows: Sequence[tuple[float, int]]) -> None:
        if rows:
            self._db.executemany(_RESCORE, rows)

    def prefer(self, numbers: Sequence[int], band: int) -> None:
        """Move URLs to another band."""
        self._db.executemany("UPDATE urls SET band=? WHERE id=?", [(int(band), number) for number in numbers])

    def scale(self, factor: float) -> None:
        self._db.execute("UPDATE urls SET score = score * ?", (factor,))

    def finish(self, number: int) -> None:
        self._db.execute("UPDATE urls SET state=? WHERE id=?", (DONE, number))

    def write_links(self, source: int, targets: array[int]) -> None:
        if source and targets:
            self._db.execute("INSERT OR REPLACE INTO links VALUES (?, ?)", (source, targets.tobytes()))

    def links(self) -> Iterator[tuple[int, array[int]]]:
        """The targets of each page, by page id."""
        return links(self._db)
