"""Queries an engine responsibly: no query twice, a daily limit, and none while the engine is failing.

Queries and results are stored in crawl.db, together with the daily count and the end of an engine's rest, so that after
a restart no query is repeated or sent too early.
"""

import asyncio
from collections.abc import Callable

import msgspec

from lycosa.seeds.engines import Engine, EngineFailure, Search
from lycosa.seeds.queries import normal
from lycosa.store.db import CrawlDb
from lycosa.store.searches import Searches
from lycosa.types import Clock

_DAY_S = 86_400
_KEY = "search"  # key in the table meta
_MOST_FAILED = 100_000


class Account(msgspec.Struct):
    """The state of our use of the engine."""

    day: int = 0
    asked: int = 0  # on that day
    failures: int = 0  # consecutive
    rests_until: float = 0.0
    trouble: str = ""  # the last failure


class Ledger:
    """An engine with a memory; a failure gives an empty result and makes the engine rest."""

    def __init__(
        self,
        engine: Engine,
        db: CrawlDb,
        rules: Search,
        clock: Clock,
        is_paused: Callable[[], bool] = lambda: False,
    ) -> None:
        self.engine = engine
        self.account = Account()
        self._db = db
        self._searches = Searches(db)
        self._rules = rules
        self._clock = clock
        self._is_paused = is_paused
        self._next_at = 0.0
        self._failed: set[str] = set()  # failed queries are not retried in this run
        self._opened, self._one = asyncio.Event(), asyncio.Lock()  # one query at a time, whoever asks

    async def open(self) -> None:
        """Call after opening the database."""
        self._searches.open()
        if text := self._db.get(_KEY):
            self.account = msgspec.json.decode(text, type=Account)
        await self.engine.open()
        self._opened.set()

    async def close(self) -> None:
        await self.engine.close()

    def ready(self) -> bool:
        """Whether the engine may be queried: it is not resting, the crawl is not paused, and the daily limit is not
        reached."""
        return self._clock.now() >= self.ready_at() and not self._is_paused()

    def ready_at(self) -> float:
        """When the engine may be queried again, or could have been."""
        account, most = self.account, self._rules.per_day
        is_used_up = 0 < most <= account.asked
        return max(account.rests_until, (account.day + 1) * _DAY_S if is_used_up else 0.0)

    def knows(self, query: str, site: str) -> bool:
        """Whether this query was sent before."""
        key = _key(query, site)
        return key in self._failed or key in self._searches

    async def search(self, query: str, site: str, k: int) -> list[str]:
        """The result, from memory if the query was sent before; empty if the engine may not be queried or fails."""
        await self._opened.wait()
        async with self._one:
            return await self._search(query, site, k)

    async def _search(self, query: str, site: str, k: int) -> list[str]:
        key = _key(query, site)
        known = self._searches.get(key)
        if known is not None:
            return known[:k]
        await self._pause()
        if not self.ready():
            return []
        self._count()
        try:
            found = await self.engine.search(query, site, k)
        except EngineFailure as failure:
            self._fail(key, failure)
            return []
        self.account.failures, self.account.trouble = 0, ""
        self._searches.put(key, found, self._clock.now())
        self._write(commit=False)  # committed with the links from the result, which a kill would lose otherwise
        return found

    async def _pause(self) -> None:
        """Wait until the next query is due."""
        if self._clock.now() < self._next_at:
            due = asyncio.Event()
            timer = self._clock.call_at(self._next_at, due.set)
            try:
                await due.wait()
            finally:
                timer.cancel()

    def _count(self) -> None:
        """Count before the query is sent, so that it also counts if the process is killed."""
        now, account = self._clock.now(), self.account
        if account.day != int(now // _DAY_S):
            account.day, account.asked = int(now // _DAY_S), 0
        account.asked += 1
        self._next_at = now + self._rules.delay_s
        self._write()

    def _fail(self, key: str, failure: EngineFailure) -> None:
        rules, account = self._rules, self.account
        account.failures += 1
        account.trouble = str(failure)
        wait_s = max(failure.wait_s, rules.backoff_s * 2.0 ** min(account.failures - 1, 30))
        if account.failures >= rules.rest_after:
            wait_s = max(wait_s, rules.rest_s)
        account.rests_until = self._clock.now() + min(wait_s, max(rules.rest_s, rules.backoff_s))
        if len(self._failed) < _MOST_FAILED:
            self._failed.add(key)
        self._write()

    def _write(self, commit: bool = True) -> None:
        """Usually commits at once: while a task is waiting all visits are complete, so a commit is safe here."""
        self._db.put(_KEY, msgspec.json.encode(self.account).decode())
        if commit:
            self._db.commit()


def _key(query: str, site: str) -> str:
    return f"{normal(query)} site:{site}" if site else normal(query)
