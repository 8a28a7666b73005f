"""Every URL the crawl knows: id, score, band and state in compact arrays. Its text stays in crawl.db until its turn."""

from __future__ import annotations  # array[int] is a type before Python 3.12 only in annotations

from array import array
from collections.abc import Iterator

import numpy as np

from lycosa import urls
from lycosa.frontier.batch import Batch
from lycosa.frontier.priority import rank_of
from lycosa.store.db import DONE, WAITING
from lycosa.store.url_rows import Known, UrlRows
from lycosa.types import Band, Graph, Link

LEASED = 3  # in memory only: on disk a URL in flight still waits


class UrlTable:
    """Ids count from 1 in the order of discovery; `scores`, `bands` and `states` are indexed by them."""

    def __init__(self, rows: UrlRows) -> None:
        self.ids: dict[int, int] = {}  # by `urls.key`
        self.scores = array("d", [0.0])
        self.bands = array("B", [0])
        self.states = array("B", [DONE])
        self._rows = rows
        self._edges: tuple[array[int], array[int]] | None = None  # kept once somebody has asked for them

    def __len__(self) -> int:
        return len(self.ids)

    def number(self, url: str) -> int:
        """The id of a known URL, else 0."""
        return self.ids.get(urls.key(url), 0) if url else 0

    def rank(self, number: int) -> int:
        return rank_of(self.scores[number], self.bands[number])

    def enter(self, key: int, score: float, band: int, state: int) -> int:
        """Give a new URL its id; its row is for the caller to write."""
        number = self.ids[key] = len(self.scores)
        self.scores.append(score)
        self.bands.append(band)
        self.states.append(state)
        return number

    def insert(self, link: Link, source: int, score: float, state: int) -> int:
        """Enter a new URL and write its row. In flight it still waits on disk."""
        number = self.enter(urls.key(link.url), score, Band.FOUND, state)
        on_disk = WAITING if state == LEASED else state
        row = (number, link.url, source, link.anchor, link.depth, score, on_disk, int(Band.FOUND), int(link.origin))
        self._rows.insert([row])
        return number

    def load(self) -> Iterator[Known]:
        """Read all rows, and hand them out."""
        for known in self._rows.all():
            self.ids[urls.key(known.url)] = known.number
            self.scores.append(known.score)
            self.bands.append(known.band)
            self.states.append(known.state)
            yield known

    def take(self, number: int) -> Link:
        return self._rows.link(number)

    def finish(self, number: int) -> None:
        self.states[number] = DONE
        self._rows.finish(number)

    def host_of(self, number: int) -> str:
        return urls.host(self._rows.url(number))

    def found_on(self, number: int) -> dict[int, str]:
        """The ids and hosts of what waits with a score that this page gave it."""
        found = self._rows.found_on(number)
        return {number: urls.host(url) for number, url in found if self.states[number] == WAITING}

    def write(self, batch: Batch) -> None:
        self._rows.insert(batch.rows)
        self._rows.raise_(batch.raised)
        self._rows.rescore(batch.rescored)
        self._rows.write_links(batch.source, batch.targets)
        if self._edges and batch.source:
            self._edges[0].extend(array("I", [batch.source]) * len(batch.targets))
            self._edges[1].extend(batch.targets)

    def graph(self) -> Graph:
        """Copies: whoever analyses them takes a while, and the crawl goes on."""
        if self._edges is None:
            self._edges = array("I"), array("I")
            for source, targets in self._rows.links():
                self._edges[0].extend(array("I", [source]) * len(targets))
                self._edges[1].extend(targets)
        sources, targets = self._edges
        waiting = np.flatnonzero(np.frombuffer(self.states, np.uint8) == WAITING).astype(np.uint32)
        return Graph(sources[:], targets[:], array("I", waiting.tobytes()))

    def scale(self, factor: float) -> None:
        self.scores = array("d", [score * factor for score in self.scores])
        self._rows.scale(factor)
