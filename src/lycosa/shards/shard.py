"""One shard: an ordinary session, connected to the others through the hub."""

import asyncio
import time
from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from lycosa.build import Parts
from lycosa.clock import WallClock
from lycosa.errors import LycosaError
from lycosa.frontier.limits import Quota
from lycosa.frontier.rests import least_rest_s
from lycosa.lessons import HandsOver, Shares
from lycosa.session import Session
from lycosa.shards.claims import Claims
from lycosa.shards.inbox import Inbox
from lycosa.shards.loans import Loans
from lycosa.shards.messages import (
    Ack,
    Answered,
    Ask,
    Batch,
    Claim,
    Done,
    Fragment,
    Hits,
    Joined,
    Lend,
    Lent,
    Lesson,
    Letter,
    Message,
    News,
    Offer,
    Order,
    Over,
    Query,
    Report,
    Status,
    Told,
    fragment,
)
from lycosa.shards.network import Network
from lycosa.shards.orders import Orders
from lycosa.shards.outbox import Outbox, at_once
from lycosa.shards.quota import ShardQuota
from lycosa.shards.routing import Routing
from lycosa.shards.searching import SEARCHER, Asking, answer
from lycosa.shards.shipping import SHIP_S, Shipper
from lycosa.shards.wire import Wire, each
from lycosa.store.shard_views import REFERENCE
from lycosa.types import Acts, Band, Link, Opens, Origin, Reply, Visit

TICK_S = 0.05  # between two reports on this shard; for an exact order, one follows each visit as well
# a letter waits at most this long for the commit that lets it go; in loose order, the session's own usually comes first
COMMIT_S = {"exact": 0.05, "loose": 0.75}
LESSON_S = 0.05  # between two lessons, for each of their receivers: with many shards they would be most of what travels
COUNTER = 0  # the shard that estimates the recall of the whole crawl
_MASK = (1 << 64) - 1


