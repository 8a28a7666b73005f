"""WARCs of ours and of others are read to the letter, and damage is never taken for data."""

import gzip
import os
import random
import zlib
from contextlib import suppress
from pathlib import Path

import brotli
import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.store.test_warc import EVERY_PLACE, FIRST, PAGE, REQUEST, SQUEEZED, exchange, packed, write
from warcio.archiveiterator import ArchiveIterator

from lycosa.store.warc_reader import Response, read_record, read_responses, to_response
from lycosa.types import BadInput


class TestReadRecord:
    @EVERY_PLACE
    @given(data=st.data())
    def test_torn_anywhere(self, tmp_path: Path, data: st.DataObject) -> None:
        name, offset, length = write(tmp_path, packed(SQUEEZED))
        os.truncate(tmp_path / name, data.draw(st.integers(0, offset + length - 1)))
        with pytest.raises(BadInput, match=f"no complete record at byte {offset}"):
            read_record(tmp_path / name, offset)
        (tmp_path / name).unlink()

    @EVERY_PLACE
    @given(place=st.integers(min_value=10), bit=st.integers(0, 7))
    def test_damaged_anywhere(self, tmp_path: Path, place: int, bit: int) -> None:
        name, offset, length = write(tmp_path, exchange())
        data = bytearray((tmp_path / name).read_bytes())
        data[offset + 10 + place % (length - 10)] ^= 1 << bit  # the ten bytes before hold time and system: unchecked
        (tmp_path / name).write_bytes(data)
        with pytest.raises(BadInput):
            read_record(tmp_path / name, offset)
        (tmp_path / name).unlink()

    def test_not_at_a_record(self, tmp_path: Path) -> None:
        name, offset, _ = write(tmp_path, exchange())
        for wrong in (offset + 1, offset + 40, 10**6):
            with pytest.raises(BadInput, match=f"no complete record at byte {wrong}"):
                read_record(tmp_path / name, wrong)

    def test_no_such_file(self, tmp_path: Path) -> None:
        with pytest.raises(BadInput, match="No such file"):
            read_record(tmp_path / FIRST, 0)

    def test_more_than_allowed(self, tmp_path: Path) -> None:
        name, offset, _ = write(tmp_path, exchange(payload=bytes(1_000_000)))
        assert len(read_record(tmp_path / name, offset).payload) == 1_000_000
        with pytest.raises(BadInput, match="longer than 1000 bytes"):
            read_record(tmp_path / name, offset, max_bytes=1000)


def record(block: bytes, kind: str = "response", url: str = "http://example.org/a", length: int | None = None) -> bytes:
    """As others write it."""
    head = (
        f"WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: {url}\r\nWARC-Date: 2020-01-01T00:00:00Z\r\n"
        "WARC-Record-ID: <urn:uuid:83b8e765-cbab-418a-bcdc-1e818768cf67>\r\n"
        "Content-Type: application/http; msgtype=response\r\n"
        f"Content-Length: {len(block) if length is None else length}"
    )
    return head.encode("latin-1") + b"\r\n\r\n" + block + b"\r\n\r\n"


def answer(headers: str, body: bytes) -> bytes:
    return f"HTTP/1.1 200 OK\r\n{headers}\r\n".encode() + body


def chunked(body: bytes, size: int = 700) -> bytes:
    parts = [body[start : start + size] for start in range(0, len(body), size)]
    return b"".join(b"%x;name=value\r\n%s\r\n" % (len(part), part) for part in parts) + b"0\r\nTrailer: x\r\n\r\n"


def raw_deflate(body: bytes) -> bytes:
    stream = zlib.compressobj(wbits=-15)
    return stream.compress(body) + stream.flush()


ENCODERS = {
    "gzip": gzip.compress,
    "x-gzip": lambda body: gzip.compress(body[:100]) + gzip.compress(body[100:]) + b"\0\0junk",
    "deflate": zlib.compress,
    "Deflate": raw_deflate,
    "br": brotli.compress,
    "zstd": lambda body: zstandard.compress(body[:100]) + zstandard.compress(body[100:]),
    "identity": bytes,
    "gzip, br": lambda body: brotli.compress(gzip.compress(body)),
    "nonsense": bytes,
}


