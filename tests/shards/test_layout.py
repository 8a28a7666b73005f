"""What is read and waited for before the shards of a folder start."""

import errno
import itertools
import os
import shutil
import threading
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import Any

import pytest

from lycosa.errors import BadInput
from lycosa.locking import lock
from lycosa.shards import layout
from lycosa.store.db import DONE, CrawlDb


def test_shards_of_a_main_process_that_was_killed_may_end_first(tmp_path: Path) -> None:
    layout.scatter(tmp_path, 2)
    with ExitStack() as running:
        running.enter_context(lock(layout.homes(tmp_path)[1]))
        ended = threading.Event()

        def end() -> None:
            ended.set()
            running.close()

        ends = threading.Timer(0.3, end)
        ends.start()
        layout.arrange(tmp_path, 2)
        assert ended.is_set()
        ends.join()


def test_nobody_waits_for_a_shard_that_does_not_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    layout.scatter(tmp_path, 2)
    monkeypatch.setattr(layout, "END_S", 0.2)
    with lock(layout.homes(tmp_path)[0]), pytest.raises(BadInput, match="another lycosa is at work"):
        layout.arrange(tmp_path, 3)


def test_what_each_shard_has_fetched_is_known_before_it_starts(tmp_path: Path) -> None:
    layout.scatter(tmp_path, 3)
    for shard, home in enumerate(layout.homes(tmp_path)):
        with closing(CrawlDb(home / "crawl.db").open()) as db:
            for n in range(1, shard + 2):
                url = f"http://host{shard}/{n}"
                values = (n, url, url, "", f"digest {n}", "http://host/" if n == 2 else "", int(n == 1), 9)
                columns = "n, url, final_url, error, digest, duplicate_of, on_topic, bytes"
                db.execute(f"INSERT INTO visits ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)", values)
            db.commit()
    found = [(one.shard, one.pages, one.relevant, one.duplicates) for one in layout.standings(tmp_path)]
    assert found == [(0, 1, 1, 0), (1, 1, 1, 1), (2, 2, 1, 1)]


@pytest.mark.parametrize("shards", [3, 12])
@pytest.mark.parametrize("lost", ["0", "1", "last"])
@pytest.mark.parametrize("whole", [True, False], ids=["folder", "database"])
def test_a_shard_that_is_missing_is_named(tmp_path: Path, shards: int, lost: str, whole: bool) -> None:
    """Nobody takes what is left for the whole crawl, or one shard for another."""
    layout.scatter(tmp_path, shards)
    home = tmp_path / "shards" / (lost if lost.isdigit() else str(shards - 1))
    shutil.rmtree(home) if whole else (home / "crawl.db").unlink()
    with pytest.raises(BadInput, match=rf"{home.name}/crawl.db: is missing"):
        layout.arrange(tmp_path, shards)
    with pytest.raises(BadInput, match=rf"{home.name}/crawl.db: is missing"):
        CrawlDb(tmp_path / "crawl.db", readonly=True).open()
    assert not (tmp_path / "shards.new").exists()


class Interrupted(BaseException):
    """In place of a kill."""


STEPS = {
    "scatter": ["shard_split.take_share", "_show_records", "Path.rename", "_remove_db"],
    "unite": ["shard_split.gather", "shard_split.collapse", "_bring_records", "Path.rename", "shutil.rmtree"],
}


