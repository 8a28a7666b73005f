"""Where the shards of a crawl are stored: one folder each, `shards/0`, `shards/1`, ..., with a database and WARC files.

A crawl of one shard has no such folder: its crawl.db and warc/ are directly in the crawl folder.
"""

import os
import secrets
from pathlib import Path

from lycosa import config
from lycosa.store.db import CrawlDb
from lycosa.store.shard_views import FOLDER, shard_folders


def wanted_shards(settings: config.Config) -> int:
    """The number of shards according to crawl.toml."""
    shards = settings.run.shards
    if shards == "auto":
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        return min(cores, config.MOST_SHARDS)
    return shards


def create(folder: Path, shards: int) -> None:
    """Empty shards for a new crawl. All of them compute the digests of bodies with the same secret."""
    secret = str(secrets.randbits(64))
    new = folder / f"{FOLDER}.new"
    for shard in range(shards):
        home = new / str(shard)
        home.mkdir(parents=True, exist_ok=True)
        db = CrawlDb(home / "crawl.db").open()
        db.put("secret", secret)
        db.put("shards", str(shards))
        db.commit()
        db.close()
    new.rename(folder / FOLDER)


def homes(folder: Path) -> list[Path]:
    return shard_folders(folder)
