"""No query is sent twice, there is a limit per day, and an engine in trouble rests: across restarts, too."""

import asyncio
from pathlib import Path
from typing import Any

import msgspec
import pytest

from lycosa.seeds.engines import EngineFailure, Search, make_engine
from lycosa.seeds.ledger import Ledger
from lycosa.store.db import CrawlDb


class Echo:
    """An engine without a wire."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.failures: list[EngineFailure] = []

    async def open(self) -> None: ...
    async def close(self) -> None: ...

    async def search(self, query: str, site: str, k: int) -> list[str]:
        self.asked.append(query)
        if self.failures:
            raise self.failures.pop(0)
        return [f"http://{site or 'a.org'}/{query}/{number}" for number in range(k)]


def rules(**options: Any) -> Search:
    return msgspec.convert({"delay_s": 0.0, **options}, Search)


async def opened(db: CrawlDb, clock: Any, engine: Any = None, **options: Any) -> tuple[Ledger, Echo]:
    engine = engine or Echo()
    ledger = Ledger(engine, db, rules(**options), clock)
    await ledger.open()
    return ledger, engine


async def test_an_answer_is_remembered(db: CrawlDb, clock: Any) -> None:
    ledger, engine = await opened(db, clock)
    first = await ledger.search("Soft models", "a.org", 3)
    assert len(first) == 3
    assert await ledger.search("soft  MODELS", "a.org", 3) == first
    assert await ledger.search("soft models", "a.org", 2) == first[:2]
    assert engine.asked == ["Soft models"]
    assert ledger.knows("soft models", "a.org")
    assert not ledger.knows("soft models", "b.org"), "elsewhere the same words are another query"
    assert not ledger.knows("soft", "a.org")


async def test_the_memory_survives_a_restart(tmp_path: Path, clock: Any) -> None:
    db = CrawlDb(tmp_path / "crawl.db").open()
    ledger, _ = await opened(db, clock)
    found = await ledger.search("x", "", 2)
    db.commit()
    db.close()
    again = CrawlDb(tmp_path / "crawl.db").open()
    ledger, engine = await opened(again, clock)
    assert await ledger.search("x", "", 2) == found
    assert engine.asked == []
    again.close()


async def test_a_kill_forgets_the_answer_with_the_links_made_of_it_but_not_the_cost(tmp_path: Path, clock: Any) -> None:
    db = CrawlDb(tmp_path / "crawl.db").open()
    ledger, _ = await opened(db, clock)
    await ledger.search("x", "", 2)
    db.close()  # without a commit
    again = CrawlDb(tmp_path / "crawl.db").open()
    ledger, _ = await opened(again, clock)
    assert not ledger.knows("x", "")
    assert ledger.account.asked == 1
    again.close()


async def test_a_day_has_so_many_queries(db: CrawlDb, clock: Any) -> None:
    ledger, engine = await opened(db, clock, per_day=3)
    for number in range(5):
        await ledger.search(f"q{number}", "", 1)
    assert engine.asked == ["q0", "q1", "q2"]
    assert not ledger.ready()
    assert await ledger.search("q0", "", 1) != [], "what is remembered costs nothing"
    ledger, engine = await opened(db, clock, per_day=3)
    assert not ledger.ready(), "also after a restart"
    clock.advance(86_400)
    assert ledger.ready()
    await ledger.search("q9", "", 1)
    assert ledger.account.asked == 1


async def test_no_limit(db: CrawlDb, clock: Any) -> None:
    ledger, engine = await opened(db, clock, per_day=0)
    for number in range(50):
        await ledger.search(f"q{number}", "", 1)
    assert len(engine.asked) == 50
    assert ledger.ready()


async def test_after_a_failure_it_rests_longer_each_time(db: CrawlDb, clock: Any) -> None:
    ledger, engine = await opened(db, clock, backoff_s=10.0, rest_after=4, rest_s=1_000.0)
    rests = []
    for number in range(6):
        engine.failures.append(EngineFailure("http-500"))
        assert await ledger.search(f"q{number}", "", 1) == []
        assert not ledger.ready()
        assert await ledger.search("other", "", 1) == [], "not asked while it rests"
        rests.append(ledger.account.rests_until - clock.now())
        clock.advance(rests[-1])
        assert ledger.ready()
    assert rests == [10.0, 20.0, 40.0, 1_000.0, 1_000.0, 1_000.0]
    assert len(engine.asked) == 6
    assert ledger.account.trouble == "http-500"
    assert await ledger.search("q9", "", 1) != []
    assert ledger.account.failures == 0
    assert ledger.account.trouble == ""
    engine.failures.append(EngineFailure("http-500"))
    await ledger.search("q10", "", 1)
    assert ledger.account.rests_until - clock.now() == 10.0, "a success resets the pause"


async def test_the_wish_of_the_engine_counts_within_reason(db: CrawlDb, clock: Any) -> None:
    ledger, engine = await opened(db, clock, backoff_s=10.0, rest_s=1_000.0)
    engine.failures.append(EngineFailure("http-429", 300.0))
    await ledger.search("a", "", 1)
    assert ledger.account.rests_until - clock.now() == 300.0
    clock.advance(300.0)
    engine.failures.append(EngineFailure("http-429", 1e9))
    await ledger.search("b", "", 1)
    assert ledger.account.rests_until - clock.now() == 1_000.0


async def test_a_rest_survives_a_kill(tmp_path: Path, clock: Any) -> None:
    db = CrawlDb(tmp_path / "crawl.db").open()
    ledger, engine = await opened(db, clock)
    engine.failures.append(EngineFailure("timeout"))
    await ledger.search("a", "", 1)
    db.close()
    again = CrawlDb(tmp_path / "crawl.db").open()
    ledger, _ = await opened(again, clock)
    assert not ledger.ready()
    assert ledger.account.trouble == "timeout"
    again.close()


async def test_a_query_that_failed_is_not_tried_again_in_this_run(db: CrawlDb, clock: Any) -> None:
    ledger, engine = await opened(db, clock)
    engine.failures.append(EngineFailure("http-500"))
    await ledger.search("poison", "", 1)
    assert ledger.knows("poison", "")


async def test_queries_keep_their_distance(db: CrawlDb, clock: Any) -> None:
    ledger, engine = await opened(db, clock, delay_s=5.0)
    await ledger.search("a", "", 1)
    waiting = asyncio.ensure_future(ledger.search("b", "", 1))
    for _ in range(5):
        await asyncio.sleep(0)
    assert engine.asked == ["a"]
    clock.advance(4.9)
    await asyncio.sleep(0)
    assert engine.asked == ["a"]
    clock.advance(0.2)
    assert await waiting != []
    assert engine.asked == ["a", "b"]


async def test_cancelled_while_it_waits(db: CrawlDb, clock: Any) -> None:
    ledger, engine = await opened(db, clock, delay_s=5.0)
    await ledger.search("a", "", 1)
    waiting = asyncio.ensure_future(ledger.search("b", "", 1))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    clock.advance(10.0)
    assert engine.asked == ["a"]


async def test_a_real_engine_with_real_trouble(db: CrawlDb, clock: Any, engine_server: Any, faults: Any) -> None:
    options = rules(engine="searxng", url=engine_server.url, max_bytes=100_000, backoff_s=1.0)
    ledger = Ledger(make_engine(options, "Test/1.0", Path(), lambda path: []), db, options, clock)
    await ledger.open()
    engine_server.pages[""] = ["http://a.org/"]
    for fault in ("500", "slow", "garbage", "huge"):
        engine_server.faults.append(faults[fault])
        assert await ledger.search(f"during {fault}", "", 5) == []
        assert ledger.account.failures == 1
        clock.advance(3_600)
        assert await ledger.search(f"after {fault}", "", 5) == ["http://a.org/"]
    await ledger.close()
