"""Resolve the references of a page, like `urls.Base.join` but with a cache: the pages of a site repeat their menus."""

from lycosa.urls import Base, origin

_LONGEST_URL = 10_000  # longer ones are data; the scope has its own limit
_LONGEST_KEPT = 300


class Addresses:
    """Resolves references for many pages. What is the same on every page of a site is computed once."""

    def __init__(self, most: int = 50_000) -> None:
        self.most = most
        self._known: dict[str, str] = {}

    def of(self, url: str) -> "Address":
        """The base for references on the page at this URL."""
        return Address(url, self._known, self.most)


class Address:
    """The base URL of one page."""

    __slots__ = ("_base", "_known", "_most", "_origin")

    def __init__(self, url: str, known: dict[str, str], most: int) -> None:
        self._base = Base(url)
        self._origin = origin(url)
        self._known = known
        self._most = most

    def join(self, reference: str) -> str:
        """The canonical URL of a reference; empty if it is not a web page, or its URL is too long."""
        if reference[:1] == "/":  # relative to the site, not to the page
            key = reference + self._origin
        elif reference.startswith(("http://", "https://")):
            key = reference
        else:
            return self._join(reference)
        url = self._known.get(key)
        if url is None:
            url = self._join(reference)
            if len(key) <= _LONGEST_KEPT:
                if len(self._known) >= self._most:
                    self._known.clear()
                self._known[key] = url
        return url

    def _join(self, reference: str) -> str:
        url = self._base.join(reference)
        return url if len(url) <= _LONGEST_URL else ""
