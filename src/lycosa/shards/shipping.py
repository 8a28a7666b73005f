"""Copies of a shard's state, in a place that survives its node: the database, its log and the WARC files.

Every few seconds, what has been added to the files since the last time is stored as new objects, which never change:

    3/db/000007-000001/base-0...      a copy of crawl.db in pieces, by epoch and generation
    3/db/000007-000001/base           says that it is complete
    3/db/000007-000001/000000004120   pieces of its log, by their position
    3/warc/NAME/000007-000000000000   pieces of a WARC file, by epoch and position
    3/warc/NAME/end                   how much of it is valid, if its writer was lost

Letters and acknowledgements leave a shard only when the commits they belong to have been stored. So when a node is
lost, its shard goes on as if it had been killed after that commit.
"""

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import zstandard

from lycosa.files import part_of
from lycosa.shards.objects import Objects
from lycosa.store.db import CrawlDb
from lycosa.store.shard_ship import LOG, keep_log, move, restart_log
from lycosa.store.warc import file_number

SHIP_S = 2.0  # between two copies
MOST_FAILURES = 15  # in a row
_LEAST_LOG_BYTES = 64 << 20  # a log that is longer, and longer than its database, is moved to it
_PIECE_BYTES = 64 << 20
_LOG_HEAD_BYTES = 32

_log = logging.getLogger(__name__)


class Shipper:
    """Copies the files of one shard while it runs."""

    def __init__(self, objects: Objects, shard: int, epoch: int, home: Path) -> None:
        self._objects = objects
        self._shard = shard
        self._epoch = epoch
        self._home = home
        self._generation = 0
        self._shipped: dict[str, int] = {}  # bytes by file; the log has none before its base is stored
        self._log_end = 0  # at the last commit
        self._waiting: list[Callable[[], Any]] = []  # called once the last commit has been copied
        self._failures = 0
        self._head = b""  # of the log: it changes when the log starts again

    def open(self, db: CrawlDb) -> None:
        self._db = db
        keep_log(db)
        db.after_commit.append(self._committed)
        db.commit()
        self._restart()

    def when_safe(self, call: Callable[[], Any]) -> None:
        """Call something as soon as the last commit has been copied."""
        self._waiting.append(call)

    async def ship(self) -> None:
        """Copy what has been committed since the last time. A failure is only logged at first: it may pass."""
        calls, self._waiting = self._waiting, []
        try:
            await asyncio.to_thread(self._copy, self._log_end)
        except OSError as error:
            self._waiting = calls + self._waiting
            self._failures += 1
            _log.warning("run.store: cannot be written: %s", error)
            if self._failures >= MOST_FAILURES:
                raise
            return
        self._failures = 0
        for call in calls:
            call()
        if self._log_end > max(_LEAST_LOG_BYTES, (self._home / "crawl.db").stat().st_size):
            self._db.commit()
            self._restart()

    def finish(self) -> None:
        """Copy everything once more, after the database has been closed."""
        self._copy_records()
        self._generation += 1
        self._copy_base()
        if (self._home / "crawl.log").exists():
            self._objects.put(f"{self._shard}/crawl.log", (self._home / "crawl.log").read_bytes())

    def _committed(self) -> None:
        path = self._home / LOG
        self._log_end = path.stat().st_size if path.exists() else 0

    def _restart(self) -> None:
        """Start another generation: all that is in the log goes to the database, which is copied next time."""
        restart_log(self._db)
        self._committed()
        self._begin_generation()

    def _begin_generation(self) -> None:
        self._generation += 1
        self._shipped.pop(LOG, None)

    def _copy(self, log_end: int) -> None:
        """The WARC first: what the database refers to must be there."""
        self._copy_records()
        with (self._home / LOG).open("rb") as file:
            head = file.read(_LOG_HEAD_BYTES)
            if self._shipped.get(LOG) and head != self._head:  # a reader prevented the restart, and it came later
                self._begin_generation()
            if LOG not in self._shipped:
                self._copy_base()
                self._shipped[LOG], self._head = 0, head
            file.seek(start := self._shipped[LOG])
            if data := file.read(max(0, log_end - start)):
                self._objects.put(f"{self._folder()}/{start:012}", zstandard.compress(data, 1))
                self._shipped[LOG], self._head = log_end, head

    def _copy_base(self) -> None:
        _put_base(self._objects, self._folder(), self._home / "crawl.db")
        for number in range(self._generation):
            self._objects.delete(f"{self._shard}/db/{self._epoch:06}-{number:06}")

    def _copy_records(self) -> None:
        for path in sorted((self._home / "warc").glob("*.warc.gz"), key=lambda path: file_number(path.name)):
            with path.open("rb") as file:
                file.seek(self._shipped.get(path.name, 0))
                while data := file.read(_PIECE_BYTES):
                    start = self._shipped.get(path.name, 0)
                    self._objects.put(f"{self._shard}/warc/{path.name}/{self._epoch:06}-{start:012}", data)
                    self._shipped[path.name] = start + len(data)

    def _folder(self) -> str:
        return f"{self._shard}/db/{self._epoch:06}-{self._generation:06}"


def put_base(objects: Objects, shard: int, epoch: int, database: Path) -> None:
    """Store a closed database, for the first node that runs the shard."""
    _put_base(objects, f"{shard}/db/{epoch:06}-000000", database)


def _put_base(objects: Objects, folder: str, database: Path) -> None:
    """In pieces; the last object says that it is complete."""
    with database.open("rb") as file:
        while data := file.read(_PIECE_BYTES):
            objects.put(f"{folder}/base-{file.tell() - len(data):012}", zstandard.compress(data, 1))
        objects.put(f"{folder}/base", str(file.tell()).encode())


def fetch_database(objects: Objects, shard: int, home: Path) -> Path:
    """The last state of a shard's database, as it was stored: a base, and a log if there is one."""
    found = objects.names(f"{shard}/db")
    last = max(name.removesuffix("/base") for name in found if name.endswith("/base"))
    pieces = [name for name in found if name.startswith(f"{last}/") and not name.endswith("/base")]
    with (home / "crawl.db").open("wb") as file, (home / LOG).open("wb") as log:
        for name in pieces:
            to, position = (file, name[-12:]) if "/base-" in name else (log, name[-12:])
            if to.tell() == int(position):
                to.write(zstandard.decompress(objects.get(name)))
    return home / "crawl.db"


def restore(objects: Objects, shard: int, home: Path) -> None:
    """Fetch the state of a shard to a node. The WARC files from before stay where they are; the valid part of the last
    one ends at the last commit, whatever was stored of it later."""
    name, end = move(fetch_database(objects, shard, home), is_away=True)
    if name and objects.names(f"{shard}/warc/{name}"):
        objects.put(f"{shard}/warc/{name}/end", str(end).encode())


def fetch_records(objects: Objects, shard: int, warc: Path, last: str) -> None:
    """Assemble the WARC files of a shard, up to the last one that its database knows."""
    pieces: dict[str, list[str]] = {}
    for name in objects.names(f"{shard}/warc"):
        pieces.setdefault(name.split("/")[2], []).append(name)
    for file, names in pieces.items():
        if file_number(file) > file_number(last):
            continue
        epoch = max(name.rpartition("/")[2][:6] for name in names if not name.endswith("/end"))
        with part_of(warc / file) as out:
            for name in names:
                if name.rpartition("/")[2].startswith(f"{epoch}-"):
                    out.write(objects.get(name))
            if names[-1].endswith("/end"):
                out.truncate(int(objects.get(names[-1])))
