"""The database of a shard as files that can be copied while it is in use.

SQLite appends changes to a log, crawl.db-wal, and moves them to crawl.db at a checkpoint. Without checkpoints, crawl.db
does not change, and the log only grows: a copy of the former and of the latter up to a commit is the database as of
that commit.
"""

from contextlib import closing, suppress
from pathlib import Path

from lycosa.store.db import CrawlDb
from lycosa.store.visits import AWAY, series_of, warc_end
from lycosa.store.warc import WarcWriter

LOG = "crawl.db-wal"


def keep_log(db: CrawlDb) -> None:
    """Move no changes from the log to the database until `restart_log` is called."""
    db.execute("PRAGMA wal_autocheckpoint=0")


def restart_log(db: CrawlDb) -> None:
    """Move all committed changes to the database, and start with an empty log, unless a reader prevents it: the crawl
    does not wait for one. Call it right after a commit."""
    db.execute("COMMIT")
    db.execute("PRAGMA busy_timeout=0")
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    db.execute("PRAGMA busy_timeout=5000")
    db.execute("BEGIN IMMEDIATE")


def cut_records(home: Path) -> None:
    """Remove what a killed run wrote to the WARC after its last commit: later, nobody will know where that was."""
    with closing(CrawlDb(home / "crawl.db").open()) as db:
        writer = WarcWriter(home / "warc")
        writer.series = series_of(db)
        writer.cut(*warc_end(db), db.get("warc_run"))


def move(path: Path, is_away: bool) -> tuple[str, int]:
    """Prepare a copied database for a node that does not have the WARC files from before, or for the folder that has
    all of them; return their end."""
    with closing(CrawlDb(path).open()) as db:
        end = warc_end(db)
        db.put(AWAY, "1" if is_away else "")
        db.commit()
    return end


def replace(new: Path, path: Path) -> None:
    """Put a closed database in the place of another."""
    for suffix in ("-wal", "-shm"):
        with suppress(FileNotFoundError):
            path.with_name(path.name + suffix).unlink()
    new.replace(path)
