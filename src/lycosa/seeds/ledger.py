"""Ask an engine with care: nothing twice, so many queries a day, and not at all while it is in trouble.

What was asked and what came is kept in crawl.db, with the count of the day and the rest an engine was given, so that a
restart neither asks again nor asks too early.
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
_KEY = "search"  # in the table meta
_MOST_FAILED = 100_000


class Account(msgspec.Struct):
    """How we stand with the engine."""

    day: int = 0
    asked: int = 0  # on that day
    failures: int = 0  # in a row
    rests_until: float = 0.0
    trouble: str = ""  # what failed last


class Ledger:
    """An engine that remembers; a failure is an empty answer and a rest."""

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
        self._failed: set[str] = set()  # queries that brought no answer are not tried again in this run

    async def open(self) -> None:
        """After the database is open."""
        self._searches.open()
        if text := self._db.get(_KEY):
            self.account = msgspec.json.decode(text, type=Account)
        await self.engine.open()

    async def close(self) -> None:
        await self.engine.close()

    def ready(self) -> bool:
        """May the engine be queried: is it not resting, is the crawl not paused, are queries left for the day?"""
        now, account = self._clock.now(), self.account
        left = not self._rules.per_day or account.day != int(now // _DAY_S) or account.asked < self._rules.per_day
        return left and now >= account.rests_until and not self._is_paused()

    def knows(self, query: str, site: str) -> bool:
        """Was this asked before?"""
        key = _key(query, site)
        return key in self._failed or key in self._searches

    async def search(self, query: str, site: str, k: int) -> list[str]:
        """The answer, from memory if it was asked before; nothing if the engine may not be asked or fails."""
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
        self._write(commit=False)  # with the links that are made of it, or a kill would lose them
        return found

    async def _pause(self) -> None:
        """Until the next query is due."""
        if self._clock.now() < self._next_at:
            due = asyncio.Event()
            timer = self._clock.call_at(self._next_at, due.set)
            try:
                await due.wait()
            finally:
                timer.cancel()

    def _count(self) -> None:
        """Before the engine is asked: a kill in between must not make the query free."""
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
        """At once, as a rule: whenever somebody waits all visits are whole, so a commit is safe here."""
        self._db.put(_KEY, msgspec.json.encode(self.account).decode())
        if commit:
            self._db.commit()


def _key(query: str, site: str) -> str:
    return f"{normal(query)} site:{site}" if site else normal(query)
