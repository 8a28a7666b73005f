"""Parse a page in a separate process with limits on CPU time and memory, so that no page can stop a crawl.

The tree parser cannot be interrupted, so a page over budget ends its process; the next page gets a new one. Only pages
that may be expensive come here, because the round trip costs about as much as parsing a small page.
"""

import contextlib
import os
import resource
import select
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import IO

import msgspec

from lycosa.errors import TooCostly
from lycosa.plugins import PARSER, Plugins
from lycosa.types import Page, Reply

CPU_S = 3.0  # the largest ordinary pages, 5 MB, take about one second
MEMORY_BYTES = 1 << 30  # address space, of which Python with its libraries takes 0.2 GB
_WALL_S = 60.0  # in case the process hangs
_MOST_BYTES = 256 << 20  # per answer


class Sandbox:
    """One process, started by the first page and used by one thread at a time."""

    def __init__(
        self,
        max_links: int,
        robot: str,
        cpu_s: float = CPU_S,
        memory_bytes: int = MEMORY_BYTES,
        others: Iterable[str] = (),
    ) -> None:
        """`others`: content types read by parsers of installed packages."""
        self.cpu_s = cpu_s
        self._arguments = [str(max_links), robot, str(cpu_s), str(memory_bytes), *others]
        self._process: subprocess.Popen[bytes] | None = None
        self._one_at_a_time = threading.Lock()
        self._closed = False

    def parse(self, reply: Reply) -> Page:
        """Like `Parsers.parse`; TooCostly if the page is over budget or crashes the parser."""
        question = msgspec.msgpack.encode(msgspec.structs.replace(reply, exchanges=()))
        with self._one_at_a_time:
            if self._closed:
                raise TooCostly("no time was left to parse this page")
            process = self._process = self._process or self._start()
            answer = _ask(process, question)
            if answer is None:
                _end(process)
                self._process = None
                raise TooCostly(_why(process.returncode, self.cpu_s))
        found = msgspec.msgpack.decode(answer, type=Page | str)
        if isinstance(found, str):
            raise ValueError(found)
        return found

    def close(self) -> None:
        """Close permanently: whoever is waiting for a page gets a TooCostly at once."""
        self._closed = True
        if self._process:
            self._process.kill()

    def _start(self) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "lycosa.parse.sandbox", *self._arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},  # every thread reserves address space
            start_new_session=True,  # Ctrl-C is handled by the crawl
        )
        weakref.finalize(self, _end, process)
        return process


def _ask(process: subprocess.Popen[bytes], question: bytes) -> bytes | None:
    """The answer of the process to a request; None if it died or took too long."""
    assert process.stdin
    assert process.stdout
    try:
        write_message(process.stdin, question)
        answers = select.poll()  # `select` fails if more than 1,024 files are open
        answers.register(process.stdout, select.POLLIN | select.POLLHUP)
        if answers.poll(_WALL_S * 1000):
            return read_message(process.stdout)
    except OSError:  # it died before it read all
        pass
    return None


def _end(process: subprocess.Popen[bytes]) -> None:
    assert process.stdin
    assert process.stdout
    with contextlib.suppress(OSError):
        process.stdin.close()
    process.stdout.close()
    try:
        process.wait(0.1)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _why(returncode: int | None, cpu_s: float) -> str:
    if returncode == -signal.SIGXCPU:
        return f"parsing took more than {cpu_s:g} s of CPU time"
    return f"the parser process ended with {returncode}"


def write_message(file: IO[bytes], message: bytes) -> None:
    file.write(len(message).to_bytes(4, "big"))
    file.write(message)
    file.flush()


def read_message(file: IO[bytes]) -> bytes | None:
    """The next message; None at the end of the file."""
    size = int.from_bytes(file.read(4), "big")
    message = file.read(min(size, _MOST_BYTES))
    return message if size and len(message) == size else None


def _serve(max_links: int, robot: str, cpu_s: float, memory_bytes: int, others: Sequence[str]) -> None:
    """The main function of the process: reads replies, writes pages or the reasons for failures."""
    from lycosa.parse.by_type import Parsers
    from lycosa.parse.html import HtmlParser

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _limit(resource.RLIMIT_AS, memory_bytes)
    kinds = Plugins(PARSER)
    parsers = Parsers(HtmlParser(max_links, robot), others={name: kinds.make(name) for name in others if name in kinds})
    while (question := read_message(sys.stdin.buffer)) is not None:
        _allow(time.process_time() + cpu_s)
        write_message(sys.stdout.buffer, _answer(parsers.parse_here, msgspec.msgpack.decode(question, type=Reply)))


def _allow(cpu_s: float) -> None:
    """The total CPU time at which the system ends this process."""
    _limit(resource.RLIMIT_CPU, int(cpu_s + 0.999))


def _limit(kind: int, most: int) -> None:
    """Set a limit, or keep that of the whole session if it is lower, since nobody may exceed it."""
    _, hard = resource.getrlimit(kind)
    resource.setrlimit(kind, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def _answer(parse: Callable[[Reply], Page], reply: Reply) -> bytes:
    try:
        return msgspec.msgpack.encode(parse(reply))
    except MemoryError:
        return msgspec.msgpack.encode("parsing took too much memory")
    except Exception as error:  # the caller reports it; this process continues
        return msgspec.msgpack.encode(str(error) or type(error).__name__)


if __name__ == "__main__":
    _serve(int(sys.argv[1]), sys.argv[2], float(sys.argv[3]), int(sys.argv[4]), sys.argv[5:])
