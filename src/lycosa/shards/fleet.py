"""Runs a crawl as several processes: starts them, restarts one that was killed, and speaks for all of them."""

import asyncio
import contextlib
import logging
import socket
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import IO, Any, Protocol

import msgspec
from msgspec.structs import replace

from lycosa import config
from lycosa.control import Door
from lycosa.errors import BadInput, LycosaError
from lycosa.log import CrawlLog
from lycosa.process import on_signals
from lycosa.shards.bridge import ENDED
from lycosa.shards.desk import Desk
from lycosa.shards.forks import Fork
from lycosa.shards.hub import Hub
from lycosa.shards.layout import homes, standings
from lycosa.shards.lease import SUCCEED_S
from lycosa.shards.merged import merged
from lycosa.shards.messages import Failed, Report
from lycosa.shards.orders import Orders
from lycosa.shards.serve import run
from lycosa.shards.sites import Sites
from lycosa.shards.wire import SocketWire, each
from lycosa.summary import write_summary

MOST_RESTARTS = 5  # of one shard without a page in between
SUMMARY_S = 1.0

_log = logging.getLogger(__name__)


class ShardFailed(LycosaError):
    """A shard cannot go on."""

    def __init__(self, problem: str, exit_code: int = 2) -> None:
        super().__init__(problem)
        self.exit_code = exit_code


class Process(Protocol):
    """Of a shard, or the bridge to it."""

    pid: int

    def wait(self) -> int: ...


