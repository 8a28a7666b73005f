"""Read WARC files, ours or another crawler's: one record by its offset, or every HTTP response."""

import re
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, NamedTuple, cast

from fastwarc.warc import ArchiveIterator, WarcRecord, WarcRecordType
from isal import isal_zlib

from lycosa.decode import DECODERS, Incomplete, TooLarge, decode
from lycosa.store.warc import STATUS
from lycosa.types import BadInput

MAX_BODY_BYTES, _MAX_HEAD_BYTES = 20_000_000, 256_000
_MAX_CHUNKS = 1_000_000  # each costs a step; a hostile body could have millions

_DAMAGE = (OSError, EOFError, ValueError, cast(type[Exception], isal_zlib.error))
_GZIP_START = b"\x1f\x8b"
_HEAD_END = re.compile(rb"\r?\n\r?\n")
_CHUNK = re.compile(rb"[ \t]*([0-9a-fA-F]{1,15})[ \t]*(?:;[^\n]*)?\r?\n")


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
    status = STATUS.match(record.head)
    if status is None:
        return Response(record.url, 0, {}, record.payload, offset, "damaged")
    headers, body = _headers(record.head), record.payload
    if "chunked" in headers.get("transfer-encoding", "").lower():
        body = _dechunk(body)
    body, error = _decoded(body, headers.get("content-encoding", ""), max_bytes)
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


def _decoded(body: bytes, encodings: str, max_bytes: int) -> tuple[bytes, str]:
    """As much of a body as could be decoded, and what is wrong with it. Unknown encodings are ignored: the record is
    all there is."""
    known = [name for name in encodings.lower().split(",") if name.strip() in DECODERS]
    try:
        return decode(body, ",".join(known), max_bytes), ""
    except TooLarge as error:
        return error.start, "too-large"
    except Incomplete as error:
        return error.start, "" if error.start else "damaged"
    except ValueError:
        if body.lstrip()[:1] == b"<":  # some crawlers decode the page but keep the header
            return body, ""
        return b"", "damaged"