@pytest.mark.parametrize("done", [False, True], ids=["before", "after"])
@pytest.mark.parametrize(("conversion", "step"), [(name, step) for name, steps in STEPS.items() for step in steps])
@pytest.mark.parametrize("times", [1, 2])
def test_a_conversion_that_is_interrupted_can_be_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, conversion: str, step: str, done: bool, times: int
) -> None:
    """At any step, once or at its second time; and back again."""
    with closing(CrawlDb(tmp_path / "crawl.db").open()) as db:
        for n in range(1, 30):
            url = f"http://host{n}/"
            db.execute("INSERT INTO urls VALUES (?, ?, 0, '', 0, 1.0, ?, 1, 0)", (n, url, DONE))
            db.execute(
                "INSERT INTO visits (n, url, final_url, error, digest) VALUES (?, ?, ?, '', ?)", (n, url, url, n)
            )
        db.commit()
    (tmp_path / "warc").mkdir()
    (tmp_path / "warc" / "lycosa-00001.warc.gz").write_bytes(b"")
    convert = {"scatter": lambda: layout.scatter(tmp_path, 3), "unite": lambda: layout.unite(tmp_path)}
    if conversion == "unite":
        convert["scatter"]()
    with monkeypatch.context() as patch, suppress(Interrupted):
        interrupt(patch, step, done, times)
        convert[conversion]()
    with closing(CrawlDb(tmp_path / "crawl.db", readonly=True).open()) as db:
        assert len(db.execute("SELECT * FROM visits").fetchall()) == 29
    if conversion == "scatter":
        if not layout.homes(tmp_path):
            layout.scatter(tmp_path, 3)
        assert len(layout.homes(tmp_path)) == 3
    if layout.homes(tmp_path):
        layout.unite(tmp_path)
    with closing(CrawlDb(tmp_path / "crawl.db").open()) as db:
        urls = [url for (url,) in db.execute("SELECT url FROM visits ORDER BY n")]
        assert (len(urls), len(set(urls))) == (29, 29)
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def interrupt(patch: pytest.MonkeyPatch, step: str, done: bool, times: int) -> None:
    """Let a step end the conversion, before or after it has done its work, at its first or second time."""
    calls = itertools.count(1)
    owner, _, name = f"layout.{step}".rpartition(".")
    there = eval(owner)
    does = getattr(there, name)

    def interrupted(*arguments: Any, **options: Any) -> Any:
        is_now = next(calls) == times
        if is_now and not done:
            raise Interrupted
        result = does(*arguments, **options)
        if is_now:
            raise Interrupted
        return result

    patch.setattr(there, name, interrupted)


def test_the_log_of_a_database_that_was_divided_is_not_taken_for_that_of_the_new_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reader kept the log open when the conversion was killed."""
    with closing(CrawlDb(tmp_path / "crawl.db").open()) as db:
        db.execute("INSERT INTO visits (n, url, final_url, error) VALUES (1, 'http://a/', 'http://a/', '')")
        db.commit()
        monkeypatch.setattr(layout, "_remove_db", lambda path: path.unlink(missing_ok=True))
        layout.scatter(tmp_path, 2)
        monkeypatch.undo()
        with closing(CrawlDb(layout.homes(tmp_path)[0] / "crawl.db").open()) as shard:
            for n in range(10, 400):
                url = f"http://host/{n}"
                values = (n, url, url, "x" * 1_000)
                shard.execute("INSERT INTO visits (n, url, final_url, error, detail) VALUES (?, ?, ?, '', ?)", values)
            shard.commit()
        assert (tmp_path / "crawl.db-wal").exists()
        layout.unite(tmp_path)
        with closing(CrawlDb(tmp_path / "crawl.db").open()) as one:
            assert one.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            assert one.execute("SELECT count(*) FROM visits").fetchone() == (391,)


def test_on_a_file_system_without_links_records_are_copied_and_no_other_file_is_touched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_links(*_: Any) -> None:
        raise OSError(errno.EPERM, "no links here")

    layout.scatter(tmp_path, 2)
    victim, name = tmp_path / "victim", "lycosa-10000001.warc.gz"
    victim.write_bytes(b"kept")
    for home in layout.homes(tmp_path):
        (home / "warc").mkdir(exist_ok=True)
    with closing(CrawlDb(layout.homes(tmp_path)[0] / "crawl.db").open()) as db:
        db.put("warc_end", f"{name} 7")
        db.commit()
    (layout.homes(tmp_path)[0] / "warc" / name).write_bytes(b"records and more")
    (tmp_path / "warc").mkdir()
    (tmp_path / "warc" / f"{name}.part").symlink_to(victim)
    monkeypatch.setattr(os, "link", no_links)
    layout.unite(tmp_path)
    assert (tmp_path / "warc" / name).read_bytes() == b"records"
    assert victim.read_bytes() == b"kept"
