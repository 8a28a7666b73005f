"""What a common store promises, whether it is a folder or something that fsspec knows."""

import uuid
from pathlib import Path

import pytest

from lycosa.errors import ConfigError
from lycosa.shards.objects import Objects, open_objects, require_writable


@pytest.fixture(params=["folder", "memory://", "file://"])
def objects(request: pytest.FixtureRequest, tmp_path: Path) -> Objects:
    if request.param == "folder":
        return open_objects(str(tmp_path / "store"))
    pytest.importorskip("fsspec")
    if request.param == "memory://":
        return open_objects(f"memory://{uuid.uuid4().hex}/store")
    return open_objects(f"file://{tmp_path / 'store'}")


def test_what_was_put_is_there_and_listed_in_order(objects: Objects) -> None:
    require_writable(objects, "there")
    for name in ("1/db/b", "1/db/a", "1/warc/x/1", "10/db/a"):
        objects.put(name, name.encode())
    assert objects.get("1/db/b") == b"1/db/b"
    assert objects.names("1/db") == ["1/db/a", "1/db/b"]
    assert objects.names("1") == ["1/db/a", "1/db/b", "1/warc/x/1"]
    assert objects.names("2") == []


def test_what_is_not_there_is_a_key_error(objects: Objects) -> None:
    with pytest.raises(KeyError):
        objects.get("nothing/here")


def test_a_folder_is_deleted_and_others_are_not(objects: Objects) -> None:
    for name in ("1/a", "1/b/c", "10/a"):
        objects.put(name, b"x")
    objects.delete("1")
    objects.delete("2")
    assert objects.names("1") == []
    assert objects.names("10") == ["10/a"]
    objects.delete("")
    assert objects.names("10") == []


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    where = str(tmp_path / "file" / "store")
    with pytest.raises(ConfigError, match=r"run\.store.*file/store"):
        require_writable(open_objects(where), where)
    with pytest.raises(ConfigError, match="nonsense"):
        open_objects("nonsense://bucket")
