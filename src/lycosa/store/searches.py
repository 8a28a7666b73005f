"""Every query that a crawl has sent to a search engine, with the URLs in its result."""

import msgspec

from lycosa.store.db import CrawlDb

_TABLE = "CREATE TABLE IF NOT EXISTS searches (query TEXT PRIMARY KEY, urls TEXT, asked_at REAL) WITHOUT ROWID"


class Searches:
    """Results by query. A crawl that never searches does not have this table."""

    def __init__(self, db: CrawlDb) -> None:
        self._db = db

    def open(self) -> None:
        """Call after opening the database."""
        self._db.execute(_TABLE)

    def __contains__(self, query: str) -> bool:
        return self._db.execute("SELECT 1 FROM searches WHERE query=?", (query,)).fetchone() is not None

    def get(self, query: str) -> list[str] | None:
        """The URLs found by a query; None if it was never sent."""
        row = self._db.execute("SELECT urls FROM searches WHERE query=?", (query,)).fetchone()
        return msgspec.json.decode(row[0], type=list[str]) if row else None

    def put(self, query: str, urls: list[str], asked_at: float) -> None:
        values = (query, msgspec.json.encode(urls).decode(), asked_at)
        self._db.execute("INSERT OR REPLACE INTO searches VALUES (?, ?, ?)", values)


def copy(source: CrawlDb, target: CrawlDb) -> None:
    """Copy all queries, if there are any."""
    if source.execute("SELECT count(*) FROM sqlite_master WHERE name = 'searches'").fetchone()[0]:
        Searches(target).open()
        target.executemany("INSERT INTO searches VALUES (?, ?, ?)", source.execute("SELECT * FROM searches"))
