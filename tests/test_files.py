"""A file is there as a whole or not at all, and nobody else's file is touched."""

import os
import re
import stat
from pathlib import Path

import pytest

from lycosa import files


def names(folder: Path) -> list[str]:
    return sorted(os.listdir(folder))


def test_a_file_is_written_and_replaced(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    files.write_whole(path, b"one")
    files.write_whole(path, b"two")
    assert path.read_bytes() == b"two"
    assert names(tmp_path) == ["a.json"]


def test_others_may_read_it_as_far_as_the_user_allows(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        files.write_whole(tmp_path / "a", b"")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o640


def test_a_failure_leaves_the_older_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")

    def fail() -> None:
        with files.replacing(path) as part:
            part.write_bytes(b"half")
            assert path.read_bytes() == b"old"
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["a"]


def test_the_unfinished_file_is_beside_it_and_has_its_suffix(tmp_path: Path) -> None:
    with files.replacing(tmp_path / "web.warc.gz") as part:
        assert part.parent == tmp_path
        assert part.name.startswith(".")
        assert part.name.endswith(".web.warc.gz")


def test_a_name_that_somebody_has_is_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("secrets.token_hex", lambda size: "same")
    (tmp_path / ".same.a").write_text("precious")
    with pytest.raises(FileExistsError):
        files.write_whole(tmp_path / "a", b"new")
    assert (tmp_path / ".same.a").read_text() == "precious"
    assert names(tmp_path) == [".same.a"]


def test_two_at_once_do_not_meet(tmp_path: Path) -> None:
    path = tmp_path / "a"
    with files.replacing(path) as first, files.replacing(path) as second:
        first.write_bytes(b"first")
        second.write_bytes(b"second")
    assert path.read_bytes() == b"first"
    assert names(tmp_path) == ["a"]


@pytest.mark.parametrize("name", ["none/a", "folder"])
def test_a_failure_names_the_file_that_was_meant(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match=re.escape(f"'{tmp_path / name}'")):
        files.write_whole(tmp_path / name, b"")
    assert names(tmp_path) == ["folder"]


def test_what_the_user_reads_is_one_line() -> None:
    assert (
        str(files.unwritable("a", PermissionError(13, "Permission denied")))
        == "a: cannot be written: Permission denied"
    )
    assert str(files.unwritable("a", OSError("odd"))) == "a: cannot be written: odd"


def test_a_part_never_has_the_name_of_another_file_and_comes_to_its_place_whole(tmp_path: Path) -> None:
    victim, path = tmp_path / "victim", tmp_path / "x.warc.gz"
    victim.write_bytes(b"kept")
    (tmp_path / "x.warc.gz.part").symlink_to(victim)
    with files.part_of(path) as part:
        part.write(b"all")
        assert not path.exists()
        assert len([*tmp_path.glob("*.warc.gz")]) == 0
    assert (path.read_bytes(), victim.read_bytes()) == (b"all", b"kept")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["victim", "x.warc.gz", "x.warc.gz.part"]
