"""Letters to other shards. They are stored in the transaction of the visit they come from, sent after its commit, and
kept until the receiver has committed them: at least once, and in order."""

from collections.abc import Callable
from typing import Any

from lycosa.shards.messages import Ack, Batch, Letter, encode_letter, pack
from lycosa.shards.routing import Routing
from lycosa.store.db import CrawlDb
from lycosa.store.shard_rows import ShardRows

MOST_LETTERS = 500  # in a batch
WhenSafe = Callable[[Callable[[], Any]], None]  # calls something once the last commit cannot be lost any more


def at_once(call: Callable[[], Any]) -> None:
    """On this machine, a commit is safe."""
    call()


class Outbox:
    """Collects letters until the commit; one batch per receiver and commit, unless there are very many."""

    def __init__(
        self,
        routing: Routing,
        db: CrawlDb,
        send: Callable[[Batch], None],
        when_safe: WhenSafe = at_once,
        epoch: int = 0,
    ) -> None:
        self._routing = routing
        self._db = db
        self.rows = ShardRows(db)
        self._send = send
        self._when_safe = when_safe
        self._epoch = epoch
        self._safe: dict[int, int] = {}  # by receiver: the last batch that may be sent
        self._letters: dict[int, list[bytes]] = {}
        self._fresh: list[Batch] = []  # stored, and to be sent after the commit
        self._unacknowledged = 0
        self.sent: dict[int, int] = {}

    def open(self) -> None:
        """Continue the numbers of the last run, and send again what was not acknowledged."""
        self.sent = dict.fromkeys(range(self._routing.shards), 0) | self.rows.sent()
        self._safe = dict(self.sent)
        self._unacknowledged = self.rows.count_batches()
        self._db.before_commit.append(self._store)
        self._db.after_commit.append(self._post)
        for shard in self._routing.others():
            self.send_again(shard)

    def put(self, target: int, letter: Letter) -> None:
        """Called within a turn."""
        self._letters.setdefault(target, []).append(encode_letter(letter))

    def send_again(self, target: int) -> None:
        for number, body in self.rows.batches(target):
            if number <= self._safe[target]:
                self._send(Batch(self._routing.me, target, number, body, self._epoch))

    def acknowledged(self, ack: Ack) -> None:
        self.rows.delete_batches(ack.source, ack.number)
        self._unacknowledged = self.rows.count_batches()

    def has_letters(self) -> bool:
        """Whether there are letters that no commit has stored yet."""
        return bool(self._letters)

    def is_empty(self) -> bool:
        return not self._letters and not self._unacknowledged

    def _store(self) -> None:
        for target, letters in self._letters.items():
            for start in range(0, len(letters), MOST_LETTERS):
                self.sent[target] += 1
                body = pack(letters[start : start + MOST_LETTERS])
                self.rows.put_batch(target, self.sent[target], body)
                self._fresh.append(Batch(self._routing.me, target, self.sent[target], body, self._epoch))
                self._unacknowledged += 1
        self._letters = {}

    def _post(self) -> None:
        fresh, self._fresh = self._fresh, []
        if fresh:
            self._when_safe(lambda: self._release(fresh))

    def _release(self, batches: list[Batch]) -> None:
        for batch in batches:
            self._safe[batch.target] = batch.number
            self._send(batch)
