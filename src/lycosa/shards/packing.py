"""Sends crawl.toml and the files beside it to the nodes of a cluster."""

import io
import tarfile
from pathlib import Path

import zstandard

from lycosa.locking import AWAY
from lycosa.shards.objects import Objects
from lycosa.store.shard_views import FOLDER

_PACKED = "folder/packed"
_STATE = ("crawl.db", "crawl.lock", "crawl.sock", "crawl.log", "cluster.log", AWAY, "summary.json")  # beginnings
_FOLDERS = (FOLDER, f"{FOLDER}.new", f"{FOLDER}.old", "warc", "search-index")


def put_folder(objects: Objects, folder: Path) -> None:
    """Store the files of a crawl folder, without what the crawl itself has stored."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for path in sorted(folder.iterdir()):
            if not path.name.startswith(_STATE) and path.name not in _FOLDERS:
                archive.add(path, path.name)
    objects.put(_PACKED, zstandard.compress(packed.getvalue(), 1))


def get_folder(objects: Objects, folder: Path) -> None:
    with tarfile.open(fileobj=io.BytesIO(zstandard.decompress(objects.get(_PACKED)))) as archive:
        archive.extractall(folder, filter="data")
