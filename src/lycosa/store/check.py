"""Do the database and the WARC of a crawl agree? Every record is read, and every visit must have its record."""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, NamedTuple, cast

from isal import isal_zlib

from lycosa import urls
from lycosa.store.db import DONE, WAITING, CrawlDb
from lycosa.store.visits import series_of, warc_end
from lycosa.store.warc import SERIES, WarcWriter, file_number, sha1_base32, uri
from lycosa.store.warc_reader import Record, to_response
from lycosa.types import BadInput

_MOST_BYTES = 256 << 20  # per record; ours are as long as what a server sent
_CHUNK_BYTES = 65_536
_VISITS = "SELECT n, url, final_url, error, bytes, digest, warc, warc_offset FROM visits WHERE warc != '' ORDER BY n"
_NOT_DONE = (  # a URL that failed may have been queued again
    "SELECT v.n, v.url FROM visits v LEFT JOIN urls u"
    f" ON u.url = v.url AND (u.state = {DONE} OR u.state = {WAITING} AND v.error != '') WHERE u.id IS NULL ORDER BY v.n"
)
_KNOWN_DAMAGE = "warc_damage"
_ONE_LESS = "UPDATE hosts SET pages = max(0, pages - 1) WHERE name = ? AND ?"
_DAMAGE = (EOFError, ValueError, cast(type[Exception], isal_zlib.error))


class Visited(NamedTuple):
    """A visit whose reply is in the WARC, according to the database."""

    n: int
    url: str
    final_url: str
    error: str
    bytes: int
    digest: str
    warc: str
    offset: int


@dataclass
class Findings:
    """The problems as lines to print; and for `repair`, the visits that lost their record and where files end."""

    visits: int = 0
    records: Counter[Path] = field(default_factory=Counter)  # by file
    problems: list[str] = field(default_factory=list)
    lost: list[Visited] = field(default_factory=list)
    damaged: list[str] = field(default_factory=list)  # file and offset of records
    ends: dict[str, int] = field(default_factory=dict)  # end of the last complete record
    known: frozenset[str] = frozenset()  # damage that was already repaired as far as possible

    def damage(self, path: Path, offset: int, what: str) -> None:
        place = f"{path.name} {offset}"
        self.damaged.append(place)
        if place not in self.known:
            self.problems.append(f"{path}: byte {offset:,}: {what}")

    def lose(self, visit: Visited, what: str) -> None:
        self.lost.append(visit)
        self.problems.append(f"visit {visit.n} of {visit.url}: {what}")


