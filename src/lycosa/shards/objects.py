"""A place that all nodes of a cluster can reach: named objects that appear whole or not at all and never change.

Either a shared folder, or anything that fsspec knows, such as `s3://bucket/path`.
"""

import os
import shutil
from pathlib import Path
from typing import Any, Protocol

from lycosa.errors import ConfigError
from lycosa.files import replacing


class Objects(Protocol):
    def put(self, name: str, data: bytes) -> None: ...  # durable once it returns
    def get(self, name: str) -> bytes: ...  # KeyError if there is none
    def names(self, prefix: str) -> list[str]: ...  # in a folder and those below, sorted
    def delete(self, prefix: str) -> None: ...  # a folder; nothing happens if it does not exist


def open_objects(where: str) -> Objects:
    """A folder by its path, or another place by its URL."""
    return RemoteObjects(where) if "://" in where else FolderObjects(Path(where))


class FolderObjects:
    """One file for each object."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def put(self, name: str, data: bytes) -> None:
        path = self._folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as part, part.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())

    def get(self, name: str) -> bytes:
        try:
            return (self._folder / name).read_bytes()
        except FileNotFoundError:
            raise KeyError(name) from None

    def names(self, prefix: str) -> list[str]:
        files = (path for path in (self._folder / prefix).rglob("*") if not path.name.startswith("."))
        return sorted(path.relative_to(self._folder).as_posix() for path in files if path.is_file())

    def delete(self, prefix: str) -> None:
        shutil.rmtree(self._folder / prefix, ignore_errors=True)


class RemoteObjects:
    """Through fsspec: in object stores, writing replaces the whole object."""

    def __init__(self, url: str) -> None:
        try:
            from fsspec.core import url_to_fs
        except ImportError:
            raise ConfigError("run.store", f"{url} needs fsspec: pip install 'lycosa[cluster]'") from None
        try:
            fs, root = url_to_fs(url, use_listings_cache=False)
        except (ImportError, ValueError) as error:  # a protocol that is unknown, or whose package is missing
            raise ConfigError("run.store", f"{url}: {error}") from None
        self._fs: Any = fs
        self._root = root.rstrip("/")

    def put(self, name: str, data: bytes) -> None:
        path = f"{self._root}/{name}"
        self._fs.makedirs(path.rpartition("/")[0], exist_ok=True)
        self._fs.pipe_file(path, data)

    def get(self, name: str) -> bytes:
        try:
            data: bytes = self._fs.cat_file(f"{self._root}/{name}")
        except FileNotFoundError:
            raise KeyError(name) from None
        return data

    def names(self, prefix: str) -> list[str]:
        found = self._fs.find(f"{self._root}/{prefix}".rstrip("/"))
        return sorted(path.partition(f"{self._root.lstrip('/')}/")[2] for path in found)

    def delete(self, prefix: str) -> None:
        path = f"{self._root}/{prefix}".rstrip("/")
        if self._fs.exists(path):
            self._fs.rm(path, recursive=True)


def require_writable(objects: Objects, where: str) -> None:
    """Raise ConfigError if nothing can be stored there."""
    try:
        objects.put("probe/empty", b"")
        objects.delete("probe")
    except OSError as error:
        raise ConfigError("run.store", f"{where}: cannot be written: {error.strerror or error}") from None
