"""Controls a crawl: start, pause, resume, stop, add seeds, exclude, label, events. Other code need not know its parts.

The command line, notebooks and other processes use this to control a crawl. Use one session for one run of a folder.
"""

import asyncio
import contextlib
import logging
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from lycosa import __version__, config, urls
from lycosa.build import Parts, make_scope
from lycosa.clock import WallClock
from lycosa.control import Door, Place, Request
from lycosa.crawl import Crawl, Sharing
from lycosa.errors import BadInput, LycosaError, PluginError, StateError, plugin_error
from lycosa.events import Event, Listeners, StateChange, Summary
from lycosa.frontier.limits import Quota
from lycosa.frontier.scope import Scope
from lycosa.locking import lock
from lycosa.log import CrawlLog
from lycosa.loops import blocking
from lycosa.process import loop_runner, on_signals
from lycosa.run import MakeFetcher, Run
from lycosa.store import orders
from lycosa.store.db import CrawlDb
from lycosa.store.labels import CHOSEN
from lycosa.types import Clock, Sink

_AT_ONCE = 1_000  # URLs removed before other tasks may run

_log = logging.getLogger(__name__)
_CANNOT_WRITE = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN)


class Session:
    """One run of a crawl folder."""

    def __init__(
        self,
        folder: Path | str,
        overrides: Sequence[str] = (),
        clock: Clock | None = None,
        sinks: Sequence[Sink] = (),
        fetcher: MakeFetcher = lambda parts: parts.fetcher,
        home: Path | None = None,
    ) -> None:
        """`overrides`: keys of crawl.toml for this run, as "section.key=value"; `sinks`: more receivers of each visit;
        `fetcher`: wraps or replaces the fetcher of the crawl; `home`: where everything is stored, if not beside
        crawl.toml."""
        settings, source = config.load(Path(folder), overrides)
        self.folder = home or source.path.parent
        self._settings = settings
        self._listeners = Listeners()
        self._log = CrawlLog(self.folder, settings.store.log_visits)
        self._task: asyncio.Task[dict[str, Any]] | None = None
        self._opened = asyncio.Event()
        receivers: list[Sink] = [self._listeners, self._log, *sinks]
        self._run = Run(self.folder, settings, source, clock or WallClock(), receivers, fetcher)

    # -- life cycle
    # -------------------------------------------------------------------------------------------------------

    async def start(self, extra_seeds: Sequence[str] = (), retry_failed: bool = False, paused: bool = False) -> None:
        """Start the crawl in the background, or continue where the last run ended. Returns once the crawl is
        running."""
        if self._task:
            raise BadInput(f"{self.folder}: this session has been started before")
        self._task = asyncio.create_task(self._alone(extra_seeds, retry_failed, paused))
        opened = asyncio.create_task(self._opened.wait())
        await asyncio.wait([self._task, opened], return_when=asyncio.FIRST_COMPLETED)
        opened.cancel()
        if self._task.done():
            self._task.result()

    async def wait(self) -> dict[str, Any]:
        """Wait until the crawl is over; return its final summary."""
        if not self._task:
            raise BadInput(f"{self.folder}: this session has not been started")
        return await asyncio.shield(self._task)

    async def run(
        self,
        extra_seeds: Sequence[str] = (),
        watch: Callable[[dict[str, Any]], None] = lambda summary: None,
        retry_failed: bool = False,
        paused: bool = False,
        signals: bool = False,
    ) -> dict[str, Any]:
        """Run from start to end, or until Ctrl-C if `signals` is set. The caller must hold the folder's lock."""

        def watched(summary: dict[str, Any]) -> None:
            watch(summary)
            self._listeners.put(Summary(summary))

        with self._log.open():
            try:
                self._run.open(extra_seeds, retry_failed)
                try:
                    with on_signals(self.stop) if signals else contextlib.nullcontext():
                        return await self._crawl(watched, paused)
                finally:
                    self._run.close()
            except Exception as error:
                if plugin := self._blamed(error):
                    raise plugin from error
                raise
            finally:
                self._listeners.put(StateChange("ended", self._run.parts.frontier.ended or "interrupted"))
                self._listeners.end()

    async def _alone(self, extra_seeds: Sequence[str], retry_failed: bool, paused: bool) -> dict[str, Any]:
        with lock(self.folder):
            return await self.run(extra_seeds, retry_failed=retry_failed, paused=paused)

    async def _crawl(self, watch: Callable[[dict[str, Any]], None], paused: bool) -> dict[str, Any]:
        run = self._run
        summary = run.parts.totals
        self._log.event("started", version=__version__, pages=summary.pages, visits=summary.visits)
        for line in run.skipped:
            _log.warning("seed: %s", line)
        async with Door(self.folder, self.handle, self.events):
            self._listeners.put(StateChange("crawling", "started"))
            if paused:
                self.pause()
            self._opened.set()
            last = await run.crawl(watch)
        facts = {name: last[name] for name in ("ended", "pages", "relevant", "visits", "waiting", "errors")}
        self._log.event("ended", **facts)
        return last

    def _blamed(self, error: Exception) -> PluginError | None:
        """The error to raise instead, if it was caused by a judge or a strategy. Every error is logged."""
        parts = self._run.parts
        found = plugin_error(error, {"judge": parts.judge, "strategy": parts.strategy}, self._log.path)
        expected = isinstance(error, LycosaError) and not found
        _log.error("%s", error if expected else found or "the crawl failed", exc_info=None if expected else error)
        return found

    # -- public methods
    # ---------------------------------------------------------------------------------------------------

    @property
    def state(self) -> str:
        """One of "new", "crawling", "paused" and "ended"."""
        frontier = self._run.parts.frontier
        if frontier.ended or (self._task and self._task.done()):
            return "ended"
        if not self._opened.is_set():
            return "new"
        return "paused" if frontier.paused else "crawling"

    def join(self, sharing: Sharing, quota: Callable[[Parts], Quota], when_open: Callable[[], None]) -> Parts:
        """Make this session one shard of a crawl: `when_open` is called once its state has been read."""
        parts = self._run.parts
        self._run.join(sharing, quota(parts), when_open)
        return parts

    @property
    def engine(self) -> Crawl:
        return self._run.engine

    def end(self, why: str, by_user: bool) -> None:
        """End the run for this reason."""
        self._run.stop(why, by_user)

    def commit(self) -> None:
        """Make all changes so far permanent, and visible to readers of the folder."""
        self._run.commit()

    @property
    def skipped(self) -> list[str]:
        """Invalid seeds, and why."""
        return self._run.skipped

    @property
    def stopped_by_user(self) -> bool:
        return self._run.stopped_by_user

    def summary(self) -> dict[str, Any]:
        """The current totals."""
        return {"state": self.state, **self._run.summary()}

    def pause(self) -> bool:
        """Start no more requests; those in flight finish. False if already paused."""
        return self._pause(True)

    def resume(self) -> bool:
        """Continue. False if not paused."""
        return self._pause(False)

    def stop(self) -> None:
        """End the run; the next one continues where this one ended."""
        self._run.stop()

    def add(self, found: Sequence[str]) -> dict[str, str]:
        """Add seeds, for this and later runs; return the outcome for each URL: added, known, or why it is refused."""
        outcome = self._run.add(checked_urls(found))
        self._changed("added", seeds=outcome)
        return outcome

    async def count(self, host: str = "", pattern: str = "") -> int:
        """The number of queued URLs that `exclude` would remove."""
        found = await self._waiting(orders.exclusion(host, pattern))
        return self._run.parts.frontier.drop(found, dry_run=True)

    async def exclude(self, host: str = "", pattern: str = "") -> int:
        """Fetch nothing more from a host, or no URLs that match a regular expression; return the number of URLs
        removed."""
        what = orders.exclusion(host, pattern)
        before = self._scope()
        self._run.exclude(what)
        frontier, dropped = self._run.parts.frontier, 0
        found = await self._waiting(what, before)
        for start in range(0, len(found), _AT_ONCE):
            dropped += frontier.drop(found[start : start + _AT_ONCE])
            await asyncio.sleep(0)
        self._changed("excluded", excluded=str(what), dropped=dropped)
        return dropped

    async def prefer(self, place: Place, host: str = "", pattern: str = "") -> int:
        """Fetch the URLs queued now from a host, or that match a pattern, before or after all others, or in their usual
        place again; return their number."""
        found = await self._waiting(orders.exclusion(host, pattern))
        moved = 0
        for start in range(0, len(found), _AT_ONCE):
            moved += self._run.prefer(found[start : start + _AT_ONCE], orders.PLACES[place])
            await asyncio.sleep(0)
        self._changed("preferred", preferred=host or f"pattern {pattern}", place=place, urls=moved)
        return moved

    def retry(self, found: Sequence[str] = (), kind: str = "") -> int:
        """Queue URLs again whose last visit failed: those named, those of one kind, or all; return their number."""
        queued = self._run.retry(checked_urls(found) if found else None, kind)
        self._changed("retried", urls=queued)
        return queued

    def label(self, given: Mapping[str, bool | None], chosen: str = "import") -> int:
        """Label pages as on topic or not, or remove labels (None), permanently; return the number of reversed verdicts.

        Pages already fetched are judged again at once, between two turns of the crawl.
        """
        flipped = self._run.label(checked_labels(given, chosen), chosen)
        self._changed("labelled", labels=len(given), flipped=flipped)
        return flipped

    def events(self) -> AsyncIterator[Event]:
        """Visits, summaries and state changes from this call until the end."""
        return self._listeners.listen()

    # -- internal
    # ---------------------------------------------------------------------------------------------------------

    def _pause(self, paused: bool) -> bool:
        if self._run.parts.frontier.paused == paused:
            return False
        self._run.pause(paused)
        self._changed("paused" if paused else "resumed")
        return True

    def _changed(self, what: str, **facts: Any) -> None:
        self._log.event(what, **facts)
        self._listeners.put(StateChange(self.state, what))

    def _scope(self) -> Scope:
        """A copy of the current scope, for use in another thread."""
        return make_scope(self._settings, orders.exclusions(self._run.parts.db))

    async def _waiting(self, what: orders.Exclusion, scope: Scope | None = None) -> list[int]:
        """Looked up in the background: there may be millions."""
        scope = scope or self._scope()
        self._run.commit()
        return await asyncio.to_thread(_read_waiting, self.folder, what, scope)

    async def handle(self, request: Request) -> Any:
        """Handle a request from another process."""
        match request.do:
            case "pause" | "resume":
                changed = self.pause() if request.do == "pause" else self.resume()
                return {"changed": changed, "in_flight": self._run.parts.frontier.status().in_flight}
            case "stop":
                return self.stop()
            case "add":
                return self.add(request.urls)
            case "count":
                return await self.count(request.host, request.pattern)
            case "exclude":
                return await self.exclude(request.host, request.pattern)
            case "prefer":
                return await self.prefer(request.place, request.host, request.pattern)
            case "retry":
                return self.retry(request.urls, request.kind)
            case "label":
                return self.label(request.labels, request.chosen)
        return self.summary()


