"""Serves the soak's web on loopback addresses from a process of its own, and does what it is told on standard input.

    begin FILE   a new crawl: forget what was asked before, and log to this file
    refuse       the network is down: connections are refused, those that exist are reset
    hang         the network is down: nothing is answered any more
    up           the network is back
    wild, tame   some hosts answer nothing but rubbish, or behave again

Each command is answered with a line. The log has a line when a request came and one when its answer was sent:
`time S number host path` and `time E number full|cut seconds`, where the seconds are how long the host wants to rest.
Behind them stands `wild` if the answer was rubbish.
"""

import asyncio
import contextlib
import os
import sys
import time
from argparse import ArgumentParser
from collections import Counter
from random import Random

from replies import BROKEN, WILD, answer
from web import Site, Web

LONGEST_PAUSE_S = 0.6  # shorter than what a crawl takes for silence


class Gone(Exception):
    """The crawler hung up."""


class Server:
    """Answers for all hosts; which one is meant says the Host header."""

    def __init__(self, web: Web) -> None:
        self.web = web
        self.is_wild = False
        self._log = -1
        self._number = 0
        self._chance = Random(web.seed)
        self._up = asyncio.Event()
        self._writers: set[asyncio.StreamWriter] = set()
        self._replies: set[asyncio.Task[None]] = set()
        self._listening: asyncio.Server | None = None

    def begin(self, path: str) -> None:
        if self._log >= 0:
            os.close(self._log)
        self._log = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        self._tries: Counter[str] = Counter()
        self._number = 0

    async def up(self) -> None:
        self._reset()  # what hung is gone for good
        self._up.set()
        if not self._listening:
            live = [site.ip for site in self.web.sites if not site.is_dead]
            self._listening = await asyncio.start_server(self._connected, live, self.web.port, backlog=1_000)

    async def refuse(self) -> None:
        self._up.clear()
        if self._listening:
            self._listening.close()
            self._listening = None
        self._reset()

    async def hang(self) -> None:
        self._up.clear()
        for task in list(self._replies):
            task.cancel()

    def _reset(self) -> None:
        for writer in list(self._writers):
            writer.transport.abort()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        try:
            while self._up.is_set():
                head = await reader.readuntil(b"\r\n\r\n")
                if not self._up.is_set():
                    break  # a request that never arrived
                task = asyncio.ensure_future(self._reply(head, reader, writer))
                self._replies.add(task)
                await asyncio.wait([task])
                self._replies.discard(task)
                if task.cancelled() or task.exception() or writer.is_closing():
                    break
            await self._up.wait()
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass
        finally:
            self._writers.discard(writer)
            with contextlib.suppress(OSError):
                writer.close()

    async def _reply(self, head: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        started = time.monotonic()
        lines = head.decode("latin-1").split("\r\n")
        path = lines[0].split(" ")[1]
        host = next(line[5:].strip() for line in lines if line.lower().startswith("host:"))
        url = f"http://{host}{path}"
        self._number += 1
        number = self._number
        self._write(f"{started:.6f} S {number} {host} {path}")
        ended, how, rest_s = started, "cut", 0.0
        wild = " wild" if self.is_wild and self.web.site(url).goes_wild else ""
        try:
            ended, rest_s = await self._send(url, reader, writer)
            how = "full"
        except (OSError, Gone):
            ended = time.monotonic()
            writer.close()
        finally:
            self._write(f"{ended:.6f} E {number} {how} {rest_s}{wild}")

    async def _send(self, url: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> tuple[float, float]:
        """When the last byte was about to go, and how long the host wants to rest."""
        site = self.web.site(url)
        tries = self._tries[url]
        self._tries[url] += 1
        sound, slow_s, rest_s = answer(self.web, url, tries)
        wild = self.is_wild and site.goes_wild
        if sound and not wild:
            while slow_s > LONGEST_PAUSE_S:
                await _pause(LONGEST_PAUSE_S, reader)
                slow_s -= LONGEST_PAUSE_S
                writer.write(sound[:100])
                sound = sound[100:]
            await _pause(slow_s, reader)
            ended = time.monotonic()
            writer.write(sound)
            await writer.drain()
            return ended, rest_s
        ended = await self._send_broken(url, site if wild else None, reader, writer)
        writer.close()
        return ended, 0.0

    async def _send_broken(
        self, url: str, wild: Site | None, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> float:
        spot = self.web.spots.get(url)
        kind = self._chance.choice(WILD) if wild else spot.kind if spot else "missing"
        pieces = BROKEN[kind]()
        ended = time.monotonic()
        while True:
            coming = asyncio.ensure_future(anext(pieces, None))
            try:
                while not coming.done():
                    await asyncio.wait([coming], timeout=0.01)
                    _check(reader)
            finally:
                coming.cancel()
            piece = coming.result()
            if piece is None:
                return ended
            ended = time.monotonic()
            writer.write(piece)
            await writer.drain()

    def _write(self, line: str) -> None:
        os.write(self._log, line.encode() + b"\n")


def _check(reader: asyncio.StreamReader) -> None:
    if reader.at_eof() or reader.exception():
        raise Gone


async def _pause(seconds: float, reader: asyncio.StreamReader) -> None:
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0:
        await asyncio.sleep(min(left, 0.01))
        _check(reader)


async def obey(server: Server) -> None:
    """Until standard input ends, which it does at the latest when the soak is gone."""
    commands = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(commands), sys.stdin)
    await server.up()
    print("ready", flush=True)
    while line := (await commands.readline()).decode().split():
        match line:
            case ["begin", path]:
                server.begin(path)
            case ["up"]:
                await server.up()
            case ["refuse"]:
                await server.refuse()
            case ["hang"]:
                await server.hang()
            case ["wild" | "tame" as how]:
                server.is_wild = how == "wild"
        print("done", flush=True)


def main() -> None:
    options = ArgumentParser(description=__doc__)
    for name in ("seed", "port", "pages", "plain", "hosts"):
        options.add_argument(f"--{name}", type=int, required=True)
    given = options.parse_args()

    async def run() -> None:
        server = Server(Web(given.seed, given.port, given.pages, bool(given.plain), given.hosts))
        try:
            await obey(server)
        finally:
            await server.refuse()

    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(run())


if __name__ == "__main__":
    main()
