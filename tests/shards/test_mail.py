"""Letters between shards: at least once on the way, applied exactly once, whatever is lost or repeated."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from lycosa.shards.inbox import Inbox
from lycosa.shards.messages import Ack, Batch, Claim, Letter, encode_letter, pack
from lycosa.shards.outbox import Outbox
from lycosa.shards.routing import Routing
from lycosa.store.db import CrawlDb
from lycosa.store.shard_rows import ShardRows


def opened(path: Path) -> CrawlDb:
    db = CrawlDb(path).open()
    ShardRows(db).create()
    return db


def outbox(db: CrawlDb) -> tuple[Outbox, list[Batch]]:
    sent: list[Batch] = []
    found = Outbox(Routing(0, 2), db, sent.append)
    found.open()
    return found, sent


class Receiver:
    """Applies claims to a list, as a shard applies letters to its frontier."""

    def __init__(self, path: Path) -> None:
        self.db = opened(path)
        self.applied: list[str] = []
        self.acks: list[Ack] = []
        self.inbox = Inbox(Routing(1, 2), self.db, self._apply, self.acks.append)
        self.inbox.open()

    def _apply(self, source: int, letter: Letter) -> None:
        assert isinstance(letter, Claim)
        self.applied.append(letter.url)
        self.db.put(letter.url, "applied")

    async def take(self, *batches: Batch) -> None:
        for batch in batches:
            self.inbox.put(batch)
        running = asyncio.ensure_future(self.inbox.run())
        while self.inbox._batches or self.inbox._busy:  # until all have been taken
            await asyncio.sleep(0)
        running.cancel()


def batch(number: int, *urls: str) -> Batch:
    return Batch(0, 1, number, pack([encode_letter(Claim("d", url)) for url in urls]))


def test_letters_leave_only_after_the_commit_that_stores_them(tmp_path: Path) -> None:
    db = opened(tmp_path / "crawl.db")
    box, sent = outbox(db)
    box.put(1, Claim("d", "a"))
    assert not sent
    assert box.has_letters()
    db.commit()
    assert [one.number for one in sent] == [1]
    assert not box.is_empty()


def test_letters_that_were_not_committed_are_gone_with_the_visit(tmp_path: Path) -> None:
    db = opened(tmp_path / "crawl.db")
    db.commit()
    box, _ = outbox(db)
    box.put(1, Claim("d", "a"))
    db.close()  # killed before the commit
    _, sent = outbox(opened(tmp_path / "crawl.db"))
    assert not sent


def test_what_was_not_acknowledged_is_sent_again_after_a_restart(tmp_path: Path) -> None:
    db = opened(tmp_path / "crawl.db")
    box, sent = outbox(db)
    for url in ("a", "b", "c"):
        box.put(1, Claim("d", url))
        db.commit()
    box.acknowledged(Ack(1, 0, 1))
    db.commit()
    db.close()
    again, sent_again = outbox(opened(tmp_path / "crawl.db"))
    assert sent_again == sent[1:]
    assert again.sent == {0: 0, 1: 3}
    again.acknowledged(Ack(1, 0, 3))
    assert again.is_empty()


def test_many_letters_are_sent_in_several_batches(tmp_path: Path) -> None:
    db = opened(tmp_path / "crawl.db")
    box, sent = outbox(db)
    for number in range(1_200):
        box.put(1, Claim("d", str(number)))
    db.commit()
    assert [one.number for one in sent] == [1, 2, 3]


async def test_a_batch_that_arrives_twice_is_applied_once_and_acknowledged_twice(tmp_path: Path) -> None:
    receiver = Receiver(tmp_path / "crawl.db")
    await receiver.take(batch(1, "a", "b"))
    assert not receiver.acks, "acknowledged before the commit"
    receiver.db.commit()
    await receiver.take(batch(1, "a", "b"))
    receiver.db.commit()
    assert receiver.applied == ["a", "b"]
    assert receiver.acks == [Ack(1, 0, 1), Ack(1, 0, 1)]
    assert receiver.inbox.is_empty()


async def test_a_batch_that_comes_too_early_waits_to_be_sent_again(tmp_path: Path) -> None:
    receiver = Receiver(tmp_path / "crawl.db")
    await receiver.take(batch(2, "b"), batch(1, "a"), batch(2, "b"))
    assert receiver.applied == ["a", "b"]


async def test_after_a_kill_letters_are_applied_that_were_not_committed_and_no_others(tmp_path: Path) -> None:
    receiver = Receiver(tmp_path / "crawl.db")
    await receiver.take(batch(1, "a", "b"))
    receiver.db.commit()
    await receiver.take(batch(2, "c"))
    receiver.db.close()  # killed before the commit
    again = Receiver(tmp_path / "crawl.db")
    await again.take(batch(1, "a", "b"), batch(2, "c"))
    assert again.applied == ["c"]


async def test_a_commit_in_the_middle_of_a_batch_counts(tmp_path: Path) -> None:
    receiver = Receiver(tmp_path / "crawl.db")
    apply = receiver.inbox._apply

    def commit_then_apply(source: int, letter: Letter) -> None:
        if len(receiver.applied) == 2:
            raise KeyboardInterrupt
        apply(source, letter)
        receiver.db.commit()  # comes at the end of the turn

    receiver.inbox._apply = commit_then_apply
    with pytest.raises(KeyboardInterrupt):
        await receiver.inbox._take(batch(1, "a", "b", "c"))
    receiver.db.close()
    again = Receiver(tmp_path / "crawl.db")
    await again.take(batch(1, "a", "b", "c"))
    assert again.applied == ["c"]


async def test_a_batch_of_a_predecessor_is_refused(tmp_path: Path) -> None:
    receiver = Receiver(tmp_path / "crawl.db")
    receiver.inbox.meet(0, 5)
    old, new = (replace(batch(1, url), epoch=epoch) for url, epoch in (("old", 4), ("new", 5)))
    await receiver.take(old, new)
    assert receiver.applied == ["new"]


async def test_nothing_leaves_before_the_commit_is_safe(tmp_path: Path) -> None:
    db = opened(tmp_path / "crawl.db")
    sent: list[Batch] = []
    waiting: list[Callable[[], object]] = []
    box = Outbox(Routing(0, 2), db, sent.append, waiting.append, epoch=2)
    box.open()
    box.put(1, Claim("d", "a"))
    db.commit()
    box.send_again(1)  # the receiver has started in between
    assert not sent
    for call in waiting:
        call()
    assert [(one.number, one.epoch) for one in sent] == [(1, 2)]
    box.send_again(1)
    assert len(sent) == 2
