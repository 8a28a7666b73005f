"""What `learned` stores in crawl.db, so that a killed crawl resumes in the same order.

The links of a page are stored in one note, written once, with the visit. Everything that changes later (yields,
counts) or arrives one at a time (names, finished URLs, twins, turns) is written in batches, one note per commit:
replacing older notes would touch as many parts of the file.
"""

from __future__ import annotations  # before Python 3.12, array[int] works in annotations only

import struct
from array import array
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
from isal import isal_zlib
from msgspec import Struct

from lycosa.strategy.link_features import Tally
from lycosa.strategy.links import CODES, Finds, Links
from lycosa.strategy.sources import Source

_encode, _decode = msgspec.msgpack.encode, msgspec.msgpack.decode
_TALLY = struct.Struct("<Idd")  # number of the name, good, tried


class Up(Struct, frozen=True, array_like=True):
    """The link that led to a page, as far as it is still needed."""

    pages: list[tuple[int, int]]  # pages it was found on, and its position on each
    best: int  # the most relevant of these pages
    marks: tuple[int, int, int]  # host, place, area
    words: list[int]


class PageNote(Struct, frozen=True, array_like=True):
    """A page and what it says about its links."""

    relevance: float
    label: str
    distance: int
    cash: float
    luck: float
    up: Up | None
    columns: dict[str, bytes]  # one per property of the links, in their order; the words are concatenated
    told: bytes  # ids of links about which there is nothing left to learn
    urls: dict[int, str]  # by position, URLs that are not in the frontier; those in `told` come last
    # In full: a hash with the secret of one process says nothing in the next, and one without a secret can be forged
    url: str | int = ""  # of the page itself; a number in crawls begun before URLs were stored here

    @classmethod
    def of(cls, source: Source, url: str, links: Links, finds: Finds, told: Sequence[int]) -> PageNote:
        """Build the note, once the frontier has seen the links."""
        ids, others = (array("I", [links.ids[row] for row in rows]) for rows in (finds.rows, told))
        urls = {at: finds.urls[at] for at, number in enumerate(ids) if not number}
        urls |= {len(ids) + at: links.name_of(told[at]) for at, number in enumerate(others) if not number}
        packed = {name: column.tobytes() for name, column in (finds.columns | {"ids": ids}).items()}
        judged = source.relevance, source.label, source.distance, source.cash, source.luck
        return cls(*judged, _up(links, source.up), packed, others.tobytes(), urls, url)

    def pack(self) -> bytes:
        packed: bytes = isal_zlib.compress(_encode(self), 0)
        return packed

    @classmethod
    def unpack(cls, packed: bytes) -> PageNote:
        return _decode(isal_zlib.decompress(packed), type=cls)

    def finds(self) -> Finds:
        """Return the links; their rows have yet to be looked up."""
        columns = {name: array(CODES[name], column) for name, column in self.columns.items()}
        return Finds(self.urls, [0] * len(columns["ids"]), columns)

    def others(self) -> list[tuple[int, str]]:
        """Return the ids (or, without one, the URLs) of the links about which there is nothing left to learn."""
        before = len(self.columns["word_counts"])
        return [(number, self.urls.get(before + at, "")) for at, number in enumerate(array("I", self.told))]


def _up(links: Links, row: int) -> Up | None:
    marks = links.hosts[row], links.places[row], links.areas[row]
    return Up(links.found(row), links.best[row], marks, list(links.words(row))) if row else None


class Fetched(Struct, frozen=True, array_like=True, gc=False):
    """A URL no longer queued, stored in full: of two URLs with the same hash, one would hide the other."""

    url: str
    is_page: bool
    number: int  # the frontier's id; 0 if no link to it was queued


class Batches:
    """Items that arrive one at a time, collected until the commit; each batch becomes one note."""

    def __init__(self) -> None:
        self.count = 0  # batches written
        self.fetched: list[Fetched] = []
        self.twins = array("I")  # ids of links whose page was probably fetched under another URL
        self.turns = array("I")  # ids of links fetched for exploration
        self.yields: dict[int, Source] = {}  # pages whose links have brought something or nothing, by their number
        self.tallies: dict[int, Tally] = {}  # those that have changed, by the number of their name; the last one holds

    def start(self, count: int) -> None:
        """Go on after those written by earlier runs."""
        self.count = count

    def write(self, db: Any, names: list[str]) -> None:
        if not (names or self.fetched or self.twins or self.turns or self.yields or self.tallies):
            return
        kinds = {
            "fetched": _encode(self.fetched) if self.fetched else b"",
            "twins": self.twins.tobytes(),
            "turns": self.turns.tobytes(),
        }
        kinds["names"] = _encode(names) if names else b""
        yields = [(number, source.state()) for number, source in self.yields.items()]
        kinds["yields"] = _encode(yields) if yields else b""
        kinds["tallies"] = b"".join([_TALLY.pack(key, found.good, found.tried) for key, found in self.tallies.items()])
        for kind, value in kinds.items():
            if value:
                db.keep(f"learned {kind} {self.count:09}", value)
        self.count += 1
        del self.fetched[:], self.twins[:], self.turns[:]
        self.tallies.clear()
        self.yields.clear()


def read_numbers(db: Any, kind: str, code: str) -> Iterator[array[int]]:
    for _, value in db.notes(f"learned {kind} "):
        yield array(code, value)


def read_names(db: Any) -> list[str]:
    return [name for _, value in db.notes("learned names ") for name in _decode(value, type=list[str])]


def read_fetched(db: Any) -> Iterator[Fetched]:
    for _, value in db.notes("learned fetched "):
        yield from _decode(value, type=list[Fetched])


def read_yields(db: Any) -> Iterator[tuple[int, list[Any]]]:
    """Return the yield of the links of pages, by their numbers; the last one of a page holds."""
    for _, value in db.notes("learned yields "):
        yield from _decode(value)


def read_tallies(db: Any) -> dict[int, Tally]:
    """Return the counts by the numbers of names; each batch has those that had changed since the one before."""
    found: dict[int, Tally] = {}
    for _, value in db.notes("learned tallies "):
        found.update((key, Tally(good, tried)) for key, good, tried in _TALLY.iter_unpack(value))
    return found
