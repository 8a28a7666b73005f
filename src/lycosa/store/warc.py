"""Store every exchange as it came: WARC 1.1, one gzip member per record, so that any record can be read by offset.

The same exchanges written to an empty folder give the same bytes: dates and record names come from the exchanges.
"""

import hashlib
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from io import BytesIO, FileIO
from pathlib import Path
from typing import BinaryIO, NamedTuple, cast
from urllib.parse import quote

import xxhash
import zstandard
from fastwarc.stream_io import BrotliReader
from fastwarc.warc import ArchiveIterator, WarcRecord, WarcRecordType
from isal import igzip_lib, isal_zlib

from lycosa.store.own_files import open_own, remove_uncommitted, require_ours
from lycosa.types import BadInput, Exchange

MAX_FILE_BYTES, SERIES = 1_000_000_000, 10_000_000  # the latter: file numbers in a series
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
_PAIRS = [one + other for one in _LETTERS for other in _LETTERS]
MAX_BODY_BYTES, _MAX_HEAD_BYTES = 20_000_000, 256_000
_MAX_MEMBERS = 64  # each member or chunk costs a step; a hostile body could have millions
_MAX_CHUNKS = 1_000_000
_ADVICE = "`lycosa check` lists what is missing, and `lycosa repair` makes the crawl usable without it"
_MAX_WINDOW_BYTES = 8 << 20  # what RFC 8878 requires every zstd reader to support, and no more

_DAMAGE = (OSError, EOFError, ValueError, zstandard.ZstdError, cast(type[Exception], isal_zlib.error))
_NAME = re.compile(r"lycosa-(\d{5,})\.warc\.gz")
_GZIP_START = b"\x1f\x8b"
_GZIP_HEAD = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"  # no name and no time, so that nothing changes between runs
_STORED_BYTES = 65_535  # the longest stored block of deflate
_URI_CHARACTERS = "".join(map(chr, range(33, 127)))
_FRAMING = re.compile(rb"^(?:content-length|transfer-encoding)[ \t]*:.*(?:\n[ \t].*)*\n?", re.I | re.M)
_ENCODED = re.compile(rb"^content-encoding[ \t]*:[ \t]*(?!identity)[^\s]", re.I | re.M)
_STATUS = re.compile(rb"HTTP/\d(?:\.\d)?[ \t]+(\d{3})(?!\d)")
_HEAD_END = re.compile(rb"\r?\n\r?\n")
_CHUNK = re.compile(rb"[ \t]*([0-9a-fA-F]{1,15})[ \t]*(?:;[^\n]*)?\r?\n")


