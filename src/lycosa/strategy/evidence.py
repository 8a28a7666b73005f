"""What speaks for a link? What such links brought so far, and the words and the place that can be read off its address.

Everything counted here is compared with the going rate of the crawl, so that no number depends on how generous a topic
judges or how rare its pages are.
"""

import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import log, sqrt
from typing import Any

from lycosa.text import STEMS, words
from lycosa.types import Link, Page

MOST_WORDS = 12  # of a link: an address or an anchor of a hundred words says no more
SPOT = 5  # links in a row on a page that are taken together
_MOST_NAMES = 100_000  # hostile pages have as many words as they like
MEMORY = 2_000  # observations; older ones count less and less
_address_words = re.compile(r"[^\W\d_]{2,}|~").findall
_FIRST_PAGES = ("index.html", "index.htm", "index.php", "default.htm", "default.asp", "default.aspx")


class Tally:
    """How many of the tried links were good; the unit is one relevant page."""

    __slots__ = ("good", "tried")

    def __init__(self, good: float = 0.0, tried: float = 0.0) -> None:
        self.good = good
        self.tried = tried

    def add(self, good: float, tried: float = 1.0) -> None:
        self.good += good
        self.tried += tried
        if self.tried > MEMORY:
            self.good, self.tried = self.good / 2, self.tried / 2

    def state(self) -> list[float]:
        return [self.good, self.tried]

    def surplus(self, rate: float) -> float:
        """The logarithm of good links over those to be expected at this rate, both with one page more.

        So a rare topic needs many failures before they tell anything, and one success tells much.
        """
        return log((self.good + 1.0) / (self.tried * rate + 1.0))


class Scale:
    """Running mean and spread of a number, to see each value in units of the spread: -3 .. 3, the mean is 0."""

    __slots__ = ("count", "mean", "square")

    def __init__(self, count: float = 0.0, mean: float = 0.0, square: float = 0.0) -> None:
        self.count = count
        self.mean = mean
        self.square = square  # the variance

    def add(self, value: float) -> None:
        if self.count < MEMORY:
            self.count += 1
        step = value - self.mean
        self.mean += step / self.count
        self.square += (step * (value - self.mean) - self.square) / self.count

    def of(self, value: float) -> float:
        if self.square < 1e-12:
            return 0.0
        units = (value - self.mean) / sqrt(self.square)
        return units if -3.0 < units < 3.0 else 3.0 if units > 0 else -3.0

    def state(self) -> list[float]:
        return [self.count, self.mean, self.square]


class Surpluses(dict[str, float]):
    """The surplus of each key that is asked for, at the rate of now: most keys come many times before it changes."""

    rate = 1.0

    def __init__(self, tallies: Mapping[str, Tally]) -> None:
        super().__init__()
        self._tallies = tallies

    def __missing__(self, key: str) -> float:
        tally = self._tallies.get(key)
        found = self[key] = tally.surplus(self.rate) if tally else 0.0
        return found

    def start(self, rate: float) -> None:
        """Counts have changed."""
        self.clear()
        self.rate = rate


class _Names(dict[str, str]):
    """What a word of an anchor is counted as: its stem in quotes, or nothing. Of a path: the word after a slash."""

    def __init__(self, name: Callable[[str], str]) -> None:
        super().__init__()
        self._name = name

    def __missing__(self, word: str) -> str:
        if len(self) >= _MOST_NAMES:
            self.clear()
        found = self[word] = sys.intern(self._name(word))
        return found


_of_anchor = _Names(lambda word: f"“{stem}”" if (stem := STEMS[word]) else "").__getitem__
_of_path = _Names("/{}".format).__getitem__


def place_of(url: str) -> str:
    """Addresses of one kind: host, first folder, how deep, and how the name ends.

    Instead of the tag path: links of one list mostly have addresses of one kind.
    """
    parts = url.split("/", 3)
    path, asks, _ = (parts[3] if len(parts) > 3 else "").partition("?")
    folders = path.split("/")
    first = folders[0] if len(folders) > 1 else ""
    name = folders[-1]
    ending = "." if "." in name else "*" if name else ""
    return f"{parts[2]}/{'~' if first.startswith('~') else first}/{len(folders)}{ending}{asks}"


def folder_of(url: str) -> str:
    """The folder, if a page is what most servers show for one: at its address, without the slash too, and at that of
    its first page. Else nothing."""
    folder, _, name = url.rpartition("/")
    if not name or name.lower() in _FIRST_PAGES:
        return folder
    return "" if "." in name or "?" in url else url


def twins(folder: str) -> list[str]:
    """The addresses that are probably one page."""
    return [folder, f"{folder}/", *(f"{folder}/{name}" for name in _FIRST_PAGES)]


