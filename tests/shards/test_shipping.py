"""The state of a shard in a common store: whatever was shipped survives the node, and nothing else."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator

from lycosa.shards import shipping
from lycosa.shards.objects import FolderObjects
from lycosa.shards.shipping import Shipper, fetch_database, fetch_records, put_base, restore
from lycosa.store.db import CrawlDb
from lycosa.store.shard_ship import move
from lycosa.store.visits import VisitStore
from lycosa.store.warc import WarcWriter
from lycosa.types import Exchange


@pytest.fixture
def nodes() -> Iterator[list["Node"]]:
    """Closed at the end of a test, for nodes that are lost in it."""
    opened: list[Node] = []
    yield opened
    for node in opened:
        node.writer.close()
        node.db.close()


class Node:
    """A shard with a database and WARC files, and a shipper."""

    def __init__(self, nodes: list["Node"], home: Path, objects: FolderObjects, epoch: int) -> None:
        nodes.append(self)
        home.mkdir()
        restore(objects, 0, home)
        self.db = CrawlDb(home / "crawl.db").open()
        self.writer = WarcWriter(home / "warc")
        VisitStore(self.db, self.writer).open()
        self.shipper = Shipper(objects, 0, epoch, home)
        self.shipper.open(self.db)

    def fetch(self, url: str) -> None:
        """Store a page, as a visit does, and commit."""
        self.writer.write([Exchange(f"http://{url}/", b"", b"HTTP/1.1 200 OK\r\n\r\n", url.encode(), 1.0)])
        self.db.put(url, "fetched")
        self.db.commit()


@pytest.fixture
def objects(tmp_path: Path) -> FolderObjects:
    found = FolderObjects(tmp_path / "store")
    with closing(CrawlDb(tmp_path / "first.db").open()) as db:
        db.put("begun", "here")
        db.commit()
    put_base(found, 0, 0, tmp_path / "first.db")
    return found


def state(objects: FolderObjects, folder: Path) -> tuple[set[str], list[str]]:
    """The pages that the database knows, and the answers in the WARC files."""
    folder.mkdir()
    last, _ = move(fetch_database(objects, 0, folder), is_away=False)
    fetch_records(objects, 0, folder, last)
    with closing(CrawlDb(folder / "crawl.db", readonly=True).open()) as db:
        pages = {key for key, value in db.execute("SELECT key, value FROM meta") if value == "fetched"}
    stored = []
    for path in sorted(folder.glob("*.warc.gz")):
        with path.open("rb") as file:
            for record in ArchiveIterator(file, check_digests="raise"):
                if record.rec_type == "response":
                    stored.append(record.content_stream().read().decode())
    return pages, stored


async def test_a_lost_node_loses_what_was_not_shipped_and_its_successor_goes_on(
    tmp_path: Path, objects: FolderObjects, nodes: list[Node]
) -> None:
    one = Node(nodes, tmp_path / "one", objects, 1)
    assert one.db.get("begun") == "here"
    one.fetch("a")
    await one.shipper.ship()
    one.fetch("b")
    await one.shipper.ship()
    one.fetch("c")  # and then the node is lost
    other = Node(nodes, tmp_path / "other", objects, 2)
    assert (other.db.get("b"), other.db.get("c")) == ("fetched", "")
    other.fetch("c")
    await other.shipper.ship()
    assert state(objects, tmp_path / "home") == ({"a", "b", "c"}, ["a", "b", "c"])


async def test_records_shipped_without_their_visits_are_not_stored_twice(
    tmp_path: Path, objects: FolderObjects, nodes: list[Node]
) -> None:
    one = Node(nodes, tmp_path / "one", objects, 1)
    one.fetch("a")
    await one.shipper.ship()
    one.fetch("b")
    one.shipper._copy_records()  # the node is lost before its database follows
    other = Node(nodes, tmp_path / "other", objects, 2)
    assert other.db.get("b") == ""
    other.fetch("b")
    await other.shipper.ship()
    assert state(objects, tmp_path / "home") == ({"a", "b"}, ["a", "b"])


async def test_a_file_begun_after_the_last_shipped_commit_is_replaced(
    tmp_path: Path, objects: FolderObjects, nodes: list[Node]
) -> None:
    one = Node(nodes, tmp_path / "one", objects, 1)
    await one.shipper.ship()
    one.fetch("a")
    one.shipper._copy_records()
    other = Node(nodes, tmp_path / "other", objects, 2)
    await other.shipper.ship()
    assert state(objects, tmp_path / "home") == (set(), [])
    other.fetch("b")
    await other.shipper.ship()
    assert state(objects, tmp_path / "later") == ({"b"}, ["b"])


async def test_what_waits_for_a_commit_is_called_once_that_is_safe(
    tmp_path: Path, objects: FolderObjects, nodes: list[Node]
) -> None:
    node = Node(nodes, tmp_path / "one", objects, 1)
    called: list[str] = []
    node.shipper.when_safe(lambda: called.append("first"))
    assert not called
    await node.shipper.ship()
    node.shipper.when_safe(lambda: called.append("second"))
    assert called == ["first"]
    await node.shipper.ship()
    assert called == ["first", "second"]


async def test_a_long_log_is_moved_to_the_database(
    tmp_path: Path, objects: FolderObjects, nodes: list[Node], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shipping, "_LEAST_LOG_BYTES", 100_000)
    node = Node(nodes, tmp_path / "one", objects, 1)
    expected = set()
    for number in range(60):
        node.db.put(f"filler {number}", "x" * 20_000)
        node.fetch(url := f"page {number}")
        expected.add(url)
        await node.shipper.ship()
    bases = [name for name in objects.names("0/db") if name.endswith("/base")]
    assert max(bases) > "0/db/000001-000002"
    assert len(bases) == 2, "the one from the start, and the last generation"
    assert state(objects, tmp_path / "home")[0] == expected


async def test_a_reader_does_not_stop_the_shipping(
    tmp_path: Path, objects: FolderObjects, nodes: list[Node], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shipping, "_LEAST_LOG_BYTES", 0)
    node = Node(nodes, tmp_path / "one", objects, 1)
    expected = set()
    for number in range(12):
        reader = CrawlDb(tmp_path / "one" / "crawl.db", readonly=True).open()
        rows = reader.execute("SELECT key FROM meta")
        rows.fetchone()  # a read is under way
        node.db.put(f"filler {number}", "x" * 50_000)
        node.fetch(url := f"page {number}")
        expected.add(url)
        await node.shipper.ship()
        reader.close()
        node.fetch(url := f"page {number} more")
        expected.add(url)
        await node.shipper.ship()
    assert state(objects, tmp_path / "home")[0] == expected


async def test_at_the_end_everything_is_there(tmp_path: Path, objects: FolderObjects, nodes: list[Node]) -> None:
    node = Node(nodes, tmp_path / "one", objects, 1)
    node.fetch("a")
    await node.shipper.ship()
    node.fetch("b")
    node.db.close()
    node.shipper.finish()
    assert state(objects, tmp_path / "home") == ({"a", "b"}, ["a", "b"])


async def test_a_store_that_fails_for_a_while_loses_nothing(
    tmp_path: Path, objects: FolderObjects, nodes: list[Node]
) -> None:
    node = Node(nodes, tmp_path / "one", objects, 1)
    called: list[str] = []
    node.fetch("a")
    node.shipper.when_safe(lambda: called.append("safe"))
    (tmp_path / "store").rename(tmp_path / "gone")
    (tmp_path / "store").touch()
    await node.shipper.ship()
    assert not called
    (tmp_path / "store").unlink()
    (tmp_path / "gone").rename(tmp_path / "store")
    await node.shipper.ship()
    assert called == ["safe"]
    assert state(objects, tmp_path / "home") == ({"a"}, ["a"])
    (tmp_path / "store").rename(tmp_path / "gone")
    (tmp_path / "store").touch()
    node.fetch("b")
    for _ in range(shipping.MOST_FAILURES - 1):
        await node.shipper.ship()
    with pytest.raises(OSError):
        await node.shipper.ship()
