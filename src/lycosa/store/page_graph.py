"""The pages of a crawl and the links between them, numbered for link analysis."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lycosa.store import known
from lycosa.store.db import CrawlDb
from lycosa.store.visited import IS_DISTINCT, IS_RELEVANT

_PAGES = f"SELECT url, final_url, {IS_RELEVANT} FROM visits WHERE {IS_DISTINCT} ORDER BY n"
_COPIES = "SELECT url, final_url, duplicate_of FROM visits WHERE error = '' AND duplicate_of != '' ORDER BY n"


class PageGraph(NamedTuple):
    """URLs of pages, and links as pairs of page numbers."""

    pages: list[str]
    sources: NDArray[np.int64]
    targets: NDArray[np.int64]


def read_page_graph(db: CrawlDb, relevant_only: bool) -> PageGraph:
    pages, numbers = _pages(db, relevant_only)
    return PageGraph(pages, *_links(db, numbers))


def _pages(db: CrawlDb, relevant_only: bool) -> tuple[list[str], NDArray[np.int64]]:
    """The pages of the crawl, and for each URL id the number of its page, or -1.

    A redirect leads to the same page as its target, and the same body at another address is the same page.
    """
    pages: list[str] = []
    number_of: dict[str, int] = {}
    for url, final_url, relevant in db.execute(_PAGES):
        if relevant or not relevant_only:
            number_of[url] = number_of[final_url] = len(pages)
            pages.append(url)
    for url, final_url, first in db.execute(_COPIES):
        if first in number_of:
            number_of[url] = number_of[final_url] = number_of[first]
    last = db.execute("SELECT coalesce(max(id), 0) FROM urls").fetchone()[0]
    numbers = np.full(last + 1, -1, np.int64)
    for id, url in known.url_ids(db):
        numbers[id] = number_of.get(url, -1)
    return pages, numbers


def _links(db: CrawlDb, numbers: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The links between pages, as page numbers."""
    starts, ends = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for source, targets in known.links(db):
        if source < len(numbers) and numbers[source] >= 0:
            found = np.frombuffer(targets, np.uint32)
            inside = numbers[found[found < len(numbers)]]
            inside = inside[inside >= 0]
            starts.append(np.full(len(inside), numbers[source]))
            ends.append(inside)
    return np.concatenate(starts), np.concatenate(ends)