def check(db: CrawlDb, folder: Path, digest: Callable[[bytes], str]) -> Findings:
    """Compare a crawl.db with the folder of its WARC files; `digest` is the function that the crawl used for bodies."""
    found = Findings(known=frozenset(db.get(_KNOWN_DAMAGE).split("\n")))
    found.problems += [f"crawl.db: {line}" for (line,) in db.execute("PRAGMA integrity_check(10)") if line != "ok"]
    for n, url in db.execute(_NOT_DONE):
        found.problems.append(f"visit {n} of {url}: the URL is not marked as done")
    by_file: dict[str, dict[int, Visited]] = {}
    before: dict[int, tuple[int, int]] = {}  # by series
    for row in db.execute(_VISITS):
        visit = Visited._make(row)
        found.visits += 1
        place = (file_number(visit.warc), visit.offset)
        if place <= before.get(place[0] // SERIES, (0, 0)):
            found.problems.append(
                f"visit {visit.n} of {visit.url}: its record does not follow those of the visits before"
            )
        before[place[0] // SERIES] = place
        by_file.setdefault(visit.warc, {})[visit.offset] = visit
    last, end = warc_end(db)
    for name in sorted({*by_file, *filter(None, [last])}):
        path = folder / name
        if path.is_symlink():  # of a shard, to a file from before the crawl was divided
            path = path.resolve()
        _check_file(path, by_file.get(name, {}), end if name == last else 0, digest, found)
    return found


def _check_file(
    path: Path, visits: dict[int, Visited], end: int, digest: Callable[[bytes], str], found: Findings
) -> None:
    if not path.is_file():
        found.problems.append(f"{path}: is missing, and with it the records of {len(visits):,} visits")
        found.lost += visits.values()
        return
    if path.stat().st_size < end:
        found.problems.append(f"{path}: has {path.stat().st_size:,} bytes, but the crawl wrote {end:,}")
    waiting = dict(visits)
    for offset, record in _records(path, sorted(visits), end):
        visit = waiting.pop(offset, None)
        if isinstance(record, str):
            found.damage(path, offset, record)
            if visit:
                found.lose(visit, "its record is damaged")
            continue
        found.records[path] += 1
        found.ends[path.name] = record.end
        if wrong := record.problem() or (_mismatch(record, visit, digest) if visit else ""):
            found.damage(path, offset, wrong)
            if visit:
                found.lose(visit, "its record is damaged")
    for visit in waiting.values():
        found.lose(visit, f"{path} has no record at byte {visit.offset:,}")


@dataclass
class Stored:
    """One record as stored in the file."""

    head: bytes
    block: bytes
    end: int

    def field(self, name: str) -> str:
        for line in self.head.split(b"\r\n")[1:]:
            key, _, value = line.partition(b":")
            if key.lower() == name.encode():
                return value.strip().decode(errors="replace")
        return ""

    def http(self) -> Record:
        head, blank, payload = self.block.partition(b"\r\n\r\n")
        return Record(self.field("warc-target-uri"), head + blank, payload)

    def problem(self) -> str:
        """The problem with the record itself."""
        if not self.head.startswith(b"WARC/1.") or self.field("content-length") != str(len(self.block)):
            return "the record does not have the length it states"
        stated = self.field("warc-payload-digest")
        if stated and stated != sha1_base32(hashlib.sha1(self.http().payload)):
            return "the payload does not match its digest"
        return ""


def _mismatch(record: Stored, visit: Visited, digest: Callable[[bytes], str]) -> str:
    """Why this cannot be the record of the visit."""
    if record.field("warc-type") != "response":
        return f"not the reply of visit {visit.n}"
    if visit.error or not visit.digest:
        return ""
    if record.field("warc-target-uri") != uri(visit.final_url):
        return f"the reply of {record.field('warc-target-uri')}, not of {visit.final_url}"
    body = to_response(record.http(), max_bytes=visit.bytes + 1).body
    return "" if digest(body) == visit.digest else f"not the page of visit {visit.n}"


def _records(path: Path, known: list[int], end: int) -> Iterator[tuple[int, Stored | str]]:
    """Offset and record, or the problem there; after damage, reading continues at the next known offset."""
    size = min(end, path.stat().st_size) if end else path.stat().st_size  # whatever follows was never committed
    with path.open("rb") as file:
        at = 0
        while at < size:
            try:
                record = _record(file, at)
                yield at, record
                at = record.end
            except _DAMAGE as error:
                yield at, f"no complete record: {error}"
                at = next((offset for offset in known if offset > at), size)


def _record(file: BinaryIO, at: int) -> Stored:
    file.seek(at)
    stream = isal_zlib.decompressobj(16 + isal_zlib.MAX_WBITS)
    parts: list[bytes] = []
    room = _MOST_BYTES
    while not stream.eof:
        data = stream.unconsumed_tail or file.read(_CHUNK_BYTES)
        if not data or room <= 0:
            raise EOFError("the file ends there" if not data else f"longer than {_MOST_BYTES:,} bytes")
        parts.append(stream.decompress(data, room))
        room -= len(parts[-1])
    head, _, block = b"".join(parts).partition(b"\r\n\r\n")
    return Stored(head, block.removesuffix(b"\r\n\r\n"), file.tell() - len(stream.unused_data))


def repair(db: CrawlDb, found: Findings, writer: WarcWriter, fetch_again: bool) -> None:
    """Make a crawl usable without the records it lost, in one transaction.

    A visit without its record is deleted and its URL queued again; or the visit stays and only the reference is
    removed. Damaged records stay in the WARC, and `check` does not report them again.
    """
    writer.series = series_of(db)
    for visit in found.lost:
        if fetch_again:
            db.execute("DELETE FROM visits WHERE n = ?", (visit.n,))
            db.execute("UPDATE urls SET state = ? WHERE url IN (?, ?)", (WAITING, visit.url, visit.final_url))
            db.execute(_ONE_LESS, (urls.host(visit.final_url or visit.url), not visit.error))
        else:
            db.execute("UPDATE visits SET warc = '', warc_offset = 0 WHERE n = ?", (visit.n,))
    db.executemany(
        "UPDATE urls SET state = ? WHERE url = ?", [(DONE, url) for _, url in db.execute(_NOT_DONE).fetchall()]
    )
    db.put(_KNOWN_DAMAGE, "\n".join(found.damaged))
    name, end = warc_end(db)
    if name and end > writer.size(name):
        name = max((other for other in writer.names() if file_number(other) <= file_number(name)), default="")
        if name and name not in found.ends:
            raise BadInput(f"{name}: contains nothing that the crawl wrote; move it away")
        db.put("warc_end", f"{name} {found.ends.get(name, 0)}")
    db.commit()
