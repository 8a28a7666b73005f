"""One run of a crawl folder: open, crawl, commit periodically, close. However it ends, stored data remains."""

import asyncio
import contextlib
import dataclasses
import fcntl
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import msgspec
import numpy.ma  # noqa: F401 - numpy imports it when a judge first needs it, and then there may be no descriptor left
from msgspec.structs import replace

from lycosa import config, recalling
from lycosa.build import Parts, build
from lycosa.crawl import Sharing
from lycosa.errors import PluginError, innermost
from lycosa.frontier.limits import Quota
from lycosa.frontier.status import Outlook, status_of
from lycosa.outcomes import may_pass
from lycosa.output.recent import Recent
from lycosa.process import on_signals
from lycosa.seeds.file import read_seeds
from lycosa.stamp import make_stamp, what_changed
from lycosa.store import labels, orders, retry, visited
from lycosa.summary import summarise, write_summary
from lycosa.types import BadInput, Band, Clock, Fetcher, Link, Origin, Sink, Stateful

MakeFetcher = Callable[[Parts], Fetcher]
AWAY = "crawl.away"  # a file that says: the state of the crawl is in the store of a cluster
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
        self.written_in, self.clock = source.path.parent, clock  # the folder of crawl.toml: names are relative to it
        self.parts = build(folder, settings, source, clock)
        self.skipped: list[str] = []  # invalid seeds, and why
        self.stopped_by_user, self._relabelled = False, 0  # the latter: verdicts reversed by labels since the last run
        self.when_open: Callable[[], None] = lambda: None
        self._recent = Recent()
        self.engine = self.parts.crawl(fetcher(self.parts), [*self.parts.sinks, self._recent, *sinks])
        self._retried: list[retry.Failure] = []
        self._seeds: list[Link] = []
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
        self._retries = retry_failed
        parts = self.parts
        db = parts.db.open()
        try:
            for excluded in orders.exclusions(db):
                parts.frontier.scope.exclude(excluded.compiled())
            recalling.resume(parts.recall, db)
            self._seeds = self._read_seeds(extra_seeds)
            self._load([seed.url for seed in self._seeds], retry_failed)
            if not self._seeds and not parts.frontier.outlook().known:
                raise BadInput("; ".join(self.skipped) or f"{self.written_in / config.NAME}: seeds: say where to start")
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
        summary = self.summary(self._outcome())
        watch(summary)
        return summary

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
        before = {seed.url for seed in self._seeds}
        self._seeds += [
            Link(url, origin=Origin.SEED) for url in dict.fromkeys(found) if url not in refused and url not in before
        ]
        self.engine.seed(self._seeds)  # all of them: the score of a seed may depend on their number
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

    def _read_seeds(self, extra: Sequence[str]) -> list[Link]:
        good, self.skipped = read_seeds(self.parts.config.seeds, self.written_in)
        more, wrong = read_seeds([*extra], self.written_in)
        self.skipped += wrong
        added, recall = [*more, *orders.added_seeds(self.parts.db)], self.parts.recall
        recall.give_away(added)
        self.skipped += recall.notes()
        seeds = []
        for url in dict.fromkeys([*(url for url in good if url not in recall.held_out), *added]):
            if refusal := self.parts.frontier.scope.refuses(url):
                self.skipped.append(f"{url}: {refusal}, skipped")
            else:
                seeds.append(Link(url, origin=Origin.SEED))
        return seeds

    def _load(self, seeds: list[str], retry_failed: bool) -> None:
        parts, db = self.parts, self.parts.db
        self._check_same_topic()
        self._started_at = self.clock.now()
        self._spent_s = float(db.get("spent_s", "0"))
        parts.totals.load(db)
        parts.store.open()
        parts.outlets.open(self.folder)
        self.engine.bodies.update(visited.first_bodies(db))
        self._reopen(seeds, retry_failed)
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

    def _reopen(self, seeds: list[str], retry_failed: bool) -> None:
        """Retry failed seeds, and on request all URLs that failed for a reason that may be temporary.

        As long as there are no pages, every failed seed is retried: the user may have changed anything.
        """
        db, nothing_yet = self.parts.db, not self.parts.totals.pages
        chosen = [one for one in retry.failures(db, seeds) if nothing_yet or self._may_pass(one.error)]
        if retry_failed:
            self._retried = [one for one in retry.failures(db) if self._may_pass(one.error)]
            retry.open_hosts(db)
        retry.reopen(db, chosen + self._retried)
        retry.open_hosts(db, retry.unknown(db, seeds))

    def _may_pass(self, error: str) -> bool:
        if error == "private-address":
            return self.parts.config.fetch.allow_private
        return may_pass(error)

    def _outcome(self) -> dict[str, Any]:
        """What the final summary contains besides the totals: failed seeds, and what another run may retry."""
        # a redirect to a known URL is not a failure: it leads to a page that was fetched from another URL
        seeds = [seed.url for seed in self._seeds]
        failed = {one.url: one for one in retry.failures(self.parts.db) if one.error != "redirect-known"}
        found: dict[str, Any] = {
            "seeds": len(seeds),
            "failed_seeds": [
                {"url": url, "error": failed[url].error, "detail": failed[url].detail} for url in seeds if url in failed
            ],
            "unreachable": self.parts.frontier.unreachable(),
            "may_pass": sum(self._may_pass(one.error) for one in failed.values()),
        }
        if self._retries:
            waiting = retry.waiting(self.parts.db, [one.url for one in self._retried])
            again = sum(one.url in failed for one in self._retried)
            found["retried"] = {"urls": len(self._retried), "failed": again, "waiting": waiting}
        return found

    def _check_same_topic(self) -> None:
        """Verdicts of different topics cannot be compared, nor can scores of different strategies: a crawl keeps those
        it began with."""
        db, settings = self.parts.db, self.parts.config
        kind, problem = str(settings.strategy["kind"]), ""
        before = db.get("strategy", kind)
        now = make_stamp(self.parts.judge, str(settings.topic["kind"]), self.written_in)
        if before != kind:
            problem = f"this crawl began with strategy {before}; make a new folder for {kind}"
        elif changes := what_changed(db, self.parts.judge, now):
            said = "; ".join(changes)
            problem = f"the topic has changed since its pages were judged ({said}); make a new folder"
        if problem:
            raise BadInput(f"{self.written_in}: {problem}{self._remedy()}")
        db.put("strategy", kind)

    def _remedy(self) -> str:
        settings = self.parts.config
        if not settings.store.warc:
            return ""
        with contextlib.suppress(BadInput):
            written = config.load(self.written_in)[0]
            if (written.topic, written.strategy) != (settings.topic, settings.strategy):
                return (
                    f", or write it to {config.NAME} and judge the stored pages again: lycosa rejudge {self.written_in}"
                )
        return f", or judge the stored pages again: lycosa rejudge {self.written_in}"

    def _stateful(self) -> Iterator[tuple[str, Stateful]]:
        for name, part in (("judge", self.parts.judge), ("strategy", self.parts.strategy)):
            if isinstance(part, Stateful):
                yield name, part

    async def _work(self, watch: Callable[[dict[str, Any]], None]) -> None:
        limits = self.parts.config.limits
        crawling = asyncio.ensure_future(self.engine.run(self._seeds, self.parts.config.fetch.concurrency))
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
        parts.db.put("outlook", msgspec.json.encode(self._outlook()).decode())

    def _seconds(self) -> float:
        return self._spent_s + self.clock.now() - self._started_at

    def _outlook(self) -> Outlook:
        outage, outlook = self.parts.outage, self.parts.frontier.outlook()
        if outage.since is not None:
            since = "no_network_since" if outage.is_sure else "no_answer_since"
            outlook = replace(
                outlook, **{since: outage.since}, next_try=outage.next_try, last_failure=outage.last_failure
            )
        alarm = self.parts.recall.drift.alarm
        told = [status_of(outlook), alarm.short() if alarm and not outlook.ended else ""]
        return replace(outlook, status="; ".join(filter(None, told)))

    def summary(self, outcome: dict[str, Any] | None = None) -> dict[str, Any]:
        """The current totals, also written to summary.json."""
        parts = self.parts
        totals = summarise(parts.totals, self._outlook(), parts.config.limits, self._seconds())
        summary = {**totals, **parts.recall.summary(), **self._recent.summary(), **(outcome or {})}
        write_summary(self.folder, summary)
        return summary


@contextlib.contextmanager
def lock(folder: Path, may_be_away: bool = False) -> Iterator[IO[bytes]]:
    """One process per folder: two would contact each host twice as often. `may_be_away`: its state may be elsewhere."""
    try:
        file = (folder / "crawl.lock").open("ab")
    except OSError as error:
        raise BadInput(f"{folder}: cannot be written: {error.strerror}") from None
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise BadInput(f"{folder}: another lycosa is at work in this folder") from None
        if (folder / AWAY).exists() and not may_be_away:
            raise BadInput(f"{folder}: interrupted on a cluster; fetch its state with: lycosa crawl {folder}")
        yield file
