"""Pages that lie on disk."""

import gzip
from pathlib import Path

import pytest

from lycosa.pages import check_readable, read_page, read_pages
from lycosa.store.warc import WarcWriter
from lycosa.types import BadInput, Exchange


def test_a_folder(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "b.html").write_text("<title>B</title><p>second page")
    (tmp_path / "deep" / "a.HTM").write_text("<p>first page")
    (tmp_path / "c.txt").write_text("plain <text> & more")
    (tmp_path / "d.pdf").write_bytes(b"%PDF")
    found = dict(read_pages(tmp_path))
    assert list(found) == ["b.html", "c.txt", "deep/a.HTM"]
    assert found["b.html"].title == "B"
    assert found["c.txt"].words == ["plain", "text", "more"]


def test_a_warc(tmp_path: Path) -> None:
    writer = WarcWriter(tmp_path)
    writer.open()
    for path, kind, status in (("a", "text/html", 200), ("b", "image/png", 200), ("c", "text/html", 404)):
        head = f"HTTP/1.1 {status} X\r\nContent-Type: {kind}\r\n\r\n".encode()
        writer.write([Exchange(f"http://x.example/{path}", b"GET / HTTP/1.1\r\n\r\n", head, b"<p>hello", 1.0)])
    writer.close()
    (warc,) = tmp_path.iterdir()
    assert [(url, page.words) for url, page in read_pages(warc)] == [("http://x.example/a", ["hello"])]


def test_what_is_not_there_or_of_no_use_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="there is no such folder or file"):
        list(read_pages(tmp_path / "nowhere"))
    (tmp_path / "x.bin").write_bytes(b"1")
    with pytest.raises(BadInput, match="neither a folder of pages nor a WARC"):
        list(read_pages(tmp_path / "x.bin"))
    with pytest.raises(BadInput, match="cannot be read"):
        read_page(tmp_path / "nothing.html")


@pytest.mark.parametrize(
    ("start", "kind"),
    [
        (b"%PDF-1.7 text", "a PDF"),
        (b"\x89PNG\r\n", "a PNG image"),
        (b"\xff\xd8\xff\xe0", "a JPEG image"),
        (b"\x1f\x8b\x08", "a gzip file"),
        (b"PK\x03\x04", "a ZIP archive"),
        (b"\x7fELF\x00\x01", "a binary file"),
    ],
)
def test_what_is_no_text_is_refused(tmp_path: Path, start: bytes, kind: str) -> None:
    (tmp_path / "file.html").write_bytes(start)
    with pytest.raises(BadInput, match=f"file.html: {kind}.*, not a page"):
        check_readable(tmp_path / "file.html")


@pytest.mark.parametrize("body", [b"", b"<p>hello", "hello".encode("utf-16"), "Gr\u00fc\u00dfe".encode("latin-1")])
def test_text_in_any_encoding_is_not(tmp_path: Path, body: bytes) -> None:
    (tmp_path / "file.html").write_bytes(body)
    check_readable(tmp_path / "file.html")


def test_a_page_that_takes_too_long_is_named(tmp_path: Path) -> None:
    (tmp_path / "poison.html").write_text("".join(f"<img a{number}>" for number in range(400_000)))
    with pytest.raises(BadInput, match=r"poison.html: cannot be read: parsing took more than 3 s of CPU time"):
        read_page(tmp_path / "poison.html")


def test_a_bomb_in_a_warc_is_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Unpacked twice it would be 40 MB of tags, and their tree a gigabyte: no parser gets to see it."""
    monkeypatch.setattr("lycosa.pages._parse", lambda *_: pytest.fail("parsed"))
    body = gzip.compress(b"<p>y " * 8_000_000)
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: gzip\r\n\r\n"
    writer = WarcWriter(tmp_path)
    writer.open()
    writer.write([Exchange("http://e.org/", b"", head, body, 1.0)])
    writer.close()
    assert (tmp_path / "lycosa-00001.warc.gz").stat().st_size < 200_000
    assert list(read_pages(tmp_path / "lycosa-00001.warc.gz")) == []
