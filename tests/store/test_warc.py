"""What we write, others read: warcio and fastwarc are the judges."""

import gzip
import os
import random
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import warcio.checker
from fastwarc.warc import ArchiveIterator as FastIterator
from fastwarc.warc import has_valid_payload_digest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from warcio.archiveiterator import ArchiveIterator
from warcio.recordloader import ArcWarcRecord

from lycosa.store.warc import WarcWriter
from lycosa.store.warc_reader import Record, read_record
from lycosa.types import BadInput, Exchange

AT = 1_790_000_000.123456
FIRST, SECOND, THIRD = (f"lycosa-{number:05}.warc.gz" for number in (1, 2, 3))
REQUEST = b"GET /a HTTP/1.1\r\nHost: example.org\r\nUser-Agent: Lycosa\r\n\r\n"
PAGE = b"<html><title>A page</title>" + b"words and words, " * 200
SQUEEZED = gzip.compress(PAGE, mtime=0)  # no time in it: the examples must repeat
EVERY_PLACE = settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])


def exchange(url: str = "http://example.org/a", head: bytes = b"", payload: bytes = PAGE, at: float = AT) -> Exchange:
    head = head or b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n" % len(payload)
    return Exchange(url, REQUEST, head, payload, at, "192.0.2.7")


def packed(payload: bytes = PAGE, encoding: str = "gzip") -> Exchange:
    head = f"HTTP/1.1 200 OK\r\nContent-Encoding: {encoding}\r\nContent-Length: {len(payload)}\r\n\r\n"
    return exchange(head=head.encode(), payload=payload)


@contextmanager
def opened(folder: Path, max_bytes: int = 10**9) -> Iterator[WarcWriter]:
    writer = WarcWriter(folder, "lycosa/test", max_bytes)
    writer.open()
    try:
        yield writer
    finally:
        writer.close()


def write(folder: Path, *exchanges: Exchange) -> tuple[str, int, int]:
    with opened(folder) as writer:
        return [writer.write([one]) for one in exchanges][-1]


def independent(path: Path) -> list[tuple[ArcWarcRecord, bytes]]:
    """Every record and its raw payload as warcio reads them, digests checked."""
    with path.open("rb") as file:
        records = []
        for record in ArchiveIterator(file, check_digests="raise"):
            records.append((record, record.raw_stream.read()))
        return records


def responses(path: Path) -> list[tuple[ArcWarcRecord, bytes]]:
    return [(record, payload) for record, payload in independent(path) if record.rec_type == "response"]


def check(path: Path) -> int:
    """What `warcio check` says: 0 is clean, digests, members and all."""

    class Args:
        inputs = (str(path),)
        verbose = False

    return warcio.checker.Checker(Args).process_all() or 0


