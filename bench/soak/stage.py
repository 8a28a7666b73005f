"""One crawl with a server beside it: start it, do things to it, wait for it, and see that it does not stall."""

import json
import signal
import time
from collections.abc import Callable
from pathlib import Path

from processes import SHORT_PAUSE_S, Crawler, Disk, Log, WebServer
from web import MAX_DELAY_S

STALL_S = 30.0  # no host ever wants more than three seconds of rest, so nobody is asked only when something is wrong
STOP_S = 20.0  # to end after a signal
GRACE_S = 0.25  # a reply that came so shortly before the end may not have been read
POLL_S = 0.004
FULL_DISK = "the disk is full or cannot be written"


class Stalled(Exception):
    """The crawl runs, but nothing is asked."""


class Stage:
    """A crawl folder, whoever crawls in it, and what happened so far."""

    def __init__(
        self,
        server: WebServer,
        folder: Path,
        notes: Path,
        disk: Disk,
        pause_s: float = SHORT_PAUSE_S,
        listens: bool = True,
    ) -> None:
        self.server = server
        self.folder = folder
        self.notes = notes
        self.clock_s = 0.0
        self.went_wild = False
        self.crawler: Crawler | None = None
        self.runs = 0
        self.problems: list[str] = []
        self.forgiven: list[tuple[float, float]] = []  # between these the crawl may have missed what hosts said
        self._disk = disk
        self._is_full = False
        self._set_forward = False  # the wall clock, while this run was under way
        self._pause_s = pause_s
        self._listens = listens
        notes.mkdir(parents=True)
        (notes / "names.json").write_text(json.dumps(server.web.names()))
        self.log = Log(notes / "server.log")
        server.tell(f"begin {self.log.path}")

    # -- the crawler --------------------------------------------------------------------------------------------------

    def start(self, files: int = 0) -> None:
        assert self.crawler is None
        self.runs += 1
        self.crawler = Crawler(self.folder, self.notes, self.clock_s, files, self._pause_s, self._listens)
        self.log.last_at = time.monotonic()

    def end(self, number: int) -> int | None:
        """Send a signal that ends it, and wait for the end."""
        if not self.crawler:
            return None
        began = time.monotonic()
        self.crawler.signal(number)
        code = self.crawler.wait(STOP_S)
        if code is None:
            self.problems.append(f"still running {STOP_S:g} s after signal {number}")
        self.forgive(began)
        self._drop()
        return code

    def stop(self, number: int) -> str | None:
        """Ask it to end, once it is at work: a Python that still starts has no manners yet."""
        seen = self.log.look()
        self.until(lambda: self.log.look() > seen, 5)
        if not self.crawler:
            return None
        crawler = self.crawler
        code = self.end(number)
        if code not in (0, 130, -number):
            self.problems.append(f"exit code {code} after signal {number}")
        self._check_words(crawler)
        return ""

    def _drop(self) -> None:
        if self.crawler:
            self.crawler.close()
            self.crawler = None
        if self._set_forward:  # to the next run it looks like time that passed; then one delay is kept
            self.forgive(time.monotonic(), grace_s=MAX_DELAY_S)
            self._set_forward = False

    def signal(self, number: int) -> None:
        if self.crawler:
            self.crawler.signal(number)

    def tell(self, command: str) -> None:
        if self.crawler:
            self.crawler.tell(command)

    def move_clock(self, seconds: float) -> None:
        self.clock_s += seconds
        self._set_forward = self._set_forward or seconds > 0
        self.tell(f"clock {seconds}")

    # -- waiting ------------------------------------------------------------------------------------------------------

    def until(self, is_so: Callable[[], bool], seconds: float) -> bool:
        """Wait for something, but not when the crawler ends; False if it did not come."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if is_so():
                return True
            if self.crawler and self.crawler.code is not None:
                self._died()
                return False
            time.sleep(POLL_S)
        return False

    def until_requests(self, count: int) -> bool:
        """Wait until the server has seen so many more; False if the crawl ended before."""
        end = self.log.look() + count
        while self.crawler:
            if self.until(lambda: self.log.look() >= end, 0.5):
                return True
            self._check_stall()
        return False

    def until_over(self, most_runs: int) -> None:
        """The same command again and again until the crawl says that it is done."""
        while True:
            if not self.crawler:
                if self.is_over():
                    return
                if self.runs >= most_runs:
                    self.problems.append(f"not over after {self.runs} runs")
                    return
                self.start()
            self.until(lambda: False, 0.5)
            self._check_stall()

    def is_over(self) -> bool:
        """Does the last run say that nothing is left?"""
        try:
            summary = json.loads((self.folder / "summary.json").read_text())
        except (OSError, ValueError):
            return False
        return str(summary.get("ended")).startswith("frontier empty")

    def _check_stall(self) -> None:
        self.log.look()
        if self.crawler and time.monotonic() - self.log.last_at > STALL_S:
            raise Stalled(f"nothing was fetched for {STALL_S:g} s")

    def _died(self) -> None:
        """It ended by itself: it was done, or the disk was full, or that should not have happened."""
        assert self.crawler
        crawler, code, said = self.crawler, self.crawler.code, self.crawler.said()
        self.forgive(time.monotonic() - GRACE_S)
        self._check_words(crawler)
        lines = said.strip().splitlines() or ["not a word"]
        excused = code == 2 and (self._is_full or FULL_DISK in said)
        if code and not excused:
            self.problems.append(f"ended by itself with exit code {code}: {lines[-1][:200]}")
        self._drop()

    def _check_words(self, crawler: Crawler) -> None:
        if "Traceback" in crawler.said():
            self.problems.append(f"a traceback: {crawler.said().strip().splitlines()[-1][:200]}")

    def forgive(self, began: float, grace_s: float = GRACE_S) -> None:
        """From here to now replies may have been sent that the crawl never read."""
        self.forgiven.append((began - grace_s, time.monotonic()))

    # -- the disk -----------------------------------------------------------------------------------------------------

    def warc_files(self) -> int:
        try:
            return sum(1 for _ in (self.folder / "warc").iterdir())
        except OSError:
            return 0

    def fill_disk(self, room_bytes: int) -> None:
        self._is_full = True
        if self._disk.is_small:
            self._disk.fill(room_bytes)
            return
        files = [path for path in self.folder.rglob("*") if path.is_file()]
        self.tell(f"size {max((path.stat().st_size for path in files), default=0) + room_bytes}")

    def free_disk(self) -> None:
        self._is_full = False
        self._disk.free()
        self.tell("size up")

    def close(self) -> None:
        if self.crawler:
            self.crawler.signal(signal.SIGKILL)
        self._drop()
        self.log.close()