def checked_urls(found: Sequence[str]) -> list[str]:
    """Canonical URLs, without duplicates; the error names the first invalid one."""
    good: dict[str, None] = {}
    for text in found:
        url = urls.from_person(text)
        if not url:
            raise BadInput(f"{text[:200]}: this is not a web URL; write http://host/path")
        good[url] = None
    if not good:
        raise BadInput("add: name at least one URL")
    return [*good]


def checked_labels(given: Mapping[str, bool | None], chosen: str) -> dict[str, bool | None]:
    """The same labels by canonical URL; the error names the first invalid one."""
    if chosen not in CHOSEN:
        raise BadInput(f"label: {chosen[:200]!r} is not a way to choose pages (there are: {', '.join(CHOSEN)})")
    good: dict[str, bool | None] = {}
    for text, on_topic in given.items():
        url = urls.from_person(text)
        if not url:
            raise BadInput(f"{text[:200]}: not a web URL; write http://host/path")
        good[url] = on_topic
    if not good:
        raise BadInput("label: name at least one URL")
    return good


def _read_waiting(folder: Path, what: orders.Exclusion, scope: Scope) -> list[int]:
    with contextlib.closing(CrawlDb(folder / "crawl.db", readonly=True).open()) as db:
        return orders.waiting_urls(db, what, scope.refuses)


