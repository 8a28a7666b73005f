"""An old database means the same to a reader, who changes nothing, and to a writer, who upgrades it."""

import re
import sqlite3
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lycosa.store.db import MIGRATIONS, SCHEMA, VERSION, CrawlDb
from lycosa.types import BadInput, Band, Origin

ADDED = {3: r",\s*band INTEGER DEFAULT 1, origin INTEGER DEFAULT 0", 2: r", classes TEXT DEFAULT ''"}
OLD = st.sampled_from(sorted(MIGRATIONS)).map(lambda number: number - 1)
SCORES = st.one_of(st.floats(0, 1e8), st.just(1e9))
URLS = st.lists(st.tuples(st.integers(0, 3), st.sampled_from(["", "words"]), SCORES, st.integers(0, 1)), max_size=8)
VISITS = st.lists(st.one_of(st.none(), SCORES), max_size=5)


def write(path: Path, version: int, urls: list[Any], visits: list[Any]) -> None:
    """A database as an earlier version wrote it."""
    schema = SCHEMA
    for number in range(version + 1, VERSION + 1):
        assert re.search(ADDED[number], schema)
        schema = re.sub(ADDED[number], "", schema)
    with sqlite3.connect(path) as raw:
        raw.executescript(schema)
        for number, (source, anchor, score, state) in enumerate(urls, 1):
            row = (number, f"http://a/{number}", source, anchor, 1, score, state)
            raw.execute("INSERT INTO urls VALUES (?, ?, ?, ?, ?, ?, ?)", row)
        for number, score in enumerate(visits, 1):
            raw.execute("INSERT INTO visits (n, url, score) VALUES (?, ?, ?)", (number, f"http://a/{number}", score))
        raw.execute(f"PRAGMA user_version={version}")
    raw.close()


def read(db: CrawlDb) -> list[list[tuple[Any, ...]]]:
    return [
        db.execute("SELECT id, url, source, anchor, depth, score, state, band, origin FROM urls").fetchall(),
        db.execute("SELECT n, url, score, coalesce(classes, '') FROM visits").fetchall(),
    ]


@given(OLD, URLS, VISITS)
@settings(max_examples=40)
def test_readers_and_writers_see_the_same(version: int, urls: list[Any], visits: list[Any]) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "crawl.db"
        write(path, version, urls, visits)
        before = path.read_bytes()
        reader = CrawlDb(path, readonly=True).open()
        seen = read(reader)
        reader.close()
        assert path.read_bytes() == before
        writer = CrawlDb(path).open()
        assert read(writer) == seen
        writer.close()
        again = CrawlDb(path).open()
        assert read(again) == seen, "and it is upgraded only once"
        again.close()
        for _, _, source, anchor, _, score, _, band, origin in seen[0]:
            assert score < 1e9
            assert band in [*Band]
            assert (origin == Origin.PAGE) == (source != 0)
            assert (origin == Origin.SEARCH) == (source == 0 and anchor != "")


def test_an_upgraded_database_has_the_columns_of_a_new_one(tmp_path: Path) -> None:
    new = CrawlDb(":memory:").open()
    for version in (number - 1 for number in MIGRATIONS):
        path = tmp_path / f"{version}.db"
        write(path, version, [], [])
        old = CrawlDb(path).open()
        for table in ("urls", "visits", "hosts", "links", "notes", "robots", "meta"):
            columns = f"SELECT name, type, dflt_value FROM pragma_table_info('{table}')"
            assert old.execute(columns).fetchall() == new.execute(columns).fetchall()
        old.close()
    new.close()


def test_an_upgrade_that_is_cut_short_can_be_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "crawl.db"
    write(path, 1, [(0, "", 1e9, 0)], [1e9])
    with monkeypatch.context() as patch:
        patch.setitem(MIGRATIONS, VERSION, (*MIGRATIONS[VERSION], "SELECT no_such_function()"))
        with pytest.raises(BadInput, match=r"crawl.db.*cannot be used"):
            CrawlDb(path).open()
    with sqlite3.connect(path) as raw:
        assert raw.execute("PRAGMA user_version").fetchone() == (1,)
        assert raw.execute("SELECT score FROM urls").fetchall() == [(1e9,)]
    raw.close()
    db = CrawlDb(path).open()
    assert db.execute("SELECT score, band FROM urls").fetchall() == [(0.0, Band.FIRST)]
    db.close()
