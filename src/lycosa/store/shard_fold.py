"""Reads more shards than SQLite attaches databases: copies what a query needs into temporary tables.

Each table is copied when a query first mentions it, one shard after the other: a reader sees it as it was then. Most
commands need few of the tables, and read those from beginning to end anyway.
"""

import re
import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from lycosa.store import shard_views

MOST_ATTACHED = 10  # databases, unless SQLite was compiled with other settings
_KEYS = {"urls": "id", "links": "source", "hosts": "name", "robots": "origin", "notes": "key"}  # rows are looked up by
_LABELS = "labels"


def open_shards(folders: list[Path]) -> "sqlite3.Connection | FoldedShards":
    """All shards, read-only, as one database."""
    return shard_views.connect(folders) if len(folders) <= MOST_ATTACHED else FoldedShards(folders)


class FoldedShards:
    """Looks like a connection to one database."""

    def __init__(self, folders: list[Path]) -> None:
        self._folders = folders
        self._db = sqlite3.connect(":memory:", isolation_level=None)
        metas, labelled = [], False
        for shard, folder in enumerate(folders):
            with closing(_read_only(folder / "crawl.db")) as part:
                metas.append(shard_views.read_meta(part, shard, "main"))
                labelled = labelled or shard_views.has_labels(part, "main")
        shard_views.require_all(folders, metas[0])
        shard_views.write_meta(self._db, metas)
        self._queries = [shard_views.selects(shard, "main", metas[0]) for shard in range(len(folders))]
        self._unread = {*self._queries[0], *([_LABELS] if labelled else [])}
        with closing(_read_only(folders[0] / "crawl.db")) as part:
            for table in self._unread:
                self._create(table, part)

    def execute(self, sql: str, values: Sequence[Any] = ()) -> sqlite3.Cursor:
        if found := self._unread.intersection(re.findall(r"\w+", sql)):
            self._read(sorted(found))
        return self._db.execute(sql, values)

    def executemany(self, sql: str, rows: Iterable[Sequence[Any]]) -> sqlite3.Cursor:
        return self._db.executemany(sql, rows)

    def close(self) -> None:
        self._db.close()

    def _query(self, table: str, shard: int) -> str:
        return self._queries[shard].get(table) or f"SELECT * FROM main.{table}"

    def _create(self, table: str, part: sqlite3.Connection) -> None:
        """An empty table, and the view through which it is read."""
        columns = "url, on_topic, at, chosen"
        if table != _LABELS:
            columns = ", ".join(name for name, *_ in part.execute(f"{self._query(table, 0)} LIMIT 0").description)
        self._db.execute(f"CREATE TEMP TABLE all_{table} ({columns})")
        shard_views.create_view(self._db, table, f"SELECT * FROM all_{table}")

    def _read(self, tables: list[str]) -> None:
        self._unread.difference_update(tables)
        self._db.execute("SAVEPOINT reading")
        for shard, folder in enumerate(self._folders):
            with closing(_read_only(folder / "crawl.db")) as part:
                part.execute("BEGIN")  # all tables in the same state
                for table in tables:
                    if table != _LABELS or shard_views.has_labels(part, "main"):
                        self._copy(table, part.execute(self._query(table, shard)))
        for table in tables:
            if key := _KEYS.get(table):
                self._db.execute(f"CREATE INDEX temp.by_{table} ON all_{table} ({key})")
        self._db.execute("RELEASE reading")

    def _copy(self, table: str, rows: sqlite3.Cursor) -> None:
        places = ", ".join("?" * len(rows.description))
        self._db.executemany(f"INSERT INTO all_{table} VALUES ({places})", rows)


def _read_only(path: Path) -> sqlite3.Connection:
    for mode in ("mode=ro", "mode=ro&immutable=1"):  # the latter where even readers must not write anything
        db = sqlite3.connect(f"{path.absolute().as_uri()}?{mode}", isolation_level=None, uri=True)
        try:
            db.execute("SELECT count(*) FROM sqlite_master")
        except sqlite3.OperationalError:
            db.close()
            if "immutable" in mode:
                raise
        else:
            shard_views.add_functions(db)
            return db
    raise AssertionError