@contextlib.contextmanager
def naming_state(folder: Path) -> Iterator[None]:
    """Distinguish a damaged crawl.db from a disk that is full or read-only."""
    try:
        yield
    except (OSError, sqlite3.DatabaseError) as error:
        if getattr(error, "sqlite_errorcode", sqlite3.SQLITE_FULL) & 0xFF not in _CANNOT_WRITE:
            raise StateError(folder / "crawl.db", f"is damaged ({error}); `lycosa check` says more") from error
        problem = f"the disk is full or cannot be written ({error}); what was stored is safe"
        raise StateError(folder, problem) from error


@blocking
def run_folder(
    folder: Path,
    overrides: list[str],
    extra_seeds: list[str],
    watch: Callable[[dict[str, Any]], None],
    retry_failed: bool = False,
    has_lock: bool = False,
) -> tuple[dict[str, Any], Session]:
    """Crawl a folder in this process until it is done, stopped or failed; for commands, not for libraries. `has_lock`:
    the caller holds the lock of the folder."""
    found = config.load(folder, overrides)[1].path.parent
    with contextlib.nullcontext() if has_lock else lock(found):
        session = Session(folder, overrides)
        with naming_state(folder):
            return loop_runner()(session.run(extra_seeds, watch, retry_failed, signals=True)), session
