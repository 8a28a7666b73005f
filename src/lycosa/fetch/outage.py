"""Distinguish an outage of our own network from failing hosts: the crawl then pauses, and no failure is counted.

A failed request may be the host's fault or ours. It is the host's if another host answers meanwhile. If none does, we
try to connect to the host and to those that answered before, without a request. If none can be reached, the network is
down, as far as we can tell. It is probably down, too, if connections are accepted but nothing is answered. Then every
request waits: at growing intervals those hosts are tried again, and one of the waiting requests is let through, or a
few if connections are accepted. As soon as anything answers, the crawl continues by itself.

With fewer than three hosts to compare, a dead server looks like a dead network. Then every other host gets a try
without waiting, and if none answers for some minutes, the run ends with every URL still queued.
"""

import asyncio
import errno
import os
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable
from typing import Protocol

from msgspec.structs import replace

from lycosa import outcomes, urls
from lycosa.types import Clock, Link, Reply

NO_ANSWER = "no host has answered for"  # the reason for ending a run in which no host answers starts with this
FIRST_PAUSE_S = 5.0  # before the network is tried again; doubled each time
LONGEST_PAUSE_S = 300.0
PATIENCE_S = 300.0  # how long a run waits for an answer while it cannot tell whose fault it is
_GATEWAY = frozenset({502, 503, 504})  # what a proxy answers when its network is down
_UNDECIDED = outcomes.CUT | {outcomes.EXHAUSTED, "private-address"}  # failures that prove neither
_NO_ROUTE = (os.strerror(errno.ENETUNREACH), os.strerror(errno.ENETDOWN))  # what a machine without a network says
_ACCEPTED = "on reading"  # in the words of a timeout that came after the connection was made
_LONGEST_REST_S = 30.0  # of a host that failed while others get their try; the next run keeps it, too
_MOST_KEPT = 10  # hosts that answered last
_MOST_TRIED = 5  # of them at once
_LEAST_OTHERS = 2  # hosts beside the one that failed: with fewer there is nothing to compare with
_SILENT = 3  # failures in a row that count as an outage: of hosts that answered before, or on accepted connections
_MOST_DOUBTS = 6  # tries, over five minutes, while connections are accepted, before the hosts are at fault after all


class Network(Protocol):
    """What can be checked without a request."""

    async def reaches(self, url: str) -> bool: ...  # does the host accept a connection?
    async def resolves(self, url: str) -> bool: ...  # does the name service answer, even if there is no such name?


class Asks(Protocol):
    """One request, one reply."""

    async def fetch(self, link: Link, accept: tuple[str, ...] = (), most: int = 0) -> Reply: ...


