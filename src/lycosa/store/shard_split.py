"""Turns the database of a crawl into those of its shards, and back.

Each shard gets a copy of the database, so that it knows everything that was learned, and keeps the rows of its own
hosts. Going back, the rows of all shards are numbered again; what was learned has to be learned again from the pages.
"""

from __future__ import annotations  # before Python 3.12, array[int] is valid only in annotations

import sqlite3
from array import array
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path

import msgspec
import numpy as np

from lycosa.store.db import ELSEWHERE, WAITING, CrawlDb
from lycosa.store.shard_rows import ShardRows
from lycosa.store.shard_views import BEFORE, REFERENCE
from lycosa.store.visits import SERIES
from lycosa.types import Band

Owner = Callable[[str], int]  # the shard of a URL
_PAGE, _ELSEWHERE = "labels page ", "labels elsewhere "  # the notes of a judge about labelled pages
_SINGLE = {"warc_end": "single_warc_end", "warc_run": "single_warc_run"}  # of the WARC files from before
_FORGOTTEN = ("state:judge", "state:strategy", "shards", "list", SERIES, BEFORE, *_SINGLE.values())
_FILE_NAME = "replace(warc, rtrim(warc, replace(warc, '/', '')), '')"  # what follows the last slash


def take_share(source: Path, target: Path, shard: int, owner: Owner, decides: Owner) -> None:
    """Copy a database, and reduce it to the rows of one shard. `decides`: the shard that answers for a digest."""
    with closing(sqlite3.connect(source)) as whole, closing(sqlite3.connect(target)) as part:
        whole.backup(part)
        part.create_function("owner", 1, owner, deterministic=True)
        part.create_function("decides", 1, decides, deterministic=True)
        with part:
            ShardRows(_Plain(part)).create()
            part.execute(
                "INSERT OR IGNORE INTO claims SELECT digest, url FROM visits"
                " WHERE digest != '' AND duplicate_of = '' AND decides(digest) = ?",
                (shard,),
            )
            _keep_links(part, shard, owner)
            part.execute(
                f"UPDATE urls SET state = {ELSEWHERE}, source = -(id * {REFERENCE} + owner(url)) WHERE owner(url) != ?",
                (shard,),
            )
            part.execute(f"INSERT OR REPLACE INTO meta SELECT '{BEFORE}', coalesce(max(n), 0) FROM visits")
            part.execute("DELETE FROM visits WHERE owner(url) != ?", (shard,))
            part.execute("DELETE FROM hosts WHERE owner('http://' || name || '/') != ?", (shard,))
            part.execute("DELETE FROM robots WHERE owner(origin || '/') != ?", (shard,))
            if _has_labels(part):
                _keep_labels(part, shard)
            part.execute(
                "DELETE FROM notes WHERE key >= ? AND key < ? AND owner(substr(key, ?)) != ?",
                (_PAGE, _PAGE + "\uffff", len(_PAGE) + 1, shard),
            )
            for name, kept in _SINGLE.items():
                part.execute("UPDATE OR REPLACE meta SET key = ? WHERE key = ?", (kept, name))
            part.execute("INSERT OR IGNORE INTO meta VALUES ('secret', '0')")
        part.execute("VACUUM")


class _Plain(CrawlDb):
    """An open connection in place of a crawl.db."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        super().__init__(":memory:")
        self._db = connection


def _has_labels(db: sqlite3.Connection) -> bool:
    return bool(db.execute("SELECT count(*) FROM sqlite_master WHERE name = 'labels'").fetchone()[0])


def _keep_labels(db: sqlite3.Connection, shard: int) -> None:
    """Keep the labels of this shard's pages; of the others, what their shards would have told this one."""
    others = "FROM labels LEFT JOIN notes ON key = ? || url WHERE owner(url) != ?"
    for url, on_topic, page in db.execute(f"SELECT url, on_topic, value {others}", (_PAGE, shard)).fetchall():
        note = msgspec.msgpack.encode((bool(on_topic), page or b""))
        db.execute("INSERT OR REPLACE INTO notes VALUES (?, ?)", (_ELSEWHERE + url, note))
    db.execute("DELETE FROM labels WHERE owner(url) != ?", (shard,))


