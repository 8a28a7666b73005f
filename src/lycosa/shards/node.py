"""The part of a cluster's transport that runs on a node: starts the process of a shard, passes bytes on to it and back,
and stops it when its lease has run out. Its methods are called from the bridge, which runs where the hub is."""

import asyncio
import contextlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
from msgspec.structs import replace

from lycosa import __version__
from lycosa.shards.lease import RENEW_S, Held, Now
from lycosa.shards.orders import Orders

MOST_BYTES = 4 << 20  # passed on at once
_CHECK_S = 0.25  # between two looks at the lease

Start = Callable[[socket.socket, str], "subprocess.Popen[bytes] | None"]


class Node:
    """One shard on this node. Every answer asks for a renewal of the lease, and every question may grant it."""

    def __init__(self, start: Start | None = None, now: Now = time.monotonic) -> None:
        self._start = start or _start_shard
        self._held = Held(now)
        self._process: subprocess.Popen[bytes] | None = None
        self._home = ""
        self._end: socket.socket | None = None
        self._unsent: asyncio.Queue[bytes] = asyncio.Queue(maxsize=16)  # from the shard; empty at its end
        self._tasks: list[asyncio.Task[None]] = []

    async def hello(self) -> tuple[int, str]:
        """Ask for the lease; return the version of Lycosa on this node, too."""
        return self._held.ask(), __version__

    async def start(self, orders: str, granted: int) -> bool:
        """Start the shard; false if this arrives too late."""
        self._held.granted(granted)
        if not self._held.is_valid():
            return False
        self._end, there = socket.socketpair()
        self._end.setblocking(False)
        with there:
            self._home = tempfile.mkdtemp(prefix="lycosa-")
            self._process = self._start(there, _at_home(orders, self._home, there.fileno()))
        self._tasks = [asyncio.ensure_future(self._read()), asyncio.ensure_future(self._watch())]
        return True

    async def push(self, data: bytes) -> bool:
        """Pass bytes on to the shard; none at all end the connection. False if the shard is gone."""
        if not self._end or self._end.fileno() < 0:
            return False
        with contextlib.suppress(OSError):
            if not data:
                self._end.shutdown(socket.SHUT_WR)
                return True
            await asyncio.get_running_loop().sock_sendall(self._end, data)
            return True
        return False

    async def pull(self, granted: int) -> tuple[int, bytes | None]:
        """Bytes from the shard, perhaps after a moment, and perhaps none; None once it has ended."""
        self._held.granted(granted)
        data: bytes | None = b""
        with contextlib.suppress(TimeoutError):
            data = await asyncio.wait_for(self._unsent.get(), RENEW_S) or None
        if data is None:
            await self._clean_up()
        return self._held.ask(), data

    async def _read(self) -> None:
        assert self._end
        data = b"x"
        while data:
            try:
                data = await asyncio.get_running_loop().sock_recv(self._end, MOST_BYTES)
            except OSError:
                data = b""
            await self._unsent.put(data)

    async def _watch(self) -> None:
        """Without a valid lease, let the shard end as if its hub were gone; kill it if it does not."""
        assert self._end
        while self._held.is_valid():
            await asyncio.sleep(_CHECK_S)
        with contextlib.suppress(OSError):
            self._end.shutdown(socket.SHUT_RDWR)
        while self._process and self._process.poll() is None and not self._held.is_over():
            await asyncio.sleep(_CHECK_S)
        if self._process:
            self._process.kill()
        await asyncio.to_thread(self._remove)

    async def _clean_up(self) -> None:
        for task in self._tasks:
            task.cancel()
        if self._end:
            self._end.close()
        await asyncio.to_thread(self._remove)

    def _remove(self) -> None:
        if self._process:
            self._process.wait()
        shutil.rmtree(self._home, ignore_errors=True)


def _at_home(orders: str, home: str, descriptor: int) -> str:
    """The same orders, for a shard that keeps everything in a folder of this node."""
    found = msgspec.json.decode(orders, type=Orders)
    folders = [Path(home, name) for name in ("crawl", "shard")]
    for folder in folders:
        folder.mkdir()
    return msgspec.json.encode(replace(found, folder=str(folders[0]), home=str(folders[1]), socket=descriptor)).decode()


def _start_shard(there: socket.socket, orders: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "lycosa.shards", orders], pass_fds=[there.fileno()], stdin=subprocess.DEVNULL
    )