class TestWrite:
    def test_first_record_says_who_wrote_it(self, tmp_path: Path) -> None:
        write(tmp_path, exchange())
        info, fields = independent(tmp_path / FIRST)[0]
        assert info.rec_type == "warcinfo"
        assert info.rec_headers.get_header("WARC-Filename") == FIRST
        assert b"software: lycosa/test\r\n" in fields

    def test_response_and_request_belong_together(self, tmp_path: Path) -> None:
        write(tmp_path, exchange())
        (_, (answer, payload), (question, nothing)) = independent(tmp_path / FIRST)
        assert (answer.rec_type, question.rec_type) == ("response", "request")
        assert (payload, nothing) == (PAGE, b"")
        answered, asked = answer.rec_headers, question.rec_headers
        assert asked.get_header("WARC-Concurrent-To") == answered.get_header("WARC-Record-ID")
        assert asked.get_header("WARC-Record-ID") != answered.get_header("WARC-Record-ID")
        assert answered.get_header("WARC-Target-URI") == asked.get_header("WARC-Target-URI") == "http://example.org/a"
        assert answered.get_header("WARC-Date") == "2026-09-21T14:13:20.123456Z"
        assert answered.get_header("WARC-IP-Address") == "192.0.2.7"
        assert answered.get_header("Content-Type") == "application/http;msgtype=response"
        assert question.http_headers.get_header("User-Agent") == "Lycosa"

    @pytest.mark.parametrize("one", [exchange(), packed(SQUEEZED), packed(random.Random(1).randbytes(200_000))])
    def test_other_readers_find_it_clean(self, tmp_path: Path, one: Exchange) -> None:
        write(tmp_path, one, one)
        assert check(tmp_path / FIRST) == 0
        assert [payload for _, payload in responses(tmp_path / FIRST)] == [one.payload] * 2
        with (tmp_path / FIRST).open("rb") as file:
            assert len(list(FastIterator(file, parse_http=False))) == 5
            file.seek(0)
            assert len(list(FastIterator(file, func_filter=has_valid_payload_digest))) == 2

    def test_returns_the_place_of_the_last_response(self, tmp_path: Path) -> None:
        redirect = exchange("http://example.org/", b"HTTP/1.1 301 Moved\r\nLocation: /a\r\n\r\n", b"")
        with opened(tmp_path) as writer:
            name, offset, length = writer.write([redirect, exchange()])
        member = (tmp_path / name).read_bytes()[offset : offset + length]
        assert gzip.decompress(member).startswith(b"WARC/1.1\r\nWARC-Type: response\r\n")
        assert read_record(tmp_path / name, offset).payload == PAGE
        assert [record.http_headers.get_statuscode() for record, _ in responses(tmp_path / name)] == ["301", "200"]

    def test_nothing_to_write(self, tmp_path: Path) -> None:
        with opened(tmp_path) as writer:
            assert writer.write([]) == ("", 0, 0)
            assert writer.position() == ("", 0)
        assert list(tmp_path.iterdir()) == []

    def test_without_a_request_or_an_address(self, tmp_path: Path) -> None:
        write(tmp_path, Exchange("http://example.org/", b"", b"HTTP/1.1 200 OK\r\n\r\n", b"x", AT))
        assert [record.rec_type for record, _ in independent(tmp_path / FIRST)] == ["warcinfo", "response"]
        assert responses(tmp_path / FIRST)[0][0].rec_headers.get_header("WARC-IP-Address") is None

    def test_same_exchanges_same_bytes(self, tmp_path: Path) -> None:
        for folder in ("one", "two"):
            write(tmp_path / folder, exchange(), packed(SQUEEZED), exchange())
        assert (tmp_path / "one" / FIRST).read_bytes() == (tmp_path / "two" / FIRST).read_bytes()

    def test_record_ids_differ_even_for_the_same_exchange(self, tmp_path: Path) -> None:
        write(tmp_path, exchange(), exchange())
        names = [record.rec_headers.get_header("WARC-Record-ID") for record, _ in independent(tmp_path / FIRST)]
        assert len(set(names)) == len(names) == 5

    def test_compressed_payload_is_not_compressed_again(self, tmp_path: Path) -> None:
        noise = random.Random(1).randbytes(150_000)
        _, _, length = write(tmp_path, packed(noise))
        assert noise[:60_000] in (tmp_path / FIRST).read_bytes()
        assert length < len(noise) + 700

    @settings(max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(
        payload=st.binary(max_size=500) | st.integers(65_520, 65_550).map(bytes) | st.just(bytes(131_070)),
        encoded=st.booleans(),
        at=st.floats(0, 4e9),
        url=st.text(max_size=30).map("http://example.org/".__add__),
    )
    def test_any_exchange_comes_back(self, tmp_path: Path, payload: bytes, encoded: bool, at: float, url: str) -> None:
        coding = b"Content-Encoding: br\r\n" if encoded else b""
        one = exchange(url, b"HTTP/1.1 200 OK\r\nX: \xff\r\n" + coding, payload, at)
        name, offset, _ = write(tmp_path, one)
        assert read_record(tmp_path / name, offset).payload == payload
        assert responses(tmp_path / name)[-1][1] == payload
        (tmp_path / name).unlink()


class TestHead:
    @pytest.mark.parametrize(
        "head",
        [
            b"HTTP/1.1 200 OK\r\nServer: x\r\n",
            b"HTTP/1.1 200 OK\r\nServer: x",
            b"HTTP/1.1 200 OK\r\nServer: x\r\nContent-Length: 3\r\n\r\n",
            b"HTTP/1.1 200 OK\r\ncontent-length: 99\r\nServer: x\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\nServer: x\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nContent-Length:\r\n  4\r\nServer: x\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nServer: x\r\n\r\n",
            b"HTTP/1.1 200 OK\nContent-Length: 17\nServer: x\n\n",
        ],
    )
    def test_length_is_that_of_the_payload(self, tmp_path: Path, head: bytes) -> None:
        name, _, _ = write(tmp_path, exchange(head=head, payload=b"abc"))
        assert check(tmp_path / name) == 0
        ((answer, payload),) = responses(tmp_path / name)
        http = answer.http_headers
        assert payload == b"abc"
        assert [value for key, value in http.headers if key.lower() == "content-length"] == ["3"]
        assert http.get_header("Transfer-Encoding") is None
        assert http.get_header("Server") == "x"

    def test_a_true_head_is_not_touched(self, tmp_path: Path) -> None:
        head = b"HTTP/1.1 200 Okay\r\nx-ODD:  \xe9 \r\nContent-Encoding: gzip\r\ncontent-length: 3\r\nA: b\r\n\r\n"
        name, offset, _ = write(tmp_path, exchange(head=head, payload=b"abc"))
        assert read_record(tmp_path / name, offset) == Record("http://example.org/a", head, b"abc")

    @pytest.mark.parametrize("status", ["100 Continue", "103 Early Hints", "204 No Content", "304 Not Modified"])
    def test_answers_that_have_no_body_have_no_length(self, tmp_path: Path, status: str) -> None:
        head = f"HTTP/1.1 {status}\r\nContent-Length: 512\r\nETag: x\r\n\r\n".encode()
        name, offset, _ = write(tmp_path, exchange(head=head, payload=b""))
        assert check(tmp_path / name) == 0
        assert read_record(tmp_path / name, offset).head == head.replace(b"Content-Length: 512\r\n", b"")

    def test_empty_payload(self, tmp_path: Path) -> None:
        name, offset, _ = write(tmp_path, exchange(head=b"HTTP/1.1 200 OK\r\n\r\n", payload=b""))
        assert check(tmp_path / name) == 0
        assert read_record(tmp_path / name, offset)[1:] == (b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", b"")

    @pytest.mark.parametrize(
        ("url", "kept"),
        [
            ("http://example.org/ä?q=ö", "http://example.org/%C3%A4?q=%C3%B6"),
            ("http://example.org/\r\nWARC-Type: warcinfo", "http://example.org/%0D%0AWARC-Type:%20warcinfo"),
            ("http://example.org/%C3%A4%zz", "http://example.org/%C3%A4%zz"),
            ("http://example.org/\ud800", "http://example.org/?"),
        ],
    )
    def test_an_address_cannot_break_the_record(self, tmp_path: Path, url: str, kept: str) -> None:
        name, offset, _ = write(tmp_path, exchange(url))
        assert check(tmp_path / name) == 0
        assert responses(tmp_path / name)[0][0].rec_headers.get_header("WARC-Target-URI") == kept
        assert read_record(tmp_path / name, offset).url == kept


class TestFiles:
    def test_a_full_file_is_followed_by_the_next(self, tmp_path: Path) -> None:
        with opened(tmp_path, max_bytes=4000) as writer:
            names = [writer.write([packed(bytes(1500))])[0] for _ in range(5)]
            assert writer.position() == (THIRD, (tmp_path / THIRD).stat().st_size)
        assert names == [FIRST, FIRST, SECOND, SECOND, THIRD]
        for name in set(names):
            assert check(tmp_path / name) == 0
            assert independent(tmp_path / name)[0][0].rec_type == "warcinfo"

    def test_goes_on_in_the_last_file(self, tmp_path: Path) -> None:
        for _ in range(3):
            name, offset, _ = write(tmp_path, exchange())
        assert [path.name for path in tmp_path.iterdir()] == [FIRST]
        assert [record.rec_type for record, _ in independent(tmp_path / FIRST)] == [
            "warcinfo",
            *["response", "request"] * 3,
        ]
        assert read_record(tmp_path / name, offset).payload == PAGE

    def test_restart_at_a_full_file(self, tmp_path: Path) -> None:
        for expected in (FIRST, SECOND):
            with opened(tmp_path, max_bytes=100) as writer:
                assert writer.write([exchange()])[0] == expected

    def test_numbers_beyond_five_digits(self, tmp_path: Path) -> None:
        for number in (99_999, 100_000):
            (tmp_path / f"lycosa-{number}.warc.gz").write_bytes(b"full")
        with opened(tmp_path, max_bytes=4) as writer:
            assert writer.write([exchange()])[0] == "lycosa-100001.warc.gz"

    def test_position_is_the_end_of_the_file(self, tmp_path: Path) -> None:
        with opened(tmp_path / "deep" / "warc") as writer:
            for _ in range(2):
                _, offset, length = writer.write([exchange()])
                assert writer.position() == (FIRST, (tmp_path / "deep" / "warc" / FIRST).stat().st_size)
                assert writer.position()[1] > offset + length

    def test_closing_twice_is_fine(self, tmp_path: Path) -> None:
        with opened(tmp_path) as writer:
            writer.write([exchange()])
            writer.close()

    def test_a_killed_process_loses_nothing(self, tmp_path: Path) -> None:
        script = (
            "import os, signal, sys; from pathlib import Path; from lycosa.store.warc import WarcWriter\n"
            "from lycosa.types import Exchange; writer = WarcWriter(Path(sys.argv[1])); writer.open()\n"
            "writer.write([Exchange('http://example.org/', b'', b'HTTP/1.1 200 OK', b'kept', 1.0)])\n"
            "os.kill(os.getpid(), signal.SIGKILL)"
        )
        assert subprocess.run([sys.executable, "-c", script, tmp_path]).returncode == -signal.SIGKILL
        assert check(tmp_path / FIRST) == 0
        assert [payload for _, payload in responses(tmp_path / FIRST)] == [b"kept"]


class TestFull:
    def test_what_was_half_written_is_taken_back(self, tmp_path: Path) -> None:
        with opened(tmp_path) as writer:
            writer.write([exchange()])
            before, limits = writer.position(), resource.getrlimit(resource.RLIMIT_FSIZE)
            resource.setrlimit(resource.RLIMIT_FSIZE, (before[1] + 1000, limits[1]))
            try:
                with pytest.raises(OSError, match="too large"):
                    writer.write([packed(random.Random(1).randbytes(5000))])
            finally:
                resource.setrlimit(resource.RLIMIT_FSIZE, limits)
            assert writer.position() == before
            assert (tmp_path / FIRST).stat().st_size == before[1]
            writer.write([exchange()])
        assert check(tmp_path / FIRST) == 0
        assert len(responses(tmp_path / FIRST)) == 2


class TestCut:
    @EVERY_PLACE
    @given(data=st.data())
    def test_a_torn_tail_is_gone(self, tmp_path: Path, data: st.DataObject) -> None:
        path = tmp_path / FIRST
        with opened(tmp_path) as writer:
            writer.write([exchange(payload=b"one")])
            position = writer.position()
            writer.write([packed(gzip.compress(b"two", mtime=0))])
            end = writer.position()[1]
        os.truncate(path, data.draw(st.integers(position[1], end)))
        WarcWriter(tmp_path).cut(*position)
        write(tmp_path, exchange(payload=b"three"))
        assert check(path) == 0
        assert [payload for _, payload in responses(path)] == [b"one", b"three"]
        path.unlink()

    def test_later_files_are_set_aside_and_others_kept(self, tmp_path: Path) -> None:
        (tmp_path / "lycosa-notes.warc.gz").touch()
        (tmp_path / "other-00009.warc.gz").touch()
        with opened(tmp_path, max_bytes=1) as writer:
            writer.write([exchange()])
            position = writer.position()
            for _ in range(2):
                writer.write([exchange()])
        WarcWriter(tmp_path).cut(*position)
        assert {path.name for path in tmp_path.iterdir()} == {
            FIRST,
            "lycosa-00002.warc.gz.uncommitted",
            "lycosa-00003.warc.gz.uncommitted",
            "lycosa-notes.warc.gz",
            "other-00009.warc.gz",
        }
        assert len(responses(tmp_path / FIRST)) == 1

    def test_to_the_beginning(self, tmp_path: Path) -> None:
        with opened(tmp_path, max_bytes=1) as writer:
            position = writer.position()
            for _ in range(2):
                writer.write([exchange()])
        WarcWriter(tmp_path).cut(*position)
        assert WarcWriter(tmp_path).names() == []
        assert write(tmp_path, exchange())[0] == FIRST

    def test_an_emptied_file_begins_again(self, tmp_path: Path) -> None:
        write(tmp_path, exchange())
        WarcWriter(tmp_path).cut(FIRST, 0)
        write(tmp_path, exchange())
        assert check(tmp_path / FIRST) == 0
        assert len(independent(tmp_path / FIRST)) == 3

    def test_before_there_is_a_folder(self, tmp_path: Path) -> None:
        WarcWriter(tmp_path / "warc").cut("", 0)

    @pytest.mark.parametrize("name", [SECOND, "../secret.warc.gz", "crawl.db"])
    def test_a_missing_or_foreign_file(self, tmp_path: Path, name: str) -> None:
        write(tmp_path / "warc", exchange())
        (tmp_path / "secret.warc.gz").write_bytes(b"secret")
        with pytest.raises(BadInput, match="it is missing"):
            WarcWriter(tmp_path / "warc").cut(name, 3)
        assert (tmp_path / "secret.warc.gz").read_bytes() == b"secret"

    def test_a_file_that_lost_its_end(self, tmp_path: Path) -> None:
        write(tmp_path, exchange())
        os.truncate(tmp_path / FIRST, 100)
        with pytest.raises(BadInput, match=rf"{FIRST}: has 100 bytes, but the crawl wrote 101"):
            WarcWriter(tmp_path).cut(FIRST, 101)
        assert (tmp_path / FIRST).stat().st_size == 100
