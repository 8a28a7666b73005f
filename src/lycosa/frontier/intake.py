"""What is queued, and with what priority: new URLs, URLs found again, and scores that change."""

from __future__ import annotations  # before Python 3.12, array[int] is valid only in annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import reduce

from lycosa import urls
from lycosa.frontier.batch import Batch, group
from lycosa.frontier.hosts import READY
from lycosa.frontier.places import Places
from lycosa.frontier.priority import rank_of
from lycosa.frontier.scope import Scope
from lycosa.frontier.table import LEASED
from lycosa.store.db import DONE, WAITING
from lycosa.types import Band, Clock, Link, Lists, Opens, Strategy

_FOUND, _FIRST = int(Band.FOUND), int(Band.FIRST)  # plain numbers compare faster


class Intake:
    """Enters links into the table and the queues of their hosts. All changes of one call are written together."""

    def __init__(self, places: Places, scope: Scope, refused: Counter[str], strategy: Strategy, clock: Clock) -> None:
        self._places = places
        self._table, self._hosts, self._errands = places.table, places.hosts, places.errands
        self._scope = scope
        self._refused = refused
        self._clock = clock
        self._merge = strategy.merge
        self._first: Callable[[float], float] | None = strategy.first if isinstance(strategy, Lists) else None
        self._opens = isinstance(strategy, Opens)  # whether seeds are scored, too

    def push(self, links: Sequence[Link], scores: Sequence[float], band: Band = Band.FOUND) -> None:
        """Queue links, or raise the priority of those already queued. All links of one call come from the same page."""
        batch = Batch(self._table.number(links[0].source), band)
        key_of, known, states = urls.key, self._table.ids, self._table.states
        refused = self._scope.refusals(links)
        for link, score in zip(links, scores, strict=True):
            if score < 0:
                continue
            key = key_of(link.url)
            number = known.get(key)
            if number is None:
                if refused and link.url in refused:
                    self._refused[refused[link.url]] += 1
                    continue
                number = self._enter(link, score, key, batch)
                if not number:
                    continue
            elif states[number] != DONE:
                self._find_again(number, link, score, batch)
            batch.targets.append(number)
        self._write(batch)

    def score(self, number: int, reached: Sequence[str]) -> float:
        """The current score of a URL. If scores are passed on, this includes URLs reached by its redirects that were
        also found elsewhere, as those will not be fetched."""
        scores = self._table.scores
        if not self._opens:
            return scores[number]
        others = {*map(self._table.number, reached)} - {number}
        under_way = [scores[other] for other in sorted(others) if self._table.states[other] != DONE]
        return reduce(self._merge, under_way, scores[number])

    def pass_on(self, number: int, target: int) -> None:
        """Pass the score of a link on to the queued URL it was redirected to."""
        scores = self._table.scores
        if self._table.states[target] == WAITING and self._table.bands[target] == Band.FOUND:
            self.rescore([target], [self._merge(scores[target], scores[number])])

    def rescore(self, ids: Sequence[int], scores: Sequence[float], hosts: Sequence[str] = ()) -> None:
        """Change the scores of queued URLs; skip those no longer queued, and those in a higher band, whose score does
        not matter."""
        batch, table, moves = Batch(0), self._table, dict[tuple[float, float], int]()
        known, states, bands = table.scores, table.states, table.bands
        errand_at, named = self._errands.host_of, self._hosts.named
        for at, (number, score) in enumerate(zip(ids, scores, strict=True)):
            before = known[number]
            if before != score and states[number] == WAITING and bands[number] == _FOUND:
                known[number] = score
                batch.rescored.append((score, number))
                host = errand_at(number) or named(hosts[at] if hosts else table.host_of(number))
                if host.is_quick:
                    moves[before, score] = moves.get((before, score), 0) + 1
                group(batch.moved, host, batch.rank(score), number)
        for (before, score), count in moves.items():
            self._places.focus.move_quick(batch.rank(before), batch.rank(score), count)
        self._write(batch)

    def scale(self, factor: float) -> None:
        """Multiply all scores: scores that accumulate along links must not overflow."""
        self._table.scale(factor)
        for host in self._hosts.all:
            host.queue.scale(factor, Band.LISTED)
            if host.state == READY:
                self._hosts.settle(host, self._clock.now())

    def _enter(self, link: Link, score: float, key: int, batch: Batch) -> int:
        """Add a new URL; return 0 if it is refused."""
        host = self._places.admit(link, self._scope)
        if isinstance(host, str):
            self._refused[host] += 1
            return 0
        if self._first:
            score = self._first(score)
        band, claimed = batch.band, self._errands.claimed
        if claimed and link.url in claimed:  # a redirect is about to fetch it
            number = self._table.enter(key, score, band, LEASED)
        else:
            number = self._table.enter(key, score, band, WAITING)
            self._places.waiting += not host.closed
            group(batch.new, host, batch.rank(score), number)
        origin = link.origin._value_  # a plain number: converting it in the database is slow
        batch.rows.append((number, link.url, batch.source, link.anchor, link.depth, score, WAITING, band, origin))
        return number

    def _find_again(self, number: int, link: Link, score: float, batch: Batch) -> None:
        table, band = self._table, self._table.bands[number]
        waiting = table.scores[number]
        first = (band == _FIRST or batch.band == _FIRST) and not self._opens
        merged = 0.0 if first else self._merge(waiting, score)  # URLs in the first band need no score
        if (merged == waiting and band >= batch.band) or (not band and batch.band != _FIRST):
            return  # nothing new, or the user put it last
        before = rank_of(waiting, band)
        table.scores[number] = merged
        if band < batch.band or (band == batch.band and merged == score):  # the new link now sets the URL's priority
            table.bands[number] = batch.band
            origin = link.origin._value_
            batch.raised.append((merged, batch.source, link.anchor, link.depth, batch.band, origin, number))
        else:
            batch.rescored.append((merged, number))
        if table.states[number] == WAITING and not (self._places.list and number in self._places.list.places):
            host = self._errands.host_of(number) or self._hosts.named(urls.host(link.url))
            self._places.focus.move(host, before, rank := table.rank(number))
            group(batch.moved, host, rank, number)

    def _write(self, batch: Batch) -> None:
        now = self._clock.now()
        for (host, rank), ids in batch.new.items():
            self._places.focus.add(host, rank, len(ids))
            self._hosts.push(host, rank, ids, now)
        for (host, rank), ids in batch.moved.items():
            self._hosts.push(host, rank, sorted(ids), now, moved=True)
        self._table.write(batch)
