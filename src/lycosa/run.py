"""One run of a crawl folder: open, crawl, commit periodically, close. However it ends, stored data remains."""

import asyncio
import dataclasses
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy.ma  # noqa: F401 - numpy imports it when a judge first needs it, and then there may be no descriptor left
from msgspec.structs import replace

from lycosa import config, recalling
from lycosa.build import Parts, build
from lycosa.crawl import Sharing
from lycosa.errors import PluginError, innermost
from lycosa.frontier.limits import Quota
from lycosa.frontier.status import Status, sentence_on
from lycosa.output.recent import Recent
from lycosa.process import on_signals
from lycosa.stamp import require_same
from lycosa.starting import Start
from lycosa.store import labels, orders, retry, visited
from lycosa.summary import summarise, write_summary
from lycosa.types import BadInput, Band, Clock, Fetcher, Link, Sink, Stateful

MakeFetcher = Callable[[Parts], Fetcher]
COMMIT_EVERY_S, SUMMARY_EVERY_S = 0.5, 1.0


class Run:
    """A running crawl folder. `watch` is called about once a second with the current summary."""

    def __init__(
        self,
        folder: Path,
        settings: config.Config,
        source: config.Source,
        clock: Clock,
        sinks: Sequence[Sink] = (),
        fetcher: MakeFetcher = lambda parts: parts.fetcher,
    ) -> None:
        """`sinks` receive each visit after the crawl's own; `fetcher` may wrap or replace the crawl's own fetcher."""
        self.folder = folder
        self.clock = clock
        self._written_in = source.path.parent
        self.parts = build(folder, settings, source, clock)
        self.start = Start(self.parts, self._written_in)
        self.stopped_by_user, self._relabelled = False, 0  # the latter: verdicts reversed by labels since the last run
        self.when_open: Callable[[], None] = lambda: None
        self._recent = Recent()
        self.engine = self.parts.crawl(fetcher(self.parts), [*self.parts.sinks, self._recent, *sinks])
        self._crawling: asyncio.Future[None] | None = None

    async def run(
        self, extra_seeds: list[str], watch: Callable[[dict[str, Any]], None], retry_failed: bool = False
    ) -> dict[str, Any]:
        """Start, or continue where the last run ended, until the crawl is over or a signal arrives; return the final
        summary."""
        self.open(extra_seeds, retry_failed)
        try:
            with on_signals(self.stop):
                return await self.crawl(watch)
        finally:
            self.close()

    def open(self, extra_seeds: Sequence[str] = (), retry_failed: bool = False) -> None:
        """Read the state of the crawl, without fetching anything yet."""
        parts = self.parts
        db = parts.db.open()
        try:
            for excluded in orders.exclusions(db):
                parts.frontier.scope.exclude(excluded.compiled())
            recalling.resume(parts.recall, db)
            self.start.read(extra_seeds)
            self._load(retry_failed)
            if not self.start.seeds and not parts.frontier.status().known:
                problem = "; ".join(self.skipped) or f"{self._written_in / config.NAME}: seeds: say where to start"
                raise BadInput(problem)
            self.when_open()
        except BaseException:
            self.close()
            raise

    async def crawl(self, watch: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
        """Crawl until the crawl is over or stopped; return the final summary."""
        parts = self.parts
        await parts.http.open()
        try:
            await self._work(watch)
        except PluginError:
            self._commit(force=True)  # raised between two turns, so the state is consistent
            raise
        except asyncio.CancelledError:
            self._commit(force=True)  # all turns are complete: keep what the caller has seen
            self.summary()
            raise
        finally:
            await parts.http.close()
        self._commit(force=True)
        summary = self.summary(self.start.outcome())
        watch(summary)
        return summary

    @property
    def skipped(self) -> list[str]:
        """Invalid seeds, and why."""
        return self.start.skipped

    def close(self) -> None:
        self.parts.store.close()
        self.parts.db.close()
        self.parts.outlets.close()

    def stop(self, why: str = "stopped by the user", by_user: bool = True) -> None:
        """End the run at once. URLs in flight are still queued in crawl.db, and the next run fetches them."""
        self.stopped_by_user = self.stopped_by_user or (by_user and not self.parts.frontier.ended)
        self.parts.frontier.stop(why)
        if self._crawling:
            self._crawling.cancel()

    def join(self, sharing: Sharing, quota: Quota, when_open: Callable[[], None]) -> None:
        """Make this run one shard of a crawl; `when_open` is called once its state has been read."""
        self.engine = dataclasses.replace(self.engine, sharing=sharing)
        self.when_open = when_open
        self.parts.limit(quota)

    def pause(self, paused: bool) -> None:
        """Stop starting new requests, or resume. Stored at once, for readers of crawl.db."""
        self.parts.frontier.pause(paused)
        self._commit(force=True)

    def add(self, found: Sequence[str]) -> dict[str, str]:
        """Queue more seeds, for this and later runs; return the outcome for each: added, known, or why not."""
        frontier, db = self.parts.frontier, self.parts.db
        known = {url for url in found if frontier.knows(Link(url))}
        refused = {url: why for url in found if (why := frontier.scope.refuses(url))}
        self.start.add([url for url in found if url not in refused])
        self.engine.seed(self.start.seeds)  # all of them: the score of a seed may depend on their number
        refused |= {url: "host-closed" for url in found if url not in refused and not frontier.knows(Link(url))}
        self.parts.recall.give_away(found)
        orders.add_seeds(db, [url for url in found if url not in refused])
        self._commit(force=True)
        return {url: refused.get(url) or ("known" if url in known else "added") for url in found}

    def exclude(self, what: orders.Exclusion) -> None:
        """Refuse URLs in this and later runs; those already queued are removed separately."""
        self.parts.frontier.scope.exclude(what.compiled())
        orders.add_exclusion(self.parts.db, what)
        self._commit(force=True)

    def prefer(self, numbers: Sequence[int], band: Band) -> int:
        """Move queued URLs to a band, for this and later runs; return their number."""
        moved = self.parts.frontier.changes.prefer(numbers, band)
        self._commit(force=True)
        return moved

    def retry(self, among: Sequence[str] | None, kind: str) -> int:
        """Queue failed URLs again that the scope still allows; return their number."""
        db, frontier = self.parts.db, self.parts.frontier
        failed = retry.chosen(db, among, kind, frontier.scope.refuses)
        retry.reopen(db, failed)
        queued = frontier.changes.requeue([one.url for one in failed])
        self._commit(force=True)
        return queued

    def label(self, given: Mapping[str, bool | None], chosen: str) -> int:
        """Store or remove labels, and judge all pages with them; return the number of reversed verdicts."""
        db = self.parts.db
        stored = labels.fetched_as(db, given)
        with db.turn():
            labels.put_labels(db, {stored[url]: on_topic for url, on_topic in given.items()}, chosen, self.clock.now())
            flipped = self._teach()
        self._commit(force=True)
        return flipped

    def relabel(self) -> int:
        """Judge all stored pages with the labels given since the last run, without crawling; return the number of
        reversed verdicts. The reason why the last run ended is kept."""
        self.open()
        try:
            self.parts.frontier.stop(self.parts.db.get("ended"))
            self._commit(force=True)
        finally:
            self.close()
        return self._relabelled

    def _teach(self) -> int:
        """Pass all labels to the judge, and notify everyone of the revised verdicts."""
        corrected = self.parts.corrected
        corrected.teach(labels.answers(self.parts.db))
        if revised := corrected.revised():
            self.engine.spread(revised)
        return corrected.flipped_

    def _load(self, retry_failed: bool) -> None:
        parts, db = self.parts, self.parts.db
        require_same(db, parts.judge, parts.config, self._written_in)
        self._started_at = self.clock.now()
        self._spent_s = float(db.get("spent_s", "0"))
        parts.totals.load(db)
        parts.store.open()
        parts.outlets.open(self.folder)
        self.engine.bodies.update(visited.first_bodies(db))
        self.start.reopen(retry_failed)
        parts.frontier.load()
        parts.outage.remember(visited.last_answered(db))
        parts.outage.when_nobody_answers(lambda why: self.stop(why, by_user=False))
        if parts.search:
            parts.search.load(db)
        parts.quota.begin(self._started_at, self._spent_s)
        for name, part in self._stateful():
            if state := db.get(f"state:{name}"):
                part.load(msgspec.json.decode(state))
        with db.turn():
            self._relabelled = self._teach()
        self._committed = -1
        parts.frontier.refused.update(msgspec.json.decode(db.get("refused", "{}"), type=dict[str, int]))
        db.before_commit.append(self._write_state)

    def _stateful(self) -> Iterator[tuple[str, Stateful]]:
        for name, part in (("judge", self.parts.judge), ("strategy", self.parts.strategy)):
            if isinstance(part, Stateful):
                yield name, part

    async def _work(self, watch: Callable[[dict[str, Any]], None]) -> None:
        limits = self.parts.config.limits
        crawling = asyncio.ensure_future(self.engine.run(self.start.seeds, self.parts.config.fetch.concurrency))
        self._crawling = crawling
        if (deadline := self.parts.quota.deadline) is not None:
            reason = f"limit of {limits.seconds:g} seconds"
            timer = self.clock.call_at(deadline, lambda: self.stop(reason, by_user=False))
            crawling.add_done_callback(lambda _: timer.cancel())
        jobs = [crawling, asyncio.ensure_future(self._keep(watch))]
        if self.parts.search:
            jobs.append(asyncio.ensure_future(self.parts.search.run()))
        try:
            await asyncio.wait(jobs, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for job in jobs:
                job.cancel()
            results = await asyncio.gather(*jobs, return_exceptions=True)
        for result in results:
            if isinstance(result, BaseException) and not isinstance(result, asyncio.CancelledError):
                raise innermost(result)

    async def _keep(self, watch: Callable[[dict[str, Any]], None]) -> None:
        """Commit and report periodically."""
        reported = 0.0
        while True:
            await asyncio.sleep(COMMIT_EVERY_S)
            self._commit()
            if time.monotonic() - reported >= SUMMARY_EVERY_S - 0.1:
                reported = time.monotonic()
                watch(self.summary())

    def commit(self) -> None:
        """Make all changes so far visible to readers of crawl.db."""
        self._commit(force=True)

    def _commit(self, force: bool = False) -> None:
        parts = self.parts
        if parts.frontier.turns == self._committed and not force:
            return
        self._committed = parts.frontier.turns
        parts.db.commit()

    def _write_state(self) -> None:
        """Called before every commit: what was learned from the visits is stored with them."""
        parts = self.parts
        for name, part in self._stateful():
            parts.db.put(f"state:{name}", msgspec.json.encode(part.save()).decode())
        recalling.save(parts.recall, parts.db)
        parts.db.put("spent_s", repr(self._seconds()))
        parts.db.put("ended", parts.frontier.ended)
        parts.db.put("refused", msgspec.json.encode(parts.frontier.refused).decode())
        parts.db.put("outlook", msgspec.json.encode(self._status()).decode())

    def _seconds(self) -> float:
        return self._spent_s + self.clock.now() - self._started_at

    def _status(self) -> Status:
        outage, status = self.parts.outage, self.parts.frontier.status()
        if outage.since is not None:
            since = "no_network_since" if outage.is_sure else "no_answer_since"
            status = replace(
                status, **{since: outage.since}, next_try=outage.next_try, last_failure=outage.last_failure
            )
        alarm = self.parts.recall.drift.alarm
        told = [sentence_on(status), alarm.short() if alarm and not status.ended else ""]
        return replace(status, status="; ".join(filter(None, told)))

    def summary(self, outcome: dict[str, Any] | None = None) -> dict[str, Any]:
        """The current totals, also written to summary.json."""
        parts = self.parts
        totals = summarise(parts.totals, self._status(), parts.config.limits, self._seconds())
        summary = {**totals, **parts.recall.summary(), **self._recent.summary(), **(outcome or {})}
        write_summary(self.folder, summary)
        return summary
