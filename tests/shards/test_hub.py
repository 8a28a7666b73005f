"""The hub: one order, one page limit, and an end only when nothing is left anywhere, not even on its way."""

import asyncio
from types import SimpleNamespace

import pytest

from lycosa import config
from lycosa.control import Request
from lycosa.errors import BadInput
from lycosa.shards.hub import Hub
from lycosa.shards.messages import Ack, Batch, Done, Failed, Joined, Message, News, Order, Over, Report, Status
from lycosa.shards.quota import ShardQuota


class Recorder:
    """A wire that keeps what was sent over it."""

    def __init__(self) -> None:
        self.sent: list[Message] = []

    def send(self, message: Message) -> None:
        self.sent.append(message)

    async def receive(self) -> Message | None:
        return None

    async def close(self) -> None: ...

    def news(self) -> News:
        return [message for message in self.sent if isinstance(message, News)][-1]


def make_hub(shards: int = 2, pages: int = 0, relevant: int = 0) -> tuple[Hub, list[Recorder], list[Report | Failed]]:
    heard: list[Report | Failed] = []
    hub = Hub(shards, config.Limits(pages=pages, relevant=relevant), heard.append)
    wires = [Recorder() for _ in range(shards)]
    for shard, wire in enumerate(wires):
        hub.join(shard, wire)
    return hub, wires, heard


def idle(shard: int, probe: int = -1, sent: int = 0, applied: int = 0) -> Status:
    other = 1 - shard
    there, here = [0, 0], [0, 0]
    there[other], here[other] = sent, applied
    return Status(shard, is_idle=True, sent=there, applied=here, probe=probe)


def test_messages_are_passed_on_to_their_shard() -> None:
    hub, wires, heard = make_hub()
    hub.handle(Batch(0, 1, 1, b"x"))
    hub.handle(Ack(1, 0, 1))
    assert wires[1].sent == [Batch(0, 1, 1, b"x")]
    assert wires[0].sent == [Joined(1), Ack(1, 0, 1)]
    hub.handle(Report(0, {"pages": 1}))
    assert heard == [Report(0, {"pages": 1})]


def test_a_batch_for_a_shard_that_is_gone_is_dropped_and_others_hear_when_it_is_back() -> None:
    hub, wires, _ = make_hub()
    hub.leave(1)
    hub.handle(Batch(0, 1, 1, b"x"))
    hub.join(1, wires[1])
    assert wires[1].sent == []
    assert wires[0].sent[-1] == Joined(1)


def test_it_ends_only_when_all_are_idle_in_two_rounds() -> None:
    hub, wires, _ = make_hub()
    hub.handle(idle(0))
    hub.handle(idle(1))
    assert not hub.over
    for probe in (1, 2):
        assert [wire.news().probe for wire in wires] == [probe, probe]
        hub.handle(idle(0, probe))
        assert not hub.over
        hub.handle(idle(1, probe))
    assert hub.over == Over("frontier empty")
    assert wires[0].sent[-1] == Over("frontier empty")


def test_it_does_not_end_while_a_batch_is_on_its_way() -> None:
    hub, _, _ = make_hub()
    hub.handle(idle(0, sent=1))
    hub.handle(idle(1, applied=0))
    assert not hub.over
    hub.handle(idle(1, applied=1))
    hub.handle(idle(0, 1, sent=1))
    hub.handle(idle(1, 1, applied=1))
    hub.handle(Status(0, is_idle=False, sent=[0, 1], applied=[0, 0]))  # woken in between
    hub.handle(idle(0, 2, sent=1))
    hub.handle(idle(1, 2, applied=1))
    assert not hub.over


def test_it_does_not_end_without_a_shard_that_was_killed() -> None:
    hub, wires, _ = make_hub()
    hub.handle(idle(0))
    hub.leave(1)
    hub.handle(idle(0))
    assert not hub.over
    hub.join(1, wires[1])
    hub.handle(idle(1))
    for probe in (1, 2):
        hub.handle(idle(0, probe))
        hub.handle(idle(1, probe))
    assert hub.over


def test_allotments_never_exceed_the_limit() -> None:
    hub, wires, _ = make_hub(pages=10)
    pages, allotted = [0, 0], [0, 0]
    for _ in range(100):
        for shard in (0, 1):
            if wires[shard].sent and any(isinstance(message, News) for message in wires[shard].sent):
                allotted[shard] = wires[shard].news().allotted
            pages[shard] = min(pages[shard] + 1, allotted[shard])
            version = wires[shard].news().version if allotted[shard] else 0
            wants = pages[shard] == allotted[shard]
            hub.handle(Status(shard, pages=pages[shard], allotted=allotted[shard], version=version, wants_pages=wants))
            assert sum(pages) <= 10
    assert sum(pages) == 10
    assert hub.over == Over("limit of 10 pages")