class TestReadResponses:
    def read(self, folder: Path, *records: bytes, max_bytes: int = 10**6) -> list[Response]:
        """The same from the three ways to keep it."""
        plain, one, each = (folder / name for name in ("plain.warc", "one.warc.gz", "each.warc.gz"))
        plain.write_bytes(b"".join(records))
        one.write_bytes(gzip.compress(b"".join(records)))
        each.write_bytes(b"".join(map(gzip.compress, records)))
        found = list(read_responses(each, max_bytes))
        for path in (plain, one):
            assert [one._replace(offset=0) for one in read_responses(path, max_bytes)] == [
                one._replace(offset=0) for one in found
            ]
        return found

    def test_ours(self, tmp_path: Path) -> None:
        write(tmp_path, exchange(), packed(SQUEEZED), exchange("https://example.org/b", payload=b"b"))
        found = list(read_responses(tmp_path / FIRST))
        assert [one.body for one in found] == [PAGE, PAGE, b"b"]
        assert [one.url for one in found] == ["http://example.org/a"] * 2 + ["https://example.org/b"]
        assert {one.status for one in found} == {200}
        assert found[0].headers["content-type"] == "text/html"
        for one in found:
            assert to_response(read_record(tmp_path / FIRST, one.offset), one.offset) == one

    def test_offsets_of_plain_files(self, tmp_path: Path) -> None:
        path = tmp_path / "plain.warc"
        path.write_bytes(
            b"".join(record(answer("", body), url=f"http://{body.decode()}/") for body in (b"a", b"b", b"c"))
        )
        for one in read_responses(path):
            assert read_record(path, one.offset).url == one.url == f"http://{one.body.decode()}/"

    @pytest.mark.parametrize("encoding", ENCODERS)
    @pytest.mark.parametrize("transfer", ["", "Transfer-Encoding: chunked\r\n"])
    def test_encodings(self, tmp_path: Path, encoding: str, transfer: str) -> None:
        payload = ENCODERS[encoding](PAGE)
        block = answer(f"Content-Encoding: {encoding}\r\n{transfer}", chunked(payload) if transfer else payload)
        (found,) = self.read(tmp_path, record(block))
        assert (found.body, found.error) == (PAGE, "")

    @pytest.mark.parametrize("encoding", ENCODERS)
    def test_recorders_that_decoded_but_kept_the_headers(self, tmp_path: Path, encoding: str) -> None:
        headers = f"Content-Encoding: {encoding}\r\nTransfer-Encoding: chunked\r\nContent-Length: 12\r\n"
        (found,) = self.read(tmp_path, record(answer(headers, PAGE)))
        assert (found.body, found.error) == (PAGE, "")

    @pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "zstd"])
    def test_no_bomb_goes_off(self, tmp_path: Path, encoding: str) -> None:
        bomb = ENCODERS[encoding](bytes(3_000_000))
        (found,) = self.read(tmp_path, record(answer(f"Content-Encoding: {encoding}\r\n", bomb)), max_bytes=100_000)
        assert (found.body, found.error) == (bytes(100_000), "too-large")

    @pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "zstd"])
    def test_a_body_that_cannot_be_decoded(self, tmp_path: Path, encoding: str) -> None:
        noise = answer(f"Content-Encoding: {encoding}\r\n", b"\x1f\x8b\x08noise" + bytes(range(256)))
        good = record(answer("", b"good"))
        bad, after = self.read(tmp_path, record(noise), good)
        assert (bad.status, bad.body, bad.error) == (200, b"", "damaged")
        assert (after.body, after.error) == (b"good", "")

    def test_a_body_cut_short_is_read_as_far_as_it_goes(self, tmp_path: Path) -> None:
        text = random.Random(1).randbytes(5000).hex().encode()
        payload = gzip.compress(text)
        (found,) = self.read(tmp_path, record(answer("Content-Encoding: gzip\r\n", payload[: len(payload) // 2])))
        assert 1000 < len(found.body) < len(text)
        assert text.startswith(found.body)

    def test_a_large_body(self, tmp_path: Path) -> None:
        large, good = self.read(tmp_path, record(answer("", b"x" * 5000)), record(answer("", b"good")), max_bytes=1000)
        assert (large.error, set(large.body), good.body) == ("too-large", set(b"x"), b"good")

    def test_what_is_not_a_page_is_skipped(self, tmp_path: Path) -> None:
        found = self.read(
            tmp_path,
            record(b"software: x\r\n", "warcinfo"),
            record(b"example.org A 192.0.2.7", url="dns:example.org"),
            record(REQUEST, "request"),
            record(answer("ETag: x\r\n", b""), "revisit"),
            record(answer("", b"page"), url="<https://example.org/>"),
        )
        assert [(one.url, one.body) for one in found] == [("https://example.org/", b"page")]

    def test_headers(self, tmp_path: Path) -> None:
        block = (
            b"HTTP/1.0 301 Moved\nLocation: /\xe4\nX-Robots-Tag: noindex\nx-robots-tag: nofollow\n"
            b"Server: x\nServer: x\nFolded: a\n  b\nno colon\n\nbody"
        )
        (found,) = self.read(tmp_path, record(block))
        assert (found.status, found.body) == (301, b"body")
        assert found.headers == {
            "location": "/ä", "x-robots-tag": "noindex, nofollow", "server": "x", "folded": "a b",
        }  # fmt: skip
        (found,) = self.read(tmp_path, record("HTTP/2 200\r\nLocation: /ä\r\n\r\n".encode()))
        assert (found.status, found.headers["location"], found.body) == (200, "/ä", b"")

    def test_addresses_in_another_encoding(self, tmp_path: Path) -> None:
        (found,) = self.read(tmp_path, record(answer("", b"x"), url="http://example.org/\xe4"))
        assert found.url == "http://example.org/\ufffd"

    def test_no_http_at_all(self, tmp_path: Path) -> None:
        (found,) = self.read(tmp_path, record(b"<html>no head"))
        assert (found.status, found.error) == (0, "damaged")

    def test_a_torn_last_record(self, tmp_path: Path) -> None:
        good, torn = record(answer("", b"good")), record(answer("", b"half"), length=1000)
        found = list(self.read(tmp_path, good, torn))
        assert [one.error for one in found] == ["", "damaged"]

    def test_no_warc(self, tmp_path: Path) -> None:
        for name, data in (("a.warc", b"garbage" * 50), ("b.warc.gz", gzip.compress(b"garbage" * 50))):
            (tmp_path / name).write_bytes(data)
            with pytest.raises(BadInput, match=f"{name}: cannot be read as a WARC"):
                list(read_responses(tmp_path / name))
        with pytest.raises(BadInput, match=r"none\.warc: .*No such file"):
            list(read_responses(tmp_path / "none.warc"))

    def test_nothing_in_it(self, tmp_path: Path) -> None:
        (tmp_path / "empty.warc.gz").touch()
        assert list(read_responses(tmp_path / "empty.warc.gz")) == []

    @settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(data=st.data())
    def test_damage_never_escapes(self, tmp_path: Path, data: st.DataObject) -> None:
        block = answer(
            "Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n", chunked(gzip.compress(b"x" * 99, mtime=0))
        )
        text = record(answer("", b"first")) + record(block) + record(answer("", b"last"))
        start = data.draw(st.integers(0, len(text)))
        end = start + data.draw(st.integers(0, 30))
        path = tmp_path / "damaged.warc"
        path.write_bytes(
            text[:start] + data.draw(st.binary(max_size=10) | st.sampled_from([b"-1", b"9" * 30])) + text[end:]
        )
        with suppress(BadInput):
            assert len(list(read_responses(path))) <= 4


def test_a_recorded_web() -> None:
    folder = Path(os.environ.get("LYCOSA_WEBS") or Path(__file__).parents[3] / "shared" / "webs")
    path = folder / "webkb-texas.warc.gz"
    if not path.exists():
        pytest.skip("needs the recorded webs: set LYCOSA_WEBS to their folder")
    found = list(read_responses(path))
    assert len(found) > 800
    assert {one.error for one in found} == {""}
    assert {one.status for one in found} == {200, 301}
    with path.open("rb") as file:
        for mine, theirs in zip(found, ArchiveIterator(file), strict=True):
            assert mine.url == theirs.rec_headers.get_header("WARC-Target-URI")
            assert mine.body == theirs.content_stream().read()
    last = found[-1]
    assert to_response(read_record(path, last.offset), last.offset) == last
