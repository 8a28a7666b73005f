"""One run of a crawl folder: open, crawl, commit as it goes, close. What was stored stays stored, however it ends."""

import asyncio
import contextlib
import fcntl
import os
import resource
import signal
import sqlite3
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any

import msgspec

from lycosa import config
from lycosa.build import Parts, build
from lycosa.clock import WallClock
from lycosa.fetch.retries import is_passing
from lycosa.frontier.limits import Quota
from lycosa.loops import blocking
from lycosa.output.recent import Recent
from lycosa.seeds.file import read_seeds
from lycosa.stamp import make_stamp, what_changed
from lycosa.store import retry
from lycosa.types import BadInput, Clock, Link, Stateful

COMMIT_EVERY_S = 0.5
_FIRST_BODIES = "SELECT digest, url FROM visits WHERE digest != '' AND duplicate_of = ''"
SUMMARY_EVERY_S = 1.0
_MAY_PASS = frozenset({"robots-unreachable", "host-closed", "tls", "http-408"})  # beside what is tried again at once


class Run:
    """A crawl folder at work. `watch` is called about once a second with the summary so far."""

    signals: tuple[signal.Signals, ...] = (signal.SIGINT, signal.SIGTERM)  # that stop the crawl while it runs

    def __init__(self, folder: Path, settings: config.Config, source: config.Source, clock: Clock) -> None:
        self.folder = folder
        self.clock = clock
        self.parts: Parts = build(folder, settings, source, clock)
        self.skipped: list[str] = []  # seeds that are no URLs
        self.stopped_by_user = False
        self._recent = Recent()
        self.parts.crawl.sinks = [*self.parts.crawl.sinks, self._recent]
        self._retried: list[retry.Failure] = []

    async def run(
        self, extra_seeds: list[str], watch: Callable[[dict[str, Any]], None], retry_failed: bool = False
    ) -> dict[str, Any]:
        """Start, or go on where the last run ended; the summary at the end."""
        seeds = self._seeds(extra_seeds)
        self._open([seed.url for seed in seeds], retry_failed)
        parts = self.parts
        try:
            if not seeds and not parts.frontier.outlook().known:
                raise BadInput("; ".join(self.skipped) or f"{self.folder / config.NAME}: seeds: say where to start")
            await parts.http.open()
            try:
                await self._crawl(seeds, watch)
            except asyncio.CancelledError:
                self._commit(force=True)  # all turns are whole: what the caller has seen stays
                self._summarise()
                raise
            finally:
                await parts.http.close()
            self._commit(force=True)
            summary = self._summarise(self._outcome([seed.url for seed in seeds], retry_failed))
            watch(summary)
        finally:
            parts.store.close()
            parts.db.close()
            parts.outlets.close()
        return summary

    def _seeds(self, extra: list[str]) -> list[Link]:
        good, self.skipped = read_seeds(self.parts.config.seeds, self.folder)
        more, wrong = read_seeds(extra, self.folder)
        self.skipped += wrong
        seeds = []
        for url in dict.fromkeys(good + more):
            if refusal := self.parts.frontier.scope.refuses(url):
                self.skipped.append(f"{url}: {refusal}, skipped")
            else:
                seeds.append(Link(url))
        return seeds

    def _open(self, seeds: list[str], retry_failed: bool) -> None:
        parts = self.parts
        db = parts.db.open()
        self._check_same_topic()
        self._started_at = self.clock.now()
        self._spent_s = float(db.get("spent_s", "0"))
        parts.totals.load(db)
        parts.store.open()
        parts.outlets.open(self.folder)
        parts.crawl.bodies.update(db.execute(_FIRST_BODIES))
        self._reopen(seeds, retry_failed)
        parts.frontier.load()
        if parts.search:
            parts.search.load(db)
        parts.frontier.quota = Quota(parts.config.limits, parts.totals, self._spent_s, self._started_at)
        for name, part in self._stateful():
            if state := db.get(f"state:{name}"):
                part.load(msgspec.json.decode(state))
        self._committed = -1
        parts.frontier.refused.update(msgspec.json.decode(db.get("refused", "{}"), type=dict[str, int]))
        db.before_commit.append(self._write_state)

    def _reopen(self, seeds: list[str], retry_failed: bool) -> None:
        """Try failed seeds again, and on request everything that failed for a reason that may have passed.

        As long as there are no pages every failed seed is worth another try: the user may have changed anything.
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
        return is_passing(error) or error in _MAY_PASS

    def _outcome(self, seeds: list[str], retry_failed: bool) -> dict[str, Any]:
        """What the last summary tells beside the totals: failed seeds, and what another run may retry."""
        # a redirect to what is known has not failed: it leads to a page that another URL brought
        failed = {one.url: one for one in retry.failures(self.parts.db) if one.error != "redirect-known"}
        found: dict[str, Any] = {
            "seeds": len(seeds),
            "failed_seeds": [
                {"url": url, "error": failed[url].error, "detail": failed[url].detail} for url in seeds if url in failed
            ],
            "may_pass": sum(self._may_pass(one.error) for one in failed.values()),
        }
        if retry_failed:
            waiting = retry.waiting(self.parts.db, [one.url for one in self._retried])
            again = sum(one.url in failed for one in self._retried)
            found["retried"] = {"urls": len(self._retried), "failed": again, "waiting": waiting}
        return found

    def _check_same_topic(self) -> None:
        """Neither verdicts of two topics nor scores of two strategies compare: a crawl keeps those it began with."""
        db, settings = self.parts.db, self.parts.config
        kind, problem = str(settings.strategy["kind"]), ""
        before = db.get("strategy", kind)
        now = make_stamp(self.parts.judge, str(settings.topic["kind"]), self.folder)
        if before != kind:
            problem = f"this crawl began with strategy {before}; make a new folder for {kind}"
        elif changes := what_changed(db, self.parts.judge, now):
            said = "; ".join(changes)
            problem = f"the topic has changed since its pages were judged ({said}); make a new folder"
        if problem:
            db.close()
            raise BadInput(f"{self.folder}: {problem}{self._remedy()}")
        db.put("strategy", kind)

    def _remedy(self) -> str:
        settings = self.parts.config
        if not settings.store.warc:
            return ""
        with contextlib.suppress(BadInput):
            written = config.load(self.folder)[0]
            if (written.topic, written.strategy) != (settings.topic, settings.strategy):
                return f", or write it to {config.NAME} and judge the stored pages again: lycosa rejudge {self.folder}"
        return f", or judge the stored pages again: lycosa rejudge {self.folder}"

    def _stateful(self) -> Iterator[tuple[str, Stateful]]:
        for name, part in (("judge", self.parts.judge), ("strategy", self.parts.strategy)):
            if isinstance(part, Stateful):
                yield name, part

    async def _crawl(self, seeds: list[Link], watch: Callable[[dict[str, Any]], None]) -> None:
        frontier = self.parts.frontier

        def stop(why: str) -> None:
            frontier.stop(why)
            crawling.cancel()  # what is in flight still waits in crawl.db: the next run fetches it

        def stopped_by_user() -> None:
            self.stopped_by_user = True
            stop("stopped by the user")

        crawling = asyncio.ensure_future(self.parts.crawl.run(seeds, self.parts.config.fetch.concurrency))
        if frontier.quota and (deadline := frontier.quota.deadline) is not None:
            reason = f"limit of {self.parts.config.limits.seconds:g} seconds"
            timer = self.clock.call_at(deadline, lambda: stop(reason))
            crawling.add_done_callback(lambda _: timer.cancel())
        jobs = [crawling, asyncio.ensure_future(self._keep(watch))]
        if self.parts.search:
            jobs.append(asyncio.ensure_future(self.parts.search.run()))
        try:
            with _handling(self.signals, stopped_by_user):
                await asyncio.wait(jobs, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for job in jobs:
                job.cancel()
            results = await asyncio.gather(*jobs, return_exceptions=True)
        for result in results:
            if isinstance(result, BaseException) and not isinstance(result, asyncio.CancelledError):
                raise _first(result)

    async def _keep(self, watch: Callable[[dict[str, Any]], None]) -> None:
        """Commit and report as the crawl goes."""
        reported = 0.0
        while True:
            await asyncio.sleep(COMMIT_EVERY_S)
            self._commit()
            if time.monotonic() - reported >= SUMMARY_EVERY_S - 0.1:
                reported = time.monotonic()
                watch(self._summarise())

    def _commit(self, force: bool = False) -> None:
        parts = self.parts
        if parts.frontier.turns == self._committed and not force:
            return
        self._committed = parts.frontier.turns
        parts.db.commit()

    def _write_state(self) -> None:
        """Whoever commits: what was learned from the visits belongs to them."""
        parts = self.parts
        for name, part in self._stateful():
            parts.db.put(f"state:{name}", msgspec.json.encode(part.save()).decode())
        parts.db.put("spent_s", repr(self._seconds()))
        parts.db.put("ended", parts.frontier.ended)
        parts.db.put("refused", msgspec.json.encode(parts.frontier.refused).decode())
        parts.db.put("outlook", msgspec.json.encode(parts.frontier.outlook()).decode())

    def _seconds(self) -> float:
        return self._spent_s + self.clock.now() - self._started_at

    def _summarise(self, outcome: dict[str, Any] | None = None) -> dict[str, Any]:
        """Totals as they are now, also written to summary.json."""
        totals, outlook = self.parts.totals, self.parts.frontier.outlook()
        usage = resource.getrusage(resource.RUSAGE_SELF)
        summary = {
            "pages": totals.pages,
            "relevant": totals.relevant,
            "harvest_rate": totals.relevant / totals.pages if totals.pages else 0.0,
            "visits": totals.visits,
            "duplicates": totals.duplicates,
            "bytes": totals.bytes,
            "errors": dict(totals.errors.most_common()),
            **{name: getattr(outlook, name) for name in outlook.__struct_fields__},
            "seconds": round(self._seconds(), 3),
            "cpu_s": round(usage.ru_utime + usage.ru_stime, 3),
            "rss_mb": round(_peak_kb(usage.ru_maxrss) / 1024, 1),
            "limits": msgspec.to_builtins(self.parts.config.limits),
            **self._recent.summary(),
            **(outcome or {}),
        }
        part = self.folder / "summary.json.part"
        part.write_bytes(msgspec.json.format(msgspec.json.encode(summary), indent=2))
        part.replace(self.folder / "summary.json")
        return summary


@contextlib.contextmanager
def _handling(signals: Sequence[signal.Signals], call: Callable[[], None]) -> Iterator[None]:
    """Call on any of the signals, and leave the handlers as they were."""
    loop, before = asyncio.get_running_loop(), {}
    for number in signals:
        handler = signal.getsignal(number)
        with contextlib.suppress(ValueError, RuntimeError):  # not in the main thread: nobody presses Ctrl-C there
            loop.add_signal_handler(number, call)
            before[number] = handler
    try:
        yield
    finally:
        for number, handler in before.items():
            loop.remove_signal_handler(number)
            signal.signal(number, handler)


def _peak_kb(from_usage: int) -> float:
    """The most memory this process ever held. Linux lets a child inherit its parent's figure, so ask for our own."""
    with contextlib.suppress(OSError, StopIteration):
        lines = Path("/proc/self/status").read_text().splitlines()
        return float(next(line.split()[1] for line in lines if line.startswith("VmHWM")))
    return from_usage / (1024 if sys.platform == "darwin" else 1)


