"""Resolve the references of a page, like `urls.Base.join` but with a cache: the pages of a site repeat their menus."""

from collections.abc import Callable

from lycosa.urls import Base, origin

_LONGEST_URL = 10_000  # longer ones are data; the scope has its own limit
_LONGEST_KEPT = 300
_LASTING = ("/", "http://", "https://")  # what begins so leads to the same page from every page of a site


class Addresses:
    """Resolves references for many pages. What is the same on every page of a site is computed once."""

    def __init__(self, most: int = 50_000) -> None:
        self.most = most
        self._count = 0
        self._sites: dict[str, dict[str, str]] = {}  # URLs by reference, for each site

    def of(self, url: str) -> "Address":
        """The base for references on the page at this URL."""
        site = origin(url)
        known = self._sites.get(site)
        if known is None:
            self._make_room()
            known = self._sites[site] = {}
        return Address(url, known, self._make_room)

    def _make_room(self) -> None:
        """Count one more site or reference."""
        self._count += 1
        if self._count > self.most:
            self._count = 1
            for known in self._sites.values():
                known.clear()  # pages that are being parsed use it
            self._sites.clear()


class Address:
    """The base URL of one page."""

    __slots__ = ("_base", "_known", "_make_room")

    def __init__(self, url: str, known: dict[str, str], make_room: Callable[[], None]) -> None:
        self._base = Base(url)
        self._known = known
        self._make_room = make_room

    def join(self, reference: str) -> str:
        """The canonical URL of a reference; empty if it is not a web page, or its URL is too long."""
        url = self._known.get(reference)
        if url is None:
            url = self._base.join(reference)
            if len(url) > _LONGEST_URL:
                url = ""
            if len(reference) <= _LONGEST_KEPT and reference.startswith(_LASTING):
                self._make_room()
                self._known[reference] = url
        return url
