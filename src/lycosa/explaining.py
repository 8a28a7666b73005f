"""Why a URL has its score and what it waits for, explained by the strategy of its crawl."""

import time
from typing import Any, NamedTuple

from lycosa import build, config
from lycosa.output.waits import Waits, read_waits
from lycosa.output.why import Step, read_path, scored
from lycosa.store import orders
from lycosa.store.db import CrawlDb
from lycosa.types import Explains, Explanation


class Why(NamedTuple):
    """Everything known about why a URL was fetched or is still queued."""

    path: list[Step]  # from the seed to the URL
    explanation: Explanation | None


def explain(db: CrawlDb, settings: config.Config, source: config.Source, url: str) -> Why:
    """BadInput if the crawl does not know the URL."""
    path = read_path(db, url)
    return Why(path, _explained(db, settings, source, path))


def place_in_queue(db: CrawlDb, settings: config.Config, step: Step, most: int = 3) -> Waits | None:
    """What a queued URL waits for, with the best URLs ahead of it; None if it is not queued."""
    if step.is_done:
        return None
    refused = build.make_scope(settings, orders.exclusions(db)).refuses(step.url, step.depth)
    return read_waits(db, step.id, time.time(), refused, most)


def _explained(db: CrawlDb, settings: config.Config, source: config.Source, path: list[Step]) -> Explanation | None:
    """The strategy's explanation; the strategy is built from crawl.toml, unless `--strategy` chose another."""
    kind = db.get("strategy")
    kinds, step = build.strategies(), path[-1]
    if kind not in kinds or step.comes_first:
        return None
    strategy = remade(kind, settings, source)
    with kinds.blaming(kind, "explain"):
        return strategy.explain(scored(path), db) if isinstance(strategy, Explains) else None


def remade(kind: str, settings: config.Config, source: config.Source) -> Any:
    """A new instance of the crawl's strategy."""
    options = settings.strategy if settings.strategy.get("kind") == kind else {"kind": kind}
    return build.make("strategy", build.strategies(), options, source)
