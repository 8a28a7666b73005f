"""Judge all stored pages again after the topic or the strategy has changed.

Every stored visit is replayed through a turn of the crawl, in the order of fetching and with its body from the WARC,
but with a new judge, a new strategy and an empty frontier. The result is the state of a crawl that made these visits
with the current topic. All of this is one transaction: until it ends, crawl.db is unchanged.
"""

import asyncio
import logging
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from lycosa import config, recalling
from lycosa.assembly import make_frontier
from lycosa.build import build, make_scope
from lycosa.clock import WallClock
from lycosa.errors import StateError, plugin_error
from lycosa.frontier.status import Status
from lycosa.locking import lock
from lycosa.log import CrawlLog
from lycosa.loops import blocking
from lycosa.stamp import changes_since, fits, make_stamp, write_stamp
from lycosa.store import before, labels, orders
from lycosa.store.replies import Stored, count_unstored, stored_replies
from lycosa.store.visited import count_visits
from lycosa.store.visits import Totals
from lycosa.store.warc_reader import MAX_BODY_BYTES
from lycosa.summary import write_summary
from lycosa.types import BadInput, Clock, Lease, Lists, Origin, Reply, Revised, Stateful, Visit

GIVEN = "given:judge"  # key in crawl.db: what the judge knew before the crawl began

_log = logging.getLogger(__name__)


class Report(Struct, frozen=True):
    """The changes caused by judging again."""

    pages: int  # number of pages judged
    now_relevant: int
    no_longer: int
    waiting: int  # number of queued URLs, all with new scores
    dropped: int  # URLs that were queued before, and would not have been followed this time


@blocking
def rejudge_folder(folder: Path, watch: Callable[[int, int], None]) -> Report:
    """Judge a folder's pages again; `watch` receives the number of visits done and the total."""
    settings, source = config.load(folder)
    if not settings.store.warc:
        raise source.blame("store.warc", "no page was stored, so none can be judged again")
    if not (source.path.parent / "crawl.db").exists():
        raise BadInput(f"{folder}: nothing crawled yet (no crawl.db)")
    with lock(source.path.parent):
        return rejudge_locked(settings, source, watch)


def rejudge_locked(settings: config.Config, source: config.Source, watch: Callable[[int, int], None]) -> Report:
    """The same for a folder whose lock the caller holds."""
    folder = source.path.parent
    one_by_one = replace(settings, fetch=replace(settings.fetch, concurrency=1))
    with CrawlLog(folder).open() as log:
        replay = Replay(folder, one_by_one, source, WallClock())
        try:
            report = _blaming(replay, watch, log)
        except (OSError, sqlite3.DatabaseError) as error:
            problem = f"the disk is full or cannot be written ({error}); nothing was changed"
            raise StateError(folder, problem) from error
        log.event("rejudged", pages=report.pages)
        return report


def _blaming(replay: "Replay", watch: Callable[[int, int], None], log: CrawlLog) -> Report:
    """Replay, and distinguish bugs in the judge or the strategy from other errors."""
    try:
        return asyncio.run(replay.run(watch))
    except Exception as error:
        parts: dict[str, object] = {"judge": replay.parts.judge, "strategy": replay.parts.strategy}
        if plugin := plugin_error(error, parts, log.path):
            _log.error("%s", plugin, exc_info=error)
            raise plugin from error
        raise


