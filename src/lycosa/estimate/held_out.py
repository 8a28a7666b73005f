"""Estimate recall from held-out pages: some of the pages the user knows are withheld from the crawl, and the share of
them that it finds on its own estimates the share of the topic that it has found."""

import math
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from lycosa.outcomes import NOT_THERE
from lycosa.types import Page, Visit

LEAST = 10  # held-out pages: fewer say next to nothing
Z_95 = 1.96  # of the reported interval
_INDEX = ("index.html", "index.htm", "index.php", "default.html", "default.htm")

_CURVE_ONLY = "recall is estimated from the harvest curve only"

Pages = Iterable[tuple[str, Page]]


class Interval(NamedTuple):
    low: float
    high: float


def wilson(found: int, of: int, z: float = Z_95) -> Interval:
    """Return the Wilson interval of a proportion, given `found` of a random sample of size `of`."""
    if not of:
        return Interval(0.0, 1.0)
    share, weight = found / of, z * z / of
    middle = (share + weight / 2) / (1 + weight)
    half = z * math.sqrt(share * (1 - share) / of + weight / (4 * of)) / (1 + weight)
    return Interval(max(0.0, middle - half) if found else 0.0, middle + half if found < of else 1.0)


def key(url: str) -> str:
    """Normalise the URLs under which a person and a site may refer to the same page."""
    rest = url.partition("://")[2].partition("#")[0].removeprefix("www.")
    folder, slash, name = rest.rpartition("/")
    return (folder if slash and name in _INDEX else rest).rstrip("/")


class Draw(NamedTuple):
    """Which pages are held out; if none, why."""

    urls: list[str]
    problem: str = ""


def draw(known: Sequence[str], used: Iterable[str], seeds: Sequence[str], share: float, seed: int) -> Draw:
    """Hold out a random sample: a share of the known pages, and at least `LEAST`; never a page that was `used` before,
    and never all of the `seeds`."""
    if not known:
        return Draw([])
    taken = {key(url) for url in used}
    free = [url for name, url in {key(url): url for url in known}.items() if name not in taken]
    if len(free) < LEAST:
        others = len(known) - len(free)
        why = f" ({others:,} more are out of scope, or were given to the crawl)" * bool(others)
        return Draw([], f"{_CURVE_ONLY}: at least {LEAST} pages must be set aside, but only {len(free)} can be{why}")
    chosen = Random(seed).sample(sorted(free), min(len(free), max(LEAST, round(share * len(known)))))
    if seeds and {*map(key, seeds)} <= {*map(key, chosen)}:
        return Draw([], f"{_CURVE_ONLY}: every seed would be set aside")
    return Draw(chosen)


class HeldOut:
    """The held-out pages, and which of them the crawl has found."""

    def __init__(self, urls: Iterable[str] = ()) -> None:
        self.urls = {key(url): url for url in urls}
        self.found: set[str] = set()

    def __len__(self) -> int:
        return len(self.urls)

    def __contains__(self, url: str) -> bool:
        return key(url) in self.urls

    @property
    def is_enough(self) -> bool:
        """Return whether there are enough of them to say anything."""
        return len(self.urls) >= LEAST

    def write(self, visit: Visit) -> None:
        """Record a visit: a page is found once it has been fetched, under any of its URLs."""
        if not self.urls:
            return
        reply = visit.reply
        if reply.error in NOT_THERE:
            self.drop([reply.link.url])  # no crawl can find it, so it says nothing about this one
        elif not reply.error or reply.error == "redirect-known":  # the latter leads to a page that was fetched already
            addresses = {reply.link.url, reply.url, visit.page.canonical, *(each.url for each in reply.exchanges)}
            self.found.update(self.urls.keys() & {key(url) for url in addresses})

    def drop(self, urls: Iterable[str]) -> None:
        """Stop counting pages that do not exist or that the crawl has been told about."""
        for name in map(key, urls):
            self.urls.pop(name, None)
            self.found.discard(name)

    def study(self, found: Iterable[str], lost: Iterable[str]) -> None:
        """Which of these pages other shards have found, or no longer count; by their names, as in `save`."""
        for name in lost:
            self.urls.pop(name, None)
            self.found.discard(name)
        self.found.update(self.urls.keys() & set(found))

    def interval(self, z: float = Z_95) -> Interval:
        return wilson(len(self.found), len(self.urls), z)

    def save(self) -> dict[str, Any]:
        return {"urls": [*self.urls.values()], "found": sorted(self.found)}

    def load(self, state: dict[str, Any]) -> None:
        self.urls = {key(url): url for url in state["urls"]}
        self.found = set(state["found"]) & self.urls.keys()


def leaving_out(held_out: HeldOut, read: Callable[[Path], Pages]) -> Callable[[Path], Pages]:
    """Wrap `read` to skip held-out pages. A WARC has the URLs of its pages, a folder does not."""
    return lambda path: ((name, page) for name, page in read(path) if not held_out.urls or name not in held_out)