def _keep_links(db: sqlite3.Connection, shard: int, owner: Owner) -> None:
    """Of the targets of each page, those of this shard."""
    last = db.execute("SELECT coalesce(max(id), 0) FROM urls").fetchone()[0]
    owners = np.full(last + 1, -1, np.int16)
    for number, url in db.execute("SELECT id, url FROM urls"):
        owners[number] = owner(url)
    rows = []
    for source, targets in db.execute("SELECT source, targets FROM links"):
        found = np.frombuffer(targets, np.uint32)
        rows.append((source, found[owners[found] == shard].tobytes()))
    db.execute("DELETE FROM links")
    db.executemany("INSERT INTO links VALUES (?, ?)", (row for row in rows if row[1]))


def gather(shards: CrawlDb, target: CrawlDb) -> None:
    """Write the rows of all shards, as a reader sees them, to a new database."""
    numbers = {0: 0}
    for new, (old,) in enumerate(shards.execute("SELECT id FROM urls ORDER BY id"), 1):
        numbers[old] = new
    target.executemany("INSERT INTO urls VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", _urls(shards, numbers))
    links: dict[int, array[int]] = {}
    for source, targets in shards.execute("SELECT source, targets FROM links"):
        found = links.setdefault(numbers.get(source, 0), array("I"))
        found.extend(numbers[old] for old in array("I", targets) if old in numbers)
    links.pop(0, None)
    rows = ((source, targets.tobytes()) for source, targets in links.items())
    target.executemany("INSERT INTO links VALUES (?, ?)", rows)
    columns = [_FILE_NAME if column == "warc" else column for column in _columns(target, "visits")]
    _copy(shards, target, "visits", f"SELECT {', '.join(columns)} FROM visits ORDER BY n")
    _copy(shards, target, "hosts", "SELECT * FROM hosts")
    _copy(shards, target, "robots", "SELECT * FROM robots")
    for key, value in shards.execute("SELECT key, value FROM meta"):
        if key not in _FORGOTTEN and key not in _SINGLE:
            target.put(key, value)
    for name, kept in _SINGLE.items():
        if value := shards.get(kept):
            target.put(name, value)


def _urls(shards: CrawlDb, numbers: dict[int, int]) -> Iterator[Sequence[object]]:
    for number, url, source, *facts in shards.execute("SELECT * FROM urls ORDER BY id"):
        yield numbers[number], url, numbers.get(source, 0), *facts


def _columns(db: CrawlDb, table: str) -> list[str]:
    return [name for _, name, *_ in db.execute(f"PRAGMA table_info({table})")]


def _copy(shards: CrawlDb, target: CrawlDb, table: str, query: str) -> None:
    rows = shards.execute(query)
    places = ", ".join("?" * len(_columns(target, table)))
    target.executemany(f"INSERT OR REPLACE INTO {table} VALUES ({places})", rows)


def copy_labels(shards: CrawlDb, target: CrawlDb, create: Callable[[CrawlDb], None]) -> None:
    if shards.execute("SELECT count(*) FROM sqlite_temp_master WHERE name = 'labels'").fetchone()[0]:
        create(target)
        _copy(shards, target, "labels", "SELECT * FROM labels")


def queue_undelivered(target: CrawlDb, urls: Iterator[tuple[str, float]]) -> int:
    """URLs and scores from letters that were not delivered: queue those that are unknown."""
    known = {url for (url,) in target.execute("SELECT url FROM urls")}
    number = int(target.execute("SELECT coalesce(max(id), 0) FROM urls").fetchone()[0])
    added = 0
    for url, score in urls:
        if url not in known:
            known.add(url)
            added += 1
            row = (number + added, url, 0, "", 1, score, WAITING, int(Band.FOUND), 0)
            target.execute("INSERT INTO urls VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
    return added


def collapse(path: Path) -> None:
    """Make a closed database a single file, without those that SQLite keeps beside it."""
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA journal_mode=DELETE")
