"""Which crawl folders the console shows. Names from the browser are looked up here, so no path leaves the roots."""

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from lycosa import config
from lycosa.errors import BadInput

_DEPTH = 2  # levels below a root that are searched for crawl folders
_BETWEEN = "~"  # stands for the slash in names, because a name is one segment of a URL
_NAME = re.compile(r"\w[\w .-]{0,79}")


class NoSuchCrawl(BadInput):
    """The browser asked for a crawl that is not there."""


class Folders:
    """The folders named on the command line: crawl folders, or folders that contain some."""

    def __init__(self, given: Sequence[Path]) -> None:
        self._given = [path.resolve() for path in given]
        for path in self._given:
            if not path.is_dir():
                raise BadInput(f"{path}: there is no such folder")

    @property
    def roots(self) -> list[Path]:
        """Those that are not crawl folders themselves; new crawls are created in the first."""
        return [path for path in self._given if not _is_crawl(path)]

    def all(self) -> dict[str, Path]:
        """From name to folder, sorted by name; searched again each time, as crawls come and go."""
        found: dict[str, Path] = {}
        roots = self.roots
        for given in self._given:
            if given not in roots:
                found.setdefault(_free(given.name, found), given)
        for root in roots:
            prefix = [root.name] if len(roots) > 1 else []
            for path in _below(root, _DEPTH):
                name = _BETWEEN.join([*prefix, *path.relative_to(root).parts])
                found.setdefault(_free(name, found), path)
        return dict(sorted(found.items(), key=lambda item: item[0].lower()))

    def find(self, name: str) -> Path:
        """The folder of a crawl."""
        if not (found := self.all().get(name)):
            raise NoSuchCrawl(f"{name[:100]}: there is no such crawl here")
        return found

    def place_for(self, name: str) -> Path:
        """Where a new crawl is created: in the first of the folders that is not a crawl itself."""
        if not _NAME.fullmatch(name):
            raise BadInput("name: use up to 80 letters, digits, spaces, dots, dashes and underscores")
        if not self.roots:
            raise BadInput("there is no place for a new crawl: start the console with a folder that contains crawls")
        path = self.roots[0] / name.strip(" .")
        if path.exists():
            raise BadInput(f"name: {path.name} already exists; choose another")
        return path

    def name_of(self, folder: Path) -> str:
        """The name under which a folder is shown."""
        return next(name for name, path in self.all().items() if path == folder)


def _below(root: Path, depth: int) -> Iterator[Path]:
    """Crawl folders below a folder. Those reached by a link that leads out of it are not shown."""
    try:
        entries = sorted(os.scandir(root), key=lambda entry: entry.name)
    except OSError:
        return  # not ours to read
    for entry in entries:
        if entry.name.startswith(".") or _BETWEEN in entry.name or not entry.is_dir():
            continue
        path = Path(entry.path)
        if entry.is_symlink() and not path.resolve().is_relative_to(root):
            continue
        if _is_crawl(path):
            yield path
        elif depth > 1 and not entry.is_symlink():
            yield from _below(path, depth - 1)


def _is_crawl(path: Path) -> bool:
    return (path / config.NAME).is_file()


def _free(name: str, taken: dict[str, Path]) -> str:
    """The name, numbered if two of the folders given have the same."""
    number, free = 2, name
    while free in taken:
        free, number = f"{name}{_BETWEEN}{number}", number + 1
    return free
