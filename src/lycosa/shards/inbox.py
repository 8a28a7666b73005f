"""Letters from other shards. How far those of a sender have been applied is stored in the same transaction as their
effects, so each is applied exactly once, however often it arrives."""

import asyncio
from collections import deque
from collections.abc import Callable

from lycosa.shards.messages import Ack, Batch, Letter, decode_letters
from lycosa.shards.outbox import WhenSafe, at_once
from lycosa.shards.routing import Routing
from lycosa.store.db import CrawlDb
from lycosa.store.shard_rows import ShardRows

_AT_ONCE = 5  # letters applied before other tasks may run


class Inbox:
    """Applies letters one by one, each in a turn of its own."""

    def __init__(
        self,
        routing: Routing,
        db: CrawlDb,
        apply: Callable[[int, Letter], None],
        send: Callable[[Ack], None],
        when_safe: WhenSafe = at_once,
    ) -> None:
        self._routing = routing
        self._db = db
        self._rows = ShardRows(db)
        self._apply = apply
        self._send = send
        self._when_safe = when_safe
        self._epochs: dict[int, int] = {}  # by sender
        self._batches: deque[Batch] = deque()
        self._arrived = asyncio.Event()
        self._busy = False
        self._positions: dict[int, tuple[int, int]] = {}  # by sender: batches applied, and letters of the next
        self._committed: dict[int, int] = {}
        self._unacknowledged: set[int] = set()  # senders whose batches were applied, or arrived once more
        self.is_changed = False  # since the last commit

    def open(self) -> None:
        self._positions = dict.fromkeys(range(self._routing.shards), (0, 0)) | self._rows.applied()
        self._committed = self.applied()
        self._db.before_commit.append(self._store)
        self._db.after_commit.append(self._acknowledge)

    def meet(self, shard: int, epoch: int) -> None:
        """A sender has started: nothing is accepted from its predecessors any more."""
        self._epochs[shard] = epoch

    def put(self, batch: Batch) -> None:
        if batch.epoch < self._epochs.get(batch.source, 0):
            return
        self._batches.append(batch)
        self._arrived.set()

    def applied(self) -> dict[int, int]:
        """The number of the last batch of each sender."""
        return {source: number for source, (number, _) in self._positions.items()}

    def is_empty(self) -> bool:
        return not self._batches and not self._busy and not self.is_changed and not self._unacknowledged

    async def run(self) -> None:
        while True:
            await self._arrived.wait()
            self._arrived.clear()
            while self._batches:
                self._busy = True
                await self._take(self._batches.popleft())
                self._busy = False

    async def _take(self, batch: Batch) -> None:
        source = batch.source
        number, done = self._positions[source]
        if batch.number <= number:
            self._unacknowledged.add(source)
            return
        if batch.number > number + 1:  # sent before its sender heard that we have started; it will be sent again
            return
        letters = decode_letters(batch.body)
        for at in range(done, len(letters)):
            with self._db.turn():
                self._apply(source, letters[at])
                is_last = at + 1 == len(letters)
                self._positions[source] = (batch.number, 0) if is_last else (number, at + 1)
                self.is_changed = True
            if at % _AT_ONCE == 0:
                await asyncio.sleep(0)
        self._unacknowledged.add(source)

    def _store(self) -> None:
        for source, position in self._positions.items() if self.is_changed else ():
            self._rows.put_applied(source, *position)

    def _acknowledge(self) -> None:
        self.is_changed = False
        self._committed = self.applied()
        acks = [Ack(self._routing.me, source, self._committed[source]) for source in self._unacknowledged]
        self._unacknowledged.clear()
        if acks:
            self._when_safe(lambda: [self._send(ack) for ack in acks])
