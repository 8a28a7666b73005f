"""The pages of a crawl as bags of words: what a judge that learns from the crawl itself remembers of them.

Everything is bounded: the number of pages (above it, a new page may replace an old one, so that those kept are a random
sample of all), the words per page and the words overall. If there is a crawl.db, each page is stored there as a note
with its visit, so that a restart restores everything.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import filterfalse, islice, repeat
from typing import Any, Protocol
from urllib.parse import unquote

import numpy as np
import xxhash
from isal import isal_zlib
from msgspec import Struct, msgpack
from numpy.typing import NDArray

from lycosa.judge.features import Ids
from lycosa.judge.phrases import Phrases, tokens
from lycosa.judge.sparse import Rows
from lycosa.text import STEMS, words
from lycosa.types import Page

MOST_PAGES = 10_000
MOST_TEXT = 5_000  # words read per page
MOST_DISTINCT = 500  # terms kept per page
TITLE_TIMES = 3  # weight of a word in the title
URL_TIMES = 1
MOST_TIMES = 255  # mentions of a term that count
MOST_TERMS = 200_000  # above this, terms on a single page are discarded
_NOTE = "sentence page "

Bag = dict[str, int]  # term (a stem, or the stems of a phrase joined by spaces) -> number of mentions


class Notes(Protocol):
    """Where bulky state is stored: a crawl's database."""

    def keep(self, key: str, value: bytes) -> None: ...
    def noted(self, key: str) -> Any: ...
    def notes(self, prefix: str) -> Iterable[tuple[str, Any]]: ...


class Reader:
    """Converts pages to bags; only the phrases that are looked for count as terms."""

    def __init__(self, phrases: Iterable[str] = ()) -> None:
        self._spelled = {term_of(phrase): phrase for phrase in phrases}
        self._names = [*self._spelled]
        parts = [tuple(name.split(" ")) for name in self._names]
        self._phrases = Phrases(parts)
        self._stems = [{part for part in phrase if STEMS[part]} for phrase in parts]  # numbers are not stems
        self._last: tuple[Page, Collection[str], list[str], Bag] | None = None  # a page is judged, then learned from

    def read(self, page: Page) -> Bag:
        return self._read(page)[3]

    def spelling(self, page: Page) -> dict[str, str]:
        """Return the spelling of each term of a page."""
        _, distinct, stems, _ = self._read(page)
        return dict(zip(stems, distinct, strict=True)) | self._spelled

    def _read(self, page: Page) -> tuple[Page, Collection[str], list[str], Bag]:
        if self._last is None or self._last[0] is not page:
            self._last = page, *self._count(text_of(page))
        return self._last

    def read_words(self, text: Sequence[str]) -> Bag:
        return self._count(text)[2]

    def _count(self, text: Sequence[str]) -> tuple[Collection[str], list[str], Bag]:
        """Return the distinct words, their stems and the bag. Phrases come first in it, since a page with very many
        words must not lose them. Words are counted before they are stemmed, since most of them recur."""
        counts = Counter(text)
        stems = [*map(STEMS.__getitem__, counts)]
        found: Bag = {}
        for term, times in zip(stems, counts.values(), strict=True):
            found[term] = found[term] + times if term in found else times
        found.pop("", None)
        bag: Bag = {}
        if any(found.keys() >= parts for parts in self._stems):  # otherwise their order need not be checked
            bag = {self._names[place]: times for place, times in self._phrases.count(text).items()}
        bag |= found
        bag = bag if len(bag) <= MOST_DISTINCT else dict(islice(bag.items(), MOST_DISTINCT))
        return counts, stems, bag

    def spell(self, text: Collection[str]) -> dict[str, str]:
        """Return the spelling of each term of a text."""
        return dict(zip(map(STEMS.__getitem__, text), text, strict=True)) | self._spelled


def text_of(page: Page) -> list[str]:
    """Return the words of a page; title words count more, and words in the URL count too."""
    url = unquote(page.url) if "%" in page.url else page.url
    return [*words(page.title) * TITLE_TIMES, *words(url) * URL_TIMES, *page.words[:MOST_TEXT]]


class _Kept(Struct, frozen=True, array_like=True):
    """A page as stored in a note."""

    url: str
    words: str  # one per line
    times: bytes