def test_unused_pages_are_asked_back_for_a_shard_that_wants_them() -> None:
    hub, wires, _ = make_hub(pages=10)
    hub.handle(Status(0))
    hub.handle(Status(1))
    unused = wires[0].news().allotted
    assert unused > 0
    hub.handle(Status(0, allotted=unused, version=wires[0].news().version))
    for _ in range(10):
        given = wires[1].news()
        assert given.allotted <= 10 - unused
        hub.handle(Status(1, pages=given.allotted, allotted=given.allotted, version=given.version, wants_pages=True))
    assert any(isinstance(message, News) and message.return_pages for message in wires[0].sent)
    hub.handle(Status(0, allotted=0, version=wires[0].news().version))
    assert wires[1].news().allotted > 10 - unused


def test_a_limit_on_relevant_pages_counts_all_shards() -> None:
    hub, _, _ = make_hub(relevant=5)
    hub.handle(Status(0, relevant=2))
    assert not hub.over
    hub.handle(Status(1, relevant=3))
    assert hub.over == Over("limit of 5 relevant pages")


def test_only_the_best_urls_of_all_shards_are_fetched_next() -> None:
    hub, wires, _ = make_hub(pages=100)
    hub.handle(Status(0, [(1, 90, 1), (1, 80, 10)]))
    assert wires[1].news().least == (1, 80)
    hub.handle(Status(1, [(1, 95, 1), (1, 85, 4)]))
    assert [wire.news().least for wire in wires] == [(1, 90), (1, 90)]
    hub.leave(1)  # what it had queued must not make others wait
    assert wires[0].news().least == (1, 80)


def test_nothing_is_accepted_from_a_predecessor() -> None:
    hub, _, heard = make_hub()
    old, new, other = Recorder(), Recorder(), Recorder()
    from_old = hub.join(0, old, epoch=3)
    hub.join(1, other, epoch=4)
    from_old(Batch(0, 1, 1, b"x", 3))
    from_new = hub.join(0, new, epoch=5)
    for message in (
        Batch(0, 1, 2, b"y", 3),
        Ack(0, 1, 7),
        Status(0, pages=9),
        Report(0, {"pages": 9}),
        Failed(0, "no"),
    ):
        from_old(message)
    from_new(Batch(0, 1, 2, b"z", 5))
    assert [message for message in other.sent if not isinstance(message, News)] == [
        Batch(0, 1, 1, b"x", 3),
        Joined(0, 5),
        Batch(0, 1, 2, b"z", 5),
    ]
    assert heard == []


async def test_a_request_is_passed_on_and_fails_if_its_shard_is_gone() -> None:
    hub, wires, _ = make_hub()
    asked = asyncio.ensure_future(hub.ask(1, Request("pause")))
    await asyncio.sleep(0)
    order = wires[1].sent[-1]
    assert isinstance(order, Order)
    hub.handle(Done(1, order.number, {"changed": True}))
    assert await asked == {"changed": True}
    lost = asyncio.ensure_future(hub.ask(1, Request("pause")))
    await asyncio.sleep(0)
    hub.leave(1)
    with pytest.raises(BadInput, match="try again"):
        await lost
    with pytest.raises(BadInput, match="try again"):
        await hub.ask(1, Request("pause"))


class Fetching:
    """A shard that fetches whatever it may, and says so at once."""

    def __init__(self, hub: Hub, shard: int, limits: config.Limits, pages: int) -> None:
        self.counts = SimpleNamespace(pages=pages, relevant=0, duplicates=0)
        self._hub, self._shard, self._wire = hub, shard, Recorder()
        self._quota = ShardQuota(limits, self.counts, self.tell)
        hub.join(shard, self._wire)

    def fetch(self) -> None:
        for news in [message for message in self._wire.sent if isinstance(message, News)]:
            if news.version > self._quota.version:
                self._quota.allot(news.allotted, news.version)
            if news.return_pages:
                self._quota.give_back(0)
        self._wire.sent.clear()
        self.counts.pages += self._quota.admits(0)
        self.tell()

    def tell(self) -> None:
        quota = self._quota
        self._hub.handle(
            Status(
                self._shard,
                pages=self.counts.pages,
                allotted=quota.allotted,
                version=quota.version,
                wants_pages=quota.wants_pages,
            )
        )


@pytest.mark.parametrize(("limit", "had"), [(90, [20, 20, 20]), (80, [40, *[0] * 11]), (60, [59, 0]), (60, [0, 60])])
def test_a_crawl_that_goes_on_counts_what_shards_have_that_did_not_start_yet(limit: int, had: list[int]) -> None:
    """A shard that starts early asks for pages before the others have said how many they have."""
    limits = config.Limits(pages=limit)
    hub = Hub(len(had), limits, lambda message: None, [Status(shard, pages=pages) for shard, pages in enumerate(had)])
    started: list[Fetching] = []
    for shard, pages in enumerate(had):
        started.append(Fetching(hub, shard, limits, pages))
        for _ in range(limit):
            for one in started:
                one.fetch()
                assert sum(one.counts.pages for one in started) + sum(had[len(started) :]) <= limit
    assert sum(one.counts.pages for one in started) == limit
    assert hub.over == Over(f"limit of {limit} pages")


def test_the_crawl_ends_when_the_shard_that_counts_has_found_enough() -> None:
    hub, _, _ = make_hub()
    hub.handle(Status(1, pages=3))
    assert hub.over is None
    hub.handle(Status(0, pages=3, enough="limit of 80 % recall"))
    assert hub.over == Over("limit of 80 % recall")
