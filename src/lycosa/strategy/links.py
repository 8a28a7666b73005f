"""The queued links, stored compactly, since a crawl knows millions of them.

A link is a row of numbers in arrays, about 110 bytes; its URL is stored in crawl.db only. Names (hosts, kinds of
address, words) are interned as numbers. The id that the frontier assigns to a URL maps to its row. Links are scored
before the frontier has seen them, so new ones are kept by URL until `settle`.
"""

from __future__ import annotations  # before Python 3.12, array[int] works in annotations only

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any

from msgspec import Struct

from lycosa.strategy.sources import Source
from lycosa.strategy.url_features import anchor_word, marks_of, path_word
from lycosa.text import Memo

SOURCES = 3  # pages linking to a URL whose siblings are tracked: the first few
WORDS_KEPT = 16  # per link, over all its pages
_CHUNK = 4_096  # rows allocated at once
_FEW = 1_000_000  # words; below this, compacting away those of removed links is not worth it
MOST_SHORT = 65_535  # maximum of an unsigned 16-bit column


class Names(dict[str, int]):
    """A number for each host, kind of address, part of a host, class and word; 0 means no name."""

    def __init__(self) -> None:
        super().__init__({"": 0})
        self.all = [""]
        self._written = 1
        self._of_folder = Memo(self._number, 10_000)
        self._of_pages = Memo(lambda folder: self._number(f"{folder}/."), 10_000)
        self.of_anchor = Memo(lambda word: self[anchor_word(word)]).__getitem__  # the number a word is counted under
        self.of_path = Memo(lambda word: self[path_word(word)]).__getitem__

    def __missing__(self, name: str) -> int:
        number = self[name] = len(self.all)
        self.all.append(name)
        return number

    def marks(self, urls: Iterable[str]) -> list[tuple[int, int, int]]:
        """Return the numbers of host, place and area of each URL; cached, since most links of a page share them."""
        of_folder, of_pages, found = self._of_folder, self._of_pages, []
        for url in urls:
            folder, _, name = url.rpartition("/")
            if "?" in url or (name and ("." not in name or name[0] == "~")):
                found.append(self._number(url))
            else:  # the name of a file says nothing more than that it is one
                found.append(of_pages[folder] if name else of_folder[url])
        return found

    def _number(self, url: str) -> tuple[int, int, int]:
        host, place, area = marks_of(url)
        return self[host], self[place], self[area]

    def fresh(self) -> list[str]:
        """Return the names added since the last call."""
        found = self.all[self._written :]
        self._written = len(self.all)
        return found

    def load(self, names: Sequence[str]) -> None:
        for name in names:
            self[name]
        self._written = len(self.all)


class Find(Struct, gc=False):
    """What one page says about a link that was known before."""

    spot: int
    depth: int
    words: Sequence[int]
    context: float  # relevance of the words around it; negative if not judged
    own: float  # relevance of its own words
    elsewhere: float  # where links with such words led in the training data
    value: float  # what the pages they led to were worth


COLUMNS = {  # what a page says about its links, one array each; Links has columns of the same names
    **dict.fromkeys(("ids", "hosts", "places", "areas"), "I"),
    **dict.fromkeys(("contexts", "owns", "elsewheres"), "d"),
    "values": "f",
    "depths": "H",
    "word_counts": "B",
}
CODES = COLUMNS | {"spots": "H", "words": "I"}  # words: of all links, concatenated


class Finds:
    """What one page says about its links, in columns: pages have so many links that each step handles all at once."""

    __slots__ = ("columns", "rows", "urls")

    def __init__(
        self, urls: Sequence[str] | Mapping[int, str], rows: list[int], columns: Mapping[str, Sequence[Any]]
    ) -> None:
        self.urls = urls  # needed only for URLs that are not in the frontier, or not yet
        self.rows = rows  # of links known before; 0 for the others, until they are added
        self.columns: dict[str, array[Any]] = {
            name: values if isinstance(values, array) else array(CODES[name], values)
            for name, values in columns.items()
        }

    def some(self, which: Iterable[int]) -> Iterator[Find]:
        """What the page says about these links."""
        columns = self.columns
        names = ("spots", "depths", "contexts", "owns", "elsewheres", "values")
        spots, depths, *relevances = (columns[name] for name in names)
        starts, words = [*accumulate(columns["word_counts"], initial=0)], columns["words"]
        for at in which:
            found = words[starts[at] : starts[at + 1]]
            yield Find(spots[at], depths[at], found, *[column[at] for column in relevances])


