"""Where all shards meet: passes messages on, keeps the common order and the limits, and sees when all is done."""

import asyncio
import heapq
from collections.abc import Callable, Sequence
from typing import Any

from lycosa import config
from lycosa.control import Request
from lycosa.errors import BadInput
from lycosa.frontier.focus import SHARE
from lycosa.shards.messages import (
    Ack,
    Answered,
    Ask,
    Batch,
    Done,
    Failed,
    Hits,
    Joined,
    Lend,
    Lent,
    Message,
    News,
    Order,
    Over,
    Query,
    Report,
    Status,
    Told,
)
from lycosa.shards.wire import Wire

MOST_ALLOTTED = 200  # pages given to a shard at once
STEP = round(1 / SHARE)  # remaining pages are told in these steps: only then the number of requests at once changes
_NONE = (0, 0)
Shared = tuple[tuple[int, int], int]  # the least rank, and the remaining pages


class Hub:
    """The state is what the shards said last: nothing is lost if it has to start again."""

    def __init__(
        self,
        shards: int,
        limits: config.Limits,
        hear: Callable[[Report | Failed], None],
        before: Sequence[Status] = (),
    ) -> None:
        """`before`: what earlier runs have fetched. The first shard to start asks for pages before the others can say
        how many they have, and the limit must hold all the same."""
        self._shards = shards
        self._limits = limits
        self._hear = hear
        self._wires: dict[int, Wire] = {}
        self._statuses = {status.shard: status for status in before}
        self._epochs = [0] * shards
        self._orders: dict[int, tuple[int, asyncio.Future[Any]]] = {}  # by number: the shard, and what will come of it
        self._allotted = [0] * shards
        self._versions = [0] * shards
        self._asked_back: set[int] = set()
        self._news: dict[int, News] = {}  # as last sent
        self._probe = 0
        self._answers: dict[int, Status] | None = None  # to the probe under way
        self._before: list[Status] = []  # the answers to the probe before
        self._last_order = 0
        self.over: Over | None = None
        self.messages = self.bytes = 0  # passed on

    def join(self, shard: int, wire: Wire, epoch: int = 0) -> Callable[[Message], None]:
        """A shard has started; return what handles its messages. Its epoch is higher than that of its predecessors,
        which may not know yet that they have been replaced, and from which nothing is accepted any more."""
        self._wires[shard] = wire
        self._epochs[shard] = epoch
        self._news.pop(shard, None)
        for other, others_wire in self._wires.items():
            if other != shard:
                others_wire.send(Joined(shard, epoch))
        if self.over:
            wire.send(self.over)

        def handle(message: Message) -> None:
            if epoch == self._epochs[shard]:
                self.handle(message)

        return handle

    def leave(self, shard: int) -> None:
        """What it had queued must not make others wait."""
        self._wires.pop(shard, None)
        self._answers, self._before = None, []
        for number, (asked, answer) in [*self._orders.items()]:
            if asked == shard:
                del self._orders[number]
                answer.set_exception(_no_answer())
        if last := self._statuses.get(shard):
            self._statuses[shard] = Status(shard, pages=last.pages, relevant=last.relevant, duplicates=last.duplicates)
            self._tell()

    def handle(self, message: Message) -> None:
        match message:
            case Batch() | Ack() | Ask() | Told() | Query() | Hits() | Lend() | Lent() | Answered():
                self.messages += 1
                self.bytes += len(message.body) if isinstance(message, Batch) else 0
                if wire := self._wires.get(message.target):
                    wire.send(message)
            case Status():
                self._update(message)
            case Report() | Failed():
                self._hear(message)
            case Done() if message.number in self._orders:
                _, answer = self._orders.pop(message.number)
                answer.set_exception(BadInput(message.error)) if message.error else answer.set_result(message.result)

    async def ask(self, shard: int, request: Request) -> Any:
        """Pass a request on to the session of a shard; return its answer."""
        if shard not in self._wires:
            raise _no_answer()
        self._last_order += 1
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._orders[self._last_order] = shard, answer
        self._wires[shard].send(Order(self._last_order, request))
        return await answer

    def end(self, why: str, by_user: bool = False) -> None:
        if self.over:
            return
        self.over = Over(why, by_user)
        for wire in self._wires.values():
            wire.send(self.over)

    # -- statuses

    def _update(self, status: Status) -> None:
        shard = status.shard
        self._statuses[shard] = status
        self._asked_back.discard(shard)
        if status.version == self._versions[shard]:
            self._allotted[shard] = min(self._allotted[shard], status.allotted)
        if self.over:
            return
        if why := self._limit_reached():
            self.end(why)
            return
        if self._limits.pages:
            self._allot_all()
        self._tell()
        self._see_whether_all_is_done(status)

    def _limit_reached(self) -> str:
        limits, all_ = self._limits, self._statuses.values()
        pages = sum(status.pages for status in all_)
        if limits.pages and pages >= limits.pages:
            return f"limit of {limits.pages} pages"
        if limits.pages and sum(status.duplicates for status in all_) >= limits.pages:
            return f"limit of {limits.pages} duplicates"
        if limits.relevant and sum(status.relevant for status in all_) >= limits.relevant:
            return f"limit of {limits.relevant} relevant pages"
        return next((status.enough for status in all_ if status.enough), "")

    def _remaining(self) -> int:
        if not self._limits.pages:
            return -1
        left = self._limits.pages - sum(status.pages for status in self._statuses.values())
        return max(0, left) // STEP * STEP

    def _allot_all(self) -> None:
        """Give shards that have used up their pages some more; if none are left, ask those back that others do not use.

        A shard that starts is given at least the pages it has already."""
        versions, statuses = self._versions, self._statuses.values()
        short = [
            one
            for one in statuses
            if not versions[one.shard] or (one.wants_pages and one.version == versions[one.shard])
        ]
        if short:
            left = self._limits.pages - sum(
                max(pages, self._pages(shard)) for shard, pages in enumerate(self._allotted)
            )
        for status in short:
            more = min(left, max(1, min(MOST_ALLOTTED, left // (2 * self._shards))))
            if more > 0:
                left -= more
                self._allotted[status.shard] = max(self._allotted[status.shard], status.pages) + more
                versions[status.shard] += 1
            elif status.wants_pages and status.pages + status.in_flight >= status.allotted:
                self._ask_back(status.shard)

    def _ask_back(self, wanting: int) -> None:
        """Not from a shard that may not have received them yet: the last pages would go back and forth for ever."""
        for shard, status in self._statuses.items():
            has_received = status.version == self._versions[shard]
            unused = has_received and self._allotted[shard] > status.pages + status.in_flight
            if shard != wanting and unused and shard in self._wires and shard not in self._asked_back:
                self._asked_back.add(shard)
                self._wires[shard].send(self._news_for(shard, self._shared(), return_pages=True))

    def _pages(self, shard: int) -> int:
        status = self._statuses.get(shard)
        return status.pages if status else 0

    def _news_for(self, shard: int, shared: Shared, probe: int = -1, return_pages: bool = False) -> News:
        return News(*shared, self._allotted[shard], self._versions[shard], return_pages, probe)

    def _shared(self) -> Shared:
        """What is the same for all shards."""
        return self._least(), self._remaining()

    def _least(self) -> tuple[int, int]:
        """The rank of the last of the best URLs over all shards: one for each, as in a single process."""
        place = self._shards
        for high, low, count in heapq.merge(*(status.best for status in self._statuses.values()), reverse=True):
            place -= count
            if place <= 0:
                return high, low
        return _NONE

    def _tell(self) -> None:
        """Tell each shard what has changed for it."""
        shared = self._shared()
        for shard, wire in self._wires.items():
            news = self._news_for(shard, shared)
            if news != self._news.get(shard):
                self._news[shard] = news
                wire.send(news)

    # -- the end

    def _see_whether_all_is_done(self, status: Status) -> None:
        """All is done if all shards are idle and every batch sent has been applied, twice in a row: what was on its way
        while the shards were asked the first time has arrived when they are asked again."""
        if self._answers is None:
            if status.is_idle and self._is_done(self._statuses):
                self._ask_all()
            return
        if status.probe == self._probe:
            self._answers[status.shard] = status
        if not status.is_idle:
            self._answers, self._before = None, []
        elif len(self._answers) == self._shards:
            answers = [_counters(self._answers[shard]) for shard in range(self._shards)]
            if not self._is_done(self._answers):
                self._answers, self._before = None, []
            elif answers == self._before:
                self.end("frontier empty")
            else:
                self._before = answers
                self._ask_all()

    def _is_done(self, statuses: dict[int, Status]) -> bool:
        if len(statuses) < self._shards or len(self._wires) < self._shards:
            return False
        if not all(status.is_idle for status in statuses.values()):
            return False
        every = range(self._shards)
        return all(statuses[one].sent[other] == statuses[other].applied[one] for one in every for other in every)

    def _ask_all(self) -> None:
        self._probe += 1
        self._answers = {}
        shared = self._shared()
        for shard, wire in self._wires.items():
            wire.send(self._news_for(shard, shared, self._probe))


def _counters(status: Status) -> Status:
    return Status(status.shard, pages=status.pages, sent=status.sent, applied=status.applied)


def _no_answer() -> BadInput:
    return BadInput("a shard is starting or about to end; try again")
