"""All URLs known to the crawl: id, score, band and state in compact arrays. The text stays in crawl.db until it is
needed."""

from __future__ import annotations  # before Python 3.12, array[int] is valid only in annotations

from array import array
from collections.abc import Iterable, Iterator
from itertools import repeat

import numpy as np

from lycosa import urls
from lycosa.frontier.batch import Batch
from lycosa.frontier.priority import rank_of
from lycosa.store.db import DONE, ELSEWHERE, WAITING
from lycosa.store.url_rows import Known, UrlRows
from lycosa.types import Band, Graph, Link

LEASED = 3  # in memory only: on disk, a URL in flight is still queued


class UrlTable:
    """Ids start at 1, in the order of discovery, and index `scores`, `bands` and `states`."""

    def __init__(self, rows: UrlRows) -> None:
        self.ids: dict[int, int] = {}  # by `urls.key`
        self.scores = array("d", [0.0])
        self.bands = array("B", [0])
        self.states = array("B", [DONE])
        self._elsewhere = 0  # number of pages of other shards
        self._rows = rows
        self._edges: tuple[array[int], array[int]] | None = None  # cached once requested

    def __len__(self) -> int:
        return len(self.ids) - self._elsewhere

    def number(self, url: str) -> int:
        """The id of a known URL, or 0."""
        return self.ids.get(urls.key(url), 0) if url else 0

    def numbers(self, urls_: Iterable[str]) -> list[int]:
        """The same for many URLs."""
        return [*map(self.ids.get, map(urls.key, urls_), repeat(0))]

    def rank(self, number: int) -> int:
        return rank_of(self.scores[number], self.bands[number])

    def enter(self, key: int, score: float, band: int, state: int) -> int:
        """Assign an id to a new URL; the caller writes its row."""
        number = self.ids[key] = len(self.scores)
        self.scores.append(score)
        self.bands.append(band)
        self.states.append(state)
        return number

    def insert(self, link: Link, source: int, score: float, state: int) -> int:
        """Add a new URL and write its row. On disk, a URL in flight is still queued."""
        number = self.enter(urls.key(link.url), score, Band.FOUND, state)
        on_disk = WAITING if state == LEASED else state
        self._elsewhere += state == ELSEWHERE
        row = (number, link.url, source, link.anchor, link.depth, score, on_disk, int(Band.FOUND), int(link.origin))
        self._rows.insert([row])
        return number

    def load(self) -> Iterator[Known]:
        """Read all rows, and yield those of this crawl's own URLs."""
        for known in self._rows.all():
            self.ids[urls.key(known.url)] = known.number
            self.scores.append(known.score)
            self.bands.append(known.band)
            self.states.append(known.state)
            if known.state == ELSEWHERE:
                self._elsewhere += 1
            else:
                yield known

    def take(self, number: int) -> Link:
        return self._rows.link(number)

    def finish(self, number: int) -> None:
        self.states[number] = DONE
        self._rows.finish(number)

    def prefer(self, number: int, band: Band) -> None:
        self.bands[number] = band
        self._rows.prefer([number], band)

    def host_of(self, number: int) -> str:
        return urls.host(self._rows.url(number))

    def found_on(self, number: int) -> dict[int, str]:
        """Ids and hosts of the queued URLs whose score comes from this page."""
        states = self.states
        waiting = [target for target in self._rows.targets(number) if states[target] == WAITING]
        return {target: urls.host(url) for target, url in self._rows.found_on(number, waiting)} if waiting else {}

    def write(self, batch: Batch) -> None:
        self._rows.insert(batch.rows)
        self._rows.raise_(batch.raised)
        self._rows.rescore(batch.rescored)
        self._rows.write_links(batch.source, batch.targets)
        if self._edges and batch.source:
            self._edges[0].extend(array("I", [batch.source]) * len(batch.targets))
            self._edges[1].extend(batch.targets)

    def graph(self) -> Graph:
        """Copies, because analysing them takes a while and the crawl continues."""
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
