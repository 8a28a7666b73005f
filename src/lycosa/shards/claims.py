"""The same body at different URLs, fetched by different shards: one shard, chosen by the digest, knows which came
first."""

import asyncio
from collections.abc import Callable

from lycosa.shards.messages import Ask, Claim, Told
from lycosa.shards.routing import Routing
from lycosa.store.db import CrawlDb
from lycosa.store.shard_rows import ShardRows


class Claims:
    """Answers for the digests of this shard, and asks others for theirs."""

    def __init__(self, routing: Routing, db: CrawlDb, send: Callable[[Ask | Told], None]) -> None:
        self._routing = routing
        self._rows = ShardRows(db)
        self._db = db
        self._send = send
        self._first: dict[str, str] = {}  # URL by digest
        self._unsaved: list[tuple[str, str]] = []
        self._open: dict[tuple[str, str], asyncio.Future[str]] = {}  # questions without an answer

    def open(self) -> None:
        self._first = self._rows.claims()
        self._db.before_commit.append(self._store)

    async def first_url(self, digest: str, url: str) -> str:
        shard = self._routing.decides(digest)
        if shard == self._routing.me:
            return self._decide(digest, url)
        question = self._open.get((digest, url))
        if question is None:
            question = self._open[digest, url] = asyncio.get_running_loop().create_future()
            self._send(Ask(self._routing.me, shard, digest, url))
        return await asyncio.shield(question)

    def answer(self, ask: Ask) -> None:
        self._send(Told(ask.target, ask.source, ask.digest, ask.url, self._decide(ask.digest, ask.url)))

    def told(self, told: Told) -> None:
        question = self._open.pop((told.digest, told.asked), None)
        if question and not question.done():
            question.set_result(told.url)

    def ask_again(self, shard: int) -> None:
        """The shard has been restarted, and with it the questions it had not answered are gone."""
        for digest, url in self._open:
            if self._routing.decides(digest) == shard:
                self._send(Ask(self._routing.me, shard, digest, url))

    def confirm(self, claim: Claim) -> None:
        """The visit has been committed: it counts even if the answer was forgotten since."""
        self._decide(claim.digest, claim.url)

    def _decide(self, digest: str, url: str) -> str:
        first = self._first.get(digest)
        if first is None:
            first = self._first[digest] = url
            self._unsaved.append((digest, url))
        return first

    def _store(self) -> None:
        if self._unsaved:
            self._rows.put_claims(self._unsaved)
            self._unsaved = []
