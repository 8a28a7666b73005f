"""When did the crawl last come upon a list: a page whose links brought many relevant pages?

A harvest that has faded may still jump when the next list is found. So nobody should call a crawl complete soon after
one was.
"""

from hashlib import blake2b
from typing import Any

MANY = 5  # relevant pages found through one page make it a list
_MOST_SOURCES = 500  # remembered: of the least recently useful nothing more is expected


class Lists:
    """Counts relevant pages by the page whose link led to them."""

    def __init__(self) -> None:
        self._counts: dict[int, int] = {}  # fingerprint of the source to relevant pages, least recently useful first
        self.last_at = 0  # pages fetched when the latest list turned out to be one

    def add(self, source: str, pages: int) -> None:
        """One more relevant page came from a source, when so many pages had been fetched."""
        name = int.from_bytes(blake2b(source.encode(), digest_size=7).digest())  # no page can be made to share it
        count = self._counts.pop(name, 0) + 1
        self._counts[name] = min(count, MANY)
        if count == MANY:
            self.last_at = pages
        if len(self._counts) > _MOST_SOURCES:
            del self._counts[next(iter(self._counts))]

    def save(self) -> dict[str, Any]:
        return {"counts": [*self._counts.items()], "last_at": self.last_at}

    def load(self, state: dict[str, Any]) -> None:
        self._counts, self.last_at = {int(name): int(count) for name, count in state["counts"]}, int(state["last_at"])
