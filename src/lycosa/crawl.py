"""The loop: seeds -> frontier -> fetch -> parse -> judge -> strategy -> frontier."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from msgspec.structs import replace

from lycosa.errors import described
from lycosa.judging import Failed, Judging
from lycosa.types import (
    SEED_SCORE,
    CrawlParser,
    Fetcher,
    Frontier,
    Judge,
    Learns,
    Link,
    Opens,
    Page,
    Sink,
    Strategy,
    TooCostly,
    Visit,
)


@dataclass
class Crawl:
    """One crawl, ready to run; the only place that knows all stages."""

    frontier: Frontier
    fetcher: Fetcher
    parser: CrawlParser
    judge: Judge
    strategy: Strategy
    sinks: Sequence[Sink]
    digest: Callable[[bytes], str]
    bodies: dict[str, str] = field(default_factory=dict)  # digest of each body to the URL that brought it first
    judging: Judging = field(default_factory=Judging)

    async def run(self, seeds: Sequence[Link], workers: int) -> None:
        """Until the frontier says that it is over."""
        self.seed(seeds)
        async with asyncio.TaskGroup() as group:
            for _ in range(workers):
                group.create_task(self._work())

    def seed(self, seeds: Sequence[Link]) -> None:
        """Queue URLs that somebody chose to start from, at the start or later."""
        self.frontier.push(seeds, self._worth(seeds))

    def _worth(self, seeds: Sequence[Link]) -> Sequence[float]:
        if isinstance(self.strategy, Opens):
            worth = self.strategy.open(seeds)
            return [-1.0 if self.frontier.knows(seed) else score for seed, score in zip(seeds, worth, strict=True)]
        return [SEED_SCORE] * len(seeds)

    async def _work(self) -> None:
        while link := await self.frontier.pop():
            self.take(await self.visit(link))

    async def visit(self, link: Link) -> Visit:
        """Fetch, parse and judge one link."""
        reply = await self.fetcher.fetch(link)
        visit = Visit(reply, score=self.frontier.score(link))
        if reply.error or reply.again:
            return visit
        digest = self.digest(reply.body)
        if self.bodies.get(digest, link.url) != link.url:
            return replace(visit, digest=digest, duplicate_of=self.bodies[digest])
        try:
            parsed = self.parser.parse(reply)
            page = parsed if isinstance(parsed, Page) else await parsed
        except Exception as error:  # the only broad except: a page may break a parser, not a crawl
            return _failed(visit, "parse-budget" if isinstance(error, TooCostly) else "parse", described(error))
        if (first := self.bodies.setdefault(digest, link.url)) != link.url:  # after parsing: no twin of a failure
            return replace(visit, digest=digest, duplicate_of=first)
        if page.seeds:
            return replace(visit, page=page)
        try:
            return replace(visit, page=page, verdict=await self.judging.verdict(self.judge, page), digest=digest)
        except Failed as error:
            del self.bodies[digest]
            return _failed(visit, "judge", str(error))

    def take(self, visit: Visit) -> None:
        """Let all learn from a visit. Nothing waits in here: a commit never falls between these lines."""
        if not visit.reply.again:
            if isinstance(self.judge, Learns):
                self.judge.learn(visit)
            self.strategy.learn(visit)
            self.frontier.push(visit.page.links, self.strategy.score(visit))
            self.frontier.push(visit.page.seeds, [1.0] * len(visit.page.seeds))
            for sink in self.sinks:
                sink.write(visit)
        self.frontier.done(visit.reply)


def _failed(visit: Visit, error: str, detail: str) -> Visit:
    return replace(visit, reply=replace(visit.reply, error=error, detail=detail))
