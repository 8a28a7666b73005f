"""Distinguish an outage of our own network from failing hosts: the crawl then pauses, and no failure is counted.

A failed request may be the host's fault or ours. It is the host's if another host answers meanwhile. If none does, we
try to connect to hosts that answered before, without a request. If none of them can be reached, the network is down. It
is probably down, too, if several hosts that answered before no longer do. Then every request waits: at growing
intervals those hosts are tried again, and one of the waiting requests is let through. As soon as anything answers, the
crawl continues by itself.
"""

import asyncio
import errno
import os
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable
from typing import Protocol

from msgspec.structs import replace

from lycosa import urls
from lycosa.types import Clock, Link, Reply

OFFLINE = "offline"  # the error of a request that failed because the network was down
FIRST_PAUSE_S = 5.0  # until the network is tried again; doubled each time
LONGEST_PAUSE_S = 300.0
_LOST = frozenset({"connect", "dns", "timeout"})  # errors that occur when the network is down
_UNDECIDED = frozenset({"exhausted", "disconnected", "private-address"})  # errors that prove nothing
_NO_ROUTE = (os.strerror(errno.ENETUNREACH), os.strerror(errno.ENETDOWN))  # errors of a machine without a network
_MOST_KEPT = 10  # hosts that answered recently
_MOST_TRIED = 5  # how many of them to try at a time
_LEAST_OTHERS = 2  # other hosts needed for a comparison
_SILENT = 3  # so many hosts that answered before must fail in a row for an outage
_MOST_DOUBTS = 4  # failed tries while connections are accepted, before we blame the hosts after all


class Network(Protocol):
    """What can be checked without a request."""

    async def reaches(self, url: str) -> bool: ...  # does the host accept a connection?
    async def resolves(self, url: str) -> bool: ...  # does the name service answer, even if there is no such name?


class Asks(Protocol):
    """One request, one reply."""

    async def fetch(self, link: Link, accept: tuple[str, ...] = (), most: int = 0) -> Reply: ...


