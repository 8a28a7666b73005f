"""The index of a WARC: right, remembered, and never trusted more than the file."""

import gzip
import logging
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import xxhash

from lycosa.lab import index as module
from lycosa.lab.index import SUFFIX, Index, index_of
from lycosa.types import BadInput

A, B, C = "http://a.example/", "http://a.example/b", "http://c.example/c"


@pytest.fixture
def path(warcs: Any) -> Path:
    return warcs.pages("web.warc.gz", {A: "<p>one", B: warcs.moved("/c?x=1"), C: warcs.http(b"", "404 Not Found")})


@pytest.fixture
def kept(cache: Path) -> Callable[[], Path]:
    """The one index in the cache."""

    def find() -> Path:
        (found,) = cache.iterdir()
        return found

    return find


def read_anew(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Every file that is read through from now on."""
    read: list[Path] = []
    original = module._make

    def make(path: Path, size: int, mtime_ns: int) -> Index:
        read.append(path)
        return original(path, size, mtime_ns)

    monkeypatch.setattr(module, "_make", make)
    return read


class TestContent:
    def test_entries_in_order(self, path: Path) -> None:
        entries = index_of(path).entries
        assert [entry.url for entry in entries] == [A, B, C]
        assert [entry.status for entry in entries] == [200, 301, 404]
        assert [entry.content_type for entry in entries] == ["text/html", "", "text/html"]
        assert [entry.location for entry in entries] == ["", "http://a.example/c?x=1", ""]

    def test_bodies_are_told_apart(self, warcs: Any) -> None:
        path = warcs.pages("web.warc", {A: "same", B: "same", C: "other"})
        one, two, three = index_of(path).entries
        assert one.body == two.body != three.body
        assert 0 not in (one.body, three.body)

    def test_no_body_can_be_forged_to_pass_for_another(self, warcs: Any) -> None:
        """These two share the fast hash without a secret, whose first factor the first eight bytes make zero."""
        zero = bytes.fromhex("b8fe6c3923a44bbe")
        bodies = [zero + middle + b"the same to end." for middle in (b"one page", b"the rest")]
        assert len({xxhash.xxh3_64_intdigest(body) for body in bodies}) == 1
        path = warcs.pages("web.warc", dict(zip((A, B), map(warcs.http, bodies), strict=True)))
        one, two = index_of(path).entries
        assert one.body != two.body

    def test_an_empty_body(self, warcs: Any) -> None:
        assert index_of(warcs.pages("web.warc", {A: ""})).entries[0].body == 0

    def test_addresses_become_canonical(self, warcs: Any) -> None:
        path = warcs.pages("web.warc", {"http://A.example:80/b#c": "x", "dns:a.example": "y"})
        assert [entry.url for entry in index_of(path).entries] == [B]

    def test_types_lose_their_parameters(self, warcs: Any) -> None:
        path = warcs.pages("web.warc", {A: warcs.http(b"x", Content_Type="Text/HTML; charset=utf-8")})
        assert index_of(path).entries[0].content_type == "text/html"

    def test_a_redirect_to_nowhere(self, warcs: Any) -> None:
        path = warcs.pages("web.warc", {A: warcs.moved("mailto:me"), B: warcs.moved("")})
        assert [entry.location for entry in index_of(path).entries] == ["", ""]

    def test_other_records_are_passed_over(self, warcs: Any) -> None:
        page = warcs.http(b"x")
        path = warcs.write(
            "w.warc.gz",
            warcs.record(A, b"software: x\r\n", "warcinfo"),
            warcs.record(A, b"GET / HTTP/1.1\r\n\r\n", "request"),
            warcs.record(A, page),
            warcs.record(A, b"x: y\r\n", "metadata"),
        )
        assert [entry.url for entry in index_of(path).entries] == [A]


class TestMemory:
    def test_the_second_time_nothing_is_read(
        self, path: Path, kept: Callable[[], Path], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        first = index_of(path)
        assert kept().name.startswith("web.warc.gz-")
        assert kept().name.endswith(SUFFIX)
        read = read_anew(monkeypatch)
        assert index_of(path) == first
        assert read == []

    def test_nothing_is_written_beside_the_file(self, path: Path) -> None:
        index_of(path)
        assert [one.name for one in path.parent.iterdir()] == [path.name]

    def test_an_index_beside_the_file_is_not_trusted(
        self, path: Path, kept: Callable[[], Path], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        first = index_of(path)
        kept().rename(path.with_name(path.name + SUFFIX))
        read = read_anew(monkeypatch)
        assert index_of(path) == first
        assert read == [path]

    def test_a_file_that_changed_is_read_again(
        self, path: Path, warcs: Any, cache: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        index_of(path)
        read = read_anew(monkeypatch)
        os.utime(path, ns=(0, 0))
        index_of(path)
        assert read == [path]
        warcs.pages(path.name, {A: "<p>another"})
        os.utime(path, ns=(0, 0))
        assert len(index_of(path).entries) == 1
        assert read == [path, path]
        assert len(list(cache.iterdir())) == 1

    def test_a_damaged_index_is_made_again(
        self, path: Path, kept: Callable[[], Path], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        whole = index_of(path)
        good = kept().read_bytes()
        read = read_anew(monkeypatch)
        flipped = bytearray(good)
        flipped[len(good) // 2] ^= 1
        damaged = [b"", b"junk", good[:-5], good + b"x", bytes(flipped), good.replace(b"index 2", b"index 1", 1)]
        for count, data in enumerate(damaged, 1):
            kept().write_bytes(data)
            assert index_of(path) == whole
            assert len(read) == count
            assert kept().read_bytes() == good

    def test_another_shape_behind_a_good_checksum(self, path: Path, kept: Callable[[], Path]) -> None:
        whole = index_of(path)
        data = b"\x93\x01\x02\x03"
        kept().write_bytes(module._MAGIC + module.xxhash.xxh3_64_digest(data) + data)
        assert index_of(path) == whole

    def test_namesakes_do_not_share_an_index(self, warcs: Any, cache: Path) -> None:
        for folder in ("x", "y"):
            path = warcs.pages(f"{folder}/web.warc", {f"http://{folder}.example/": "x"})
            assert index_of(path).entries[0].url == f"http://{folder}.example/"
        assert len(list(cache.iterdir())) == 2

    def test_a_cache_that_cannot_be_written(self, path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        cache.parent.joinpath("file").touch()
        monkeypatch.setenv("XDG_CACHE_HOME", str(cache.parent / "file"))
        assert len(index_of(path).entries) == 3
        assert [one.name for one in path.parent.iterdir()] == [path.name]

    def test_a_process_without_a_home(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
        monkeypatch.setattr(Path, "home", lambda: (_ for _ in ()).throw(RuntimeError("no home")))
        assert len(index_of(path).entries) == 3

    def test_nothing_half_written_stays(self, path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(Path, "replace", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left")))
        assert len(index_of(path).entries) == 3
        assert list(cache.iterdir()) == []


class TestDamage:
    def test_no_such_file(self, tmp_path: Path) -> None:
        with pytest.raises(BadInput, match=r"none\.warc: cannot be read: No such file"):
            index_of(tmp_path / "none.warc")

    def test_no_warc(self, tmp_path: Path) -> None:
        (tmp_path / "a.warc").write_bytes(b"garbage" * 50)
        with pytest.raises(BadInput, match="cannot be read as a WARC"):
            index_of(tmp_path / "a.warc")

    @pytest.mark.parametrize("name", ["web.warc", "web.warc.gz"])
    def test_of_a_torn_file_the_rest_counts(self, warcs: Any, name: str, caplog: pytest.LogCaptureFixture) -> None:
        path = warcs.pages(name, {A: "one" * 500, B: "two" * 500, C: "three" * 500})
        path.write_bytes(path.read_bytes()[:-40])
        with caplog.at_level(logging.WARNING):
            assert [entry.url for entry in index_of(path).entries] == [A, B]
        assert "1 replies are damaged" in caplog.text

    def test_garbage_in_the_middle(self, warcs: Any, caplog: pytest.LogCaptureFixture) -> None:
        good = gzip.compress(warcs.record(A, warcs.http(b"x")))
        path = warcs.write("w.warc.gz")
        path.write_bytes(good + b"\x1f\x8b garbage" + good)
        with caplog.at_level(logging.WARNING):
            index = index_of(path)
        assert [entry.url for entry in index.entries] == [A]
        assert "cannot be read as a WARC" in index.damage
        assert "the 1 replies before it are used" in caplog.text

    def test_compressed_as_a_whole(self, warcs: Any) -> None:
        records = [warcs.record(url, warcs.http(b"x")) for url in (A, B)]
        path = warcs.write("w.warc.gz")
        path.write_bytes(gzip.compress(b"".join(records)))
        with pytest.raises(BadInput, match="not compressed per record; unpack it"):
            index_of(path)
