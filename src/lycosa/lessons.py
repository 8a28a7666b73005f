"""What the shards of one crawl teach each other: each learns from its own visits, and what they learn adds up."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from lycosa.types import Visit


@runtime_checkable
class Shares(Protocol):
    """A judge or strategy that can pass on what it has learned, and learn from others of its kind."""

    def share(self) -> None: ...  # called once, before anything is learned: lessons will be asked for
    def lesson(self) -> dict[str, Any]: ...  # what was learned here since the last call; empty if nothing
    def study(self, lesson: dict[str, Any]) -> None: ...  # the lesson of another


@dataclass
class SharesPages:
    """The part of `Shares` that is the same for all judges whose lessons are pages. They append what others need to
    know of a page, and study it themselves."""

    lessons_: list[Any] | None = field(init=False, repr=False, default=None)  # pages so far; None: no other shards

    def share(self) -> None:
        self.lessons_ = []

    def lesson(self) -> dict[str, Any]:
        pages, self.lessons_ = self.lessons_, []
        return {"pages": pages} if pages else {}


@runtime_checkable
class HandsOver(Protocol):
    """A strategy whose score of a link depends on more than the visit, its links and its verdict."""

    def hand_over(self, visit: Visit) -> list[float]: ...  # called for the whole page, after the visit was learned from
    def take_over(self, given: Sequence[float]) -> None: ...  # called before the links of one shard are scored