class Links:
    """What is known about each link, row by row. Row 0 stands for none."""

    def __init__(self) -> None:
        # the frontier's ids; 0 for URLs that are not in it
        self._numbers_of: Callable[[Iterable[str]], Sequence[int]] = lambda urls: [0 for _ in urls]
        self.ids, self.hosts, self.places, self.areas = (array("I") for _ in range(4))
        self.best, self._first_word = (array("I") for _ in range(2))  # best: the most relevant of its pages
        self.depths = array("H")
        self.contexts, self.owns, self.elsewheres, self.cash = (array("d") for _ in range(4))
        self.values = array("f")
        self.counts, self.twins, self.turns, self.word_counts = (array("B") for _ in range(4))
        self.pages = tuple(array("I") for _ in range(SOURCES))  # the first few pages it was found on,
        self.spots = tuple(array("H") for _ in range(SOURCES))  # and its position on each of them
        self._words = array("I")  # of all links, concatenated
        self._left_behind = 0  # words of removed links
        self._free: list[int] = []
        self._rows = array("I", [0])  # by the frontier's id
        self._others: dict[str, int] = {}  # rows of URLs that are not in the frontier, or not yet
        self._new: list[str] = []
        self._grow()
        self._free.pop()  # row 0

    def __len__(self) -> int:
        return len(self.ids) - 1 - len(self._free)

    def _columns(self) -> Iterator[array[int] | array[float]]:
        yield from (self.ids, self.hosts, self.places, self.areas, self.best, self._first_word, self.depths)
        yield from (self.contexts, self.owns, self.elsewheres, self.values, self.cash)
        yield from (self.counts, self.twins, self.turns, self.word_counts)
        yield from self.pages
        yield from self.spots

    def _grow(self) -> None:
        start = len(self.ids)
        for column in self._columns():
            column.frombytes(bytes(_CHUNK * column.itemsize))
        self._free[:0] = range(start + _CHUNK - 1, start - 1, -1)  # rows used before are reused first

    # -- by URL -------------------------------------------------------------------------------------------------------

    def connect(self, numbers_of: Callable[[Iterable[str]], Sequence[int]]) -> None:
        self._numbers_of = numbers_of

    def _number_of(self, url: str) -> int:
        return self._numbers_of((url,))[0]

    def find(self, url: str) -> int:
        """Return the row of a queued URL, else 0."""
        number, rows = self._number_of(url), self._rows
        return (rows[number] if number < len(rows) else 0) or self._others.get(url, 0)

    def rows(self, urls: Sequence[str]) -> list[int]:
        """Like `find`, for the links of a page."""
        rows, most, others = self._rows, len(self._rows), self._others.get
        numbers = self._numbers_of(urls)
        if not any(numbers):
            return [others(url, 0) for url in urls] if self._others else [0] * len(urls)
        return [
            (rows[number] if number < most else 0) or others(url, 0) for url, number in zip(urls, numbers, strict=True)
        ]

    def row_of(self, number: int) -> int:
        return self._rows[number] if number < len(self._rows) else 0

    def take(self, url: str) -> int:
        """Like `find`, but also remove the URL from the queue; its row stays until it is released."""
        number = self._number_of(url)
        row = self.row_of(number)
        if row:
            self._rows[number] = 0
            return row
        return self._others.pop(url, 0)

    def settle(self) -> None:
        """Assign the frontier's ids to the new links, once it has seen them. Links it refused are still kept by URL."""
        if not self._new:
            return
        numbers, ids, others = self._numbers_of(self._new), self.ids, self._others
        self._make_room(max(numbers))
        rows = self._rows
        for url, number in zip(self._new, numbers, strict=True):
            if number and (row := others.pop(url, 0)):
                rows[number] = row
                ids[row] = number
        self._new.clear()

    def _make_room(self, number: int) -> None:
        if number >= len(self._rows):
            self._rows.frombytes(bytes(self._rows.itemsize * max(_CHUNK, number + 1 - len(self._rows))))

    def name_of(self, row: int) -> str:
        """Return the URL of a link that is not in the frontier."""
        return next((url for url, other in self._others.items() if other == row), "")

    # -- by row -------------------------------------------------------------------------------------------------------

    def words(self, row: int) -> Sequence[int]:
        first = self._first_word[row]
        return self._words[first : first + self.word_counts[row]]

    def found(self, row: int) -> list[tuple[int, int]]:
        """Return the numbers of the first few pages it was found on, and its position on each of them."""
        return [(self.pages[at][row], self.spots[at][row]) for at in range(self.counts[row])]

    def again(self, row: int, source: Source, find: Find | None, best: Source) -> None:
        """Record that a link was found on another page; without `find`, nothing else is known about it."""
        self.cash[row] += source.cash
        if find is None:
            return
        if find.depth < self.depths[row]:
            self.depths[row] = find.depth
        if find.context > self.contexts[row]:
            self.contexts[row] = find.context
        if find.own > self.owns[row]:
            self.owns[row] = find.own
        if find.elsewhere > self.elsewheres[row]:
            self.elsewheres[row] = find.elsewhere
        if find.value > self.values[row]:
            self.values[row] = find.value
        if find.words:
            self._add_words(row, find.words)
        at = self.counts[row]
        self.pages[at][row], self.spots[at][row] = source.number, find.spot
        self.counts[row] = at + 1
        if source.relevance > best.relevance:
            self.best[row] = source.number

    def _add_words(self, row: int, found: Sequence[int]) -> None:
        before = self.words(row)
        words = list(dict.fromkeys((*before, *found)))[:WORDS_KEPT]
        if len(words) > len(before):
            self._left_behind += len(before)
            self.set_words(row, words)

    def add(self, source: Source, finds: Finds, which: Sequence[int]) -> Sequence[int]:
        """Add the links of a page that were not known before. Those without an id are kept by URL until `settle`."""
        given, rows = finds.columns, self._take_rows(len(which))
        starts = array("I", accumulate(given["word_counts"], initial=len(self._words)))
        self._words.extend(given["words"])  # includes words of links left out: filtering would take longer
        pairs = [(getattr(self, name), given[name]) for name in COLUMNS]
        pairs += [(self.spots[0], given["spots"]), (self._first_word, starts[:-1])]
        for column, values in pairs:
            chosen = values if len(which) == len(values) else array(column.typecode, [values[at] for at in which])
            _put(column, rows, chosen)
        for column, value in ((self.best, source.number), (self.pages[0], source.number), (self.cash, source.cash)):
            _put(column, rows, array(column.typecode, [value]) * len(which))
        _put(self.counts, rows, array("B", [1]) * len(which))
        if len(which) < len(given["word_counts"]):
            self._left_behind += len(given["words"]) - sum([given["word_counts"][at] for at in which])
        self._name(finds, which, rows)
        return rows

    def _name(self, finds: Finds, which: Sequence[int], rows: Sequence[int]) -> None:
        numbers = finds.columns["ids"]
        self._make_room(max(numbers, default=0))
        for at, row in zip(which, rows, strict=True):
            if number := numbers[at]:
                self._rows[number] = row
            else:
                self._others[finds.urls[at]] = row
                self._new.append(finds.urls[at])

    def _take_rows(self, count: int) -> Sequence[int]:
        """Return empty rows; a range if they are consecutive, which is faster to fill."""
        while len(self._free) < count:
            self._grow()
        rows = self._free[: -count - 1 : -1]
        del self._free[len(self._free) - count :]
        follow = range(rows[0], rows[0] + count) if rows else range(0)
        return follow if rows == [*follow] else rows

    def restore(
        self, pages: Sequence[tuple[int, int]], best: int, marks: tuple[int, int, int], words: Sequence[int]
    ) -> int:
        """Restore a link that led to a page, as far as it is still needed; it cannot be found by its URL."""
        if not self._free:
            self._grow()
        row = self._free.pop()
        self.hosts[row], self.places[row], self.areas[row] = marks
        for at, (page, spot) in enumerate(pages):
            self.pages[at][row], self.spots[at][row] = page, spot
        self.counts[row], self.best[row] = len(pages), best
        self.set_words(row, words)
        return row

    def release(self, row: int) -> None:
        """Free the row of a link that is no longer needed."""
        self._left_behind += self.word_counts[row]
        for column in self._columns():
            column[row] = 0
        self._free.append(row)
        if self._left_behind > max(_FEW, len(self._words) // 2):
            self._sweep()

    def set_words(self, row: int, words: Sequence[int]) -> None:
        self._first_word[row], self.word_counts[row] = len(self._words), len(words)
        self._words.extend(words)

    def _sweep(self) -> None:
        kept = array("I")
        for row, count in enumerate(self.word_counts):
            if count:
                first, self._first_word[row] = self._first_word[row], len(kept)
                kept.extend(self._words[first : first + count])
        self._words, self._left_behind = kept, 0


def _put(column: array[Any], rows: Sequence[int], values: array[Any]) -> None:
    if isinstance(rows, range):
        column[rows.start : rows.stop] = values
    else:
        for row, value in zip(rows, values, strict=True):
            column[row] = value
