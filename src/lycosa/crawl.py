"""The loop: seeds -> frontier -> fetch -> parse -> judge -> strategy -> frontier."""

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import isfinite
from typing import Protocol

from msgspec.structs import replace

from lycosa.effects import Jobs
from lycosa.errors import PluginError, TooCostly, described
from lycosa.judging import Failed, Judging
from lycosa.types import (
    Acts,
    Band,
    CrawlParser,
    Deferred,
    Fetcher,
    Frontier,
    Hears,
    Judge,
    Learns,
    Lease,
    Link,
    Opens,
    Page,
    Reply,
    Revised,
    Revises,
    Sink,
    Strategy,
    Verdict,
    Visit,
)


class Sharing(Protocol):
    """The other shards of a crawl that is divided among several processes, each with its own hosts."""

    def divide(self, visit: Visit) -> Visit: ...  # without the links that other shards will score and queue
    async def first_url(self, digest: str, reply: Reply) -> str: ...  # where any shard saw this body first


_UNJUDGED = Verdict(0.5, on_topic=True)  # the verdict on a sitemap: what its pages are about is unknown


@dataclass(frozen=True)
class Crawl:
    """A crawl, ready to run; the only class that knows all stages."""

    frontier: Frontier
    fetcher: Fetcher
    parser: CrawlParser
    judge: Judge
    strategy: Strategy
    sinks: Sequence[Sink]
    digest: Callable[[bytes], str]
    turn: Callable[[], contextlib.AbstractContextManager[None]] = contextlib.nullcontext  # makes a turn atomic
    jobs: Jobs = field(default_factory=Jobs)
    bodies: dict[str, str] = field(default_factory=dict)  # from the digest of each body to the URL it was first seen at
    judging: Judging = field(default_factory=Judging)
    sharing: Sharing | None = None  # set if there are several shards

    # the optional capabilities are detected once: isinstance() is slow for protocols

    @cached_property
    def _learns(self) -> Learns | None:
        return self.judge if isinstance(self.judge, Learns) else None

    @cached_property
    def _revises(self) -> Revises | None:
        return self.judge if isinstance(self.judge, Revises) else None

    @cached_property
    def _acts(self) -> Acts | None:
        return self.strategy if isinstance(self.strategy, Acts) else None

    async def run(self, seeds: Sequence[Link], workers: int) -> None:
        """Run until the frontier is exhausted or a limit is reached."""
        self.seed(seeds)
        async with asyncio.TaskGroup() as group:
            for _ in range(workers):
                group.create_task(self._work())

    def seed(self, seeds: Sequence[Link]) -> None:
        """Queue seeds, at the start of the crawl or later."""
        with self.turn():
            if isinstance(self.strategy, Opens):
                worth = zip(seeds, self._checked(self.strategy.open(seeds), seeds), strict=True)
                self.frontier.push(seeds, [-1.0 if self.frontier.knows(seed) else score for seed, score in worth])
            else:
                self.frontier.push(seeds, [0.0] * len(seeds), Band.FIRST)

    async def _work(self) -> None:
        while lease := await self.frontier.pop():
            self.take(await self.visit(lease))

    async def visit(self, lease: Lease) -> Visit | Deferred:
        """Fetch, parse and judge one link, without learning or storing anything yet."""
        reply = await self.fetcher.fetch(lease)
        if isinstance(reply, Deferred):
            return reply
        visit = Visit(reply, score=self.frontier.score(lease.link, [exchange.url for exchange in reply.exchanges]))
        return visit if reply.error else await self._read(visit, reply, lease.link.url)

    async def _read(self, visit: Visit, reply: Reply, url: str) -> Visit:
        digest = self.digest(reply.body)
        if self.bodies.get(digest, url) != url:
            return replace(visit, digest=digest, duplicate_of=self.bodies[digest])
        try:
            parsed = self.parser.parse(reply)
            page = parsed if isinstance(parsed, Page) else await parsed
        except Exception as error:  # the only broad except: a page may break a parser, but not the crawl
            return _failed(visit, "parse-budget" if isinstance(error, TooCostly) else "parse", described(error))
        if (first := self.bodies.setdefault(digest, url)) != url:  # after parsing: never a duplicate of a failure
            return replace(visit, digest=digest, duplicate_of=first)
        if self.sharing and (first := await self.sharing.first_url(digest, reply)) != url:
            self.bodies[digest] = first
            return replace(visit, digest=digest, duplicate_of=first)
        if page.listed:
            return replace(visit, page=page)
        try:
            return replace(visit, page=page, verdict=await self.judging.verdict(self.judge, page), digest=digest)
        except Failed as error:
            del self.bodies[digest]
            return _failed(visit, "judge", str(error))

    def take(self, visit: Visit | Deferred) -> None:
        """One turn: apply all changes caused by a visit, committed together or not at all."""
        with self.turn():
            if isinstance(visit, Deferred):
                self.frontier.done(visit)
                return
            if self._learns:
                self._learns.learn(visit)
            self.strategy.learn(visit)
            links, scores = self._scored(visit)
            self.frontier.push(links, scores)
            for sink in self.sinks:
                sink.write(visit)
            if self._revises and (revised := self._revises.revised()):
                self.spread(revised)
            if self._acts:
                self.jobs.apply(self._acts, self.frontier)
            self.frontier.done(visit.reply)

    def spread(self, revised: Revised) -> None:
        """The judge has revised verdicts: notify the store first, then the other listeners."""
        for part in (*self.sinks, self.strategy):
            if isinstance(part, Hears):
                part.hear(revised)

    def _scored(self, visit: Visit) -> tuple[Sequence[Link], Sequence[float]]:
        """The links of the page and their scores. URLs in a sitemap are treated as the links of a page without a
        verdict."""
        page = visit.page
        if page.listed:
            visit = replace(visit, page=replace(page, links=page.listed), verdict=_UNJUDGED)
        if self.sharing:
            visit = self.sharing.divide(visit)
        links = visit.page.links
        return links, self._checked(self.strategy.score(visit), links)

    def _checked(self, scores: Sequence[float], links: Sequence[Link]) -> Sequence[float]:
        """One finite number for each link: anything else is a bug in the strategy, and would only show elsewhere."""
        try:
            if len(scores) == len(links) and isfinite(sum(scores)):
                return scores
            is_short = len(scores) != len(links)
            problem = f"{len(scores)} scores for {len(links)} links" if is_short else "scores that are not finite"
        except TypeError:
            problem = f"scores that are not numbers: {scores!r:.80}"
        raise PluginError("strategy", type(self.strategy).__module__, problem)


def _failed(visit: Visit, error: str, detail: str) -> Visit:
    return replace(visit, reply=replace(visit.reply, error=error, detail=detail))
