"""Every URL the crawl knows: id, score and state in compact arrays. Its text stays in crawl.db until it is taken."""

from __future__ import annotations  # array[int] is a type before Python 3.12 only in annotations

from array import array
from collections.abc import Iterator

from lycosa import urls
from lycosa.frontier.batch import Batch
from lycosa.store.db import DONE, WAITING, CrawlDb
from lycosa.types import Link

LEASED = 3  # in memory only: on disk a URL in flight still waits

_INSERT = "INSERT INTO urls VALUES (?, ?, ?, ?, ?, ?, ?)"
_RAISE = "UPDATE urls SET score=?, source=?, anchor=?, depth=? WHERE id=?"
_RESCORE = "UPDATE urls SET score=? WHERE id=?"
_ALL = "SELECT id, url, depth, score, state FROM urls ORDER BY id"
_TAKE = "SELECT u.url, s.url, u.anchor, u.depth FROM urls u LEFT JOIN urls s ON s.id = u.source WHERE u.id=?"


class UrlTable:
    """Ids count from 1 in the order of discovery; `scores` and `states` are indexed by them."""

    def __init__(self, db: CrawlDb) -> None:
        self.ids: dict[int, int] = {}  # by `urls.key`
        self.scores = array("d", [0.0])
        self.states = array("B", [DONE])
        self._db = db

    def __len__(self) -> int:
        return len(self.ids)

    def number(self, url: str) -> int:
        """The id of a known URL, else 0."""
        return self.ids.get(urls.key(url), 0) if url else 0

    def enter(self, key: int, score: float, state: int) -> int:
        """Give a new URL its id; its row is for the caller to write."""
        number = self.ids[key] = len(self.scores)
        self.scores.append(score)
        self.states.append(state)
        return number

    def insert(self, link: Link, source: int, score: float, state: int) -> int:
        """Enter a new URL and write its row. In flight it still waits on disk."""
        number = self.enter(urls.key(link.url), score, state)
        row = (number, link.url, source, link.anchor, link.depth, score, WAITING if state == LEASED else state)
        self._db.execute(_INSERT, row)
        return number

    def load(self) -> Iterator[tuple[int, str, int]]:
        """Read all rows; those that wait are handed out: id, URL, depth."""
        for number, url, depth, score, state in self._db.execute(_ALL):
            self.ids[urls.key(url)] = number
            self.scores.append(score)
            self.states.append(state)
            yield number, url, depth

    def take(self, number: int) -> Link:
        url, source, anchor, depth = self._db.execute(_TAKE, (number,)).fetchone()
        return Link(url, source or "", anchor, depth)

    def finish(self, number: int) -> None:
        self.states[number] = DONE
        self._db.execute("UPDATE urls SET state=? WHERE id=?", (DONE, number))

    def host_of(self, number: int) -> str:
        return urls.host(self._db.execute("SELECT url FROM urls WHERE id=?", (number,)).fetchone()[0])

    def write(self, batch: Batch) -> None:
        if batch.rows:
            self._db.executemany(_INSERT, batch.rows)
        if batch.raised:
            self._db.executemany(_RAISE, batch.raised)
        if batch.rescored:
            self._db.executemany(_RESCORE, batch.rescored)
        if batch.source and batch.targets:
            self._db.execute("INSERT OR REPLACE INTO links VALUES (?, ?)", (batch.source, batch.targets.tobytes()))

    def edges(self) -> tuple[array[int], array[int], array[int]]:
        """All links found so far, as ids of sources and of targets, and the ids that wait."""
        sources, targets = array("I"), array("I")
        for source, blob in self._db.execute("SELECT source, targets FROM links ORDER BY source"):
            found = array("I", blob)
            targets.extend(found)
            sources.extend(array("I", [source]) * len(found))
        waiting = array("I", [number for number, state in enumerate(self.states) if state == WAITING])
        return sources, targets, waiting

    def scale(self, factor: float) -> None:
        self.scores = array("d", [score * factor for score in self.scores])
        self._db.execute("UPDATE urls SET score = score * ?", (factor,))
