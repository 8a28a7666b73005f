"""crawl.db: everything needed for a restart. One connection, with one transaction open from commit to commit.

A turn of the crawl changes several tables (the visit, its links, its host). It runs inside `turn`, which a commit
cannot split, so only complete visits are committed. Commits happen a few times a second; a kill loses only the visits
since the last one, and their URLs are still queued.

SQLite may end a transaction by itself when the disk is full. Later changes would then be written one by one, so no
statement is executed after the first failure: see `give_up`.
"""

import contextlib
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NoReturn

from lycosa.errors import StateError
from lycosa.store.shard_fold import FoldedShards, open_shards
from lycosa.store.shard_views import REFERENCE, shard_folders

VERSION = 3

SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
CREATE TABLE hosts (
    name TEXT PRIMARY KEY, due_at REAL, delay_s REAL, failures INTEGER, pages INTEGER, closed TEXT
) WITHOUT ROWID;
CREATE TABLE urls (
    id INTEGER PRIMARY KEY, url TEXT, source INTEGER, anchor TEXT, depth INTEGER, score REAL, state INTEGER,
    band INTEGER DEFAULT 1, origin INTEGER DEFAULT 0
);
CREATE TABLE notes (key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
CREATE TABLE links (source INTEGER PRIMARY KEY, targets BLOB);
CREATE TABLE robots (origin TEXT PRIMARY KEY, body BLOB, verdict TEXT, expires_at REAL) WITHOUT ROWID;
CREATE TABLE visits (
    n INTEGER PRIMARY KEY, url TEXT, final_url TEXT, status INTEGER, error TEXT, detail TEXT, fetched_at REAL,
    seconds REAL, bytes INTEGER, content_type TEXT, digest TEXT, simhash INTEGER, depth INTEGER, source TEXT,
    anchor TEXT, score REAL, relevance REAL, on_topic INTEGER, label TEXT, title TEXT, language TEXT, why TEXT,
    duplicate_of TEXT, warc TEXT, warc_offset INTEGER, classes TEXT DEFAULT ''
);
"""

# Until version 2 a seed had a score of 1e9, so that it came first; other origins of a URL were not distinguished.
_BAND = "CASE WHEN score >= 1e9 THEN 2 ELSE 1 END"
_ORIGIN = "CASE WHEN source != 0 THEN 0 WHEN anchor != '' THEN 4 ELSE 1 END"
MIGRATIONS = {  # statements that upgrade a database from the previous version to this one
    2: ("ALTER TABLE visits ADD COLUMN classes TEXT DEFAULT ''",),
    3: (
        "ALTER TABLE urls ADD COLUMN band INTEGER DEFAULT 1",
        "ALTER TABLE urls ADD COLUMN origin INTEGER DEFAULT 0",
        f"UPDATE urls SET band = {_BAND}, origin = {_ORIGIN} WHERE score >= 1e9 OR source = 0",
        "UPDATE urls SET score = 0 WHERE score >= 1e9",
        "UPDATE visits SET score = NULL WHERE score >= 1e9",
    ),
}
_VISITS = (
    "n, url, final_url, status, error, detail, fetched_at, seconds, bytes, content_type, digest, simhash, depth,"
    " source, anchor, CASE WHEN score < 1e9 THEN score END AS score, relevance, on_topic, label, title, language, why,"
    " duplicate_of, warc, warc_offset, {} AS classes"
)
_URLS = (
    "id, url, source, anchor, depth, CASE WHEN score >= 1e9 THEN 0 ELSE score END AS score, state,"
    f" {_BAND} AS band, {_ORIGIN} AS origin"
)
_AS_NOW = {  # for read-only access: makes a database of an older version look like the current one
    "visits": (_VISITS.format("''"), _VISITS.format("classes")),
    "urls": (_URLS, _URLS),
}
_REBUILT = ("visits", "urls", "links", "notes", "hosts")  # tables rewritten by a replay of all visits
_BEFORE = "before_"

WAITING, DONE = 0, 1  # states of a URL
ELSEWHERE = 2  # a page of another shard, known because it links to URLs of this one


class CrawlDb:
    """The open database of one crawl."""

    _db: "sqlite3.Connection | FoldedShards | _Broken"

    def __init__(self, path: Path | str, readonly: bool = False) -> None:
        self.path = path
        self.readonly = readonly
        self.shards = shard_folders(Path(path).parent) if readonly else []
        self._in_turn = self._is_due = False
        self.before_commit: list[Callable[[], None]] = []  # must be on disk before the visits that refer to it
        self.after_commit: list[Callable[[], None]] = []

    def open(self) -> "CrawlDb":
        if self.readonly and self.shards:
            self._db = open_shards(self.shards)
            self.is_new = False
            return self
        if self.readonly and not Path(self.path).exists():
            raise StateError(Path(self.path).parent, f"nothing crawled yet (no {Path(self.path).name})")
        try:
            version = self._connect()
            self._check(version)
            self.is_new = version == 0
            if self.readonly:
                self._show_as_now(version)
            else:
                self._prepare(version)
        except sqlite3.DatabaseError as error:
            if hasattr(self, "_db"):
                self._db.close()  # otherwise it would remain locked for this process
            raise StateError(self.path, f"cannot be used: {error}") from None
        return self

    def _connect(self) -> int:
        """Connect, and return the version of the format."""
        if not self.readonly:
            self._db = sqlite3.connect(str(self.path), isolation_level=None)
            return int(self._db.execute("PRAGMA user_version").fetchone()[0])
        for mode in ("mode=ro", "mode=ro&immutable=1"):  # the latter where even readers must not write anything
            try:
                uri = f"{Path(self.path).absolute().as_uri()}?{mode}"
                self._db = sqlite3.connect(uri, isolation_level=None, uri=True)
                version = int(self._db.execute("PRAGMA user_version").fetchone()[0])
                break
            except sqlite3.OperationalError:
                if "immutable" in mode:
                    raise
        if version == 0:
            raise StateError(Path(self.path).parent, "nothing crawled yet")
        return version

    def _check(self, version: int) -> None:
        if version > VERSION:
            raise StateError(self.path, f"made by a newer Lycosa (format {version}, this one reads up to {VERSION})")

    def _prepare(self, version: int) -> None:
        for pragma in (
            "page_size=8192",
            "journal_mode=WAL",
            "wal_autocheckpoint=4000",
            "synchronous=NORMAL",
            "cache_size=-32000",
            "temp_store=MEMORY",
        ):
            self._db.execute(f"PRAGMA {pragma}")
        self._db.execute("BEGIN IMMEDIATE")
        if version == 0:
            for statement in filter(str.strip, SCHEMA.split(";")):
                self._db.execute(statement)
            self._db.execute(f"PRAGMA user_version={VERSION}")
            self.commit()
        elif version < VERSION:
            for number in range(version + 1, VERSION + 1):
                for statement in MIGRATIONS[number]:
                    self._db.execute(statement)
            self._db.execute(f"PRAGMA user_version={VERSION}")
            self.commit()

    def _show_as_now(self, version: int) -> None:
        """Readers must not migrate: a crawl may be writing, or the folder may be an archive."""
        for table, columns in _AS_NOW.items() if version < VERSION else ():
            self._db.execute(f"CREATE TEMP VIEW {table} AS SELECT {columns[version - 1]} FROM main.{table}")

    def execute(self, sql: str, values: Sequence[Any] = ()) -> sqlite3.Cursor:
        try:
            return self._db.execute(sql, values)
        except sqlite3.OperationalError as error:
            self.give_up(error)

    def executemany(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        try:
            self._db.executemany(sql, rows)
        except sqlite3.OperationalError as error:
            self.give_up(error)

    @contextlib.contextmanager
    def turn(self) -> Iterator[None]:
        """Changes made within are committed together or not at all: a commit requested meanwhile is postponed until the
        end, and after a turn that failed nothing is committed any more."""
        self._in_turn = True
        try:
            yield
        except Exception as error:
            self.give_up(error)
        finally:
            self._in_turn = False
        if self._is_due:
            self.commit()

    def commit(self) -> None:
        if self._in_turn:
            self._is_due = True
            return
        self._is_due = False
        for prepare in self.before_commit:
            prepare()
        self.execute("COMMIT")
        self.execute("BEGIN IMMEDIATE")
        for call in self.after_commit:
            call()

    def give_up(self, error: Exception) -> NoReturn:
        """A visit could not be written completely: roll back to the last commit, and refuse all further writes."""
        self._db.close()
        self._db = _Broken(error)
        raise error

    def get(self, key: str, default: str = "") -> str:
        row = self.execute("SELECT value FROM meta WHERE key=?", (key,)).fetchone()
        return row[0] if row else default

    def put(self, key: str, value: str) -> None:
        self.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))

    def note(self, key: str, value: str | bytes) -> None:
        """Store what a strategy must remember of one page, together with the visit. `notes` and `noted` return it as
        text, even if given as UTF-8 bytes, which saves decoding."""
        self.execute("INSERT OR REPLACE INTO notes VALUES (?, CAST(? AS TEXT))", (key, value))

    def keep(self, key: str, value: bytes) -> None:
        """Like `note`, for binary data, which is returned as bytes."""
        self.execute("INSERT OR REPLACE INTO notes VALUES (?, ?)", (key, value))

    def noted(self, key: str) -> Any:
        row = self.execute("SELECT value FROM notes WHERE key=?", (key,)).fetchone()
        return row[0] if row else ""

    def notes(self, prefix: str, containing: str | bytes = "") -> Iterator[tuple[str, Any]]:
        """All notes whose key has this prefix, with the prefix removed; if a text is given, only those that contain
        it."""
        sql = "SELECT key, value FROM notes WHERE key >= ? AND key < ?"
        values: list[str | bytes] = [prefix, prefix + "\uffff"]
        if containing:
            sql, values = f"{sql} AND instr(value, ?)", [*values, containing]
        rows = self.execute(sql, values)
        return ((key.removeprefix(prefix), value) for key, value in rows)

    def set_aside(self) -> None:
        """Start over with empty tables; the old ones are called `before_...` until `forget_aside` or a rollback."""
        for table in _REBUILT:
            self.execute(f"ALTER TABLE {table} RENAME TO {_BEFORE}{table}")
        for statement in SCHEMA.split(";"):
            if any(statement.strip().startswith(f"CREATE TABLE {table} ") for table in _REBUILT):
                self.execute(statement)

    def forget_aside(self) -> None:
        for table in _REBUILT:
            self.execute(f"DROP TABLE {_BEFORE}{table}")

    def of_shard(self, number: int) -> "tuple[CrawlDb, int]":
        """Where a shard keeps what it knows of the URL with this id, and the id it has there."""
        if not self.shards:
            return self, number
        path = self.shards[number % REFERENCE] / "crawl.db"
        return CrawlDb(path, readonly=True).open(), number // REFERENCE

    def close(self) -> None:
        """Close without committing: uncommitted changes are rolled back."""
        self._db.close()


def is_stored(path: Path) -> bool:
    """Whether there is anything to read: this crawl.db, or those of shards."""
    return path.exists() or bool(shard_folders(path.parent))


class _Broken:
    """Replaces a broken connection: later calls raise the original error, not one that followed from it."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def execute(self, sql: str, values: Sequence[Any] = ()) -> NoReturn:
        raise self._error

    def executemany(self, sql: str, rows: Iterable[Sequence[Any]]) -> NoReturn:
        raise self._error

    def close(self) -> None:
        """Nothing is left to close."""