class Bags:
    """A bounded sample of the pages seen so far."""

    def __init__(self, most_pages: int = MOST_PAGES, most_terms: int = MOST_TERMS) -> None:
        self.seen = 0  # pages, kept or not
        self.urls: list[str] = []
        self.terms: list[str] = []
        self.words: list[str] = []  # the terms as a person reads them
        self._most_pages, self._most_terms = most_pages, most_terms
        self._forgot_at = 0
        self._place: dict[str, int] = {}
        self._ids: list[Ids] = []
        self._times: list[NDArray[np.uint8]] = []
        self._notes: Notes | None = None

    def __len__(self) -> int:
        return len(self.urls)

    def connect(self, notes: Notes) -> None:
        self._notes = notes

    def add(self, url: str, bag: Bag, spell: Callable[[], dict[str, str]]) -> None:
        """Add a page, at random if there are too many; `spell` returns the spelling of new terms."""
        self.seen += 1
        slot = len(self.urls)
        if slot >= self._most_pages:  # pseudo-random, so that a crawl can be repeated
            slot = xxhash.xxh3_64_intdigest(f"{self.seen} {url}".encode()) % self.seen
            if slot >= self._most_pages:
                return
        spelled = spell()
        self._name(bag, spelled)
        self._put(slot, url, bag)
        if self._notes is not None:
            known = bag if len(self._ids[slot]) == len(bag) else [*filter(self._place.__contains__, bag)]
            names = _in_lines(known, spelled)
            note = msgpack.encode(_Kept(url, names, self._times[slot].tobytes()))
            self._notes.keep(f"{_NOTE}{slot:06}", isal_zlib.compress(note, 1))

    def load(self, seen: int) -> None:
        """Load the stored pages; `seen` is the number of pages seen, some of which may have been discarded."""
        if self._notes is None:
            return
        fresh = Bags(self._most_pages, self._most_terms)
        for _, note in self._notes.notes(_NOTE):
            kept = msgpack.decode(isal_zlib.decompress(note), type=_Kept)
            bag, spelled = unpacked_bag(kept.words, kept.times)
            fresh._name(bag, spelled)
            fresh._put(len(fresh), kept.url, bag)
        fresh.seen = max(seen, len(fresh)) if len(fresh) == self._most_pages else len(fresh)
        fresh._notes = self._notes
        vars(self).update(vars(fresh))

    def copy(self) -> "Bags":
        """Return a snapshot for another thread; the pages themselves never change."""
        found = Bags(self._most_pages, self._most_terms)
        found.seen, found.urls, found.terms, found.words = self.seen, self.urls[:], self.terms[:], self.words[:]
        found._ids, found._times = self._ids[:], self._times[:]
        return found

    def bag(self, slot: int) -> Bag:
        terms = map(self.terms.__getitem__, self._ids[slot].tolist())
        return dict(zip(terms, self._times[slot].tolist(), strict=True))

    def rows(self) -> Rows:
        """Return the term counts, one row per page."""
        starts = np.concatenate([[0], np.cumsum([len(ids) for ids in self._ids], dtype=np.int64)])
        none: list[Any] = [np.zeros(0, np.int32)]
        columns = np.concatenate(self._ids or none).astype(np.int32)
        return Rows(starts, columns, np.concatenate(self._times or none).astype(np.int32), len(self.terms))

    def _name(self, bag: Bag, spelled: Mapping[str, str]) -> None:
        """Number the new terms."""
        new = [*filterfalse(self._place.__contains__, bag)]
        if not new:
            return
        if len(self.terms) + len(new) > self._most_terms:
            if self.seen >= 2 * self._forgot_at:  # not on every page when there is nothing left to discard
                self._forget()
                self._forgot_at = self.seen
            new = new[: self._most_terms - len(self.terms)]
        self._place.update(zip(new, range(len(self.terms), len(self.terms) + len(new)), strict=True))
        self.terms += new
        self.words += [spelled.get(term, term) for term in new]

    def _put(self, slot: int, url: str, bag: Bag) -> None:
        ids = np.fromiter(map(self._place.get, bag, repeat(-1)), np.int32, len(bag))
        times = np.minimum(np.fromiter(bag.values(), np.int64, len(bag)), MOST_TIMES).astype(np.uint8)
        if len(bag) and ids.min() < 0:  # there were too many terms
            ids, times = ids[ids >= 0], times[ids >= 0]
        if slot == len(self.urls):
            self.urls.append(url)
            self._ids.append(ids)
            self._times.append(times)
        else:
            self.urls[slot], self._ids[slot], self._times[slot] = url, ids, times

    def _forget(self) -> None:
        """Discard terms on a single page: they say nothing about others, and hostile pages have any number of them."""
        df = np.bincount(np.concatenate(self._ids), minlength=len(self.terms))
        kept = np.flatnonzero(df > 1)
        numbers = np.full(len(self.terms), -1, np.int32)
        numbers[kept] = np.arange(len(kept))
        for slot, ids in enumerate(self._ids):
            left = numbers[ids] >= 0
            self._ids[slot], self._times[slot] = numbers[ids][left], self._times[slot][left]
        self.terms = list(map(self.terms.__getitem__, kept.tolist()))
        self.words = list(map(self.words.__getitem__, kept.tolist()))
        self._place = dict(zip(self.terms, range(len(self.terms)), strict=True))


def packed_bag(bag: Bag, spelled: Mapping[str, str]) -> tuple[str, bytes]:
    """Return the terms as words, one per line, and how often each occurs."""
    return _in_lines(bag, spelled), bytes(min(times, MOST_TIMES) for times in bag.values())


def _in_lines(terms: Iterable[str], spelled: Mapping[str, str]) -> str:
    return "\n".join([spelled.get(term, term) for term in terms])


def unpacked_bag(names: str, times: bytes) -> tuple[Bag, dict[str, str]]:
    """Return the bag, and the spelling of each of its terms."""
    spelled = {term_of(word): word for word in names.split("\n")} if times else {}
    return dict(zip(spelled, times, strict=True)), spelled


def term_of(word: str) -> str:
    """Return the term of a word or a phrase."""
    return " ".join(tokens(word)) if " " in word else STEMS[word]
