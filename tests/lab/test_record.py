"""The web of a crawl: checked, counted, and put into one file."""

from pathlib import Path
from typing import Any

import pytest

from lycosa.lab.record import check, merge
from lycosa.lab.recorded import RecordedWeb
from lycosa.types import BadInput

A, B = "http://a.example/", "http://b.example/"


@pytest.fixture
def folder(warcs: Any, tmp_path: Path) -> Path:
    """A crawl folder with two WARCs."""
    warcs.pages("crawl/warc/lycosa-00001.warc.gz", {A: "a", f"{A}1": "one", f"{A}same": "a"})
    warcs.pages("crawl/warc/lycosa-00002.warc.gz", {B: "b", f"{B}lost": warcs.http(b"no", "404 Not Found")})
    return tmp_path / "crawl"


def test_counted(folder: Path) -> None:
    found = check(folder)
    assert (found.addresses, found.pages, found.hosts, found.damage) == (5, 3, 2, [])
    assert [Path(file).name for file in found.files] == ["lycosa-00001.warc.gz", "lycosa-00002.warc.gz"]
    assert found.bytes == sum(Path(file).stat().st_size for file in found.files)


def test_merged(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "new" / "one.warc.gz"
    merge(folder, out)
    one, all_ = RecordedWeb(out).open(), RecordedWeb(folder).open()
    assert list(one.urls()) == list(all_.urls())
    assert all(one.get(url) == all_.get(url) for url in all_.urls())
    assert [path.name for path in out.parent.iterdir()] == ["one.warc.gz"]


def test_the_index_of_the_merged_file_is_kept(folder: Path, tmp_path: Path, cache: Path) -> None:
    merge(folder, tmp_path / "one.warc.gz")
    names = sorted(path.name.partition("-")[0] for path in cache.iterdir())
    assert names == ["lycosa", "lycosa", "one.warc.gz"]


def test_plain_warcs(warcs: Any, tmp_path: Path) -> None:
    warcs.pages("two/1.warc", {A: "a"})
    warcs.pages("two/2.warc", {B: "b"})
    merge(tmp_path / "two", tmp_path / "one.warc")
    assert RecordedWeb(tmp_path / "one.warc").open().pages() == [A, B]


@pytest.mark.parametrize("name", ["one.warc", "one.gz", "one"])
def test_the_name_tells_the_form(folder: Path, tmp_path: Path, name: str) -> None:
    with pytest.raises(BadInput, match=r"one.*: .*(must end in|compressed)"):
        merge(folder, tmp_path / name)


def tear(file: Path, size: int) -> None:
    file.write_bytes(file.read_bytes()[:-size])


def test_a_torn_end_is_no_loss(folder: Path, tmp_path: Path) -> None:
    """As a killed crawl may leave it: the last record is not whole and does not count, before and after."""
    tear(folder / "warc" / "lycosa-00002.warc.gz", 60)
    assert (check(folder).addresses, check(folder).pages) == (4, 3)
    merge(folder, tmp_path / "one.warc.gz")
    assert len(RecordedWeb(tmp_path / "one.warc.gz").open()) == 4


def test_a_tear_in_the_middle_is_refused(folder: Path, tmp_path: Path) -> None:
    tear(folder / "warc" / "lycosa-00001.warc.gz", 60)
    with pytest.raises(BadInput, match="a damaged file cannot be merged"):
        merge(folder, tmp_path / "new" / "one.warc.gz")
    assert list((tmp_path / "new").iterdir()) == []


def test_damage_is_told(folder: Path) -> None:
    file = folder / "warc" / "lycosa-00002.warc.gz"
    file.write_bytes(file.read_bytes() + b"\x1f\x8b no gzip at all" * 9)
    found = check(folder)
    assert found.pages == 3
    assert all("lycosa-00002.warc.gz" in damage for damage in found.damage)


def test_nothing_recorded(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no WARC here"):
        check(tmp_path)


def test_no_place_for_it(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(BadInput, match="cannot be written"):
        merge(folder, tmp_path / "file" / "one.warc.gz")
