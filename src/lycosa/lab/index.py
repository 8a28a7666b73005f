"""An index of the replies in a WARC: built once, then kept in the user's cache folder.

An index is plain data with a checksum. It is valid only for the file it was built from (path, size and modification
time must match); a damaged one, or one in another format, is rebuilt. Nothing is written next to the WARC, which may
belong to someone else, and no index that lies there is read, since whoever made the WARC could have made it.
"""

import hashlib
import logging
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import msgspec
import xxhash
from fastwarc.warc import ArchiveIterator, WarcRecord, WarcRecordType
from msgspec import Struct

from lycosa import urls
from lycosa.files import write_whole
from lycosa.store.warc_reader import Response, read_responses
from lycosa.types import BadInput

SUFFIX = ".lycosa-index"
_MAGIC = b"lycosa-index 2\n"
_CHECK_BYTES = 8
_GZIP_START = b"\x1f\x8b"
_KINDS = WarcRecordType.response | WarcRecordType.revisit

_log = logging.getLogger(__name__)


class Entry(Struct, frozen=True, array_like=True, gc=False):
    """One recorded reply without its body."""

    url: str  # canonical
    offset: int
    status: int
    content_type: str = ""  # without parameters, in lower case
    location: str = ""  # where a redirect leads, canonical
    body: int = 0  # 64-bit hash of the decoded body; 0 if it is empty
    record: int = 0  # of the record's name
    payload: int = 0  # of the payload digest that the record states


class Revisit(Struct, frozen=True, array_like=True, gc=False):
    """A reply that was recorded as a reference to an identical one."""

    url: str
    refers_url: str
    refers_record: int
    payload: int


class Index(Struct, frozen=True, array_like=True):
    """The contents of one WARC, in the order of recording."""

    size: int
    mtime_ns: int
    entries: list[Entry]
    revisits: list[Revisit]
    damage: str = ""  # why the rest of the file could not be read


def index_of(path: Path) -> Index:
    """The index of a WARC: the cached one, or a new one, which is cached if possible."""
    size, mtime_ns = _stamp(path)
    cached = _cached(path)
    kept = _load(cached) if cached else None
    if kept and (kept.size, kept.mtime_ns) == (size, mtime_ns):
        return kept
    made = _make(path, size, mtime_ns)
    if cached:
        _keep(made, cached)
    return made


def move_index(path: Path, to: Path) -> None:
    """Rename the index of a renamed WARC."""
    with suppress(OSError):
        if (old := _cached(path)) and (new := _cached(to)):
            old.replace(new)


def forget_index(path: Path) -> None:
    """Delete the index of a deleted WARC."""
    with suppress(OSError):
        if place := _cached(path):
            place.unlink(missing_ok=True)


def _stamp(path: Path) -> tuple[int, int]:
    try:
        found = path.stat()
    except OSError as error:
        raise BadInput(f"{path}: cannot be read: {error.strerror}") from None
    return found.st_size, found.st_mtime_ns


def _cached(path: Path) -> Path | None:
    """Where the index of a file is cached; None for a process without a home folder."""
    path = path.absolute()
    name = f"{path.name}-{xxhash.xxh3_64_hexdigest(os.fsencode(path))}{SUFFIX}"
    try:
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "lycosa" / name
    except RuntimeError:
        return None


def _load(place: Path) -> Index | None:
    try:
        data = place.read_bytes()
    except OSError:
        return None
    start = len(_MAGIC) + _CHECK_BYTES
    check, rest = data[len(_MAGIC) : start], data[start:]
    if not data.startswith(_MAGIC) or check != xxhash.xxh3_64_digest(rest):
        return None
    try:
        return msgspec.msgpack.decode(rest, type=Index)
    except msgspec.DecodeError:
        return None


def _keep(index: Index, place: Path) -> None:
    """Write the index completely or not at all; if it cannot be written, it is built again next time."""
    data = msgspec.msgpack.encode(index)
    with suppress(OSError):
        place.parent.mkdir(parents=True, exist_ok=True)
        write_whole(place, _MAGIC + xxhash.xxh3_64_digest(data) + data)


def _make(path: Path, size: int, mtime_ns: int) -> Index:
    """Read the whole file. If its end is damaged, use what comes before."""
    marks: dict[int, _Mark] = {}
    revisits: list[Revisit] = []
    entries: list[Entry] = []
    unusable = 0
    damage = ""
    with suppress(BadInput):  # the second reading meets the same damage
        for mark in _read_marks(path):
            if mark.revisit:
                revisits.append(mark.revisit)
            else:
                marks[mark.offset] = mark
    try:
        for response in read_responses(path):
            entry = _entry(response, marks)
            unusable += entry is None
            entries += [entry] if entry else []
    except BadInput as error:
        damage = str(error)
        if not entries:
            raise
        _log.warning("%s; the %d replies before it are used", damage, len(entries))
    if unusable:
        _log.warning("%s: %d replies are damaged or have no web URL; they are ignored", path, unusable)
    _check_members(path, entries)
    return Index(size, mtime_ns, entries, revisits, damage)


def _entry(response: Response, marks: dict[int, "_Mark"]) -> Entry | None:
    url = urls.canonical(response.url)
    if response.error or not url:
        return None
    headers, mark = response.headers, marks.get(response.offset, _NO_MARK)
    location = headers.get("location", "") if 300 <= response.status < 400 else ""
    return Entry(
        url,
        response.offset,
        response.status,
        headers.get("content-type", "").split(";", 1)[0].strip().lower(),
        urls.Base(url).join(location) if location else "",
        _hash(response.body),
        mark.record,
        mark.payload,
    )


def _check_members(path: Path, entries: list[Entry]) -> None:
    """Check that records can be read by offset: in a compressed file each must start a gzip member."""
    with path.open("rb") as file:
        if file.read(2) != _GZIP_START:
            return
        for entry in entries:
            file.seek(entry.offset)
            if file.read(2) != _GZIP_START:
                raise BadInput(f"{path}: not compressed per record; unpack it to a plain .warc")


class _Mark(NamedTuple):
    """The identifiers of a record, for records that refer to it."""

    offset: int = 0
    record: int = 0
    payload: int = 0
    revisit: Revisit | None = None


_NO_MARK = _Mark()


def _read_marks(path: Path) -> Iterator[_Mark]:
    """The heads of all replies, including revisits."""
    end = 0
    try:
        with path.open("rb") as file:
            for record in ArchiveIterator(file, record_types=_KINDS, parse_http=False):
                end = record.stream_pos
                yield _mark(record)
    except (OSError, EOFError, ValueError) as error:
        raise BadInput(f"{path}: cannot be read as a WARC after byte {end}: {error}") from error


def _mark(record: WarcRecord) -> _Mark:
    def field(name: str) -> bytes:
        return record.headers.get_bytes(name.encode()) or b""

    payload = _hash(field("WARC-Payload-Digest").lower())
    if record.record_type == WarcRecordType.response:
        return _Mark(record.stream_pos, _hash(field("WARC-Record-ID")), payload)
    url, refers_url = (
        urls.canonical(field(name).decode(errors="replace").strip("<> "))
        for name in ("WARC-Target-URI", "WARC-Refers-To-Target-URI")
    )
    return _Mark(revisit=Revisit(url, refers_url, _hash(field("WARC-Refers-To")), payload))


def _hash(data: bytes) -> int:
    """A 64-bit hash that no page can be made to share with another, whose label it would then have; 0 for no bytes."""
    return int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), "big") if data else 0
