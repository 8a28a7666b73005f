"""Events of a session: plain records for any number of listeners, none of which slows the crawl down."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from typing import Any
from weakref import WeakSet

from msgspec import Struct

from lycosa.types import Visit

MOST_KEPT = 10_000  # events kept for a slow listener; beyond that the oldest are discarded


class VisitDone(Struct, frozen=True, tag_field="event", tag="visit"):
    """A URL was fetched, successfully or not."""

    url: str
    final_url: str
    status: int
    error: str
    at: float
    seconds: float
    title: str
    relevance: float
    on_topic: bool
    label: str
    duplicate_of: str


class Summary(Struct, frozen=True, tag_field="event", tag="summary"):
    """The totals, as in summary.json, about once a second."""

    summary: dict[str, Any]


class StateChange(Struct, frozen=True, tag_field="event", tag="state"):
    """The session was started, paused, resumed or ended; seeds were added or URLs excluded."""

    state: str  # crawling, paused, ended
    why: str = ""  # the cause


class Missed(Struct, frozen=True, tag_field="event", tag="missed"):
    """The listener was too slow: the number of events discarded at this point."""

    count: int


Event = VisitDone | Summary | StateChange | Missed


def visit_done(visit: Visit) -> VisitDone:
    reply, verdict = visit.reply, visit.verdict
    return VisitDone(
        reply.link.url,
        reply.url or reply.link.url,
        reply.status,
        reply.error,
        reply.at,
        round(reply.seconds, 3),
        visit.page.title,
        verdict.relevance,
        verdict.on_topic,
        verdict.label,
        visit.duplicate_of,
    )


class Listener:
    """An asynchronous iterator over events; ends with the session."""

    def __init__(self, most: int) -> None:
        self._kept: deque[Event] = deque()
        self._most = most
        self._missed = 0
        self._over = False
        self._changed = asyncio.Event()

    def put(self, event: Event) -> None:
        if len(self._kept) >= self._most:
            self._kept.popleft()
            self._missed += 1
        self._kept.append(event)
        self._changed.set()

    def end(self) -> None:
        self._over = True
        self._changed.set()

    def __aiter__(self) -> AsyncIterator[Event]:
        return self

    async def __anext__(self) -> Event:
        while not self._kept:
            if self._over:
                raise StopAsyncIteration
            self._changed.clear()
            await self._changed.wait()
        if self._missed:
            missed, self._missed = self._missed, 0
            return Missed(missed)
        return self._kept.popleft()


class Listeners:
    """Passes every event to all listeners."""

    def __init__(self) -> None:
        self._all: WeakSet[Listener] = WeakSet()  # listeners that are no longer referenced disappear
        self._over = False

    def listen(self, most: int = MOST_KEPT) -> Listener:
        listener = Listener(most)
        if self._over:
            listener.end()
        else:
            self._all.add(listener)
        return listener

    def put(self, event: Event) -> None:
        for listener in [*self._all]:
            listener.put(event)

    def write(self, visit: Visit) -> None:
        """Called as a sink."""
        if self._all:
            self.put(visit_done(visit))

    def end(self) -> None:
        self._over = True
        for listener in [*self._all]:
            listener.end()
        self._all.clear()
