"""One shard queries the search engine for all: no query is sent twice, and the limits hold for the whole crawl."""

import asyncio
from collections.abc import Callable

from lycosa.seeds.ledger import Account, Ledger
from lycosa.seeds.queries import normal
from lycosa.seeds.search import SearchStep
from lycosa.shards.messages import Hits, Query
from lycosa.shards.routing import Routing

SEARCHER = 0  # the shard that does


class Asking:
    """Takes the place of the ledger in the other shards."""

    def __init__(
        self,
        routing: Routing,
        send: Callable[[Query], None],
        now: Callable[[], float],
        is_paused: Callable[[], bool] = lambda: False,
    ) -> None:
        self.account = Account()  # remains empty: shard 0 has the true one
        self._routing = routing
        self._send = send
        self._now = now
        self._is_paused = is_paused
        self._ready_at = 0.0  # as the other shard said last
        self._asked: set[tuple[str, str]] = set()
        self._open: dict[tuple[str, str], tuple[Query, asyncio.Future[list[str]]]] = {}  # without an answer

    async def open(self) -> None:
        """The other shard opens the engine ..."""

    async def close(self) -> None:
        """... and closes it."""

    def ready(self) -> bool:
        return self._now() >= self._ready_at and not self._is_paused()

    def knows(self, query: str, site: str) -> bool:
        """Whether this shard has sent it in this run: others are answered from memory."""
        return (normal(query), site) in self._asked

    async def search(self, query: str, site: str, k: int) -> list[str]:
        key = normal(query), site
        self._asked.add(key)
        question = Query(self._routing.me, SEARCHER, query, site, k)
        self._open[key] = question, asyncio.get_running_loop().create_future()
        self._send(question)
        return await self._open[key][1]

    def told(self, hits: Hits) -> None:
        self._ready_at = hits.ready_at
        _, answer = self._open.pop((normal(hits.query), hits.site), (None, None))
        if answer and not answer.done():
            answer.set_result(hits.urls)

    def ask_again(self) -> None:
        """The other shard has been restarted, and with it the queries it had not answered are gone."""
        for question, _ in self._open.values():
            self._send(question)


async def answer(ledger: Ledger, step: SearchStep, query: Query, send: Callable[[Hits], None]) -> None:
    """Query the engine for another shard. The result is stored together with its links, here and on their way to other
    shards: the one that has asked may be killed before it can do anything."""
    found = await ledger.search(query.query, query.site, query.most)
    step.let_in(query.query, found)
    send(Hits(query.target, query.source, query.query, query.site, found, ledger.ready_at()))
