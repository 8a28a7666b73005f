"""Checks for search engines."""

import asyncio
from collections.abc import Callable
from typing import Any

from lycosa.loops import blocking
from lycosa.seeds.engines import EngineFailure
from lycosa.urls import canonical

_ODD = ("", " ", '"unfinished', "a OR (b", "caf\u00e9 \u8718\u86db", "word " * 200)


@blocking
def check_engine(make: Callable[[], Any], query: str) -> None:
    """Run all checks. `make` returns a new engine; `query` is one that it has results for."""
    asyncio.run(_check(make(), query))


async def _check(engine: Any, query: str) -> None:
    if hasattr(engine, "open"):
        await engine.open()
    try:
        found = await engine.search(query, "", 10)
        check_answer(found, 10)
        assert found, f"nothing found for {query!r}: pass a query that the engine has results for"
        check_answer(await engine.search(query, "", 1), 1)
        check_answer(await engine.search(query, "no-such-site.example", 10), 10)
        for odd in _ODD:
            try:
                check_answer(await engine.search(odd, "", 3), 3)
            except EngineFailure:
                continue  # it may refuse, as long as it does so by this exception
    finally:
        if hasattr(engine, "close"):
            await engine.close()


def check_answer(found: object, k: int) -> None:
    assert isinstance(found, list), f"search() returned a {type(found).__name__}, not a list"
    assert len(found) <= k, f"search() returned {len(found)} URLs, more than the {k} requested"
    assert len(set(found)) == len(found), "search() returned the same URL twice"
    for url in found:
        assert isinstance(url, str), f"search() returned {url!r}, which is not a URL"
        assert canonical(url), f"search() returned {url!r}, which is not a URL"
