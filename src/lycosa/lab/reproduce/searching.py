"""One crawl in the lab with the search step: the engine is queried when the frontier runs out of targets."""

import asyncio
from collections.abc import Sequence

from lycosa import config
from lycosa.crawl import Crawl
from lycosa.lab.clock import run_in_lab
from lycosa.lab.one import Bench, LabCrawl
from lycosa.lab.replay import ReplayFetcher, Web
from lycosa.seeds.engines import Engine, Search
from lycosa.seeds.ledger import Ledger
from lycosa.seeds.search import SearchStep
from lycosa.strategy.publications import Publications
from lycosa.types import Deferred, Lease, Link, Origin, Page, Reply, Targets, Verdict

SEARCH = Search(engine="local", delay_s=0.0, per_day=0)


class NoJudge:
    """A judge that does nothing: only the URL counts here."""

    async def judge(self, page: Page) -> Verdict:
        return Verdict()


class Waiting:
    """A fetcher that yields to other tasks before each fetch, as the network does: otherwise no search could run."""

    def __init__(self, inner: ReplayFetcher) -> None:
        self.inner = inner

    async def fetch(self, lease: Lease) -> Reply | Deferred:
        await asyncio.sleep(0)
        return await self.inner.fetch(lease)


class Searched(LabCrawl, frozen=True):
    """A crawl, and the number of queries."""

    steps: int = 0
    hits: int = 0  # searches that found a new target
    queries: int = 0


def crawl_and_search(
    web: Web,
    seeds: Sequence[str],
    strategy: Publications,
    settings: config.Config,
    engine: Engine,
    pages: int,
    latency_s: float = 0.0,
) -> Searched:
    """Crawl until this many pages were fetched, or neither links nor searches find more."""
    bench = Bench(web, strategy, settings, pages, latency_s)
    frontier = bench.frontier
    try:
        ledger = Ledger(engine, bench.db, SEARCH, bench.clock)
        site = settings.scope.domains[0] if settings.scope.domains else ""
        known = strategy if isinstance(strategy, Targets) else None
        step = SearchStep(SEARCH, ledger, frontier.bring, frontier.waiting, frontier.refuses_hop, known, site)
        crawl = bench.assembly.crawl(NoJudge(), Waiting(bench.fetcher), [*bench.sinks, step], more=step.more)
        links = [Link(url, origin=Origin.SEED) for url in seeds]
        run_in_lab(bench.clock, _both(crawl, step, links, settings.fetch.concurrency))
    finally:
        bench.db.close()
    found = bench.crawled()
    counts = step.steps, step.hits, ledger.account.asked
    return Searched(found.fetches, found.accessed, found.ended, found.seconds, *counts)


async def _both(crawl: Crawl, step: SearchStep, seeds: Sequence[Link], workers: int) -> None:
    """Run the search step concurrently with the crawl until it ends."""
    searching = asyncio.ensure_future(step.run())
    crawling = asyncio.ensure_future(crawl.run(seeds, workers))
    try:
        await asyncio.wait([crawling, searching], return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in (crawling, searching):
            task.cancel()
        results = await asyncio.gather(crawling, searching, return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException) and not isinstance(result, asyncio.CancelledError):
            raise result
