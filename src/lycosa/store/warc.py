"""Store every exchange as it came: WARC 1.1, one gzip member per record, so that any record can be read by offset.

The same exchanges written to an empty folder give the same bytes: dates and record names come from the exchanges.
"""

import hashlib
import re
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from io import FileIO
from pathlib import Path
from urllib.parse import quote

import xxhash
from isal import igzip_lib, isal_zlib

from lycosa.store.own_files import open_own, remove_uncommitted, require_ours
from lycosa.types import BadInput, Exchange

MAX_FILE_BYTES, SERIES = 1_000_000_000, 10_000_000  # the latter: file numbers in a series
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
_PAIRS = [one + other for one in _LETTERS for other in _LETTERS]
_ADVICE = "`lycosa check` lists what is missing, and `lycosa repair` makes the crawl usable without it"

_NAME = re.compile(r"lycosa-(\d{5,})\.warc\.gz")
_GZIP_HEAD = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"  # no name and no time, so that nothing changes between runs
_STORED_BYTES = 65_535  # the longest stored block of deflate
_URI_CHARACTERS = "".join(map(chr, range(33, 127)))
_FRAMING = re.compile(rb"^(?:content-length|transfer-encoding)[ \t]*:.*(?:\n[ \t].*)*\n?", re.I | re.M)
_ENCODED = re.compile(rb"^content-encoding[ \t]*:[ \t]*(?!identity)[^\s]", re.I | re.M)
STATUS = re.compile(rb"HTTP/\d(?:\.\d)?[ \t]+(\d{3})(?!\d)")


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
    status = STATUS.match(head)
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
