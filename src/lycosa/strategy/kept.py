"""What `learned` stores in crawl.db, so that a killed crawl resumes in the same order.

The links of a page are stored in one note, written once, with the visit. State that changes later (counts, reasons) has
notes of its own, written at each commit. Items that arrive one at a time (names, finished URLs, twins, turns) are
written in batches, one note per commit.
"""

from __future__ import annotations  # before Python 3.12, array[int] works in annotations only

from array import array
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
from isal import isal_zlib
from msgspec import Struct

from lycosa.strategy.links import CODES, Finds, Links
from lycosa.strategy.sources import Source

_encode, _decode = msgspec.msgpack.encode, msgspec.msgpack.decode


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
    key: int = 0  # of the page's own URL

    @classmethod
    def of(cls, source: Source, links: Links, finds: Finds, told: Sequence[int]) -> PageNote:
        """Build the note, once the frontier has seen the links."""
        ids, others = (array("I", [links.ids[row] for row in rows]) for rows in (finds.rows, told))
        urls = {at: finds.urls[at] for at, number in enumerate(ids) if not number}
        urls |= {len(ids) + at: links.name_of(told[at]) for at, number in enumerate(others) if not number}
        packed = {name: column.tobytes() for name, column in (finds.columns | {"ids": ids}).items()}
        judged = source.relevance, source.label, source.distance, source.cash, source.luck
        return cls(*judged, _up(links, source.up), packed, others.tobytes(), urls, source.key)

    def pack(self) -> bytes:
        packed: bytes = isal_zlib.compress(_encode(self), 1)
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
        self.whys: list[bytes] = []  # the reasons for the scores of the links fetched

    def write(self, db: Any, names: list[str]) -> None:
        if not (names or self.fetched or self.twins or self.turns or self.whys):
            return
        kinds = {
            "fetched": _encode(self.fetched) if self.fetched else b"",
            "twins": self.twins.tobytes(),
            "turns": self.turns.tobytes(),
        }
        kinds |= {"names": _encode(names) if names else b"", "whys": b"".join(self.whys)}
        for kind, value in kinds.items():
            if value:
                db.keep(f"learned {kind} {self.count:09}", value)
        self.count += 1
        del self.fetched[:], self.twins[:], self.turns[:], self.whys[:]


def read_numbers(db: Any, kind: str, code: str) -> Iterator[array[int]]:
    for _, value in db.notes(f"learned {kind} "):
        yield array(code, value)


def read_names(db: Any) -> list[str]:
    return [name for _, value in db.notes("learned names ") for name in _decode(value, type=list[str])]


def read_fetched(db: Any) -> Iterator[Fetched]:
    for _, value in db.notes("learned fetched "):
        yield from _decode(value, type=list[Fetched])
