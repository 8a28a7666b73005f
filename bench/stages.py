"""CPU of each stage alone on the pages of the bench, in microseconds a page; what is left of the whole is the rest.

python bench/stages.py
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from isal import igzip
from measure import WORDS, web
from protego import Protego

from lycosa import config
from lycosa.clock import WallClock
from lycosa.decode import decode
from lycosa.frontier.durable import DurableFrontier
from lycosa.frontier.scope import Scope
from lycosa.judge.keywords import Keywords
from lycosa.parse import Parsers, content_digest
from lycosa.store.db import CrawlDb
from lycosa.store.visits import VisitStore
from lycosa.store.warc import WarcWriter
from lycosa.strategy.best_first import BestFirst
from lycosa.types import Exchange, Link, Page, Reply, Verdict, Visit

PAGES = 400
HEAD = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n"
)
ASKED = b"GET / HTTP/1.1\r\nHost: 127.0.0.2\r\nUser-Agent: Lycosa/0.1\r\nAccept: text/html\r\n\r\n"


def replies(count: int) -> list[Reply]:
    """Answers as the fetcher hands them on; each page is found by a link of one before."""
    site, found, random = web(100_000), [], Random(1)
    waiting = site.seeds(80, 50)
    while len(found) < count:
        url = waiting.pop(int(random.random() * len(waiting)))
        page = site.page(url)
        assert page
        packed = igzip.compress(page.body, 1)
        exchange = Exchange(url, ASKED, HEAD % len(packed), packed, 1_700_000_000.0 + len(found), "127.0.0.2")
        reply = Reply(
            Link(url),
            url=url,
            status=200,
            content_type="text/html; charset=utf-8",
            body=page.body,
            exchanges=(exchange,),
            at=exchange.at,
        )
        found.append(reply)
        waiting += [link.url for link in Parsers().parse(reply).links]
    return found


def timed(work: Callable[[Any], Any], items: Sequence[Any], rounds: int = 3) -> tuple[float, list[Any]]:
    """Microseconds of CPU for one item, the best of some rounds, and what came out."""
    best, results = float("inf"), []
    for _ in range(rounds):
        started = time.process_time()
        results = [work(item) for item in items]
        best = min(best, time.process_time() - started)
    return best / len(items) * 1e6, results


def judged(pages: Sequence[Page]) -> tuple[float, list[Verdict]]:
    judge = Keywords(list(WORDS))
    judge.prepare(Path(), lambda path: [])

    async def all_of_them() -> tuple[float, list[Verdict]]:
        started = time.process_time()
        verdicts = [await judge.judge(page) for page in pages]
        return (time.process_time() - started) / len(pages) * 1e6, verdicts

    asyncio.run(all_of_them())  # the first round fills the table of stems
    return asyncio.run(all_of_them())


def frontier_us(visits: Sequence[Visit], folder: Path) -> float:
    """Queue all links of each page, lease one URL, end the lease: with the database, without commits."""
    strategy, rules = BestFirst(), config.Fetch(delay_s=0, delay_factor=0, concurrency=64, focus=0.0)
    db = CrawlDb(folder / "frontier.db").open()
    settings = config.Config(fetch=rules)
    frontier = DurableFrontier(db, settings, Scope(config.Scope()), strategy, WallClock())

    async def turns() -> float:
        frontier.push([visit.reply.link for visit in visits[:50]], [1.0] * 50)
        started = time.process_time()
        for visit in visits:
            lease = await frontier.pop()
            assert lease
            link = lease.link
            frontier.push(visit.page.links, strategy.score(visit))
            frontier.done(Reply(link, url=link.url, status=200))
        db.commit()
        return (time.process_time() - started) / len(visits) * 1e6

    used = asyncio.run(turns())
    db.close()
    return used


def store_us(visits: Sequence[Visit], folder: Path) -> float:
    """The row of each visit in the database; the WARC is measured apart."""
    db = CrawlDb(folder / "visits.db").open()
    store = VisitStore(db, None)
    store.open()
    started = time.process_time()
    for visit in visits:
        store.write(visit)
    db.commit()
    used = time.process_time() - started
    store.close()
    db.close()
    return used / len(visits) * 1e6


def stages(count: int = PAGES) -> dict[str, float]:
    """Name of each stage and its microseconds a page."""
    found = replies(count)
    used: dict[str, float] = {}
    robots = Protego.parse(web(1000).robots(""))
    used["robots.txt"], _ = timed(lambda reply: robots.can_fetch(reply.url, "Lycosa"), found)
    used["gunzip"], _ = timed(lambda reply: decode(reply.exchanges[0].payload, "gzip", 5_000_000), found)
    used["digest"], digests = timed(lambda reply: content_digest(reply.body), found)
    parser = Parsers()
    used["parse"], pages = timed(parser.parse, found)
    used["judge"], verdicts = judged(pages)
    visits = [
        Visit(reply, page, verdict, digest=digest)
        for reply, page, verdict, digest in zip(found, pages, verdicts, digests, strict=True)
    ]
    with TemporaryDirectory() as name:
        folder = Path(name)
        used["frontier"] = frontier_us(visits, folder)
        warc = WarcWriter(folder / "warc")
        warc.open()
        used["WARC"], _ = timed(lambda visit: warc.write(visit.reply.exchanges), visits)
        warc.close()
        used["visit row"] = store_us(visits, folder)
    return used


if __name__ == "__main__":
    for name, used_us in stages().items():
        print(f"{name:12} {used_us:8,.0f} us/page")
