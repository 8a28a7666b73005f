"""However many shards there are, a reader sees the same."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from lycosa import config
from lycosa.shards.layout import scatter
from lycosa.shards.routing import BUCKETS
from lycosa.store import labels, shard_fold
from lycosa.store.db import CrawlDb
from lycosa.store.shard_views import REFERENCE

TABLES = {
    "urls": "url, anchor, depth, score, state, band, origin",
    "visits": "n, url, final_url, error, title, warc",
    "hosts": "*",
    "robots": "*",
    "notes": "*",
    "meta": "key",
    "labels": "*",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A crawl of 30 hosts, divided among 7 shards."""
    with closing(CrawlDb(tmp_path / "crawl.db").open()) as db:
        for number in range(1, 31):
            url = f"http://host{number}.example/"
            source = number // 2
            db.execute("INSERT INTO urls VALUES (?, ?, ?, 'anchor', 1, 0.5, 1, 1, 0)", (number, url, source))
            db.execute(
                "INSERT INTO visits (n, url, final_url, error, fetched_at, title, warc, duplicate_of, digest)"
                " VALUES (?, ?, ?, '', ?, 'title', 'a.warc.gz', '', ?)",
                (number, url, url, float(number), f"digest {number}"),
            )
            db.execute("INSERT INTO hosts VALUES (?, 0, 0, 0, 1, '')", (f"host{number}.example",))
            db.execute("INSERT INTO robots VALUES (?, '', 'none', 0)", (f"http://host{number}.example",))
            db.note(f"labels page {url}", "words")
        db.put("excluded", '["nowhere.example"]')
        labels.put_labels(db, {"http://host3.example/": True, "http://host4.example/": False}, "import", 1.0)
        db.commit()
    scatter(tmp_path, 7)
    return tmp_path


def read(folder: Path) -> Iterator[tuple[str, list[Any]]]:
    with closing(CrawlDb(folder / "crawl.db", readonly=True).open()) as db:
        for table, columns in TABLES.items():
            yield table, sorted(db.execute(f"SELECT {columns} FROM {table}").fetchall())
        yield "sources", sorted(db.execute("SELECT u.url, s.url FROM urls u JOIN urls s ON s.id = u.source").fetchall())
        yield "answers", [labels.answers(db)]
        yield "excluded", [db.get("excluded")]


def test_folded_shards_look_like_attached_ones(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    attached = dict(read(folder))
    assert len(attached["visits"]) == len(attached["urls"]) == 30
    assert len(attached["sources"]) == 29
    assert len(attached["labels"]) == 2
    monkeypatch.setattr(shard_fold, "MOST_ATTACHED", 3)
    assert dict(read(folder)) == attached


def test_a_table_is_read_when_it_is_needed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also while the rows of another one are being read."""
    monkeypatch.setattr(shard_fold, "MOST_ATTACHED", 3)
    with closing(shard_fold.FoldedShards(sorted((folder / "shards").iterdir()))) as db:
        found = []
        for (url,) in db.execute("SELECT url FROM visits"):
            found += db.execute("SELECT state FROM urls WHERE url = ?", (url,)).fetchall()
        assert found == [(1,)] * 30
        assert db._unread == {"links", "hosts", "robots", "notes", "labels"}


def test_there_are_as_many_shards_as_buckets_and_references() -> None:
    assert config.MOST_SHARDS == BUCKETS == REFERENCE