class Outage:
    """A layer around single requests."""

    def __init__(self, inner: Asks, network: Network, clock: Clock) -> None:
        self.inner = inner
        self.since: float | None = None  # when the network was found to be down
        self.next_try = 0.0
        self._network = network
        self._clock = clock
        self._pause_s = FIRST_PAUSE_S
        self._answered: OrderedDict[str, str] = OrderedDict()  # address to URL, the last to answer at the end
        self._known: set[str] = set()  # hosts that have answered
        self._silent: set[str] = set()  # those of them that have failed since anything last answered
        self._doubts = 0  # tries since then that failed although connections were accepted
        self._answers = 0
        self._under_way = 0
        self._waiters: set[asyncio.Future[bool]] = set()  # requests waiting for an answer
        self._turn = asyncio.Lock()  # requests waiting for the network
        self._trial: asyncio.Task[bool] | None = None

    def remember(self, addresses: Iterable[str]) -> None:
        """Tell it which URLs answered in earlier runs, the most recent last."""
        for url in addresses:
            self._keep(urls.host(url), url)

    async def fetch(self, link: Link, accept: tuple[str, ...] = (), most: int = 0) -> Reply:
        await self._wait_for_network()
        self._under_way += 1
        try:
            reply = await self.inner.fetch(link, accept, most)
        finally:
            self._under_way -= 1
        if reply.error in _LOST:
            return replace(reply, error=OFFLINE, seconds=0.0) if await self._is_down(reply) else reply
        if reply.error in _UNDECIDED:
            self._look()
        else:
            self._keep(reply.ip or urls.host(link.url), link.url)
            self._is_up()
        return reply

    def _keep(self, address: str, url: str) -> None:
        self._known.add(urls.host(url))
        self._answered[address] = url
        self._answered.move_to_end(address)
        if len(self._answered) > _MOST_KEPT:
            self._answered.popitem(last=False)

    def _is_up(self) -> None:
        self._answers += 1
        self._silent.clear()
        self._doubts = 0
        self._go_on()

    def _go_on(self) -> None:
        self.since = None
        self._pause_s = FIRST_PAUSE_S
        self._tell(True)

    def _look(self) -> None:
        """Let waiting requests decide if no answer can come any more, or none is needed."""
        if not self._under_way or self._is_silent():
            self._tell(False)

    def _tell(self, has_answered: bool) -> None:
        for waiter in self._waiters:
            if not waiter.done():
                waiter.set_result(has_answered)

    def _is_silent(self) -> bool:
        return len(self._silent) >= _SILENT and self._doubts < _MOST_DOUBTS

    async def _is_down(self, failed: Reply) -> bool:
        """Was it the network's fault, not the host's?"""
        self._silent |= {urls.host(failed.url)} & self._known
        self._look()
        if self.since is None and await self._works(failed):
            return False
        if self.since is None:
            self.since = self._clock.now()
            self.next_try = self.since + self._pause_s
        return True

    async def _works(self, failed: Reply) -> bool:
        answers, others = self._answers, self._others(failed)
        has_route = not any(words in failed.detail for words in _NO_ROUTE)
        if failed.error != "connect" and not await self._names_answer(failed):
            return False
        if failed.error == "dns":
            return True
        if has_route:  # otherwise an answer proves nothing: it may come over an older connection
            if self._answers > answers or (
                self._under_way and not self._is_silent() and await self._answer_before(None)
            ):
                return True
            if self._is_silent():
                return False
        if len(others) < _LEAST_OTHERS:
            return has_route  # no other host to compare with
        return await self._others_answer(others) or (has_route and self._answers > answers)

    async def _others_answer(self, others: list[str]) -> bool:
        if self._trial is None:  # many may fail at once, but one check is enough
            self._trial = asyncio.ensure_future(_any(self._network.reaches, others))
            self._trial.add_done_callback(self._forget_trial)
        return await asyncio.shield(self._trial)

    async def _names_answer(self, failed: Reply) -> bool:
        """Does the name service answer? Hosts given as addresses say nothing about it."""
        named = [url for url in self._others(failed, _MOST_KEPT) if not _is_address(url)]
        return await _any(self._network.resolves, [failed.url, *named[:_MOST_TRIED]])

    def _others(self, failed: Reply | None = None, most: int = _MOST_TRIED) -> list[str]:
        """Hosts that have answered, most recent first."""
        host = urls.host(failed.url) if failed else ""
        return [url for url in reversed(self._answered.values()) if urls.host(url) != host][:most]

    def _forget_trial(self, _: object) -> None:
        self._trial = None

    async def _answer_before(self, when: float | None) -> bool:
        """Wait until anything answers, until a given time, or until nothing is left that could answer; did anything?"""
        waiter: asyncio.Future[bool] = asyncio.get_running_loop().create_future()

        def ring() -> None:
            if not waiter.done():
                waiter.set_result(False)

        timer = None if when is None else self._clock.call_at(when, ring)
        self._waiters.add(waiter)
        try:
            return await waiter
        finally:
            self._waiters.discard(waiter)
            if timer:
                timer.cancel()

    async def _wait_for_network(self) -> None:
        """Wait until the network is back, or until it is this request's turn to find out."""
        while self.since is not None:
            async with self._turn:
                while self.since is not None and self._clock.now() < self.next_try:
                    await self._answer_before(self.next_try)
                if self.since is None:
                    continue
                self._pause_s = min(2 * self._pause_s, LONGEST_PAUSE_S)
                self.next_try = self._clock.now() + self._pause_s
                if await _any(self._network.reaches, self._others()):
                    self._doubts += 1
                    if not self._is_silent():
                        self._go_on()
                return


def _is_address(url: str) -> bool:
    """Is the host of a canonical URL an IP address?"""
    name = urls.hostname(url)
    return name.startswith("[") or name.rpartition(".")[2].isdigit()


async def _any(ask: Callable[[str], Awaitable[bool]], about: list[str]) -> bool:
    """Is it true for one of them? All are tried at once, and the first success is enough."""
    tasks = [asyncio.ensure_future(ask(url)) for url in about]
    try:
        for task in asyncio.as_completed(tasks):
            if await task:
                return True
        return False
    finally:
        for task in tasks:
            task.cancel()
