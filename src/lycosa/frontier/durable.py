"""What waits, best first: the hot copy in memory as compact arrays, the durable one in crawl.db.

A known URL costs one entry in a table of fingerprints, a few bytes in arrays and a place in its host's queue; its text
stays in the database until it is taken. Everything a visit changes is written into the transaction that holds the
visit, so after a kill the frontier is what it was at the last commit: what was in flight waits again.
"""

from __future__ import annotations  # array[int] is a type before Python 3.12 only in annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

import xxhash
from msgspec.structs import replace

from lycosa import urls
from lycosa.db import DONE, WAITING, CrawlDb
from lycosa.frontier.batch import Batch, group
from lycosa.frontier.focus import PATIENCE_S, Focus
from lycosa.frontier.limits import Quota
from lycosa.frontier.lists import FLOOR, FetchList, Listing
from lycosa.frontier.outlook import Outlook, status_of
from lycosa.frontier.polite import BUSY, IDLE, READY, RESTING, Host, Hosts
from lycosa.frontier.scope import Scope
from lycosa.frontier.waking import Waking
from lycosa.types import Clock, Link, Reply

FULL = "max_pages_per_host"  # why a host is closed
LEASED = 3  # in memory only: on disk a URL in flight still waits
_hash = xxhash.xxh3_64_intdigest

_INSERT = "INSERT INTO urls VALUES (?, ?, ?, ?, ?, ?, ?)"
_RAISE = "UPDATE urls SET score=?, source=?, anchor=?, depth=? WHERE id=?"
_RESCORE = "UPDATE urls SET score=? WHERE id=?"
_ALL = "SELECT id, url, depth, score, state FROM urls ORDER BY id"
_TAKE = "SELECT u.url, s.url, u.anchor, u.depth FROM urls u LEFT JOIN urls s ON s.id = u.source WHERE u.id=?"


