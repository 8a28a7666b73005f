"""Puts the parts of a crawl together: every crawl is made here, be it of the live Web, in the lab or of stored pages.

The frontier comes first, because fetchers, the search step and some sinks need it. A finished crawl cannot be changed:
whoever wants another fetcher or more sinks passes them in.
"""

from collections.abc import Callable, Sequence

from lycosa import config
from lycosa.crawl import Crawl
from lycosa.effects import Jobs
from lycosa.frontier.durable import DurableFrontier
from lycosa.frontier.limits import Quota
from lycosa.frontier.scope import Scope
from lycosa.parse import Parsers, content_digest
from lycosa.store.db import CrawlDb
from lycosa.types import Acts, Clock, CrawlParser, Fetcher, Judge, Sink, Strategy


class Assembly:
    """A frontier connected to its strategy, waiting for the other parts of the crawl."""

    def __init__(
        self,
        db: CrawlDb,
        settings: config.Config,
        scope: Scope,
        strategy: Strategy,
        clock: Clock,
        quota: Quota,
        at_once: bool = True,
    ) -> None:
        """`at_once`: slow work of the strategy is done within the turn, so that the crawl is exactly reproducible."""
        self._db = db
        self._strategy = strategy
        self._jobs = Jobs(at_once)
        self.frontier = make_frontier(db, settings, scope, strategy, clock, quota, self._jobs)

    def crawl(
        self,
        judge: Judge,
        fetcher: Fetcher,
        sinks: Sequence[Sink],
        parser: CrawlParser | None = None,
        digest: Callable[[bytes], str] = content_digest,
        more: Callable[[], bool] | None = None,
    ) -> Crawl:
        """The crawl, ready to run. Visits are written to the sinks in the given order; before the crawl ends because
        nothing is queued, `more` is called: whether more links are about to arrive."""
        if more:
            self.frontier.ask_for_more(more)
        stages = self.frontier, fetcher, parser or Parsers(), judge, self._strategy
        return Crawl(*stages, tuple(sinks), digest, self._db.turn, self._jobs)


def make_frontier(
    db: CrawlDb,
    settings: config.Config,
    scope: Scope,
    strategy: Strategy,
    clock: Clock,
    quota: Quota | None = None,
    jobs: Jobs | None = None,
) -> DurableFrontier:
    """A frontier connected to the strategy; `jobs` does the strategy's slow work."""
    frontier = DurableFrontier(db, settings, scope, strategy, clock, quota, (jobs or Jobs()).is_under_way)
    if isinstance(strategy, Acts):
        frontier.apply(strategy.connect(frontier.view))
    return frontier