class Fleet:
    """All shards of one crawl folder; the caller must hold the folder's lock."""

    def __init__(
        self, folder: Path, settings: config.Config, overrides: Sequence[str], sites: Sites | None = None
    ) -> None:
        """`sites`: where the state is, if the shards run on a cluster."""
        self.folder = folder
        self._sites = sites
        self._epoch = 0
        self.skipped: list[str] = []
        self.restarts = 0
        self._settings = settings
        self._homes = homes(folder)
        workers = max(1, settings.fetch.concurrency // len(self._homes))
        self._overrides = [*overrides, f"fetch.concurrency={workers}"]
        self._hub = Hub(len(self._homes), settings.limits, self._hear, standings(folder))
        self._summaries: dict[int, dict[str, Any]] = {}
        self._finished: set[int] = set()
        self._failed: Failed | None = None
        self._processes: dict[int, Process] = {}
        self._forked: dict[int, tuple[Orders, socket.socket]] = {}

    @property
    def stopped_by_user(self) -> bool:
        return bool(self._hub.over and self._hub.over.by_user)

    def pids(self) -> list[int]:
        return [process.pid for process in self._processes.values()]

    async def run(
        self,
        seeds: Sequence[str],
        watch: Callable[[dict[str, Any]], None],
        retry_failed: bool = False,
        signals: bool = True,
    ) -> dict[str, Any]:
        """Run all shards until the crawl is over, or until Ctrl-C if `signals` is set; return the summary of all."""
        desk, log = Desk(self._homes, self._hub.ask, self.summary, self.stop), CrawlLog(self.folder)
        if self._settings.store.warc:
            (self.folder / "warc").mkdir(exist_ok=True)  # readers find the records of the shards from there
        with log.open(), on_signals(self.stop) if signals else contextlib.nullcontext():
            log.event("started", shards=len(self._homes))
            shards = [asyncio.ensure_future(self._keep(at, seeds, retry_failed)) for at in range(len(self._homes))]
            watching = asyncio.ensure_future(self._watch(watch))
            try:
                async with Door(self.folder, desk.handle, desk.events):
                    await asyncio.wait(shards)
            except asyncio.CancelledError:
                self._hub.end("interrupted")
                await asyncio.wait(shards)
                raise
            finally:
                watching.cancel()
            log.event("ended", ended=self._hub.over.why if self._hub.over else "", restarts=self.restarts)
        for shard in shards:
            shard.result()
        if self._failed:
            raise ShardFailed(self._failed.problem, self._failed.exit_code)
        summary = self.summary()
        watch(summary)
        return summary

    def fork(self, seeds: Sequence[str], retry_failed: bool) -> None:
        """Start the shards of this machine as forks of this process, before anything runs in it. Those that have to be
        started again later are new processes."""
        for shard in range(len(self._homes)) if not self._sites else ():
            here, there = socket.socketpair()
            with there:
                orders = replace(self._orders(shard, seeds, retry_failed, 0), socket=there.fileno())
                self._processes[shard] = Fork(partial(run, orders), there.fileno())
            self._forked[shard] = orders, here

    def stop(self) -> None:
        self._hub.end("stopped by the user", by_user=True)

    def summary(self) -> dict[str, Any]:
        """The totals of all shards, also written to summary.json."""
        ended = self._hub.over.why if self._hub.over else ""
        parts = [self._summaries[shard] for shard in sorted(self._summaries)]
        if 0 not in self._summaries:
            raise BadInput(f"{self.folder}: the shards are still starting")
        summary = merged(parts, ended) | {"messages": self._hub.messages, "message_bytes": self._hub.bytes}
        write_summary(self.folder, summary)
        return summary

    async def _watch(self, watch: Callable[[dict[str, Any]], None]) -> None:
        while True:
            await asyncio.sleep(SUMMARY_S)
            if self._sites:
                self._sites.touch()
            if len(self._summaries) == len(self._homes):
                watch(self.summary())

    def _hear(self, message: Report | Failed) -> None:
        if isinstance(message, Failed):
            self._failed = self._failed or message
            self._hub.end(message.problem)
            return
        self._summaries[message.shard] = message.summary
        if message.is_last:
            self._finished.add(message.shard)
            self.skipped = self.skipped or message.skipped
            self._hub.end(message.summary["ended"])  # a limit of time, or no answer: it concerns all

    async def _keep(self, shard: int, seeds: Sequence[str], retry_failed: bool) -> None:
        """Run the process of a shard, and start it again if it dies."""
        in_vain, pages, starts = 0, -1, 0
        while True:
            if shard in self._forked:
                orders, end = self._forked.pop(shard)
            else:
                orders, end = self._start(self._orders(shard, seeds, retry_failed and not starts, starts))
            wire = await SocketWire.open(end)
            starts += 1
            await each(wire, self._hub.join(shard, wire, orders.epoch))
            self._hub.leave(shard)
            await wire.close()  # the shard waits for it
            code = await asyncio.to_thread(self._processes.pop(shard).wait)
            if self._sites and code != ENDED:
                await asyncio.sleep(SUCCEED_S)  # the bridge was killed, but perhaps not the shard
            if shard in self._finished or self._failed or self._hub.over:
                return
            self.restarts += 1
            now = self._summaries.get(shard, {}).get("pages", 0)
            in_vain, pages = (0, now) if now > pages else (in_vain + 1, pages)
            if in_vain >= MOST_RESTARTS:
                problem = f"{self._homes[shard]}: this shard ends again and again (exit code {code}); see its crawl.log"
                self._hear(Failed(shard, problem, 1))
                return
            _log.warning("shard %d ended with exit code %d, and is started again", shard, code)

    def _orders(self, shard: int, seeds: Sequence[str], retry_failed: bool, starts: int) -> Orders:
        """`starts`: how often the shard was started before."""
        return Orders(
            *(str(self.folder), str(self._homes[shard]), shard, len(self._homes), -1),
            *(self._overrides, [*seeds], retry_failed, self._next_epoch(), starts > 0),
            *((self._sites.store, self._settings.run.cluster, shard + starts) if self._sites else ()),
        )

    def _next_epoch(self) -> int:
        self._epoch = self._sites.next_epoch() if self._sites else self._epoch + 1
        return self._epoch

    def _start(self, orders: Orders) -> tuple[Orders, socket.socket]:
        """Start the process of a shard, or the bridge to a node where it runs; return our end of the connection."""
        here, there = socket.socketpair()
        module = "lycosa.shards.bridge" if self._sites else "lycosa.shards"
        with there, self._output() as output:
            orders = replace(orders, socket=there.fileno())
            self._processes[orders.shard] = subprocess.Popen(
                [sys.executable, "-m", module, msgspec.json.encode(orders).decode()],
                pass_fds=[there.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
            )
        return orders, here

    def _output(self) -> contextlib.AbstractContextManager[IO[bytes] | None]:
        """What Ray says while it starts and fails goes to a file."""
        return (self.folder / "cluster.log").open("ab") if self._sites else contextlib.nullcontext()
