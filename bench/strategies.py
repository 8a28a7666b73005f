"""What a link costs each strategy with a million known URLs: scoring, learning, the frontier and its database, all in.

python bench/strategies.py [--known 1000000] [--pages 300]
"""

import asyncio
import time
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from measure import WORDS, web

from lycosa.build import make_frontier, make_revision
from lycosa.clock import WallClock
from lycosa.config import Config, Fetch, Scope
from lycosa.crawl import Crawl
from lycosa.db import CrawlDb
from lycosa.frontier import scope
from lycosa.judge.keywords import Keywords
from lycosa.parse import HtmlParser, content_digest
from lycosa.strategy import STRATEGIES
from lycosa.types import Link, Reply, Visit

LEFT_OUT = {"rules": "needs a taxonomy and mined rules; one number a page", "tids": "needs a tids topic"}


def pages(count: int) -> list[Visit]:
    """Real-looking pages, parsed and judged before the clock starts."""
    site, parser = web(20_000_000), HtmlParser()
    judge = Keywords(words=WORDS)
    judge.prepare(Path(), lambda path: ())
    found: list[Visit] = []
    wanted = site.seeds(80, 50)
    for url in wanted:
        reply = Reply(
            Link(url, "http://seed/"), url=url, status=200, content_type="text/html", body=site.page(url).body
        )
        page = parser.parse(reply)
        wanted += [link.url for link in page.links[:8]] if len(wanted) < count else []
        found.append(Visit(reply, page, asyncio.run(judge.judge(page)), score=0.5, digest=content_digest(reply.body)))
        if len(found) == count:
            break
    return found


def known_links(count: int) -> Iterator[list[Link]]:
    """As many URLs as a crawl of that size knows, in pushes of seventy."""
    chance = Random(1)
    for start in range(0, count, 70):
        yield [
            Link(f"http://127.0.0.{2 + chance.randrange(50)}:80/articles/some-page-{number}.html", "", "an anchor", 3)
            for number in range(start, start + 70)
        ]


def measure(kind: str, visits: list[Visit], known: int, work: Path) -> float:
    """Microseconds of CPU for each link of the pages."""
    settings = Config(fetch=Fetch(delay_s=0.0), scope=Scope())
    judge = Keywords(words=WORDS)
    judge.prepare(work, lambda path: ())
    strategy: Any = STRATEGIES[kind]()
    if hasattr(strategy, "prepare"):
        strategy.prepare(work, judge)
    db = CrawlDb(work / f"{kind}.db").open()
    frontier = make_frontier(db, settings, scope.Scope(settings.scope), strategy, WallClock())
    chance = Random(2)
    for links in known_links(known):
        frontier.push(links, [chance.random()] * len(links))
    db.commit()
    crawl = Crawl(frontier, None, None, judge, strategy, make_revision(strategy, frontier, at_once=False), str)  # type: ignore[arg-type]
    return asyncio.run(_measure(crawl, visits, db))


async def _measure(crawl: Crawl, visits: list[Visit], db: CrawlDb) -> float:
    for visit in visits:  # their own URLs must be known before they are visited
        crawl.frontier.push([visit.reply.link], [0.5])
    used = links = 0.0
    for number, visit in enumerate(visits):
        started = time.process_time()
        crawl.strategy.learn(visit)
        crawl.frontier.push(visit.page.links, crawl.strategy.score(visit))
        for sink in crawl.sinks:
            sink.write(visit)
        if number % 50 == 49:
            db.commit()
        used += time.process_time() - started
        links += len(visit.page.links)
    db.close()
    return used / links * 1e6


def main() -> None:
    parser = ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--known", type=int, default=1_000_000)
    parser.add_argument("--pages", type=int, default=300)
    given = parser.parse_args()
    visits = pages(given.pages)
    print(f"us CPU a link at {given.known:,} known URLs, {given.pages} pages, topic keywords")
    for kind in STRATEGIES:
        if kind in LEFT_OUT:
            print(f"  {kind:15} left out: {LEFT_OUT[kind]}")
            continue
        with TemporaryDirectory() as name:
            print(f"  {kind:15} {measure(kind, visits, given.known, Path(name)):6.1f}", flush=True)


if __name__ == "__main__":
    main()
