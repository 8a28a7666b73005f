"""What `learned` remembers about individual pages and links: where links were found, what is queued, what is done."""

from array import array
from collections import Counter
from collections.abc import Sequence
from itertools import chain
from typing import Any, NamedTuple

from lycosa import urls
from lycosa.strategy.kept import Batches, Fetched, PageNote, read_fetched, read_names, read_numbers, read_yields
from lycosa.strategy.links import MOST_SHORT, Finds, Links, Names
from lycosa.strategy.sources import Levels, Source
from lycosa.strategy.url_features import folder_of, levels_down, twins
from lycosa.types import Link


class Candidates(NamedTuple):
    """Links of a page that may be fetched, in columns."""

    links: Sequence[Link]
    spots: Sequence[int]  # their positions on the page
    rows: Sequence[int]  # of links known before; 0 for the others
    words: Sequence[Sequence[int]]  # their numbers


class Memory:
    """All pages that may have queued links, and those links."""

    def __init__(self) -> None:
        self.names = Names()
        self.links = Links()  # that are queued, or led to a page
        self.sources: list[Source] = []
        self.by_key: dict[int, Source] = {}  # the same, by the key of the URL
        self.levels = Levels()
        self.done: set[int] = set()  # keys of fetched URLs
        self.folders: set[int] = set()  # keys of the folders of those that were pages
        self.batches = Batches()
        self.up = 0  # row of the link of the current visit
        self._page: tuple[Source, Finds, Sequence[int]] | None = None  # not stored yet
        self._url = ""  # of the page added last

    def first_page(self, row: int) -> Source:
        """Return the first page that a link was found on."""
        return self.sources[self.links.pages[0][row]]

    def best_page(self, row: int) -> Source:
        return self.sources[self.links.best[row]]

    def host(self, row: int) -> str:
        return self.names.all[self.links.hosts[row]].removeprefix("host ")

    def take(self, url: str, is_page: bool) -> tuple[int, list[int]]:
        """Take a link off the queue; also return the queued links to other URLs of the page, which should come last."""
        links = self.links
        folder = folder_of(url) if is_page else ""
        same: list[int] = []
        if folder and urls.key(folder) not in self.folders:
            same = [row for row in map(links.find, twins(folder)) if row]
            for row in same:
                links.twins[row] = 1
                self.batches.twins.append(links.ids[row])
        row = links.take(url)
        fetched = Fetched(url, is_page, links.ids[row])
        self._finish(fetched)
        self.batches.fetched.append(fetched)
        if row:
            for page, _ in links.found(row):
                self.sources[page].remove(row, links.places[row])
        return row, same

    def _finish(self, fetched: Fetched) -> None:
        self.done.add(urls.key(fetched.url))
        if fetched.is_page and (folder := folder_of(fetched.url)):
            self.folders.add(urls.key(folder))

    def add_page(self, source: Source, url: str, up: int) -> Source:
        source.level, source.up, self._url = levels_down(url) if url else 0, up, url
        self.name_class(source, source.label)
        self.sources.append(source)
        self.by_key[urls.key(url)] = source
        return source

    def name_class(self, source: Source, label: str) -> None:
        source.label, source.kind = label, self.names[f"class {label}"] if label else 0

    def finds(self, candidates: Candidates, columns: dict[str, Sequence[float]]) -> Finds:
        """Build what a page says about its links, given the columns that are known already."""
        links, spots, rows, words = candidates
        urls = [link.url for link in links]
        marks = zip(*self.names.marks(urls), strict=True) if links else ((), (), ())
        columns |= zip(("hosts", "places", "areas"), marks, strict=True)
        columns["ids"] = array("I", [0]) * len(links)
        columns["spots"] = _short(spots)
        columns["depths"] = _short([link.depth for link in links])
        columns["word_counts"] = array("B", map(len, words))
        columns["words"] = array("I", chain.from_iterable(words))
        return Finds(urls, [*rows], columns)

    def add_links(self, source: Source, finds: Finds, told: Sequence[int]) -> list[int]:
        """Record what a page says about its links; there is nothing left to learn about those in `told`."""
        self._add(source, finds, range(len(finds.rows)))
        for row in told:
            self.links.again(row, source, None, source)
        self._page = source, finds, told
        return finds.rows

    def _add(self, source: Source, finds: Finds, which: Sequence[int]) -> None:
        links, rows, columns = self.links, finds.rows, finds.columns
        new = [at for at in which if not rows[at]]
        known = [at for at in which if rows[at]] if len(new) < len(which) else []
        for at, find in zip(known, finds.some(known), strict=True):
            links.again(rows[at], source, find, self.best_page(rows[at]))
        for at, row in zip(new, links.add(source, finds, new), strict=True):
            rows[at] = row
            if not columns["ids"][at] and (folder := folder_of(finds.urls[at])) and urls.key(folder) in self.folders:
                links.twins[row] = 1
        source.kids.extend([rows[at] for at in which])
        source.waiting = dict(Counter([columns["places"][at] for at in which]))
        if source.kids:
            self.levels.add(source, columns["depths"][0])

    # -- persistence --------------------------------------------------------------------------------------------------

    def settle(self, db: Any) -> None:
        """After the turn, once the frontier has seen the links of the page, store them by its ids."""
        links = self.links
        links.settle()
        if self._page:
            source, finds, told = self._page
            self.batches.twins.extend([links.ids[row] for row in finds.rows if links.twins[row]])
            if db is not None:
                db.keep(f"learned page {source.number:09}", PageNote.of(source, self._url, links, finds, told).pack())
        if self.up and not (self._page and self._page[0].up == self.up):
            links.release(self.up)  # it led to no page whose links could give it credit
        self._page, self.up = None, 0

    def save(self, db: Any) -> None:
        self.batches.write(db, self.names.fresh())

    def load_names(self, db: Any) -> None:
        self.names.load(read_names(db))

    def load(self, db: Any) -> None:
        """Load everything from the notes."""
        links = self.links
        done: set[int] = set()  # ids
        for fetched in read_fetched(db):
            self._finish(fetched)
            done.add(fetched.number)
        for _, packed in db.notes("learned page "):
            self._load_page(PageNote.unpack(packed), done)
        for number, state in read_yields(db):
            source = self.sources[number]
            source.load(state)
            self.name_class(source, source.label)
        for column, kind in ((links.twins, "twins"), (links.turns, "turns")):
            for batch in read_numbers(db, kind, "I"):
                for row in filter(None, map(links.row_of, batch)):
                    column[row] = 1

    def _load_page(self, note: PageNote, done: set[int]) -> None:
        links = self.links
        up = links.restore(note.up.pages, note.up.best, note.up.marks, note.up.words) if note.up else 0
        source = Source(len(self.sources), note.relevance, note.label, note.distance, note.cash, note.luck)
        self.add_page(source, note.url if isinstance(note.url, str) else "", up)
        finds = note.finds()
        which: list[int] = []  # those still queued
        for at, number in enumerate(finds.columns["ids"]):
            if number not in done if number else urls.key(note.urls[at]) not in self.done:
                which.append(at)
                finds.rows[at] = links.row_of(number) if number else links.find(note.urls[at])
        self._add(source, finds, which)
        for number, url in note.others():
            if row := links.row_of(number) if number else links.find(url):
                links.again(row, source, None, source)


def _short(numbers: Sequence[int]) -> "array[int]":
    return array("H", numbers if max(numbers, default=0) <= MOST_SHORT else [min(n, MOST_SHORT) for n in numbers])
