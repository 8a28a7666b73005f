"""Open a web by name: a WARC, a folder of WARCs, a crawl folder, or `generated:pages=10000,hosts=50,seed=3`.

A generated web has the same interface as a recorded one; its links are computed, so no page needs to be read.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import xxhash

from lycosa import config, urls
from lycosa.lab.answer import Answer, Graph, Pages, Site
from lycosa.lab.generated import GeneratedWeb, Links, Oddities, Text
from lycosa.lab.layout import Layout, Place
from lycosa.lab.recorded import RecordedWeb, page_labels, read_labels, warc_files
from lycosa.lab.survey import LinkGraph
from lycosa.lab.vocabulary import read_topics
from lycosa.types import BadInput

GENERATED = "generated:"
_MOST_PAGES = 200_000  # limit for operations on all pages of a generated web
_PARTS: Mapping[str, type[msgspec.Struct]] = {"text": Text, "links": Links, "oddities": Oddities}
_OPEN = {"matrix", *_PARTS}  # keys that cannot be written on one line


def open_web(name: str, folder: Path = Path()) -> Pages:
    """Open a web; paths are relative to the folder."""
    if name.startswith(GENERATED):
        return GeneratedPages(generated(name))
    return RecordedWeb(folder / Path(name).expanduser()).open()


def site_of(web: Pages) -> Site:
    """The same web to be served."""
    if isinstance(web, GeneratedPages):
        return web.site
    assert isinstance(web, RecordedWeb)
    return web


def graph_of(web: Pages) -> Graph:
    """Its links."""
    if isinstance(web, GeneratedPages):
        return web
    assert isinstance(web, RecordedWeb)
    return LinkGraph(web)


def labels_of(web: Pages, labels: Path | None) -> dict[str, str]:
    """The true label of each page by name; a generated web needs no file."""
    if isinstance(web, GeneratedPages):
        return web.topics()
    return page_labels(web, read_labels(labels)) if labels and isinstance(web, RecordedWeb) else {}


def stamp(name: str, folder: Path) -> str:
    """Identifies the contents of a web: its name, or the names, sizes and modification times of its files."""
    if name.startswith(GENERATED):
        return name
    files = warc_files(folder / Path(name).expanduser())
    marks = [(file.name, file.stat().st_size, file.stat().st_mtime_ns) for file in files]
    return xxhash.xxh3_64_hexdigest(repr(marks).encode())


def generated(name: str) -> GeneratedWeb:
    """A generated web from `generated:key=value,...`; the keys are those of GeneratedWeb and its parts, and `topics`.

    A range is written with a hyphen: count=20-40.
    """
    given: dict[str, str] = {}
    for item in filter(None, name.removeprefix(GENERATED).split(",")):
        key, equals, value = item.partition("=")
        if not equals:
            raise BadInput(f"{name}: {item!r} is not key=value")
        given[key.strip().replace("-", "_")] = value.strip()
    parts: dict[str, dict[str, Any]] = {part: {} for part in _PARTS}
    own: dict[str, Any] = {}
    for key, value in given.items():
        _place(key, parts, own, name)[key] = value.split("-") if "-" in value else value
    if "topics" in given:
        try:
            parts["text"]["topics"] = read_topics(given["topics"])
        except BadInput as error:
            raise BadInput(f"{name}: {error}") from None
    try:
        web = msgspec.convert({**own, **parts}, GeneratedWeb, strict=False)
    except msgspec.ValidationError as error:
        key, problem = config.explain(error)
        raise BadInput(f"{name}: {key.rpartition('.')[2]}: {problem}") from None
    web.seeds(80)  # report impossible settings now
    return web


def _place(key: str, parts: dict[str, dict[str, Any]], own: dict[str, Any], name: str) -> dict[str, Any]:
    """The part of a generated web that has the key."""
    if key in GeneratedWeb.__struct_fields__ and key not in _OPEN:
        return own
    for part, kind in _PARTS.items():
        if key in kind.__struct_fields__ and key not in _OPEN:
            return parts[part]
    every = [*GeneratedWeb.__struct_fields__, *(key for kind in _PARTS.values() for key in kind.__struct_fields__)]
    raise BadInput(f"{name}: unknown key {key!r} (there are: {', '.join(key for key in every if key not in _OPEN)})")


class GeneratedPages:
    """A generated web as a whole. Names of pages are their URLs without a port; the trap has no pages."""

    def __init__(self, site: GeneratedWeb) -> None:
        self.site = site
        self._layout = Layout(site.pages, site.hosts, site.seed, site.ip_hosts, site.text, site.links, site.oddities)
        self._links: dict[str, list[str]] = {}
        self._addresses: dict[Place, str] = {}  # where a link to a place ends; one string for all links to it

    def __len__(self) -> int:
        return self.site.pages

    @property
    def web(self) -> "GeneratedPages":
        return self

    def get(self, url: str) -> Answer | None:
        return self.site.respond(url, {})

    def resolve(self, url: str) -> str:
        place = self._find(url)
        if place and self._layout.kind(place) == "redirect":
            place = self._layout.original(place)
        return self._layout.url(place, "") if place else ""

    def page(self, url: str) -> str:
        place = self._find(url)
        if place and self._layout.kind(place) in ("redirect", "duplicate"):
            place = self._layout.original(place)
        return self._layout.url(place, "") if place else ""

    def pages(self) -> list[str]:
        """All pages, if there are not too many."""
        if self.site.pages > _MOST_PAGES:
            raise BadInput(f"a web of {self.site.pages:,} pages is too large to count; at most {_MOST_PAGES:,}")
        layout = self._layout
        every = (Place(host, rank) for host in range(self.site.hosts) for rank in range(layout.ranks(host)))
        own = (place for place in every if layout.kind(place) not in ("redirect", "duplicate"))
        return [layout.url(place, "") for place in own if not self._fails(place)]

    def links(self, url: str) -> Sequence[str]:
        """The links of a page, computed without generating the page, and cached."""
        found = self._links.get(url)
        if found is None:
            found = self._links[url] = self._read(url)
        return found

    def _read(self, url: str) -> list[str]:
        place = self._find(url)
        if place is None or self._layout.kind(place) == "redirect":
            return []
        if self._layout.kind(place) == "duplicate":
            place = self._layout.original(place)
        home = Place(place.host, 0)  # in the head of every page
        targets = self._layout.targets(place, Random(self._layout.bits(place, 2)))  # same random choice as the page
        found = dict.fromkeys(self._end(target) for target in (home, *targets))
        return [address for address in found if address and address != url]

    def _end(self, place: Place) -> str:
        """The URL at the end of the redirects."""
        address = self._addresses.get(place)
        if address is None:
            address = self._addresses[place] = self.resolve(self._layout.url(place, ""))
        return address

    def topics(self) -> dict[str, str]:
        return {page: self.site.topic_of(page) for page in self.pages()}

    def seeds(self, count: int = 5) -> list[str]:
        """Home pages to start from, of any topic."""
        return [urls.canonical(seed) for seed in self.site.seeds(80, count)]

    def _find(self, url: str) -> Place | None:
        found = self._layout.find(url)
        place = found[0] if found else None
        return place if place and place.host < self.site.hosts and not self._fails(place) else None

    def _fails(self, place: Place) -> bool:
        return self.site.oddities.failing and place.host == max(0, self.site.hosts - 2)
