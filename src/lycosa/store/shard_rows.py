"""What a shard must not forget of its correspondence: letters not yet acknowledged, how far it has applied those of
others, and where bodies were first seen. These tables exist only in the databases of shards."""

from collections.abc import Iterable, Iterator

from lycosa.store.db import CrawlDb

_TABLES = (
    "CREATE TABLE IF NOT EXISTS outbox (target INTEGER, number INTEGER, body BLOB, PRIMARY KEY (target, number))",
    "CREATE TABLE IF NOT EXISTS sent (target INTEGER PRIMARY KEY, number INTEGER)",
    "CREATE TABLE IF NOT EXISTS applied (source INTEGER PRIMARY KEY, number INTEGER, letters INTEGER)",
    "CREATE TABLE IF NOT EXISTS claims (digest TEXT PRIMARY KEY, url TEXT) WITHOUT ROWID",
)


class ShardRows:
    """Reads and writes rows, without knowing their meaning."""

    def __init__(self, db: CrawlDb) -> None:
        self._db = db

    def create(self) -> None:
        for table in _TABLES:
            self._db.execute(table)

    def sent(self) -> dict[int, int]:
        """The number of the last batch to each shard."""
        return dict(self._db.execute("SELECT target, number FROM sent").fetchall())

    def put_batch(self, target: int, number: int, body: bytes) -> None:
        self._db.execute("INSERT INTO outbox VALUES (?, ?, ?)", (target, number, body))
        self._db.execute("INSERT OR REPLACE INTO sent VALUES (?, ?)", (target, number))

    def batches(self, target: int) -> Iterator[tuple[int, bytes]]:
        """Number and body of the batches that a shard has not acknowledged."""
        rows = self._db.execute("SELECT number, body FROM outbox WHERE target = ? ORDER BY number", (target,))
        return iter(rows.fetchall())

    def delete_batches(self, target: int, number: int) -> None:
        """Up to this number, they have been applied."""
        self._db.execute("DELETE FROM outbox WHERE target = ? AND number <= ?", (target, number))

    def count_batches(self) -> int:
        return int(self._db.execute("SELECT count(*) FROM outbox").fetchone()[0])

    def applied(self) -> dict[int, tuple[int, int]]:
        """Of each shard, the last batch applied completely, and the letters applied of the next one."""
        rows = self._db.execute("SELECT source, number, letters FROM applied").fetchall()
        return {source: (number, letters) for source, number, letters in rows}

    def put_applied(self, source: int, number: int, letters: int) -> None:
        self._db.execute("INSERT OR REPLACE INTO applied VALUES (?, ?, ?)", (source, number, letters))

    def claims(self) -> dict[str, str]:
        """From digest to the URL where the body was first seen."""
        return dict(self._db.execute("SELECT digest, url FROM claims").fetchall())

    def put_claims(self, claims: Iterable[tuple[str, str]]) -> None:
        self._db.executemany("INSERT OR IGNORE INTO claims VALUES (?, ?)", claims)
