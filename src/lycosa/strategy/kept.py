"""What `learned` keeps in crawl.db, so that a crawl that was killed goes on in the same order.

Each page has a note of its links, written once, with the visit. What changes later (counts, reasons) has notes of its
own, written with the commit. What comes one by one (names, URLs that are done, twins, turns) is written in batches:
a note for each commit.
"""

from __future__ import annotations  # array[int] is a type before Python 3.12 only in annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
from isal import isal_zlib
from msgspec import Struct

from lycosa.strategy.links import COLUMNS, Find, Links
from lycosa.strategy.sources import Source

_encode, _decode = msgspec.msgpack.encode, msgspec.msgpack.decode
_CODES = COLUMNS | {"spots": "H", "words": "I"}


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
    def of(
        cls, source: Source, links: Links, finds: Sequence[Find], rows: Sequence[int], told: Sequence[int]
    ) -> PageNote:
        columns: dict[str, array[Any]] = {
            "ids": array("I", [links.ids[row] for row in rows]),
            "hosts": array("I", [find.host for find in finds]),
            "places": array("I", [find.place for find in finds]),
            "areas": array("I", [find.area for find in finds]),
            "contexts": array("d", [find.context for find in finds]),
            "owns": array("d", [find.own for find in finds]),
            "elsewheres": array("d", [find.elsewhere for find in finds]),
            "spots": array("H", [find.spot for find in finds]),
            "depths": array("H", [find.depth for find in finds]),
            "word_counts": array("B", [len(find.words) for find in finds]),
            "words": array("I", [word for find in finds for word in find.words]),
        }
        others = array("I", [links.ids[row] for row in told])
        urls = {at: finds[at].url for at, number in enumerate(columns["ids"]) if not number}
        urls |= {len(finds) + at: links.name_of(told[at]) for at, number in enumerate(others) if not number}
        packed = {name: column.tobytes() for name, column in columns.items()}
        judged = source.relevance, source.label, source.distance, source.cash, source.luck
        return cls(*judged, _up(links, source.up), packed, others.tobytes(), urls)

    def pack(self) -> bytes:
        packed: bytes = isal_zlib.compress(_encode(self), 1)
        return packed

    @classmethod
    def unpack(cls, packed: bytes) -> PageNote:
        return _decode(isal_zlib.decompress(packed), type=cls)

    def arrays(self) -> dict[str, array[Any]]:
        return {name: array(_CODES[name], column) for name, column in self.columns.items()}

    def find(self, columns: Mapping[str, array[Any]], at: int) -> Find:
        """What the page says of one of its links."""
        first = sum(columns["word_counts"][:at])
        words = columns["words"][first : first + columns["word_counts"][at]]
        names = "contexts", "owns", "elsewheres", "hosts", "places", "areas"
        spot, depth = columns["spots"][at], columns["depths"][at]
        return Find(self.urls.get(at, ""), spot, depth, words, *(columns[name][at] for name in names))

    def others(self) -> list[tuple[int, str]]:
        """Ids, or addresses where there is none, of the links of which no more is to be learned."""
        before = len(self.columns["word_counts"])
        return [(number, self.urls.get(before + at, "")) for at, number in enumerate(array("I", self.told))]


def _up(links: Links, row: int) -> Up | None:
    marks = links.hosts[row], links.places[row], links.areas[row]
    return Up(links.found(row), links.best[row], marks, list(links.words(row))) if row else None


class Batches:
    """Things that come one by one, gathered until the commit: each batch is a note of its own."""

    def __init__(self) -> None:
        self.count = 0  # batches written
        self.done = array("Q")  # three for each URL: its fingerprint, that of its folder or 0, its id or 0
        self.twins = array("I")  # ids of links whose page was probably fetched under another address
        self.turns = array("I")  # ids of links that were taken in their turn
        self.whys: list[bytes] = []  # what made the scores of those that were taken

    def write(self, db: Any, names: list[str]) -> None:
        if not (names or self.done or self.twins or self.turns or self.whys):
            return
        kinds = {"done": self.done.tobytes(), "twins": self.twins.tobytes(), "turns": self.turns.tobytes()}
        kinds |= {"names": _encode(names) if names else b"", "whys": b"".join(self.whys)}
        for kind, value in kinds.items():
            if value:
                db.keep(f"learned {kind} {self.count:09}", value)
        self.count += 1
        del self.done[:], self.twins[:], self.turns[:], self.whys[:]


def read_numbers(db: Any, kind: str, code: str) -> Iterator[array[int]]:
    for _, value in db.notes(f"learned {kind} "):
        yield array(code, value)


def read_names(db: Any) -> list[str]:
    return [name for _, value in db.notes("learned names ") for name in _decode(value, type=list[str])]
