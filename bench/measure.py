"""Run a program beside a served web and say what it cost: wall clock, CPU of the process, peak memory."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct

from lycosa.lab.generated import GeneratedWeb, Links, Text

HOSTS = 50
TOPIC = "astronomy"
WORDS = ("telescope", "galaxy", "planet", "orbit", "star", "nebula", "comet", "observatory")


class Cost(Struct, frozen=True):
    """What a run took. CPU is user and system time of the process and of those it waited for."""

    pages: int
    seconds: float
    cpu_s: float
    peak_mb: float

    @property
    def us_per_page(self) -> float:
        return self.cpu_s / max(1, self.pages) * 1e6

    @property
    def pages_per_s(self) -> float:
        return self.pages / self.seconds


def web(pages: int, hubs: float = 0.03) -> GeneratedWeb:
    """Pages of 20 to 60 kB with 50 to 100 links, on 50 loopback addresses, without delay or failures."""
    return GeneratedWeb(
        pages, HOSTS, ip_hosts=True, text=Text(size_bytes=(20_000, 60_000)), links=Links(count=(50, 100), hubs=hubs)
    )


@contextmanager
def served(site: GeneratedWeb, cache_mb: int) -> Iterator[int]:
    """The web in a process of its own; yields its port."""
    options = {
        "--pages": site.pages,
        "--hosts": site.hosts,
        "--seed": site.seed,
        "--hubs": site.links.hubs,
        "--cache-mb": cache_mb,
    }
    command = [sys.executable, "-m", "lycosa.lab.serve", "--ip-hosts"]
    command += [str(part) for option in options.items() for part in option]
    command += ["--size-bytes", *map(str, site.text.size_bytes), "--count", *map(str, site.links.count)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout
        line = server.stdout.readline()
        if not line.startswith("serving on "):
            raise SystemExit("bench: the web could not be served")
        yield int(line.split()[-1])
    finally:
        server.terminate()
        server.wait()


def run(command: list[str], out: Path) -> Cost:
    """Run to the end; the caller counts the pages. Output goes to a file, so that nothing waits for a reader."""
    started = time.monotonic()
    with out.open("wb") as file:
        process = subprocess.Popen(command, stdout=file, stderr=subprocess.STDOUT)
    try:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    except BaseException:
        process.kill()
        raise
    if process.returncode:
        tail = out.read_text(errors="replace")[-2000:]
        raise SystemExit(f"bench: {' '.join(command)} ended with code {process.returncode}\n{tail}")
    cpu_s = usage.ru_utime + usage.ru_stime
    return Cost(0, time.monotonic() - started, cpu_s, usage.ru_maxrss / 1024)