def _first(error: BaseException) -> BaseException:
    """The cause inside a group of failures: they are all the same one."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


@blocking
def run_folder(
    folder: Path,
    overrides: list[str],
    extra_seeds: list[str],
    watch: Callable[[dict[str, Any]], None],
    retry_failed: bool = False,
) -> tuple[dict[str, Any], Run]:
    """Crawl a folder in this process until it is done, stopped or broken."""
    settings, source = config.load(folder, overrides)
    with lock(source.path.parent):
        run = Run(source.path.parent, settings, source, WallClock())
        try:
            summary = _loop_runner()(run.run(extra_seeds, watch, retry_failed))
        except (OSError, sqlite3.DatabaseError) as error:
            raise BadInput(
                f"{folder}: the disk is full or cannot be written ({error}); what was stored is safe"
            ) from error
        return summary, run


@contextlib.contextmanager
def lock(folder: Path) -> Iterator[IO[bytes]]:
    """One process a folder: two would ask each host twice as often. A file of our own: editors replace theirs."""
    try:
        file = (folder / "crawl.lock").open("ab")
    except OSError as error:
        raise BadInput(f"{folder}: cannot be written: {error.strerror}") from None
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise BadInput(f"{folder}: another lycosa is at work in this folder") from None
        yield file


def _loop_runner() -> Callable[[Any], Any]:
    if os.name == "nt":
        return asyncio.run
    import uvloop

    return uvloop.run
