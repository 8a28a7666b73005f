"""Who may work in a crawl folder: one process at a time, and none while the state of the crawl is elsewhere."""

import contextlib
import fcntl
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from lycosa.errors import BadInput

AWAY = "crawl.away"  # a file that says: the state of the crawl is in the store of a cluster


@contextlib.contextmanager
def lock(folder: Path, may_be_away: bool = False) -> Iterator[IO[bytes]]:
    """One process per folder: two would contact each host twice as often. `may_be_away`: its state may be elsewhere."""
    try:
        file = (folder / "crawl.lock").open("ab")
    except OSError as error:
        raise BadInput(f"{folder}: cannot be written: {error.strerror}") from None
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise BadInput(f"{folder}: another lycosa is at work in this folder") from None
        if (folder / AWAY).exists() and not may_be_away:
            raise BadInput(f"{folder}: interrupted on a cluster; fetch its state with: lycosa crawl {folder}")
        yield file