class Outage:
    """A layer around single requests."""

    def __init__(self, inner: Asks, network: Network, clock: Clock, proxied: bool = False) -> None:
        self.inner = inner
        self.proxied = proxied
        self.since: float | None = None  # when the network was found to be down
        self.next_try = 0.0
        self.is_sure = False  # were there enough hosts to compare?
        self.last_failure = ""  # host and error
        self._give_up: Callable[[str], None] = lambda why: None
        self._network = network
        self._clock = clock
        self._pause_s = FIRST_PAUSE_S
        self._answered: OrderedDict[str, str] = OrderedDict()  # address to URL, the last to answer at the end
        self._known: set[str] = set()  # hosts that have answered
        self._failed: dict[str, str] = {}  # hosts that have failed since anybody answered last, with a URL of each
        self._silent: set[str] = set()  # those of them that answered before
        self._unanswered: list[str] = []  # URLs of requests since then whose connections were accepted
        self._exposed: set[str] = set()  # such URLs, when others answered: they raise no suspicion again
        self._doubts = 0  # tries since then that failed although connections were accepted
        self._most_doubts = _MOST_DOUBTS  # fewer after each time that the hosts were at fault
        self._passes = 0  # requests that may be made although the network is down, to find out
        self._passed: set[str] = set()  # hosts that had theirs since the last try
        self._answers = 0
        self._under_way = 0
        self._waiters: set[asyncio.Future[bool]] = set()  # requests waiting for an answer
        self._turn = asyncio.Lock()  # requests waiting for the network
        self._trial: asyncio.Task[bool] | None = None

    def when_nobody_answers(self, call: Callable[[str], None]) -> None:
        """Call this, with the reason, when nobody has answered for too long."""
        self._give_up = call

    def remember(self, addresses: Iterable[str]) -> None:
        """Tell it which URLs answered in earlier runs, the most recent last."""
        for url in addresses:
            self._keep(urls.host(url), url)

    def answered(self) -> list[str]:
        """URLs at which hosts answered last, the most recent last."""
        return [*self._answered.values()]

    async def fetch(self, link: Link, accept: tuple[str, ...] = (), most: int = 0) -> Reply:
        await self._wait_for_network(urls.host(link.url))
        self._under_way += 1
        try:
            reply = await self.inner.fetch(link, accept, most)
        finally:
            self._under_way -= 1
        if reply.error in outcomes.NO_ANSWER or (self.proxied and reply.status in _GATEWAY):
            return self._offline(reply) if await self._is_down(reply) else reply
        if reply.error in _UNDECIDED and not reply.status:
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
        self._failed.clear()
        self._silent.clear()
        self._exposed.update(self._unanswered)
        self._unanswered.clear()
        if self._doubts and self._doubts >= self._most_doubts:
            self._most_doubts //= 2
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
        return max(len(self._silent), len(self._unanswered)) >= _SILENT and self._doubts < self._most_doubts

    async def _is_down(self, failed: Reply) -> bool:
        """Was it the network's fault, or may it have been?"""
        host = urls.host(failed.url)
        self._failed[host] = failed.url
        self.last_failure = f"{host}: {failed.error}"
        if host in self._known:
            self._silent.add(host)
        if (failed.status or _ACCEPTED in failed.detail) and failed.url not in self._exposed:
            self._unanswered.append(failed.url)
        self._look()
        works = await self._works(failed) if self.since is None else False
        if works:
            return False
        now = self._clock.now()
        if self.since is None:
            self.since, self.next_try, self.is_sure = now, now + self._pause_s, works is False
            self._passes = 0
            self._passed.clear()
        elif not self.is_sure and now - self.since >= PATIENCE_S:
            self._give_up(f"{NO_ANSWER} {PATIENCE_S / 60:g} minutes")
        return True

    def _offline(self, failed: Reply) -> Reply:
        """To be fetched again. While other hosts get their try, this one rests, or it would stand in their way."""
        wait_s = 0.0 if self.is_sure else min(max(0.0, self.next_try - self._clock.now()), _LONGEST_REST_S)
        return replace(failed, error=outcomes.OFFLINE, seconds=0.0, wait_s=max(wait_s, failed.wait_s))

    async def _works(self, failed: Reply) -> bool | None:
        """Does the network? None if there are too few hosts to tell."""
        answers, others = self._answers, self._others(failed)
        has_route = not any(words in failed.detail for words in _NO_ROUTE)
        if failed.error != "connect":
            named = [url for url in self._others(failed, _MOST_KEPT) if not _is_address(url)][:_MOST_TRIED]
            if not await _any(self._network.resolves, [failed.url, *named]):
                return False if len(named) >= _LEAST_OTHERS else None
        if failed.error == "dns":
            return True
        if has_route:  # otherwise an answer proves nothing: it may come over an older connection
            if self._answers > answers or (
                self._under_way and not self._is_silent() and await self._answer_before(None)
            ):
                return True
            if self._is_silent():
                return False
        if await self._accepts([failed.url, *others]) or (has_route and self._answers > answers):
            return True
        return False if len(others) >= _LEAST_OTHERS else None

    async def _accepts(self, addresses: list[str]) -> bool:
        """Does any of these hosts accept a connection?"""
        if self._trial is None:  # many may fail at once, but one trial is enough
            self._trial = asyncio.ensure_future(_any(self._network.reaches, addresses))
            self._trial.add_done_callback(self._forget_trial)
        return await asyncio.shield(self._trial)

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

    async def _wait_for_network(self, host: str) -> None:
        """Wait until the network is back, or until it is this request's turn to find out."""
        while self.since is not None:
            if not self.is_sure and host not in self._failed:
                return  # perhaps only the others are down
            if host in self._passed and self._clock.now() < self.next_try:
                await self._answer_before(self.next_try)  # it is the others' turn
                continue
            async with self._turn:
                while self.since is not None and not (self._passes and self._clock.now() < self.next_try):
                    if self._clock.now() < self.next_try:
                        await self._answer_before(self.next_try)
                    else:
                        await self._try()
                if self.since is not None:
                    self._passes -= 1
                    self._passed.add(host)
                    return

    async def _try(self) -> None:
        """Is anybody there? If so, or if only connections are accepted, more requests than one may find out."""
        self._pause_s = min(2 * self._pause_s, LONGEST_PAUSE_S)
        self.next_try = self._clock.now() + self._pause_s
        self._passes = 1
        self._passed.clear()
        if await _any(self._network.reaches, [*self._others(), *list(self._failed.values())[-_MOST_TRIED:]]):
            self._doubts += 1
            self._passes = _MOST_TRIED  # one alone may be a page that never comes
            if not self._is_silent():
                self._go_on()


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
