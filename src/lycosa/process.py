"""Settings of the whole process, which only a command may change: limits, garbage collection, signals, the event
loop."""

import asyncio
import contextlib
import gc
import os
import resource
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any


def prepare_process() -> None:
    """Raise the limit on connections, and collect garbage rarely: pages do not leave reference cycles behind."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(most, 65_536) if most > 0 else 65_536, most))
    gc.set_threshold(100_000, 20, 100)
    gc.freeze()  # loaded modules stay in memory


def give_way() -> None:
    """Never interrupt another process, such as a crawl, but wait for a free core or for one's share of time."""
    _schedule(0, "SCHED_BATCH")


def as_usual(pid: int) -> None:
    """For a process that was started by one that gives way: it inherits that."""
    _schedule(pid, "SCHED_OTHER")


def _schedule(pid: int, policy: str) -> None:
    if hasattr(os, "sched_setscheduler"):  # not on every system
        with contextlib.suppress(OSError):
            os.sched_setscheduler(pid, getattr(os, policy), os.sched_param(0))


def loop_runner() -> Callable[[Any], Any]:
    if os.name == "nt":
        return asyncio.run
    import uvloop

    return uvloop.run


@contextlib.contextmanager
def on_signals(call: Callable[[], None]) -> Iterator[None]:
    """Call `call` on Ctrl-C or when the process is asked to terminate; restore the handlers afterwards."""
    loop, before = asyncio.get_running_loop(), {}
    for number in (signal.SIGINT, signal.SIGTERM):
        handler = signal.getsignal(number)
        with contextlib.suppress(ValueError, RuntimeError):  # in other threads, which never receive Ctrl-C
            loop.add_signal_handler(number, call)
            before[number] = handler
    try:
        yield
    finally:
        for number, handler in before.items():
            loop.remove_signal_handler(number)
            signal.signal(number, handler)


def usage() -> dict[str, float]:
    """CPU time and peak memory of this process."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return {
        "cpu_s": round(used.ru_utime + used.ru_stime, 3),
        "rss_mb": round(_peak_kb(used.ru_maxrss) / 1024, 1),
    }


def _peak_kb(from_usage: int) -> float:
    """On Linux a child inherits its parent's peak, so read our own."""
    with contextlib.suppress(OSError, StopIteration):
        lines = Path("/proc/self/status").read_text().splitlines()
        return float(next(line.split()[1] for line in lines if line.startswith("VmHWM")))
    return from_usage / (1024 if sys.platform == "darwin" else 1)
