"""Nothing that the crawl did not write is deleted, cut or written to."""

from pathlib import Path

import pytest

from lycosa.store.warc import WarcWriter
from lycosa.types import BadInput, Exchange

FIRST, SECOND = "lycosa-00001.warc.gz", "lycosa-00002.warc.gz"
EXCHANGE = Exchange("http://e.org/", b"GET / HTTP/1.1\r\n\r\n", b"HTTP/1.1 200 OK\r\n\r\n", b"<p>text", 1_700_000_000.0)


def write(folder: Path, files: int = 1) -> None:
    writer = WarcWriter(folder, max_bytes=1)
    writer.open()
    for _ in range(files):
        writer.write([EXCHANGE])
    writer.close()


def crawled(folder: Path) -> tuple[str, int]:
    """A file of ours and its end."""
    write(folder)
    return FIRST, (folder / FIRST).stat().st_size


def first_record_of_another(folder: Path) -> bytes:
    (folder / "other").mkdir()
    write(folder / "other")
    return (folder / "other" / FIRST).read_bytes()


@pytest.mark.parametrize("content", [b"my notes", b"\x1f\x8b\x08 not really gzip", b"WARC/1.1\r\nWARC-Type: response"])
def test_a_later_file_that_is_not_ours_is_refused_and_kept(tmp_path: Path, content: bytes) -> None:
    end = crawled(tmp_path)
    (tmp_path / SECOND).write_bytes(content)
    with pytest.raises(BadInput, match=r"lycosa-00002.warc.gz: not written by this crawl; move it away"):
        WarcWriter(tmp_path).cut(*end)
    assert (tmp_path / SECOND).read_bytes() == content


def test_a_renamed_file_of_another_crawl_is_refused_and_kept(tmp_path: Path) -> None:
    end = crawled(tmp_path)
    content = first_record_of_another(tmp_path)
    (tmp_path / SECOND).write_bytes(content)
    with pytest.raises(BadInput, match="not written by this crawl"):
        WarcWriter(tmp_path).cut(*end)
    assert (tmp_path / SECOND).read_bytes() == content


@pytest.mark.parametrize("kept", [0, 1, 10, 100, 300, 10_000])
def test_what_a_killed_run_began_is_set_aside(tmp_path: Path, kept: int) -> None:
    end = crawled(tmp_path)
    write(tmp_path)
    content = (tmp_path / SECOND).read_bytes()[:kept]
    for name in (f"{SECOND}.uncommitted", f"{SECOND}.uncommitted1"):
        (tmp_path / SECOND).write_bytes(content)
        WarcWriter(tmp_path).cut(*end)
        assert (tmp_path / name).read_bytes() == content
        assert WarcWriter(tmp_path).names() == [FIRST]


def test_what_the_last_run_began_is_deleted_and_what_another_began_is_not(tmp_path: Path) -> None:
    end = crawled(tmp_path)
    for run in ("last", "another"):
        writer = WarcWriter(tmp_path, max_bytes=1)
        writer.run = run
        writer.open()
        writer.write([EXCHANGE])
        writer.close()
        WarcWriter(tmp_path).cut(*end, "last")
        assert WarcWriter(tmp_path).names() == [FIRST]
    assert [path.name for path in tmp_path.glob("*.uncommitted")] == [f"{SECOND}.uncommitted"]


def test_a_link_is_neither_cut_nor_written_to(tmp_path: Path) -> None:
    name, end = crawled(tmp_path)
    (tmp_path / FIRST).rename(tmp_path / "target")
    (tmp_path / FIRST).symlink_to("target")
    with (tmp_path / "target").open("ab") as file:
        file.write(b"precious")
    before = (tmp_path / "target").read_bytes()
    with pytest.raises(BadInput, match="not written by this crawl"):
        WarcWriter(tmp_path).cut(name, end)
    with pytest.raises(BadInput, match="not written by this crawl"):
        WarcWriter(tmp_path).open()
    assert (tmp_path / "target").read_bytes() == before


def test_a_later_link_is_kept(tmp_path: Path) -> None:
    end = crawled(tmp_path)
    (tmp_path / "target").write_bytes(b"precious")
    (tmp_path / SECOND).symlink_to("target")
    with pytest.raises(BadInput, match="not written by this crawl"):
        WarcWriter(tmp_path).cut(*end)
    assert (tmp_path / SECOND).is_symlink()


def test_a_file_that_comes_while_the_crawl_runs_is_refused(tmp_path: Path) -> None:
    writer = WarcWriter(tmp_path, max_bytes=1)
    writer.open()
    writer.write([EXCHANGE])
    (tmp_path / SECOND).write_bytes(b"precious")
    with pytest.raises(BadInput, match="not written by this crawl"):
        writer.write([EXCHANGE])
    writer.close()
    assert (tmp_path / SECOND).read_bytes() == b"precious"
