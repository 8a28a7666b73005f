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

from lycosa.strategy.links import Find, Links
from lycosa.strategy.sources import Source

_encode, _decode = msgspec.msgpack.encode, msgspec.msgpack.decode


class Up(Struct, frozen=True, array_like=True):
    """The link that led to a page, as far as it still counts."""

    pages: list[tuple[int, int]]  # it was found on, and where it stands on each
    best: int  # the most relevant of them
    marks: tuple[int, int, int]  # host, place, area
    words: list[int]


class PageNote(Struct, frozen=True, array_like=True):
    """A page and what it says of its links: one array for each column, as bytes."""

    relevance: float
    label: str
    distance: int
    cash: float
    luck: float
    up: Up | None
    numbers: bytes  # the links in their order: ids in the frontier, then the marks, spots and depths of each
    words: bytes  # of all links, one after the other
    word_counts: bytes
    judged: bytes  # context, own, elsewhere of each
    others: bytes  # ids of links of which no more is to be learned
    urls: list[tuple[int, str]]  # addresses of links that the frontier does not know, by their place; others come last

    @classmethod
    def of(
        cls, source: Source, links: Links, finds: Sequence[Find], rows: Sequence[int], told: Sequence[int]
    ) -> PageNote:
        numbers, words, judged = array("I"), array("I"), array("d")
        urls = []
        for at, (find, row) in enumerate(zip(finds, rows, strict=True)):
            numbers.extend((links.ids[row], find.host, find.place, find.area, find.spot, find.depth))
            words.extend(find.words)
            judged.extend((find.context, find.own, find.elsewhere))
            if not links.ids[row]:
                urls.append((at, find.url))
        urls += [(len(finds) + at, links.name_of(row)) for at, row in enumerate(told) if not links.ids[row]]
        up = None
        if row := source.up:
            marks = links.hosts[row], links.places[row], links.areas[row]
            up = Up(links.found(row), links.best[row], marks, list(links.words(row)))
        return cls(
            *(source.relevance, source.label, source.distance, source.cash, source.luck, up, numbers.tobytes()),
            *(words.tobytes(), bytes(len(find.words) for find in finds), judged.tobytes()),
            *(array("I", [links.ids[row] for row in told]).tobytes(), urls),
        )

    def pack(self) -> bytes:
        packed: bytes = isal_zlib.compress(_encode(self), 1)
        return packed

    @classmethod
    def unpack(cls, packed: bytes) -> PageNote:
        return _decode(isal_zlib.decompress(packed), type=cls)

    def finds(self) -> Iterator[tuple[int, Find]]:
        """The links with their ids, in their order."""
        numbers, words, judged = array("I", self.numbers), array("I", self.words), array("d", self.judged)
        urls, first = dict(self.urls), 0
        for at, count in enumerate(self.word_counts):
            number, host, place, area, spot, depth = numbers[6 * at : 6 * at + 6]
            context, own, elsewhere = judged[3 * at : 3 * at + 3]
            own_words = words[first : first + count]
            first += count
            yield number, Find(urls.get(at, ""), spot, depth, own_words, context, own, elsewhere, host, place, area)

    def told(self) -> list[tuple[int, str]]:
        """Ids, or addresses where there is none, of the links of which no more is to be learned."""
        urls, before = dict(self.urls), len(self.word_counts)
        return [(number, urls.get(before + at, "")) for at, number in enumerate(array("I", self.others))]


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