class WarcWriter:
    """Append exchanges to the files of a folder; once `write` returns, a kill does not lose them."""

    def __init__(self, folder: Path, software: str = "lycosa", max_bytes: int = MAX_FILE_BYTES) -> None:
        self._folder = folder
        self._software = software
        self._max_bytes = max_bytes
        self.run = ""  # the run that starts files, by which it recognises them
        self.series = 0  # files of other series in the folder are left alone: each shard of a crawl has its own
        self._file: FileIO | None = None  # unbuffered: written data belongs to the system, and errors show at once
        self._name, self._size = "", 0

    def cut(self, file: str, offset: int, run: str = "") -> None:
        """Remove what a `run` that may have been killed wrote after a `position`; call it before `open`."""
        if file:
            self.require(file, offset)
            require_ours(self._folder / file)
            with FileIO(self._folder / file, "rb+", opener=open_own) as opened:
                opened.truncate(offset)
        for name in (name for name in self.names() if file_number(name) > file_number(file)):
            remove_uncommitted(self._folder / name, run)

    def require(self, file: str, least_bytes: int) -> None:
        """Raise BadInput if a file that the crawl wrote is missing, or shorter than it was."""
        path, size = self._folder / file, self.size(file)
        if not _NAME.fullmatch(file) or size < 0:
            raise BadInput(f"{path}: the crawl wrote this file, but it is missing ({_ADVICE})")
        if size < least_bytes:
            raise BadInput(f"{path}: has {size} bytes, but the crawl wrote {least_bytes}: its end is lost ({_ADVICE})")

    def open(self, after: tuple[str, int] = ("", 0)) -> None:
        """Continue at the end of the last file of the folder, or `after` one (and its size) that is elsewhere."""
        self._folder.mkdir(parents=True, exist_ok=True)
        self._name, self._size = after
        if names := self.names():
            self._start(names[-1], "ab")

    def write(self, exchanges: Sequence[Exchange]) -> tuple[str, int, int]:
        """Write all exchanges of one reply, or nothing; return file, offset and length of the last one."""
        if not exchanges:
            return "", 0, 0
        if self._file is None or self._size >= self._max_bytes:
            self._start(f"lycosa-{max(file_number(self._name), self.series * SERIES) + 1:05}.warc.gz", "xb")
        records = [] if self._size else [_info(self._name, self._software, self.run, exchanges[0].at)]
        offset = end = self._size + sum(map(len, records))
        for exchange in exchanges:
            offset, place = end, f"{self._name} {end}"
            records.append(_response(exchange, place))
            length = len(records[-1])
            if exchange.request:
                records.append(_request(exchange, place))
                end += len(records[-1])
            end += length
        self._append(b"".join(records))
        return self._name, offset, length

    def position(self) -> tuple[str, int]:
        """The current file and its end, for `cut`; an empty name before the first exchange."""
        return self._name, self._size

    def size(self, name: str) -> int:
        """The size of a file of this folder; -1 if it is missing."""
        path = self._folder / name
        return path.stat().st_size if path.is_file() else -1

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def names(self) -> list[str]:
        """Our files only: others in the folder are left alone."""
        names = (path.name for path in self._folder.glob("lycosa-*.warc.gz") if _NAME.fullmatch(path.name))
        return sorted((name for name in names if file_number(name) // SERIES == self.series), key=file_number)

    def _start(self, name: str, mode: str) -> None:
        file = FileIO(self._folder / name, mode, opener=open_own)
        self.close()
        self._file, self._name, self._size = file, name, file.tell()

    def _append(self, data: bytes) -> None:
        """Write everything or nothing: a full disk must not leave half a record."""
        assert self._file is not None
        rest = memoryview(data)
        try:
            while rest:
                rest = rest[self._file.write(rest) :]
        except OSError:
            with suppress(OSError):
                self._file.truncate(self._size)
                self._file.seek(self._size)
            raise
        self._size += len(data)


def file_number(name: str) -> int:
    return int(found[1]) if (found := _NAME.fullmatch(name)) else 0


def _info(name: str, software: str, run: str, at: float) -> bytes:
    block = (
        f"software: {software}\r\n{f'isPartOf: {run}{chr(13)}{chr(10)}' if run else ''}format: WARC File Format 1.1\r\n"
        "conformsTo: http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/\r\n"
    ).encode()
    head = (
        f"WARC/1.1\r\nWARC-Type: warcinfo\r\nWARC-Record-ID: {_record_id('warcinfo', name, at)}\r\n"
        f"WARC-Date: {_date(at)}\r\nWARC-Filename: {name}\r\n"
        f"Content-Type: application/warc-fields\r\nContent-Length: {len(block)}\r\n\r\n"
    )
    return _member(head.encode() + block, is_packed=False)


def _response(exchange: Exchange, place: str) -> bytes:
    http, payload = _framed(exchange.head, exchange.payload), exchange.payload
    address = f"WARC-IP-Address: {exchange.ip}\r\n" if exchange.ip else ""
    head = (
        f"WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: {_record_id('response', place, exchange.at)}\r\n"
        f"WARC-Target-URI: {uri(exchange.url)}\r\nWARC-Date: {_date(exchange.at)}\r\n{address}"
        f"WARC-Payload-Digest: {sha1_base32(hashlib.sha1(payload))}\r\n"
        f"Content-Type: application/http;msgtype=response\r\nContent-Length: {len(http) + len(payload)}\r\n\r\n"
    )
    return _member(b"".join((head.encode(), http, payload)), is_packed=_ENCODED.search(http) is not None)


def _request(exchange: Exchange, place: str) -> bytes:
    http = exchange.request.rstrip(b"\r\n") + b"\r\n\r\n"
    head = (
        f"WARC/1.1\r\nWARC-Type: request\r\nWARC-Record-ID: {_record_id('request', place, exchange.at)}\r\n"
        f"WARC-Target-URI: {uri(exchange.url)}\r\nWARC-Date: {_date(exchange.at)}\r\n"
        f"WARC-Concurrent-To: {_record_id('response', place, exchange.at)}\r\n"
        f"Content-Type: application/http;msgtype=request\r\nContent-Length: {len(http)}\r\n\r\n"
    )
    return _member(head.encode() + http, is_packed=True)  # compressing so little costs more than it saves


def _framed(head: bytes, payload: bytes) -> bytes:
    """The HTTP head that matches the stored payload: actual length, no transfer encoding."""
    status = _STATUS.match(head)
    empty = not payload and status is not None and (status[1][:1] == b"1" or status[1] in (b"204", b"304"))
    length = b"" if empty else b"Content-Length: %d\r\n" % len(payload)
    found = [line.strip().lower() for line in _FRAMING.findall(head)]
    if found != ([] if empty else [length.strip().lower()]):
        return _FRAMING.sub(b"", head).rstrip(b"\r\n") + b"\r\n" + length + b"\r\n"
    return head if head.endswith(b"\r\n\r\n") else head.rstrip(b"\r\n") + b"\r\n\r\n"


def _member(record: bytes, is_packed: bool) -> bytes:
    """One record as a gzip member. A payload that is already compressed is stored as it is, not compressed again."""
    record += b"\r\n\r\n"
    if not is_packed:
        return bytes(igzip_lib.compress(record, 1, igzip_lib.COMP_GZIP))
    parts = [_GZIP_HEAD]
    for start in range(0, len(record), _STORED_BYTES):
        block = record[start : start + _STORED_BYTES]
        last, size = start + _STORED_BYTES >= len(record), len(block)
        parts += bytes([last]), size.to_bytes(2, "little"), (size ^ 0xFFFF).to_bytes(2, "little"), block
    parts += isal_zlib.crc32(record).to_bytes(4, "little"), (len(record) & 0xFFFFFFFF).to_bytes(4, "little")
    return b"".join(parts)


def _record_id(kind: str, place: str, at: float) -> str:
    """Derived from the record, not random; no two records of a crawl share kind, position and time."""
    name = xxhash.xxh3_128_hexdigest(f"{kind} {place} {at!r}".encode())
    return f"<urn:uuid:{name[:8]}-{name[8:12]}-8{name[13:16]}-a{name[17:20]}-{name[20:]}>"  # version 8: our own hash


def _date(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="microseconds")[:-6] + "Z"


def sha1_base32(hashed: "hashlib._Hash") -> str:
    """Base 32, two letters at a time: takes a quarter of the time of the standard library."""
    number = int.from_bytes(hashed.digest(), "big")
    return "sha1:" + "".join([_PAIRS[number >> shift & 1023] for shift in range(150, -1, -10)])


def uri(url: str) -> str:
    """Without characters that could end the line or the field."""
    if url.isascii() and url.isprintable() and " " not in url:
        return url
    return quote(url, safe=_URI_CHARACTERS, errors="replace")


class Record(NamedTuple):
    """One stored record: the HTTP head with its blank line, and the payload still encoded."""

    url: str
    head: bytes
    payload: bytes


class Response(NamedTuple):
    """One reply of a recorded web, ready to be parsed."""

    url: str
    status: int
    headers: dict[str, str]  # names in lower case, repeated headers joined by commas
    body: bytes  # decoded; if there is an error, as much as could be read
    offset: int
    error: str = ""  # too-large, or damaged


def read_record(path: Path, offset: int, max_bytes: int = MAX_BODY_BYTES) -> Record:
    """The record at an offset that `write` returned, or that any other WARC index gives."""
    where = f"{path}: no complete record at byte {offset}"
    try:
        with path.open("rb") as file:
            file.seek(offset)
            start = file.read(2)
            file.seek(offset)
            source = BytesIO(_read_member(file, max_bytes + _MAX_HEAD_BYTES)) if start == _GZIP_START else file
            for record in ArchiveIterator(source, parse_http=False):
                block = record.reader.read(max_bytes + 1)
                if len(block) != record.content_length:
                    raise BadInput(f"{where}: it is truncated, or longer than {max_bytes} bytes")
                return _split(_target(record), block)
    except _DAMAGE as error:
        raise BadInput(f"{where}: {error}") from error
    raise BadInput(f"{where}: the file ends there")


def _read_member(file: BinaryIO, limit: int) -> bytes:
    stream = isal_zlib.decompressobj(16 + isal_zlib.MAX_WBITS)
    parts: list[bytes] = []
    while not stream.eof and limit > 0:
        data = stream.unconsumed_tail or file.read(65_536)
        if not data:
            raise EOFError("it is truncated")
        parts.append(stream.decompress(data, limit))
        limit -= len(parts[-1])
    return b"".join(parts)


def read_responses(path: Path, max_bytes: int = MAX_BODY_BYTES) -> Iterator[Response]:
    """Every HTTP reply of a WARC, compressed or not, ours or another crawler's.

    Revisit records are skipped: they refer to a page without containing it. A record that is truncated or too large
    comes with an error; if the file itself becomes unreadable, BadInput ends the iteration.
    """
    end = 0
    try:
        with path.open("rb") as file:
            for record in ArchiveIterator(file, record_types=WarcRecordType.response, parse_http=False):
                end = record.stream_pos
                url = _target(record)
                if not url.startswith(("http://", "https://")):  # DNS look-ups are responses too
                    continue
                block = record.reader.read(max_bytes + 1)
                found = to_response(_split(url, block), end, max_bytes)
                if len(block) != record.content_length:
                    found = found._replace(error="too-large" if len(block) > max_bytes else "damaged")
                yield found
    except _DAMAGE as error:
        raise BadInput(f"{path}: cannot be read as a WARC after byte {end}: {error}") from error


def to_response(record: Record, offset: int = 0, max_bytes: int = MAX_BODY_BYTES) -> Response:
    """Status, headers and decoded body of a record."""
    status = _STATUS.match(record.head)
    if status is None:
        return Response(record.url, 0, {}, record.payload, offset, "damaged")
    headers, body, error = _headers(record.head), record.payload, ""
    if "chunked" in headers.get("transfer-encoding", "").lower():
        body = _dechunk(body)
    try:
        body = _decode(body, headers.get("content-encoding", ""), max_bytes)
    except _DAMAGE:
        if body.lstrip()[:1] != b"<":  # some crawlers decode the page but keep the header
            body, error = b"", "damaged"
    if len(body) > max_bytes:
        body, error = body[:max_bytes], "too-large"
    return Response(record.url, int(status[1]), headers, body, offset, error)


def _target(record: WarcRecord) -> str:
    return (record.headers.get_bytes(b"WARC-Target-URI") or b"").decode(errors="replace").strip("<> ")


def _split(url: str, block: bytes) -> Record:
    end = _HEAD_END.search(block, 0, _MAX_HEAD_BYTES)
    cut = end.end() if end else min(len(block), _MAX_HEAD_BYTES)
    return Record(url, block[:cut], block[cut:])


def _headers(head: bytes) -> dict[str, str]:
    try:
        text = head.decode()
    except UnicodeDecodeError:
        text = head.decode("latin-1")
    headers: dict[str, str] = {}
    for line in re.sub(r"\r?\n[ \t]+", " ", text).split("\n")[1:]:
        name, colon, value = line.partition(":")
        name, value = name.strip().lower(), value.strip()
        if colon and headers.get(name, value) != value:
            value = f"{headers[name]}, {value}"
        if colon:
            headers[name] = value
    return headers


def _dechunk(payload: bytes) -> bytes:
    """The joined chunks; a payload that is not chunked, whatever its head says, is returned as it is."""
    parts: list[bytes] = []
    at = 0
    while len(parts) < _MAX_CHUNKS and (size := _CHUNK.match(payload, at)):
        start, at = size.end(), size.end() + int(size[1], 16)
        parts.append(payload[start:at])
        if start == at:
            break
        at += 2 if payload[at : at + 1] == b"\r" else 1
    return b"".join(parts) if parts else payload


def _decode(body: bytes, encodings: str, max_bytes: int) -> bytes:
    """Undo the content encodings, last one first; returns at most one byte more than allowed, so that excess shows."""
    for encoding in reversed(encodings.lower().split(",")[:4]):
        if not body:
            return body
        match encoding.strip():
            case "gzip" | "x-gzip":
                body = _gunzip(body, max_bytes + 1)
            case "deflate":
                body = _inflate(body, max_bytes + 1)
            case "br":
                body = BrotliReader(BytesIO(body)).read(max_bytes + 1)
            case "zstd":
                unpack = zstandard.ZstdDecompressor(max_window_size=_MAX_WINDOW_BYTES)
                body = unpack.stream_reader(body, read_across_frames=True).read(max_bytes + 1)
    return body


def _gunzip(body: bytes, limit: int) -> bytes:
    """Member by member; what follows the last is ignored, as in browsers."""
    parts: list[bytes] = []
    for _ in range(_MAX_MEMBERS):
        if parts and not body.startswith(_GZIP_START):
            break
        stream = isal_zlib.decompressobj(16 + isal_zlib.MAX_WBITS)
        parts.append(stream.decompress(body, limit))
        limit -= len(parts[-1])
        body = stream.unused_data
        if not stream.eof and not any(parts):
            raise EOFError("truncated before the first byte")
        if limit <= 0 or not stream.eof:
            break
    return b"".join(parts)


def _inflate(body: bytes, limit: int) -> bytes:
    """The standard requires the zlib wrapper; many servers leave it out."""
    try:
        return bytes(isal_zlib.decompressobj(isal_zlib.MAX_WBITS).decompress(body, limit))
    except _DAMAGE:
        return bytes(isal_zlib.decompressobj(-isal_zlib.MAX_WBITS).decompress(body, limit))
