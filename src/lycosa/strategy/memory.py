"""What `learned` remembers of single pages and links: where each link was found, what waits, what is done."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import msgspec

from lycosa import urls
from lycosa.strategy.kept import Batches, PageNote, read_names, read_numbers
from lycosa.strategy.links import Find, Links, Names
from lycosa.strategy.sources import Levels, Source
from lycosa.strategy.url_features import folder_of, twins


class Memory:
    """All pages whose links may wait, and these links."""

    def __init__(self) -> None:
        self.names = Names()
        self.links = Links()  # that wait, or led to a page
        self.sources: list[Source] = []
        self.levels = Levels()
        self.done: set[int] = set()  # fingerprints of URLs that were fetched
        self.folders: set[int] = set()  # and of the folders of those that were pages
        self.batches = Batches()
        self.up = 0  # the row of the link of the visit under way
        self._page: tuple[Source, Sequence[Find], Sequence[int], Sequence[int]] | None = None  # not noted yet

    def first_page(self, row: int) -> Source:
        """That a link was found on."""
        return self.sources[self.links.pages[0][row]]

    def best_page(self, row: int) -> Source:
        return self.sources[self.links.best[row]]

    def host(self, row: int) -> str:
        return self.names.all[self.links.hosts[row]].removeprefix("host ")

    def take(self, url: str, is_page: bool) -> tuple[int, list[int]]:
        """The link no longer waits. Other addresses of the same page still do, but should come last: these too."""
        links = self.links
        folder = folder_of(url) if is_page else ""
        known = urls.fingerprint(folder) if folder else 0
        same: list[int] = []
        if folder and known not in self.folders:
            self.folders.add(known)
            same = [row for row in map(links.find, twins(folder)) if row]
            for row in same:
                links.twins[row] = 1
                self.batches.twins.append(links.ids[row])
        row, key = links.take(url), urls.fingerprint(url)
        self.done.add(key)
        self.batches.done.extend((key, known, links.ids[row]))
        if row:
            for page, _ in links.found(row):
                self.sources[page].remove(row, links.places[row])
        return row, same

    def add_page(self, relevance: float, label: str, distance: int, cash: float, luck: float, up: int) -> Source:
        source = Source(len(self.sources), relevance, label, distance, cash, luck)
        source.kind = self.names[f"class {label}"] if label else 0
        source.up = up
        self.sources.append(source)
        return source

    def add_links(self, source: Source, finds: Sequence[Find], told: Sequence[int]) -> list[int]:
        """Take down what a page says of its links; of those in `told` no more is to be learned."""
        rows = [self._find(source, find) for find in finds]
        for row in told:
            self.links.again(row, source, None, source)
        if source.kids:
            self.levels.add(source, finds[0].depth)
        self._page = source, finds, rows, told
        return rows

    def _find(self, source: Source, find: Find) -> int:
        links, row = self.links, find.row
        if row:
            links.again(row, source, find, self.best_page(row))
        else:
            row = links.add(source, find)
            if (folder := folder_of(find.url)) and urls.fingerprint(folder) in self.folders:
                links.twins[row] = 1
        source.add(row, links.places[row])
        return row

    # -- what survives ------------------------------------------------------------------------------------------------

    def settle(self, db: Any) -> None:
        """The turn is over, and the frontier has seen the links of its page: note them by its ids."""
        links = self.links
        links.settle()
        if self._page:
            source, finds, rows, told = self._page
            self.batches.twins.extend(links.ids[row] for row in rows if links.twins[row])
            if db is not None:
                db.keep(f"learned page {source.number:09}", PageNote.of(source, links, finds, rows, told).pack())
        if self.up and not (self._page and self._page[0].up == self.up):
            links.release(self.up)  # it led to no page whose links could give it credit
        self._page, self.up = None, 0

    def save(self, db: Any) -> None:
        self.batches.write(db, self.names.fresh())

    def load_names(self, db: Any) -> None:
        self.names.load(read_names(db))

    def load(self, db: Any) -> None:
        """Everything, from the notes."""
        links = self.links
        done: set[int] = set()  # ids
        for batch in read_numbers(db, "done", "Q"):
            self.done.update(batch[::3])
            self.folders.update(batch[1::3])
            done.update(batch[2::3])
        self.folders.discard(0)
        for _, packed in db.notes("learned page "):
            self._load_page(PageNote.unpack(packed), done)
        for number, packed in db.notes("learned yield "):
            self.sources[int(number)].load(msgspec.msgpack.decode(packed))
        for column, kind in ((links.twins, "twins"), (links.turns, "turns")):
            for batch in read_numbers(db, kind, "I"):
                for row in filter(None, map(links.row_of, batch)):
                    column[row] = 1

    def _load_page(self, note: PageNote, done: set[int]) -> None:
        links = self.links
        up = links.restore(note.up.pages, note.up.best, note.up.marks, note.up.words) if note.up else 0
        source = self.add_page(note.relevance, note.label, note.distance, note.cash, note.luck, up)
        columns = note.arrays()
        new: list[int] = []  # where they stand in the note
        known: list[int] = []  # from earlier pages, or by their address only
        for at, number in enumerate(columns["ids"]):
            if number not in done if number else urls.fingerprint(note.urls[at]) not in self.done:
                (new if number and not links.row_of(number) else known).append(at)
        rows = links.add_many(source, columns, new)
        source.waiting = dict(Counter(links.places[rows.start : rows.stop]))
        added = dict(zip(new, rows, strict=True))
        for at in sorted(new + known):
            if at in added:
                source.kids.append(added[at])
            else:
                find = note.find(columns, at)
                find.row = links.row_of(columns["ids"][at]) or links.find(find.url)
                self._find(source, find)
        for number, url in note.others():
            if row := links.row_of(number) if number else links.find(url):
                links.again(row, source, None, source)
        if source.kids:
            self.levels.add(source, columns["depths"][0])
