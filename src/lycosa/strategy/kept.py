"""What `learned` keeps in crawl.db, so that a crawl that was killed goes on in the same order.

Each page has a note of its links, written once, with the visit. What changes later (counts, reasons) has notes of its
own, written with the commit. What comes one by one (names, URLs that are done, twins, turns) is written in batches:
a note for each commit.
"""

from __future__ import annotations  # array[int] is a type before Python 3.12 only in annotations

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
    """The link that led to a page, as far as it still counts."""

    pages: list[tuple[int, int]]  # it was found on, and where it stands on each
    best: int  # the most relevant of them
    marks: tuple[int, int, int]  # host, place, area
    words: list[int]


class PageNote(Struct, frozen=True, array_like=True):
    """A page and what it says of its links."""

    relevance: float
    label: str
    distance: int
    cash: float
    luck: float
    up: Up | None
    columns: dict[str, bytes]  # one for each thing that is said of links, in their order; words one after the other
    told: bytes  # ids of links of which no more is to be learned
    urls: dict[int, str]  # addresses of links that the frontier does not know, by their place; those told come last

    @classmethod
    def of(cls, source: Source, links: Links, finds: Finds, told: Sequence[int]) -> PageNote:
        """After the frontier has seen the links."""
        ids, others = (array("I", [links.ids[row] for row in rows]) for rows in (finds.rows, told))
        urls = {at: finds.urls[at] for at, number in enumerate(ids) if not number}
        urls |= {len(ids) + at: links.name_of(told[at]) for at, number in enumerate(others) if not number}
        packed = {name: column.tobytes() for name, column in (finds.columns | {"ids": ids}).items()}
        judged = source.relevance, source.label, source.distance, source.cash, source.luck
        return cls(*judged, _up(links, source.up), packed, others.tobytes(), urls)

    def pack(self) -> bytes:
        packed: bytes = isal_zlib.compress(_encode(self), 1)
        return packed

    @classmethod
    def unpack(cls, packed: bytes) -> PageNote:
        return _decode(isal_zlib.decompress(packed), type=cls)

    def finds(self) -> Finds:
        """Of which rows are to be looked up."""
        columns = {name: array(CODES[name], column) for name, column in self.columns.items()}
        return Finds(self.urls, [0] * len(columns["ids"]), columns)

    def others(self) -> list[tuple[int, str]]:
        """Ids, or addresses where there is none, of the links of which no more is to be learned."""
        before = len(self.columns["word_counts"])
        return [(number, self.urls.get(before + at, "")) for at, number in enumerate(array("I", self.told))]


def _up(links: Links, row: int) -> Up | None:
    marks = links.hosts[row], links.places[row], links.areas[row]
    return Up(links.found(row), links.best[row], marks, list(links.words(row))) if row else None


class Fetched(Struct, frozen=True, array_like=True, gc=False):
    """A URL that waits no longer, in full: of two URLs that share a hash one would hide the other."""

    url: str
    is_page: bool
    number: int  # the frontier's id; 0 if no link to it waited


class Batches:
    """Things that come one by one, gathered until the commit: each batch is a note of its own."""

    def __init__(self) -> None:
        self.count = 0  # batches written
        self.fetched: list[Fetched] = []
        self.twins = array("I")  # ids of links whose page was probably fetched under another address
        self.turns = array("I")  # ids of links that were taken in their turn
        self.whys: list[bytes] = []  # what made the scores of those that were taken

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
