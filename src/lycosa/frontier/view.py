"""A strategy's read-only view of the frontier."""

from __future__ import annotations  # before Python 3.12, array[int] is valid only in annotations

from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence

from lycosa.frontier.scope import Scope
from lycosa.frontier.table import UrlTable
from lycosa.store.db import WAITING, CrawlDb
from lycosa.types import Graph, Link


class FrontierView:
    """Known URLs have ids, starting at 1."""

    def __init__(self, table: UrlTable, scope: Scope, notes: CrawlDb) -> None:
        self.notes = notes
        self.refusals: Callable[[Sequence[Link]], Mapping[str, str]] = scope.refusals
        self.number: Callable[[str], int] = table.number
        self.numbers: Callable[[Iterable[str]], list[int]] = table.numbers
        self._table = table

    def waits(self, number: int) -> bool:
        return self._table.states[number] == WAITING

    def scores(self) -> array[float]:
        return self._table.scores

    def host(self, number: int) -> str:
        return self._table.host_of(number)

    def found_on(self, number: int) -> Mapping[int, str]:
        return self._table.found_on(number)

    def graph(self) -> Graph:
        return self._table.graph()
