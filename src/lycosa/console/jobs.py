"""Crawls started from the console: ordinary `lycosa crawl` processes that go on without it."""

import os
import subprocess
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

from lycosa import remote
from lycosa.errors import BadInput

_TAIL = 2_000  # bytes of output that are searched for the reason of a failure
_END_S = 10.0
REJUDGE = "rejudge"
_OK = (0, 130)  # finished, stopped by the user


class Job:
    """One process, and what it prints: a file without a name, so that it can go on printing without us."""

    def __init__(self, folder: Path, options: Sequence[str], what: str) -> None:
        self.what = what  # the command
        self._output: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - open as long as the job
        self.process: subprocess.Popen[bytes] = remote.start(folder, options, self._output.fileno(), what)

    @property
    def is_over(self) -> bool:
        return self.process.poll() is not None

    def close(self) -> None:
        """Forget the process without ending it: it continues after the console has exited."""
        self._output.close()
        self.process.returncode = self.process.poll() or 0  # or else Python complains about a process that still runs

    def problem(self) -> str:
        """The last line of a process that failed."""
        if not self.is_over or self.process.returncode in _OK:
            return ""
        return self.last_line().removeprefix("lycosa: ") or f"exit code {self.process.returncode}"

    def last_line(self) -> str:
        """Of what it has printed so far. Read without moving the place where the process writes."""
        size = os.fstat(self._output.fileno()).st_size
        tail = os.pread(self._output.fileno(), _TAIL, max(0, size - _TAIL))
        return tail.decode(errors="replace").strip().rpartition("\n")[2].strip()


class Jobs:
    """The latest process of each folder that this console has started."""

    def __init__(self) -> None:
        self._jobs: dict[Path, Job] = {}

    def start(self, folder: Path, options: Sequence[str] = (), what: str = "crawl") -> None:
        if self.is_active(folder) or remote.is_listening(folder):
            raise BadInput(f"{folder.name}: this crawl is running already")
        if before := self._jobs.pop(folder, None):
            before.close()
        self._jobs[folder] = Job(folder, options, what)

    def wait(self, folder: Path) -> None:
        """Until a process of ours that was told to stop has ended; not for ever, in case it does not."""
        if job := self._jobs.get(folder):
            with suppress(subprocess.TimeoutExpired):
                job.process.wait(_END_S)

    def is_active(self, folder: Path) -> bool:
        """Is a process of ours at work there, also one that is still starting or about to end?"""
        job = self._jobs.get(folder)
        return bool(job and not job.is_over)

    def is_judging(self, folder: Path) -> bool:
        """Are all stored pages being judged again?"""
        job = self._jobs.get(folder)
        return bool(job and job.what == REJUDGE and not job.is_over)

    def result(self, folder: Path) -> str:
        """What judging again has changed, in one line; empty if the latest process was something else, or failed."""
        job = self._jobs.get(folder)
        if not job or job.what != REJUDGE or not job.is_over or job.process.returncode:
            return ""
        return job.last_line().partition(" Next: ")[0]

    def problem(self, folder: Path) -> str:
        """Why the latest process failed; empty if it did not."""
        job = self._jobs.get(folder)
        return job.problem() if job else ""

    def close(self) -> None:
        for job in self._jobs.values():
            job.close()