class Shard:
    """Hooks into the parts of a session: where links go, which bodies are known, when the crawl is over."""

    def __init__(self, routing: Routing, wire: Wire, orders: Orders, shipper: Shipper | None = None) -> None:
        """`shipper` copies the state to where other nodes of a cluster find it."""
        self._routing = routing
        self._wire = wire
        self._epoch, self._is_successor = orders.epoch, orders.is_successor
        self._shipper = shipper
        self._is_over = self._is_open = False
        self._early: list[Message] = []  # received before the session was open
        self._told: Status | None = None
        self._tells_soon = False
        self._committed = self._taught = 0.0  # when the last commit was made, whoever asked for it, and the last lesson
        self._owes_lesson = False  # something may have been learned since
        self._tasks: list[asyncio.Task[None]] = []

    def join(self, session: Session) -> None:
        """Make a session, of which this is a sink, one of the shards."""
        self._session = session
        self._parts = parts = session.join(self, self._make_quota, self._open)
        self._order = parts.config.run.order
        self._commit_s = SHIP_S if self._shipper else COMMIT_S[self._order]
        when_safe = self._shipper.when_safe if self._shipper else at_once
        self._outbox = Outbox(self._routing, parts.db, self._wire.send, when_safe, self._epoch)
        self._inbox = Inbox(self._routing, parts.db, self._apply, self._wire.send, when_safe)
        self._claims = Claims(self._routing, parts.db, self._wire.send)
        self._network = Network(self._routing, parts.outage, self._wire.send)
        self._loans = Loans(self._routing, parts.robots, parts.frontier.changes, self._wire.send)
        parts.robots.join(self._routing.is_elsewhere, self._loans.fetch)
        self._join_search(parts)
        self._acts = parts.strategy if isinstance(parts.strategy, Acts) else None
        self._hands_over = parts.strategy if isinstance(parts.strategy, HandsOver) else None
        self._reads_words = getattr(parts.strategy, "reads_words", True)  # false if words need not be sent
        self._shares_cash = isinstance(parts.strategy, Opens)  # such strategies divide the score of a page
        learning = {"judge": parts.judge, "labels": parts.corrected, "strategy": parts.strategy, "recall": parts.recall}
        self._shared = {name: part for name, part in learning.items() if isinstance(part, Shares)}
        frontier = parts.frontier
        frontier.join(self._route, self._routing.is_elsewhere, self._quota)
        frontier.ask_for_more(lambda: not self._is_over)
        frontier.hosts.share(self._routing.shards)
        if self._is_successor:
            rest_s = least_rest_s(parts.config.fetch.delay_s)
            frontier.hosts.rest_new(WallClock().now() + rest_s)
        if self._order == "exact":
            frontier.focus.join(self._routing.shards, self._tell_soon)

    def _join_search(self, parts: Parts) -> None:
        self._search, self._asking = parts.search, None
        if parts.search and self._routing.me != SEARCHER:
            clock, frontier = WallClock(), parts.frontier
            self._asking = Asking(self._routing, self._wire.send, clock.now, lambda: frontier.paused)
        if parts.search:
            parts.search.join(self._asking or parts.search.engine, self._routing.is_elsewhere)

    def _make_quota(self, parts: Parts) -> Quota:
        self._quota = ShardQuota(parts.config.limits, parts.totals, self._tell_soon)
        return self._quota

    def _open(self) -> None:
        self._outbox.rows.create()
        for part in self._shared.values():
            part.share()
        self._parts.db.before_commit.append(self._teach)  # before the outbox takes what is to be sent
        self._parts.db.after_commit.append(self._note_commit)
        for mail in (self._outbox, self._inbox, self._claims):
            mail.open()
        if self._shipper:
            self._shipper.open(self._parts.db)
        self._is_open = True
        for message in self._early:
            self.handle(message)
        self._tasks = [asyncio.ensure_future(self._inbox.run()), asyncio.ensure_future(self._tick())]
        if self._shipper:
            self._tasks.append(asyncio.ensure_future(self._ship(self._shipper)))

    async def run(self, seeds: Sequence[str], retry_failed: bool) -> None:
        """Run the session until the hub says that the crawl is over."""
        listening = asyncio.ensure_future(self._listen())
        try:
            last = await self._session.run(seeds, self._report, retry_failed, signals=True)
        finally:
            for task in (*self._tasks, listening):
                task.cancel()
            await asyncio.gather(*self._tasks, listening, return_exceptions=True)
            if self._shipper:
                await asyncio.to_thread(self._shipper.finish)
        self._wire.send(self._status())
        self._wire.send(Report(self._routing.me, last, True, self._session.skipped))

    async def _listen(self) -> None:
        await each(self._wire, self.handle)
        self._session.stop()  # the hub is gone

    def handle(self, message: Message) -> None:
        if not self._is_open and not isinstance(message, Over):
            self._early.append(message)
            return
        match message:
            case Batch():
                self._inbox.put(message)
            case Ack():
                self._outbox.acknowledged(message)
            case Ask():
                self._claims.answer(message)
            case Told():
                self._claims.told(message)
            case Query() if self._parts.ledger and self._search:
                asked = answer(self._parts.ledger, self._search, message, self._wire.send)
                self._tasks.append(asyncio.ensure_future(asked))
            case Lend():
                self._tasks.append(asyncio.ensure_future(self._loans.lend(message)))
            case Lent():
                self._loans.told(message)
            case Answered():
                self._network.told(message)
            case Hits() if self._asking:
                self._asking.told(message)
            case News():
                self._hear(message)
            case Order():
                self._tasks.append(asyncio.ensure_future(self._obey(message)))
            case Joined():
                self._inbox.meet(message.shard, message.epoch)
                self._outbox.send_again(message.shard)
                self._claims.ask_again(message.shard)
                self._loans.ask_again(message.shard)
                self._network.tell_again(message.shard)
                if self._asking and message.shard == SEARCHER:
                    self._asking.ask_again()
            case Over():
                self._end(message)

    # -- called by the crawl

    def divide(self, visit: Visit) -> Visit:
        """Send the links of other shards to them; return the visit without these."""
        links = visit.page.links
        owner, me = self._routing.owner, self._routing.me
        parts: dict[int, list[Link]] = {}
        for link in links:
            parts.setdefault(owner(link.url), []).append(link)
        own = parts.pop(me, [])
        if not parts:
            return visit
        given = self._hands_over.hand_over(visit) if self._hands_over else []
        words = " ".join(visit.page.words) if self._reads_words else ""
        reference = self._reference(visit.reply.link.url)
        for target, found in parts.items():
            self._outbox.put(target, fragment(self._part(visit, found), reference, words, given))
        if self._hands_over and own:
            self._hands_over.take_over(given)
        return self._part(visit, own)

    def _part(self, visit: Visit, links: Sequence[Link]) -> Visit:
        """The visit with some of its links, which get their share of the page's cash, if the strategy shares cash."""
        share = len(links) / len(visit.page.links) if self._shares_cash else 1.0
        return replace(visit, page=replace(visit.page, links=links), score=visit.score * share)

    async def first_url(self, digest: str, reply: Reply) -> str:
        """Ask the shard that decides. Meanwhile the host rests, and may be contacted again, unless this page may turn
        out to be the last one it is allowed."""
        url, frontier = reply.link.url, self._parts.frontier
        if self._routing.decides(digest) != self._routing.me and not frontier.scope.rules.max_pages_per_host:
            frontier.changes.rest(frontier.leases[url][1], reply)
        return await self._claims.first_url(digest, url)

    def write(self, visit: Visit) -> None:
        """As a sink: confirm whose body it is, and pass on where a redirect leads."""
        if self._order == "exact":
            self._tell_soon()
        reply = visit.reply
        if visit.is_distinct and (shard := self._routing.decides(visit.digest)) != self._routing.me:
            self._outbox.put(shard, Claim(visit.digest, reply.link.url))
        if reply.error == "redirect-known" and self._routing.is_elsewhere(reply.detail):
            link = Link(reply.detail, reply.link.url, reply.link.anchor, reply.link.depth, origin=reply.link.origin)
            band = Band.FIRST if link.is_start else Band.FOUND
            offer = Offer([link], [visit.score], band, self._reference(reply.link.url))
            self._outbox.put(self._routing.owner(link.url), offer)

    def _route(
        self, links: Sequence[Link], scores: Sequence[float], band: Band
    ) -> tuple[Sequence[Link], Sequence[float]]:
        """Pass on links of other shards, except seeds: every shard reads those itself."""
        elsewhere = self._routing.is_elsewhere
        if not any(elsewhere(link.url) for link in links):
            return links, scores
        own: list[tuple[Link, float]] = []
        for link, score in zip(links, scores, strict=True):
            if not elsewhere(link.url):
                own.append((link, score))
            elif link.origin != Origin.SEED and score >= 0:
                offer = Offer([link], [score], band, self._reference(link.source))
                self._outbox.put(self._routing.owner(link.url), offer)
        return [link for link, _ in own], [score for _, score in own]

    def _reference(self, url: str) -> int:
        return self._parts.frontier.number(url) * REFERENCE + self._routing.me

    def _teach(self) -> None:
        """Called before each commit: pass on what was learned since the last one. What the judge and the strategy have
        learned can wait for a later commit; labels and counts cannot, as they would be lost by a kill."""
        self._owes_lesson = not self._is_over and not self._is_lesson_due()
        if not self._owes_lesson:
            self._taught = time.monotonic()
        for name, part in self._shared.items():
            can_wait = name in ("judge", "strategy")
            if learned := None if can_wait and self._owes_lesson else part.lesson():
                for shard in self._routing.others():
                    if name != "recall" or shard == COUNTER:
                        self._outbox.put(shard, Lesson(name, learned))

    def _is_lesson_due(self) -> bool:
        return time.monotonic() - self._taught >= LESSON_S * (self._routing.shards - 1)

    # -- letters of others

    def _apply(self, source: int, letter: Letter) -> None:
        crawl, frontier = self._session.engine, self._parts.frontier
        match letter:
            case Fragment():
                visit = letter.visit()
                if self._hands_over:
                    self._hands_over.take_over(letter.given)
                frontier.changes.meet(letter.source.url, letter.reference)
                if self._search:
                    self._search.hear(link.url for link in visit.page.links)
                frontier.push(visit.page.links, crawl.strategy.score(visit))
                if self._acts:
                    crawl.jobs.apply(self._acts, frontier)
            case Offer():
                for link in letter.links:
                    if link.source:
                        frontier.changes.meet(link.source, letter.reference)
                frontier.push(letter.links, letter.scores, letter.band)
            case Claim():
                self._claims.confirm(letter)
            case Lesson():
                self._shared[letter.part].study(letter.learned)
                if revised := self._parts.corrected.revised():
                    crawl.spread(revised)

    # -- the hub

    def _hear(self, news: News) -> None:
        frontier, quota = self._parts.frontier, self._quota
        if self._order == "exact":
            frontier.focus.require(news.least[0] << 64 | news.least[1])
        quota.left = news.remaining if news.remaining >= 0 else None
        if news.version > quota.version:
            quota.allot(news.allotted, news.version)
        if news.return_pages:
            quota.give_back(len(frontier.leases))
        if news.probe >= 0 and self._search:
            self._search.more()  # nothing is left anywhere, unless a search finds something
        if news.probe >= 0 or news.return_pages:
            self._told = self._status()  # what follows is reported even if it is the same as before this answer
            self._wire.send(replace(self._told, probe=news.probe))
        frontier.bring()

    async def _obey(self, order: Order) -> None:
        try:
            done = Done(self._routing.me, order.number, await self._session.handle(order.request))
        except LycosaError as error:
            done = Done(self._routing.me, order.number, error=str(error))
        self._wire.send(done)

    async def _ship(self, shipper: Shipper) -> None:
        """Copy what was committed every few seconds; until then, what others wait for does not leave."""
        try:
            while True:
                await shipper.ship()
                await asyncio.sleep(SHIP_S)
                self._session.commit()
        except OSError as error:
            self._session.end(f"run.store cannot be written: {error}", by_user=False)

    def _end(self, over: Over) -> None:
        self._is_over = True
        self._session.end(over.why, over.by_user)

    async def _tick(self) -> None:
        """Report where this shard stands, and commit what other shards wait for."""
        while True:
            await asyncio.sleep(TICK_S)
            self._network.tell()
            owes = self._owes_lesson and self._is_lesson_due()
            waits = owes or self._outbox.has_letters() or not self._inbox.is_empty()
            if waits and time.monotonic() - self._committed >= self._commit_s:
                self._session.commit()
            self._tell()

    def _note_commit(self) -> None:
        self._committed = time.monotonic()

    def _tell_soon(self) -> None:
        if not self._tells_soon:
            self._tells_soon = True
            asyncio.get_running_loop().call_soon(self._tell)

    def _tell(self) -> None:
        """Send a status, if anything has changed since the last one."""
        self._tells_soon = False
        status = self._status()
        if status != self._told:
            self._told = status
            self._wire.send(status)

    def _status(self) -> Status:
        frontier, totals, quota = self._parts.frontier, self._parts.totals, self._quota
        in_flight, waiting = len(frontier.leases), frontier.waiting()
        is_ranked = self._order == "exact" and not frontier.paused
        best = frontier.focus.best(self._routing.shards) if is_ranked else []
        mail_is_done = self._outbox.is_empty() and self._inbox.is_empty() and not self._owes_lesson
        is_acting = self._session.engine.jobs.is_under_way() or bool(self._search and self._search.is_busy)
        return Status(
            self._routing.me,
            [(rank >> 64, rank & _MASK, count) for rank, count in best],
            *(totals.pages, totals.relevant, totals.duplicates, in_flight, quota.allotted, quota.version),
            wants_pages=quota.wants_pages and waiting > 0 and not frontier.focus.is_outranked(),
            is_idle=mail_is_done and not waiting and not in_flight and not is_acting,
            sent=[self._outbox.sent[shard] for shard in range(self._routing.shards)],
            applied=[self._inbox.applied()[shard] for shard in range(self._routing.shards)],
            enough=self._parts.recall.reached() if self._routing.me == COUNTER else "",
        )

    def _report(self, summary: dict[str, Any]) -> None:
        self._wire.send(Report(self._routing.me, summary))
