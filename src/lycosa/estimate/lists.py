"""When the crawl last found a list: a page whose links led to many relevant pages.

A faded harvest may jump again when the next list is found, so a crawl should not be called complete soon after finding
one.
"""

from hashlib import blake2b
from typing import Any

MANY = 5  # relevant pages found through one page make it a list
_MOST_SOURCES = 500  # remembered; the least recently productive are discarded


class Lists:
    """Counts relevant pages by the page whose link led to them."""

    def __init__(self) -> None:
        self._counts: dict[int, int] = {}  # source fingerprint -> relevant pages, least recently productive first
        self.last_at = 0  # pages fetched when the latest list was recognised

    def add(self, source: str, pages: int) -> None:
        """Count one more relevant page from a source, after `pages` fetched pages."""
        name = int.from_bytes(blake2b(source.encode(), digest_size=7).digest())  # a page cannot forge a collision
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
