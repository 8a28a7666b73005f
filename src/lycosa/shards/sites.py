"""Where the state of a crawl is while it runs on a cluster: each shard's in the store, and where that is in the crawl
folder. Afterwards everything is in the crawl folder again, as if the crawl had run here.
"""

import os
import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
from msgspec import Struct

from lycosa import config
from lycosa.errors import LycosaError, StateError
from lycosa.files import write_whole
from lycosa.locking import AWAY
from lycosa.shards.layout import homes
from lycosa.shards.lease import SUCCEED_S
from lycosa.shards.objects import Objects, open_objects, require_writable
from lycosa.shards.packing import put_folder
from lycosa.shards.shipping import fetch_database, fetch_records, put_base
from lycosa.store.shard_ship import cut_records, move, replace
from lycosa.store.shard_split import collapse


class Away(Struct):
    """The contents of crawl.away. Its time of change is the last time that leases were granted."""

    store: str  # of this crawl
    epoch: int = 0  # the last one given to a shard


class Sites:
    """The state of one crawl folder on a cluster; the caller must hold the folder's lock."""

    def __init__(self, folder: Path, store: str) -> None:
        where = store if "://" in store else str((folder / store).absolute())
        require_writable(open_objects(where), where)
        self._path = folder / AWAY
        self._away = Away(f"{where}/{folder.absolute().name}-{secrets.token_hex(4)}")
        self._folder = folder

    @property
    def store(self) -> str:
        return self._away.store

    def send_out(self) -> None:
        """Store the state of all shards, and what crawl.toml refers to."""
        objects = open_objects(self.store)
        put_folder(objects, self._folder)
        for shard, home in enumerate(homes(self._folder)):
            cut_records(home)
            collapse(home / "crawl.db")
            put_base(objects, shard, 0, home / "crawl.db")
        self._write()

    def next_epoch(self) -> int:
        """Higher than all before, even if this process is killed."""
        self._away.epoch += 1
        self._write()
        return self._away.epoch

    def touch(self) -> None:
        """Leases are being granted."""
        os.utime(self._path)

    def _write(self) -> None:
        write_whole(self._path, msgspec.json.encode(self._away))


def bring_home(folder: Path, wait: bool = True) -> None:
    """If the state of a crawl is in its store, fetch it. If the process that ran it was killed, its shards may still be
    running: wait until their leases are over."""
    path = folder / AWAY
    if not path.exists():
        return
    away = msgspec.json.decode(path.read_bytes(), type=Away)
    if wait:
        time.sleep(max(0.0, min(SUCCEED_S, path.stat().st_mtime + SUCCEED_S - time.time())))
    objects = open_objects(away.store)
    if not objects.names("0/db"):
        raise StateError(path, f"the state of this crawl should be in {away.store}, but is not there")
    for shard, home in enumerate(homes(folder)):
        _bring_shard(objects, shard, home)
    path.unlink()
    objects.delete("")


@contextmanager
def away(folder: Path, settings: config.Config) -> Iterator[Sites | None]:
    """On a cluster: the state is in the store while the crawl runs, and here again afterwards."""
    if not settings.run.cluster:
        yield None
        return
    sites = Sites(folder, settings.run.store)
    sites.send_out()
    try:
        yield sites
    except LycosaError:
        bring_home(folder, wait=False)
        raise
    bring_home(folder, wait=False)


def _bring_shard(objects: Objects, shard: int, home: Path) -> None:
    new = home / "fetched"
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir()
    database = fetch_database(objects, shard, new)
    last, _ = move(database, is_away=False)
    collapse(database)
    (home / "warc").mkdir(exist_ok=True)
    fetch_records(objects, shard, home / "warc", last)
    replace(database, home / "crawl.db")
    shutil.rmtree(new)
    if f"{shard}/crawl.log" in objects.names(str(shard)):
        (home / "crawl.log").write_bytes(objects.get(f"{shard}/crawl.log"))
