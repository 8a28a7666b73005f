"""Forks this process: a shard that starts as a copy need not load everything again, and shares its memory."""

import os
import sys
import threading
import traceback
from collections.abc import Callable
from contextlib import suppress


def can_fork() -> bool:
    """Not if there are other threads: what they have locked would remain locked in the fork."""
    return sys.platform == "linux" and threading.active_count() == 1


class Fork:
    """A process that does nothing but call a function."""

    def __init__(self, call: Callable[[], int], kept: int) -> None:
        """The exit code is what `call` returns. Of the open files, it has the `kept` one and the standard output."""
        sys.stdout.flush()
        sys.stderr.flush()
        self.pid = os.fork()
        if self.pid:
            return
        code = 1
        try:
            _close_all_but(kept)
            code = call()
        except BaseException:
            traceback.print_exc()
            sys.stderr.flush()
        finally:
            os._exit(code)

    def wait(self) -> int:
        _, status = os.waitpid(self.pid, 0)
        return os.waitstatus_to_exitcode(status)


def _close_all_but(kept: int) -> None:
    """Above all the lock of the crawl folder, and the connections of other shards: they must end with this process's
    parent."""
    for name in os.listdir("/proc/self/fd"):
        if int(name) not in (1, 2, kept):
            with suppress(OSError):  # that of the list itself is closed already
                os.close(int(name))
    nothing = os.open(os.devnull, os.O_RDONLY)
    if nothing and kept:
        os.dup2(nothing, 0)
        os.close(nothing)
