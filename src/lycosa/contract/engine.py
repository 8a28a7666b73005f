"""Does a search engine keep to what the crawler relies on?"""

import asyncio
from collections.abc import Callable
from typing import Any

from lycosa.loops import blocking
from lycosa.seeds.engines import EngineFailure
from lycosa.urls import canonical

_ODD = ("", " ", '"unfinished', "a OR (b", "caf\u00e9 \u8718\u86db", "word " * 200)


@blocking
def check_engine(make: Callable[[], Any], query: str) -> None:
    """All checks. `make` gives a new engine; `query` is one that it answers."""
    asyncio.run(_check(make(), query))


async def _check(engine: Any, query: str) -> None:
    if hasattr(engine, "open"):
        await engine.open()
    try:
        found = await engine.search(query, "", 10)
        check_answer(found, 10)
        assert found, f"nothing found for {query!r}: give a query that the engine answers"
        check_answer(await engine.search(query, "", 1), 1)
        check_answer(await engine.search(query, "no-such-site.example", 10), 10)
        for odd in _ODD:
            try:
                check_answer(await engine.search(odd, "", 3), 3)
            except EngineFailure:
                continue  # it may refuse, as long as it says so
    finally:
        if hasattr(engine, "close"):
            await engine.close()


def check_answer(found: object, k: int) -> None:
    assert isinstance(found, list), f"search() gives a {type(found).__name__}, not a list"
    assert len(found) <= k, f"search() gives {len(found)} URLs where {k} were asked for"
    assert len(set(found)) == len(found), "search() gives the same URL twice"
    for url in found:
        assert isinstance(url, str), f"search() gives {url!r}, not a URL"
        assert canonical(url), f"search() gives {url!r}, not a URL"
