"""Shards that start as forks have nothing open but their connection, and are set up like any process that crawls."""

import os
import subprocess
import sys
from collections.abc import Coroutine
from typing import Any

import pytest

from lycosa.shards import serve
from lycosa.shards.orders import Orders

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere shards are always new processes")
PROGRAM = """
import fcntl, os, socket, sys
from lycosa.shards.forks import Fork, can_fork

lock = open(sys.argv[1], "ab")
fcntl.flock(lock, fcntl.LOCK_EX)
here, there = socket.socketpair()

def files():
    with open(sys.argv[1], "ab") as again:
        there.send(b"x")
        there.recv(1)  # the other end closes the lock
        fcntl.flock(again, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return len(os.listdir("/proc/self/fd")) - 1 if os.read(0, 1) == b"" else 99  # not that of the list

def fails():
    raise ValueError("a bug")

assert can_fork()
fork = Fork(files, there.fileno())
here.recv(1)
lock.close()
here.send(b"x")
print(fork.wait(), Fork(fails, 1).wait())
"""


def test_a_fork_has_only_one_open_file_and_returns_what_is_called(tmp_path: os.PathLike[str]) -> None:
    command = [sys.executable, "-c", PROGRAM, os.path.join(tmp_path, "lock")]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert ended.stdout.split() == ["4", "1"], ended.stderr
    assert "ValueError: a bug" in ended.stderr


def test_a_shard_reuses_the_memory_of_its_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Like a crawl in one process: to return it costs a quarter of the parser's time."""
    done: list[str] = []

    def run(serving: Coroutine[Any, Any, int]) -> int:
        serving.close()
        done.append("run")
        return 3

    for name in ("keep_memory", "prepare_process"):
        monkeypatch.setattr(serve, name, lambda name=name: done.append(name))
    monkeypatch.setattr(serve, "loop_runner", lambda: run)
    monkeypatch.setattr(os, "setsid", lambda: None)
    assert serve.run(Orders("", "", 0, 2, -1)) == 3
    assert done == ["keep_memory", "prepare_process", "run"]