class Replay:
    """Replays all visits of a folder. Takes the place of the fetcher and of the store."""

    def __init__(self, folder: Path, settings: config.Config, source: config.Source, clock: Clock) -> None:
        self.folder = folder
        self.parts = parts = build(folder, settings, source, clock)
        self._clock = clock
        self._crawl = parts.crawl(self, [self, parts.recall])

    async def fetch(self, lease: Lease) -> Reply:
        return replace(self._now.reply, link=lease.link)

    def write(self, visit: Visit) -> None:
        self.parts.store.add(visit, self._now.kept)

    def hear(self, revised: Revised) -> None:
        self.parts.store.hear(revised)

    async def run(self, watch: Callable[[int, int], None]) -> Report:
        """All or nothing: if it ends early, nothing has changed."""
        db = self.parts.db.open()
        try:
            for excluded in orders.exclusions(db):
                self.parts.frontier.scope.exclude(excluded.compiled())
            if missing := count_unstored(db):
                why = "store.warc was false when they were fetched"
                raise BadInput(f"{self.folder}: {missing} pages are not in the WARC ({why}), so not all can be judged")
            total = count_visits(db)
            self._hold()
            db.set_aside()
            await self._begin()
            await self._replay(total, watch)
            status = self._settle()
            report = self._report(status.waiting)
            db.forget_aside()
            db.commit()
            with suppress(OSError):  # the essential data is in crawl.db
                self._summarise(status)
        finally:
            db.close()
        return report

    def _hold(self) -> None:
        """If the topic is the one that judged the pages, go on with what the labels have taught the crawl."""
        parts = self.parts
        stamp = make_stamp(parts.judge, str(parts.config.topic["kind"]), self.folder)
        if not changes_since(parts.db, stamp):
            parts.corrected.hold(labels.answers(parts.db), parts.db)

    async def _begin(self) -> None:
        """Start with the seeds and all other URLs not found on a page: search results, sitemaps."""
        parts = self.parts
        given = parts.db.get(GIVEN)
        if isinstance(parts.judge, Stateful) and fits(parts.judge, given):
            parts.judge.load(msgspec.json.decode(given))
        if not parts.corrected.held_:
            parts.corrected.teach(labels.answers(parts.db))
        found = [*before.starts(parts.db)]
        await self._crawl.run([start.link for start in found if start.link.origin == Origin.SEED], workers=0)
        for start in found:
            if start.link.origin != Origin.SEED:
                parts.frontier.push([start.link], [start.score], start.band)

    async def _replay(self, total: int, watch: Callable[[int, int], None]) -> None:
        parts, frontier = self.parts, self.parts.frontier
        lists = parts.strategy if isinstance(parts.strategy, Lists) else None
        most = max(MAX_BODY_BYTES, parts.config.fetch.max_bytes)
        stored = stored_replies(parts.db, "before_visits", self.folder / "warc", most)
        done = 0
        for several in _batches(stored, lists.list_size if lists else 1):
            if lists:  # pages fetched together take the place of a list
                frontier.apply(lists.end_list())
                lists.begin_list(sorted((frontier.score(one.reply.link) for one in several), reverse=True))
            for self._now in several:
                link = self._now.reply.link
                self._crawl.take(await self._crawl.visit(frontier.lease(link)))
                done += 1
                watch(done, total)
                await asyncio.sleep(0)  # lets Ctrl-C take effect

    def _settle(self) -> Status:
        """Write what was learned, restore what is known of the hosts, and return the resulting state of the
        frontier."""
        parts, db = self.parts, self.parts.db
        if parts.corrected.held_:
            parts.corrected.release()
        else:
            parts.corrected.teach(labels.answers(db), again=True)
        if revised := parts.corrected.revised():
            self._crawl.spread(revised)
        before.restore_hosts(db)
        db.put("list", "")
        for name, part in (("judge", parts.judge), ("strategy", parts.strategy)):
            state = msgspec.json.encode(part.save()).decode() if isinstance(part, Stateful) else ""
            db.put(f"state:{name}", state)
        recalling.save(parts.recall, db)
        db.put("strategy", str(parts.config.strategy["kind"]))
        write_stamp(db, make_stamp(parts.judge, str(parts.config.topic["kind"]), self.folder))
        scope = make_scope(parts.config, orders.exclusions(db))
        loaded = make_frontier(db, parts.config, scope, parts.strategy, self._clock)
        loaded.load()
        loaded.refused.update(parts.frontier.refused)
        ended = db.get("ended")
        loaded.stop("judged again" if ended == "frontier empty" and loaded.waiting() else ended)
        db.put("ended", loaded.ended)
        db.put("refused", msgspec.json.encode(loaded.refused).decode())
        db.put("outlook", msgspec.json.encode(loaded.status()).decode())
        return loaded.status()

    def _report(self, waiting: int) -> Report:
        judged, now_relevant, no_longer, dropped = before.changes(self.parts.db)
        return Report(judged, now_relevant, no_longer, waiting, dropped)

    def _summarise(self, status: Status) -> None:
        """Update summary.json, but keep its figures for time and memory."""
        path, totals = self.folder / "summary.json", Totals()
        totals.load(self.parts.db)
        try:
            summary = msgspec.json.decode(path.read_bytes(), type=dict[str, object])
        except msgspec.DecodeError:
            return
        rate = totals.relevant / totals.pages if totals.pages else 0.0
        summary |= {"pages": totals.pages, "relevant": totals.relevant, "harvest_rate": rate}
        summary |= {"duplicates": totals.duplicates, "errors": dict(totals.errors.most_common())}
        summary |= {name: getattr(status, name) for name in status.__struct_fields__}
        write_summary(self.folder, summary)


def _batches(stored: Iterable[Stored], size: int) -> Iterator[list[Stored]]:
    rest = iter(stored)
    while batch := list(islice(rest, size)):
        yield batch