class DurableFrontier:
    """Best-first over the hosts that are due; one lease is one request."""

    def __init__(
        self,
        db: CrawlDb,
        hosts: Hosts,
        scope: Scope,
        merge: Callable[[float, float], float],
        clock: Clock,
        focus: float = 0.0,
    ) -> None:
        self.hosts = hosts
        self.scope = scope
        self.ended = ""  # why the crawl is over
        self.paused = False
        self.quota: Quota | None = None
        self.listing: Listing | None = None  # a strategy that chooses by lists
        self.refused: Counter[str] = Counter()  # links that were not let in, by reason
        self.more: Callable[[], bool] = lambda: False  # asked when nothing is left: is somebody about to bring more?
        self.floor = 0.0  # what is worth less is held back until nothing else is left
        self.pending: Callable[[], bool] = lambda: False  # may what is held back soon be worth more?
        self._db = db
        self._merge = merge
        self._clock = clock
        self._known: dict[int, int] = {}  # fingerprint of a URL to its id
        self._scores = array("d", [0.0])  # by id, from 1
        self._states = array("B", [DONE])
        self._waiting = 0
        self._leases: dict[str, tuple[int, Host]] = {}
        self._list: FetchList | None = None
        self._claims: dict[str, str] = {}  # where a redirect leads to, and the link that is led there
        self._elsewhere: dict[int, Host] = {}  # URLs that wait at another host: a redirect's, a robots.txt's
        self.turns = 0  # leases ended: has anything changed since?
        self._waking = Waking(clock)
        self._focus = Focus(focus, self._scores_at)

    # -- what the loop calls ------------------------------------------------------------------------------------------

    def push(self, links: Sequence[Link], scores: Sequence[float]) -> None:
        """Let links in, or raise those that wait already. All links of one call come from one page."""
        if not links:
            return
        batch = Batch(self.number(links[0].source))
        known, states = self._known, self._states
        for link, score in zip(links, scores, strict=True):
            if score < 0:
                continue
            key = _hash(link.url.encode())
            number = known.get(key)
            if number is None:
                number = self._let_in(link, score, key, batch)
                if not number:
                    continue
            elif states[number] != DONE:
                self._find_again(number, link, score, batch)
            batch.targets.append(number)
        self._write(batch)

    async def pop(self) -> Link | None:
        """The best URL of all hosts that are due; None when the crawl is over."""
        while True:
            now = self._clock.now()
            if not self.ended and self.quota:
                self.ended = self.quota.reached(now)
            if self.ended:
                self._waking.wake_all()
                return None
            deadline = self.quota.deadline if self.quota else None
            if self.paused:
                await self._waking.wait(deadline)
                continue
            if self.quota and not self.quota.admits(len(self._leases)):
                await self._waking.wait(deadline)  # a reply decides whether one more may be fetched
                continue
            if taken := self._take(now):
                self._waking.wake()  # perhaps another host is ready too: each who takes wakes the next
                return self._lease(*taken)
            if self._nothing_comes() and not self.more():
                self.ended = "frontier empty"
                continue
            await self._waking.wait(self.hosts.next_due(), self._focus.next_change(), deadline)

    def done(self, reply: Reply) -> None:
        """End a lease: the URL is done, or, when the reply is no answer yet, waits to be asked again."""
        number, host = self._leases.pop(reply.link.url)
        now = self._clock.now()
        if reply.again:
            if reply.status:
                self._claim(reply.url, reply.link.url)
            self._wait_at(number, self.hosts.named(urls.host(reply.url)), now)
        else:
            self._finish(number, reply)
            host.pages += not reply.error
            if self.scope.rules.max_pages_per_host and host.pages >= self.scope.rules.max_pages_per_host:
                host.closed = host.closed or FULL
        self.hosts.rest(host, reply, now)
        self._focus.ended(host, reply.seconds, now)
        self._write_host(host)
        if host.closed:
            self._forsake(host, now)
        self.turns += 1
        if reply.wait_s or (reply.again and reply.crawl_delay_s):
            self._db.commit()  # a kill must not make us forget how long the host asked to be left alone
        self._waking.wake()

    def _wait_at(self, number: int, host: Host, now: float) -> None:
        self._states[number] = WAITING
        self._waiting += 1
        self._elsewhere[number] = host
        self._focus.add(host, self._scores[number])
        self.hosts.push(host, self._rank(number), array("I", [number]), now)

    def score(self, link: Link) -> float:
        """What a known URL is worth now."""
        return self._scores[self.number(link.url)]

    def knows(self, link: Link) -> bool:
        return self.number(link.url) > 0

    def waits(self, number: int, score: float) -> bool:
        """Does this id wait with this score?"""
        return self._states[number] == WAITING and self._rank(number) == score

    # -- what the sides ask -------------------------------------------------------------------------------------------

    def refuses(self, url: str) -> str:
        """Why a redirect may not lead to this URL; empty if it may."""
        host = self.hosts.find(urls.host(url))
        if host and host.closed:
            return "host-closed"
        number = self._known.get(urls.fingerprint(url))
        if url in self._claims or (number is not None and self._states[number] in (DONE, LEASED)):
            return "redirect-known"
        return self.scope.refuses(url)

    def waiting(self) -> int:
        return self._waiting

    def bring(self, links: Sequence[Link], scores: Sequence[float]) -> None:
        """Links from outside the loop, perhaps none: whoever waited for them looks again."""
        self.push(links, scores)
        self._waking.wake()

    def stop(self, why: str) -> None:
        """Let every `pop` return None from now on."""
        self.ended = self.ended or why
        self._waking.wake_all()

    def pause(self, paused: bool) -> None:
        """While paused no `pop` returns a URL; what is in flight goes on."""
        self.paused = paused
        self._waking.wake_all()

    def drop(self, numbers: Iterable[int], dry_run: bool = False) -> int:
        """Take those of some URLs that wait out of the queue; how many there were. On disk they go on waiting: it is
        the scope that refuses them."""
        left = [number for number in numbers if self._states[number] == WAITING]
        for number in [] if dry_run else left:
            host = self._elsewhere.pop(number, None) or self.hosts.named(self.host_of(number))
            self._states[number] = DONE
            self._waiting -= 1
            self._focus.add(host, self._scores[number], -1)
            if self._list:
                self._list.strike(number)
        self._waking.wake_all()
        return len(left)

    def outlook(self) -> Outlook:
        hosts = Counter(host.state for host in self.hosts.all)
        floor = self._focus.last_floor
        outlook = Outlook(
            known=len(self._known),
            waiting=self._waiting,
            in_flight=len(self._leases),
            hosts=len(self.hosts.all),
            hosts_due=hosts[READY] + hosts[BUSY],
            hosts_resting=hosts[RESTING],
            next_due=self.hosts.next_due(),
            refused=dict(self.refused),
            ended=self.ended,
            held_back=sum(host.state == READY and -host.offer[0] < floor for host in self.hosts.all),
            paused=self.paused,
        )
        return replace(outlook, status=status_of(outlook))

    def load(self) -> None:
        """Take up where the database stands. Every host rests one delay first: what was in flight is not known."""
        now = self._clock.now()
        rest_until = now + self.hosts.rules.delay_s
        for name, due_at, delay_s, failures, pages, closed in self._db.execute("SELECT * FROM hosts"):
            host = self.hosts.named(name)
            host.delay_s, host.failures, host.pages, host.closed = delay_s, failures, pages, closed
            host.due_at = max(due_at, now + delay_s)
            host.is_quick = host.due_at - now <= PATIENCE_S
            most = self.scope.rules.max_pages_per_host
            if closed == FULL and not 0 < most <= pages:
                host.closed = ""
        if self._list:
            self._list.load()
        groups: dict[tuple[Host, float], array[int]] = {}
        for number, url, depth, score, state in self._db.execute(_ALL):
            self._known[_hash(url.encode())] = number
            self._scores.append(score)
            self._states.append(state)
            self.scope.admits_query(url)
            host = self.hosts.named(urls.host(url))
            if state == WAITING and not host.closed and not self.scope.refuses(url, depth):  # it may be another scope
                host.due_at = max(host.due_at, rest_until)
                self._waiting += 1
                self._focus.add(host, score)
                groups.setdefault((host, self._rank(number)), array("I")).append(number)
            elif self._list:
                self._list.strike(number)
        for (host, rank), ids in groups.items():
            self.hosts.push(host, rank, ids, now)

    def edges(self) -> tuple[array[int], array[int], array[int]]:
        """All links found so far, as ids of sources and of targets, and the ids that wait."""
        sources, targets = array("I"), array("I")
        for source, blob in self._db.execute("SELECT source, targets FROM links ORDER BY source"):
            found = array("I", blob)
            targets.extend(found)
            sources.extend(array("I", [source]) * len(found))
        waiting = array("I", [number for number, state in enumerate(self._states) if state == WAITING])
        return sources, targets, waiting

    def waits_with(self, number: int) -> float:
        """The score of a known URL by its id."""
        return self._scores[number]

    def host_of(self, number: int) -> str:
        return urls.host(self._db.execute("SELECT url FROM urls WHERE id=?", (number,)).fetchone()[0])

    def rescore(self, ids: Sequence[int], scores: Sequence[float], hosts: Sequence[str] = ()) -> None:
        """Give waiting URLs another score; those that are no longer waiting are passed over. Who knows their hosts
        saves looking them up."""
        batch = Batch(0)
        for at, (number, score) in enumerate(zip(ids, scores, strict=True)):
            before = self._scores[number]
            if self._states[number] == WAITING and before != score:
                self._scores[number] = score
                batch.rescored.append((score, number))
                host = self._elsewhere.get(number) or self.hosts.named(hosts[at] if hosts else self.host_of(number))
                self._focus.move(host, before, score)
                group(batch.moved, host, score, number)
        self._write(batch)

    def choose_by_lists(self, listing: Listing) -> None:
        """Ask the best N of one moment before choosing again."""
        self.listing = listing
        self._list = FetchList(listing.list_size, self._db)
        listing.connect(self._db, self.scope.refuses, self.scale)

    def scale(self, factor: float) -> None:
        """Multiply every score: where they grow along links they must not grow out of range."""
        self._scores = array("d", [score * factor for score in self._scores])
        self._db.execute("UPDATE urls SET score = score * ?", (factor,))
        for host in self.hosts.all:
            host.queue.scale(factor, FLOOR)
            if host.state == READY:
                self.hosts.settle(host, self._clock.now())

    # -- inside -------------------------------------------------------------------------------------------------------

    def _take(self, now: float) -> tuple[Host, int] | None:
        if not self._list or not self.listing:
            floor = self._focus.floor(self.quota.remaining() if self.quota else None, now)
            if taken := self.hosts.take(now, max(floor, self.floor)):
                self._focus.earn()
            elif self._nothing_comes():
                self.floor = 0.0
                taken = self.hosts.take(now)
            elif self._focus.has_spare() and (taken := self.hosts.take(now, self.floor)):
                self._focus.spend()
            return taken
        if not self._list.places and not self._leases:
            self.push(*self.listing.end_list())
            self.listing.begin_list(self._list.choose(self.hosts, self.waits, now))
        return self.hosts.take(now, FLOOR) if self._list.places else None

    def _scores_at(self, host: Host) -> list[float]:
        return [self._scores[number] for number in host.queue.ids() if self._states[number] == WAITING]

    def _nothing_comes(self) -> bool:
        return not self._leases and self.hosts.next_due() is None and not self.pending()

    def _rank(self, number: int) -> float:
        """What orders a URL: its place on the list, else its score."""
        score = self._scores[number]
        return self._list.places.get(number, score) if self._list else score

    def number(self, url: str) -> int:
        """The id of a known URL, else 0."""
        return self._known.get(urls.fingerprint(url), 0) if url else 0

    def _let_in(self, link: Link, score: float, key: int, batch: Batch) -> int:
        """Make a new URL known; 0 if it is refused."""
        url = link.url
        if self._claims and url in self._claims:
            return 0  # it is known when the redirect that leads there is done
        if refusal := self.scope.refuses(url, link.depth):
            self.refused[refusal] += 1
            return 0
        host = self.hosts.named(url.split("/", 3)[2])
        if host.closed:
            self.refused["host-closed"] += 1
            return 0
        if "?" in url and not self.scope.admits_query(url):
            self.refused["trap-queries"] += 1
            return 0
        if self.listing:
            score = self.listing.first(score)
        number = len(self._scores)
        self._known[key] = number
        self._scores.append(score)
        self._states.append(WAITING)
        self._waiting += 1
        batch.rows.append((number, url, batch.source, link.anchor, link.depth, score, WAITING))
        self._focus.add(host, score)
        group(batch.new, host, score, number)
        return number

    def _find_again(self, number: int, link: Link, score: float, batch: Batch) -> None:
        waiting = self._scores[number]
        merged = self._merge(waiting, score)
        if merged == waiting:
            return
        self._scores[number] = merged
        if merged == score:  # the new link speaks for the URL now
            batch.raised.append((merged, batch.source, link.anchor, link.depth, number))
        else:
            batch.rescored.append((merged, number))
        if self._states[number] == WAITING and not (self._list and number in self._list.places):
            host = self._elsewhere.get(number) or self.hosts.named(urls.host(link.url))
            self._focus.move(host, waiting, merged)
            group(batch.moved, host, merged, number)

    def _write(self, batch: Batch) -> None:
        now = self._clock.now()
        for (host, score), ids in batch.new.items():
            self.hosts.push(host, score, array("I", ids), now)
        for (host, score), ids in batch.moved.items():
            self.hosts.push(host, score, array("I", sorted(ids)), now, moved=True)
        if batch.rows:
            self._db.executemany(_INSERT, batch.rows)
        if batch.raised:
            self._db.executemany(_RAISE, batch.raised)
        if batch.rescored:
            self._db.executemany(_RESCORE, batch.rescored)
        if batch.source and batch.targets:
            self._db.execute("INSERT OR REPLACE INTO links VALUES (?, ?)", (batch.source, batch.targets.tobytes()))
        self._waking.wake()

    def _lease(self, host: Host, number: int) -> Link:
        self._states[number] = LEASED
        self._waiting -= 1
        self._focus.began(host, self._scores[number], self._clock.now())
        self._elsewhere.pop(number, None)
        url, source, anchor, depth = self._db.execute(_TAKE, (number,)).fetchone()
        self._leases[url] = number, host
        return Link(url, source or "", anchor, depth)

    def _finish(self, number: int, reply: Reply) -> None:
        self._states[number] = DONE
        if self._list:
            self._list.strike(number)
        self._db.execute("UPDATE urls SET state=? WHERE id=?", (DONE, number))
        reached = {exchange.url for exchange in reply.exchanges if exchange.url != reply.link.url}
        for url in sorted(reached):
            self._reached(url, number)
            self._claims.pop(url, None)
        if reply.url in self._claims:  # it was to be asked next, but may not or could not: that is settled too
            self._reached(reply.url, number)
            del self._claims[reply.url]

    def _claim(self, url: str, by: str) -> None:
        """A redirect leads here: nobody else is to ask for it meanwhile."""
        self._claims[url] = by
        number = self.number(url)
        if self._states[number] == WAITING:
            self._states[number] = LEASED
            self._waiting -= 1
            self._focus.add(self.hosts.named(urls.host(url)), self._scores[number], -1)

    def _reached(self, url: str, source: int) -> None:
        """A redirect led here: the URL is known and done."""
        key = urls.fingerprint(url)
        number = self._known.get(key)
        if number is None:
            number = self._known[key] = len(self._scores)
            self._scores.append(0.0)
            self._states.append(DONE)
            self._db.execute(_INSERT, (number, url, source, "", 0, 0.0, DONE))
        elif self._states[number] != DONE:
            if self._states[number] == WAITING:
                self._waiting -= 1
                self._focus.add(self.hosts.named(urls.host(url)), self._scores[number], -1)
            self._states[number] = DONE
            if self._list:
                self._list.strike(number)
            self._db.execute("UPDATE urls SET state=? WHERE id=?", (DONE, number))

    def _write_host(self, host: Host) -> None:
        row = (host.name, host.due_at, host.delay_s, host.failures, host.pages, host.closed)
        self._db.execute("INSERT OR REPLACE INTO hosts VALUES (?, ?, ?, ?, ?, ?)", row)

    def _forsake(self, host: Host, now: float) -> None:
        """Nothing more is asked at a closed host: what waits there no longer counts. Guests go home, to be told so."""
        left = [number for number in host.queue.ids() if self._states[number] == WAITING]
        for number in left:
            self._focus.add(host, self._scores[number], -1)
        host.queue = type(host.queue)()
        host.state = IDLE
        self._waiting -= len(left)
        for number in left:
            home = self.hosts.named(self.host_of(number)) if number in self._elsewhere else host
            if home is not host:
                self._wait_at(number, home, now)
                continue
            self.refused["host-closed"] += 1
            if self._list:
                self._list.strike(number)