def words_of(link: Link, page: Page) -> tuple[list[str], tuple[str, ...]]:
    """The words of its anchor and its path, to be judged; and as they are counted: stems, and `~`, a person's mark."""
    anchor = page.words[link.start : link.end] or (words(link.anchor) if link.anchor else [])
    address = _address_words(link.url.split("/", 3)[3].lower())
    stems = [stem for stem in map(_of_anchor, anchor[:MOST_WORDS]) if stem]
    counted = tuple(dict.fromkeys([*stems[: MOST_WORDS // 2], *map(_of_path, address[: MOST_WORDS // 2])]))
    return [*anchor[:MOST_WORDS], *address[:MOST_WORDS]], counted


class Source:
    """A fetched page, and what its links brought so far: the yield of siblings."""

    __slots__ = (
        *("cash", "distance", "given", "kids", "kind", "label", "luck", "number", "places", "relevance", "spots"),
        *("tally", "up", "waiting"),
    )

    def __init__(self, number: int, relevance: float, label: str, distance: int, cash: float, luck: float) -> None:
        self.number = number
        self.relevance = relevance
        self.label = label
        self.kind = sys.intern(f"class {label}") if label else ""  # a key as those of `counted_as`
        self.distance = distance  # clicks since the last page on topic
        self.cash = cash  # what each of its links gets
        self.luck = luck  # how eagerly its links are tried: this is where chance comes in
        self.given = 0.0  # credit that the link to it got for what its own links brought
        self.tally = Tally()
        self.places: dict[str, Tally] = {}  # the same by the kind of address
        self.spots: dict[int, Tally] = {}  # and by where on the page they stand
        self.waiting: dict[str, int] = {}  # links that wait, by the kind of address
        self.kids: list[str] = []  # addresses that may still wait, most promising first
        self.up: Waiting | None = None  # the link that led here; None for a seed

    def count(self, place: str, spot: int, good: float, tried: float) -> None:
        """Take down what one of its links brought."""
        self.tally.add(good, tried)
        self.places.setdefault(place, Tally()).add(good, tried)
        self.spots.setdefault(spot, Tally()).add(good, tried)

    def near(self, spot: int, rate: float) -> float:
        """The surplus of the links around a spot; those a little further away count half."""
        good = tried = 0.0
        for at, share in ((spot, 1.0), (spot - 1, 0.5), (spot + 1, 0.5)):
            tally = self.spots.get(at)
            if tally:
                good += share * tally.good
                tried += share * tally.tried
        return log((good + 1.0) / (tried * rate + 1.0)) if tried else 0.0

    def state(self) -> list[Any]:
        """What changes while its links are tried."""
        groups = [{key: tally.state() for key, tally in group.items()} for group in (self.places, self.spots)]
        return [self.tally.good, self.tally.tried, self.given, *groups]

    def load(self, state: Sequence[Any]) -> None:
        good, tried, self.given, places, spots = state
        self.tally = Tally(good, tried)
        self.places = {place: Tally(*parts) for place, parts in places.items()}
        self.spots = {int(spot): Tally(*parts) for spot, parts in spots.items()}


class Waiting:
    """A link that waits, with all that was said of it on the pages it was found on."""

    __slots__ = (
        *("cash", "context", "depth", "elsewhere", "finds", "host", "own", "place", "sources", "spots", "twin"),
        "words",
    )

    def __init__(self, url: str, depth: int) -> None:
        self.host = sys.intern(f"host {url.split('/', 3)[2]}")
        self.place = sys.intern(f"place {place_of(url)}")
        self.depth = depth
        self.context = -1.0  # what the judge makes of the words around it, if it was asked
        self.own = -1.0  # and of its own words
        self.elsewhere = 0.0  # where links with such words led to elsewhere
        self.words: tuple[str, ...] = ()
        self.sources: list[Source] = []  # the first few pages it was found on
        self.spots: list[int] = []  # where it stands on each of them
        self.cash = 0.0
        self.finds = 0  # pages it was found on
        self.twin = 0.0  # 1 if what is probably the same page was fetched

    def counted_as(self) -> Iterable[str]:
        """Under which its outcome is counted, beside the pages it was found on."""
        kind = self.best().kind
        return [self.host, self.place, *([kind] if kind else ()), *self.words]

    def best(self) -> Source:
        """The most relevant page it was found on."""
        sources = self.sources
        return sources[0] if len(sources) == 1 else max(sources, key=lambda source: source.relevance)

    def state(self) -> list[Any]:
        numbers = [source.number for source in self.sources]
        return [numbers, self.spots, self.host, self.place, list(self.words)]

    @classmethod
    def restored(cls, state: Sequence[Any], sources: Sequence[Source]) -> "Waiting":
        """The link that led to a page, as far as it still counts."""
        numbers, spots, host, place, words = state
        link = cls("http://-/", 0)
        link.host, link.place, link.spots, link.words = host, place, spots, tuple(words)
        link.sources = [sources[number] for number in numbers]
        return link
