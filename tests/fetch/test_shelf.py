"""What waits in mid-redirect: in memory up to a limit, then in a file."""

import gc
import os
from pathlib import Path

import pytest

from lycosa.fetch.shelf import Shelf
from lycosa.types import Exchange


def exchanges(size: int, count: int = 1) -> tuple[Exchange, ...]:
    return tuple(
        Exchange(f"http://e.org/{n}", b"GET", os.urandom(size), b"\xff\x00", 1.5, "1.1.1.1") for n in range(count)
    )


def test_it_gives_back_what_it_took_once(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path, most_bytes=5_000)
    put = {f"link {number}": exchanges(1_000, 1 + number % 3) for number in range(20)}
    for key, value in put.items():
        shelf.put(key, value)
    assert 0 < shelf.memory_bytes <= 5_000
    assert shelf.file_bytes > 20_000
    assert list(tmp_path.iterdir()) == []  # nothing is left behind, whatever happens to the process
    for key in sorted(put):
        assert shelf.pop(key) == put[key]
        assert shelf.pop(key) == ()
    assert (shelf.memory_bytes, shelf.file_bytes) == (0, 0)


def test_the_file_is_used_again(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path, most_bytes=0)
    for number in range(5):
        shelf.put("link", exchanges(1_000))
        assert shelf.file_bytes < 2_000
        assert len(shelf.pop("link")) == 1, number


def test_without_need_there_is_no_file(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path / "missing")
    shelf.put("link", exchanges(1_000))
    assert shelf.pop("link")


def test_its_descriptor_goes_with_it(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path, most_bytes=0)
    shelf.put("link", exchanges(10))
    descriptor = shelf._file
    os.fstat(descriptor)
    del shelf
    gc.collect()
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(descriptor)
