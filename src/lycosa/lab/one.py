"""One crawl in the lab: the real engine on a recorded or generated web, with a simulated clock.

By default in strict order: one worker, no delays, the best link next. That is an upper bound. With the settings of a
real crawl (`FIELD`: delays, many workers, response times) it shows what a crawl of the live Web would find, by pages
and by hours. Either way, the same web, seeds, judge and strategy give exactly the same crawl. Judge and strategy learn
while they crawl, so each crawl needs new ones.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from lycosa import config
from lycosa.assembly import Assembly
from lycosa.errors import innermost, plugin_error
from lycosa.frontier.limits import Quota
from lycosa.frontier.scope import Scope
from lycosa.lab.clock import LabClock, run_in_lab
from lycosa.lab.recorded import start_urls
from lycosa.lab.replay import Fenced, ReplayFetcher, Web
from lycosa.loops import blocking
from lycosa.store.db import CrawlDb
from lycosa.store.visits import Totals
from lycosa.types import Judge, Link, Origin, Revised, Sink, Strategy, Visit

_PLENTY = 1_000_000_000

# A recorded web is finite: there are no traps to avoid, and no hosts to be polite to.
LAB = config.Config(
    scope=config.Scope(
        max_depth=0,
        max_hosts_per_domain=0,
        max_url_length=_PLENTY,
        max_repeats=_PLENTY,
        max_queries_per_path=_PLENTY,
    ),
    fetch=config.Fetch(delay_s=0.0, delay_factor=0.0, retries=0, concurrency=1, focus=0.0),
)
FIELD = replace(LAB, fetch=config.Fetch())  # the politeness, patience and workers of a crawl of the live Web
LATENCY_S = 0.2  # response time of a server on the live Web


def manner(field: bool, settings: config.Config = LAB) -> dict[str, Any]:
    """The arguments of `crawl_web` for a crawl in strict order, or in the field."""
    return (
        {"settings": replace(settings, fetch=FIELD.fetch), "latency_s": LATENCY_S} if field else {"settings": settings}
    )


class Fetch(Struct, frozen=True):
    """A summary of a visit: enough for every measure."""

    url: str  # as requested
    final_url: str  # where the redirects ended
    error: str
    is_page: bool  # does it count as a page?
    duplicate_of: str
    relevance: float
    on_topic: bool
    label: str
    score: float  # of the link, when it was fetched
    depth: int
    source: str
    at: float = 0.0  # seconds since the crawl began, when it was done


class LabCrawl(Struct, frozen=True):
    """The result of a crawl in the lab."""

    fetches: list[Fetch]  # every visit in order, failed ones included
    accessed: list[str]  # every requested URL, redirects included
    ended: str  # why it ended
    seconds: float = 0.0  # simulated time

    @property
    def hours(self) -> dict[str, float]:
        """As a row of figures; empty if no time passed."""
        return {"hours": round(self.seconds / 3600, 4)} if self.seconds else {}

    @property
    def pages(self) -> list[Fetch]:
        """The successful HTML pages, duplicates included, as the page limit counts them."""
        return [fetch for fetch in self.fetches if fetch.is_page]

    def order(self, page: Callable[[str], str]) -> list[str]:
        """The input of the measures: the pages in fetch order, by the names that `page` gives to URLs.

        For a recorded web that is `web.page`: all URLs of a page count as one.
        """
        return [page(fetch.final_url) for fetch in self.pages]


class Inside(Scope):
    """The scope of a crawl that must not leave the recording."""

    def __init__(self, rules: config.Scope, web: Fenced) -> None:
        super().__init__(rules)
        self.web = web

    def refuses(self, url: str, depth: int = 0) -> str:
        return super().refuses(url, depth) or ("" if self.web.holds(url) else "not-recorded")

    def refusals(self, links: Sequence[Link]) -> dict[str, str]:
        return {link.url: refusal for link in links if (refusal := self.refuses(link.url, link.depth))}


class Fetches:
    """A sink that keeps only what the measures need."""

    def __init__(self, now: Callable[[], float] = lambda: 0.0) -> None:
        self.all: list[Fetch] = []
        self._now = now
        self._started_at = now()

    def hear(self, revised: Revised) -> None:
        """The judge has changed its mind about some of them."""
        verdicts = dict(revised)
        for place, fetch in enumerate(self.all):
            if fetch.is_page and not fetch.duplicate_of and (verdict := verdicts.get(fetch.url)):
                now = replace(fetch, relevance=verdict.relevance, on_topic=verdict.on_topic, label=verdict.label)
                self.all[place] = now

    def write(self, visit: Visit) -> None:
        reply, verdict, link = visit.reply, visit.verdict, visit.reply.link
        self.all.append(
            Fetch(
                link.url,
                reply.url,
                reply.error,
                visit.is_page,
                visit.duplicate_of,
                verdict.relevance,
                verdict.on_topic,
                verdict.label,
                visit.score,
                link.depth,
                link.source,
                round(self._now() - self._started_at, 3),
            )
        )


class Bench:
    """The parts of one crawl in the lab: a simulated clock, a database in memory, a web in place of the network."""

    def __init__(
        self, web: Web, strategy: Strategy, settings: config.Config, pages: int, latency_s: float, robots: bool = False
    ) -> None:
        limits = replace(settings.limits, pages=pages)
        self.clock, self.db = LabClock(), CrawlDb(":memory:").open()
        self._started_at = self.clock.now()
        totals, self._fetches = Totals(), Fetches(self.clock.now)
        self.sinks: list[Sink] = [totals, self._fetches]
        scope = Inside(settings.scope, web) if isinstance(web, Fenced) else Scope(settings.scope)
        quota = Quota(limits, totals).begin(self._started_at)
        self.assembly = Assembly(self.db, replace(settings, limits=limits), scope, strategy, self.clock, quota)
        self.frontier, rules = self.assembly.frontier, self.db if robots else None
        self.fetcher = ReplayFetcher(web, settings.fetch, self.clock.now, self.frontier.refuses_hop, rules, latency_s)

    def crawled(self) -> LabCrawl:
        """The result, once the crawl has ended."""
        seconds = round(self.clock.now() - self._started_at, 3)
        return LabCrawl(self._fetches.all, self.fetcher.accessed, self.frontier.ended, seconds)


@blocking
def crawl_web(  # noqa: PLR0913
    web: Web,
    seeds: Iterable[str],
    judge: Judge,
    strategy: Strategy,
    pages: int,
    settings: config.Config = LAB,
    robots: bool = False,
    latency_s: float = 0.0,
    sinks: Sequence[Sink] = (),
) -> LabCrawl:
    """Crawl until `pages` HTML pages were fetched or nothing is left; robots.txt is obeyed only on request.

    `settings` determines the number of workers and their politeness; every reply takes `latency_s`; `sinks` receive
    every visit.
    """
    bench = Bench(web, strategy, settings, pages, latency_s, robots)
    try:
        crawl = bench.assembly.crawl(judge, bench.fetcher, [*bench.sinks, *sinks])
        run_in_lab(
            bench.clock,
            crawl.run([Link(url, origin=Origin.SEED) for url in start_urls(seeds)], settings.fetch.concurrency),
        )
    except Exception as error:
        if plugin := plugin_error(innermost(error), {"judge": judge, "strategy": strategy}):
            raise plugin from error
        raise
    finally:
        bench.db.close()
    return bench.crawled()
