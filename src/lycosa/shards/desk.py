"""Answers requests from other processes by passing them on to every shard."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import msgspec

from lycosa import control
from lycosa.control import Request
from lycosa.events import Event, Missed, StateChange, Summary, VisitDone
from lycosa.shards.routing import Routing

Ask = Callable[[int, Request], Awaitable[Any]]
_decode = msgspec.json.Decoder(VisitDone | Summary | StateChange | Missed).decode


class Desk:
    """The requests that a session answers, passed on to the sessions of all shards."""

    def __init__(
        self, homes: list[Path], ask: Ask, summary: Callable[[], dict[str, Any]], stop: Callable[[], None]
    ) -> None:
        """`ask` passes a request on to the session of a shard."""
        self._homes = homes
        self._ask = ask
        self._summary = summary
        self._stop = stop
        self._routing = Routing(0, len(homes))

    async def handle(self, request: Request) -> Any:
        match request.do:
            case "status":
                summary = self._summary()
                state = "ended" if summary["ended"] else "paused" if summary["paused"] else "crawling"
                return {"state": state, **summary}
            case "stop":
                return self._stop()
            case "label":
                return sum(await self._ask_each(self._divided(request)))
            case "count" | "exclude" | "prefer" | "retry":
                return sum(await self._ask_each([request] * len(self._homes)))
        answers = await self._ask_each([request] * len(self._homes))
        if request.do == "add":
            return {url: answers[self._routing.owner(url)][url] for url in answers[0]}
        changed, in_flight = zip(*((answer["changed"], answer["in_flight"]) for answer in answers), strict=True)
        return {"changed": any(changed), "in_flight": sum(in_flight)}

    async def events(self) -> AsyncIterator[Event]:
        """The events of all shards as they come, with one summary for all. Each serves its own socket; on a cluster
        these are out of reach, and there are only summaries."""
        if not any((home / control.NAME).exists() for home in self._homes):
            while True:
                yield Summary(self._summary())
                await asyncio.sleep(1.0)
        found: asyncio.Queue[Event | None] = asyncio.Queue(maxsize=1_000)
        readers = [asyncio.ensure_future(_read_events(home, found)) for home in self._homes]
        left, first = len(readers), self._homes[0]
        try:
            while left:
                event = await found.get()
                if event is None:
                    left -= 1
                elif isinstance(event, Summary):
                    if event.summary.get("home") == str(first):
                        yield Summary(self._summary())
                else:
                    yield event
        finally:
            for reader in readers:
                reader.cancel()

    def _divided(self, request: Request) -> list[Request]:
        """Each shard is given the labels of its own pages."""
        labels: list[dict[str, bool | None]] = [{} for _ in self._homes]
        for url, on_topic in request.labels.items():
            labels[self._routing.owner(url)][url] = on_topic
        return [Request(request.do, labels=own, chosen=request.chosen) for own in labels]

    async def _ask_each(self, requests: list[Request]) -> list[Any]:
        asked = [
            self._ask(shard, request) if request.do != "label" or request.labels else _nothing()
            for shard, request in enumerate(requests)
        ]
        return await asyncio.gather(*asked)


async def _nothing() -> int:
    return 0


async def _read_events(home: Path, found: "asyncio.Queue[Event | None]") -> None:
    with contextlib.suppress(OSError, msgspec.MsgspecError):
        with control.address(home) as where:
            reader, writer = await asyncio.open_unix_connection(where, limit=1_000_000)
        writer.write(msgspec.json.encode(Request("events")) + b"\n")
        await reader.readline()
        while line := await reader.readline():
            event = _decode(line)
            if isinstance(event, Summary):
                event = Summary(event.summary | {"home": str(home)})
            await found.put(event)
        writer.close()
    await found.put(None)
