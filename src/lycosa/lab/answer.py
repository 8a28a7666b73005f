"""The replies of a site in the lab, before they become HTTP, and what is known about a web as a whole."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from msgspec import Struct

CLOSE = 0  # the status of a reply that is never sent: the connection is closed instead


class Answer(Struct, frozen=True):
    """Status, headers and body; the server adds length and encoding."""

    status: int = 200
    headers: tuple[tuple[str, str], ...] = (("Content-Type", "text/html; charset=utf-8"),)
    body: bytes = b""
    delay_s: float = 0.0  # seconds the server should take


class Site(Protocol):
    """Anything that can be served: a generated web, a recorded one, a page in a test."""

    def respond(self, url: str, headers: Mapping[str, str]) -> Answer: ...  # header names in lower case


class Pages(Protocol):
    """A web whose pages are known: crawl it with `get`, and evaluate the crawl afterwards."""

    def __len__(self) -> int: ...  # number of URLs
    def get(self, url: str) -> Answer | None: ...  # None: there is no such page
    def resolve(self, url: str) -> str: ...  # the URL at the end of the redirects; empty if there is none
    def page(self, url: str) -> str: ...  # one name for all URLs of a page; empty if it is not a page
    def pages(self) -> list[str]: ...  # every page once, by its name


class Graph(Protocol):
    """The links of such a web."""

    @property
    def web(self) -> Pages: ...
    def links(self, url: str) -> Sequence[str]: ...  # URLs of pages, redirects resolved, each once
