"""Figures that take a while to count: the last ones are shown at once, and counted again in the background."""

import time
from collections.abc import Callable
from pathlib import Path
from threading import Event, Lock, Thread
from typing import Generic, TypeVar

from lycosa.errors import LycosaError

WAIT_S = 0.3  # how long a view waits for the first figures before it is shown without them
FRESH_S = 5.0  # how long figures are good
SHARE = 0.05  # of the time of one core that counting may take
_MOST = 50  # folders whose figures are kept

Found = TypeVar("Found")


class _Entry(Generic[Found]):
    def __init__(self) -> None:
        self.found: Found | None = None
        self.problem: LycosaError | None = None
        self.at = 0.0
        self.cost_s = 0.0
        self.is_busy = False
        self.first = Event()  # set once there are figures, or a problem


class Recent(Generic[Found]):
    """The latest figures of each folder."""

    def __init__(self, count: Callable[[Path], Found], clock: Callable[[], float] = time.monotonic) -> None:
        self._count = count
        self._clock = clock
        self._entries: dict[Path, _Entry[Found]] = {}
        self._lock = Lock()

    def get(self, folder: Path, wait_s: float = WAIT_S) -> Found | None:
        """None if they are still being counted for the first time."""
        with self._lock:
            entry = self._entries.setdefault(folder, _Entry())
            if not entry.is_busy and self._is_stale(entry):
                entry.is_busy = True
                Thread(target=self._refresh, args=(folder, entry), daemon=True).start()
            while len(self._entries) > _MOST:
                del self._entries[next(iter(self._entries))]
        entry.first.wait(wait_s)
        if entry.problem:
            raise entry.problem
        return entry.found

    def forget(self, folder: Path) -> None:
        """Something was changed: count again before the next answer."""
        with self._lock:
            self._entries.pop(folder, None)

    def _is_stale(self, entry: _Entry[Found]) -> bool:
        return not entry.first.is_set() or self._clock() - entry.at > max(FRESH_S, entry.cost_s / SHARE)

    def _refresh(self, folder: Path, entry: _Entry[Found]) -> None:
        began = self._clock()
        try:
            entry.found, entry.problem = self._count(folder), None
        except LycosaError as error:
            entry.problem = error
        finally:
            entry.at = self._clock()
            entry.cost_s = entry.at - began
            entry.is_busy = False
            entry.first.set()
