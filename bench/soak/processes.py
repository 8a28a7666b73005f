"""The processes of a soak: the server of the web and the crawler, and the disk they write to."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

from web import DELAY_FACTOR, DELAY_S, MAX_DELAY_S, MAX_REDIRECTS, WORDS, Web

HERE = Path(__file__).parent
SHORT_PAUSE_S = 0.5  # before the network is tried again: the sooner, the more faults fit into an hour
FOLDER = f"""\
seeds = "seeds.txt"

[topic]
kind = "keywords"
words = {json.dumps(WORDS[:3])}

[strategy]
kind = "{{strategy}}"

[scope]
max_depth = 0

[fetch]
user_agent = "Soak/1"
concurrency = {{concurrency}}
focus = {{focus}}
delay_s = {DELAY_S}
delay_factor = {DELAY_FACTOR}
max_delay_s = {MAX_DELAY_S}
allow_private = true
connect_s = 1.0
read_s = 1.0
total_s = 6.0
max_bytes = 300_000
max_redirects = {MAX_REDIRECTS}
retries = 2
backoff_s = 0.1

[limits]
pages = 0

[store]
warc_max_bytes = 1_000_000
"""


def write_folder(folder: Path, web: Web, strategy: str, concurrency: int, focus: float) -> None:
    folder.mkdir(parents=True)
    (folder / "seeds.txt").write_text("\n".join(web.seeds) + "\n")
    (folder / "crawl.toml").write_text(FOLDER.format(strategy=strategy, concurrency=concurrency, focus=focus))


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.7.1", 0))
        return int(probe.getsockname()[1])


class WebServer:
    """The server's process; a context, so that it never outlives the soak."""

    def __init__(self, web: Web) -> None:
        self.web = web
        numbers = {"--seed": web.seed, "--port": web.port, "--pages": web.pages, "--plain": int(web.plain)}
        numbers["--hosts"] = web.hosts
        command = [sys.executable, str(HERE / "server.py"), *(str(part) for pair in numbers.items() for part in pair)]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
        )
        self._answer()

    def tell(self, command: str) -> None:
        assert self._process.stdin
        self._process.stdin.write(command + "\n")
        self._process.stdin.flush()
        self._answer()

    def _answer(self) -> None:
        assert self._process.stdout
        if not self._process.stdout.readline():
            raise SystemExit("soak: the server of the web ended")

    def __enter__(self) -> "WebServer":
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe:
                with contextlib.suppress(OSError):
                    pipe.close()


class Log:
    """The server's log, read as it grows."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.touch()
        self.requests = 0
        self.last_at = time.monotonic()  # when a request was last seen
        self._file = path.open("rb")

    def look(self) -> int:
        """How many requests have come so far."""
        if found := self._file.read().count(b" S "):
            self.requests += found
            self.last_at = time.monotonic()
        return self.requests

    def close(self) -> None:
        self.look()
        self._file.close()


class Crawler:
    """One `lycosa crawl` in the launcher; `tell` sends the launcher a command.

    Shards are forks of a process with a single thread, so one that is to have any listens to no commands.
    """

    def __init__(
        self,
        folder: Path,
        notes: Path,
        clock_s: float = 0.0,
        files: int = 0,
        pause_s: float = SHORT_PAUSE_S,
        listens: bool = True,
    ) -> None:
        reading, self._control = os.pipe()
        self.notes = notes
        with (notes / "stderr.txt").open("ab") as errors:
            self._errors_from = errors.tell()
            self._process = subprocess.Popen(
                [
                    *(
                        sys.executable,
                        str(HERE / "launcher.py"),
                        str(reading if listens else -1),
                        str(clock_s),
                        str(files),
                    ),
                    *(str(notes / "names.json"), str(pause_s), "crawl", str(folder), "--json"),
                ],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                pass_fds=(reading,),
                start_new_session=True,
            )
        os.close(reading)

    @property
    def code(self) -> int | None:
        return self._process.poll()

    def tell(self, command: str) -> None:
        with contextlib.suppress(OSError):
            os.write(self._control, command.encode() + b"\n")

    def signal(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            self._process.send_signal(number)

    def wait(self, seconds: float) -> int | None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            return self._process.wait(seconds)
        return None

    def close(self) -> None:
        """Let nothing of it stay behind."""
        if self.code is None:
            self.signal(signal.SIGKILL)
            self._process.wait()
        if self._control >= 0:
            os.close(self._control)
            self._control = -1

    def said(self) -> str:
        """What it wrote to standard error."""
        with (self.notes / "stderr.txt").open("rb") as file:
            file.seek(self._errors_from)
            return file.read().decode(errors="replace")


class Disk:
    """Where the crawl folders are: after `mount`, where that is permitted, a small file system of their own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.is_small = False
        self._ballast = folder / "ballast"
        folder.mkdir(parents=True)

    def mount(self, size_mb: int = 96) -> None:
        command = ["mount", "-t", "tmpfs", "-o", f"size={size_mb}m", "lycosa-soak", str(self.folder)]
        with contextlib.suppress(OSError):
            self.is_small = subprocess.run(command, capture_output=True).returncode == 0

    def fill(self, room_bytes: int) -> None:
        """Leave only so much; the crawl may write at the same time, so perhaps less."""
        with self._ballast.open("wb") as file:
            while True:
                stat = os.statvfs(self.folder)
                with contextlib.suppress(OSError):
                    return os.posix_fallocate(file.fileno(), 0, max(1, stat.f_bavail * stat.f_frsize - room_bytes))
                file.truncate(0)
                room_bytes += 20_000

    def free(self) -> None:
        self._ballast.unlink(missing_ok=True)

    def close(self) -> None:
        if self.is_small:
            subprocess.run(["umount", "-l", str(self.folder)], capture_output=True)
            self.is_small = False
