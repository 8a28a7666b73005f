"""A robots.txt that has moved to a host of another shard: that shard fetches it, when its host is due."""

import asyncio
from collections.abc import Callable

from lycosa.fetch.http import ANY
from lycosa.fetch.robots import Robots
from lycosa.fetch.robots_file import MOST_BYTES
from lycosa.frontier.changes import Changes
from lycosa.shards.messages import Lend, Lent
from lycosa.shards.routing import Routing
from lycosa.types import Deferred, Link, Reply

WAIT_S = 60.0  # then it counts as unreachable for now: meanwhile, a request in flight is spent on waiting
_TRIES = 3


class Loans:
    """Asks other shards for such files, and fetches those that they ask for."""

    def __init__(self, routing: Routing, robots: Robots, changes: Changes, send: Callable[[Lend | Lent], None]) -> None:
        self._routing = routing
        self._robots = robots
        self._changes = changes
        self._send = send
        self._open: dict[str, asyncio.Future[Lent]] = {}  # by URL, without an answer

    async def fetch(self, url: str) -> Reply:
        """Ask the shard of the host."""
        answer = self._open.get(url)
        if answer is None:
            answer = self._open[url] = asyncio.get_running_loop().create_future()
            self._ask(url)
        try:
            lent = await asyncio.wait_for(asyncio.shield(answer), WAIT_S)
        except TimeoutError:
            self._open.pop(url, None)
            return Reply(Link(url), error="timeout")
        return Reply(Link(url), url, lent.status, body=lent.body, error=lent.error, detail=lent.detail)

    def told(self, lent: Lent) -> None:
        answer = self._open.pop(lent.url, None)
        if answer and not answer.done():
            answer.set_result(lent)

    def ask_again(self, shard: int) -> None:
        """The shard has been restarted, and with it the questions it had not answered are gone."""
        for url in self._open:
            if self._routing.owner(url) == shard:
                self._ask(url)

    async def lend(self, asked: Lend) -> None:
        """Fetch a file for another shard, unless it is known."""
        reply = self._robots.recall(asked.url) or await self._visit(asked.url)
        found = reply.status, reply.error, reply.detail, reply.body
        self._send(Lent(asked.target, asked.source, asked.url, *found))

    def _ask(self, url: str) -> None:
        self._send(Lend(self._routing.me, self._routing.owner(url), url))

    async def _visit(self, url: str) -> Reply:
        """Each try waits until the host is due."""
        for _ in range(_TRIES):
            host = await self._changes.enter(url)
            if host is None:
                return Reply(Link(url), error="connect", detail="nothing more is fetched from this host")
            reply = Reply(Link(url))
            try:
                found = await self._robots.inner.fetch(Link(url), ANY, MOST_BYTES)
                reply = found.reply if isinstance(found, Deferred) else found
            finally:
                self._changes.leave(host, reply)
            if not isinstance(found, Deferred):
                break
        self._robots.note(url, reply)
        return reply
