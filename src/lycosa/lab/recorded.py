"""A recorded web: the WARCs of any crawler, accessed by URL. A page is read when it is requested.

web = RecordedWeb(Path("texas.warc.gz")).open()
web.get("http://www.cs.utexas.edu/").body
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from lycosa import urls
from lycosa.judge.corpus import read_labels
from lycosa.lab.answer import Answer
from lycosa.lab.index import Entry, Index, index_of
from lycosa.seeds.file import read_seeds
from lycosa.store import shard_views
from lycosa.store.warc_reader import read_record, to_response
from lycosa.types import BadInput

__all__ = ["Recorded", "RecordedWeb", "page_labels", "read_labels", "start_urls"]

HTML_TYPES = frozenset({"text/html", "application/xhtml+xml", ""})  # a page without a content type counts as HTML
_MOST_HOPS = 10
_WARC_NAMES = (".warc", ".warc.gz")
_FRAMING = frozenset({"content-encoding", "transfer-encoding", "content-length", "connection", "keep-alive"})
_NOT_FOUND = Answer(status=404, body=b"<title>Not recorded</title><p>This URL is not in the recording.")


class Recorded(Answer, frozen=True):
    """A recorded reply, with the body decoded and the headers about its encoding removed."""

    url: str = ""
    location: str = ""  # where a redirect leads, absolute; empty if nowhere


class _Place(NamedTuple):
    path: Path
    entry: Entry


class RecordedWeb:
    """The contents of some WARCs, by URL. Of several replies for one URL, the last that is not a failure counts."""

    def __init__(self, *paths: Path, any_scheme: bool = True) -> None:
        """Each path is a WARC, a folder of WARCs or a crawl folder. `any_scheme`: a URL recorded under http only (or
        https only) is also found under the other: `get` returns a redirect to it."""
        self.paths = paths
        self.any_scheme = any_scheme
        self._places: dict[str, _Place] = {}
        self._names: dict[int, str] = {}  # body to the first URL that returned it

    def open(self) -> "RecordedWeb":
        """Read the indexes, or build them: the first time takes about five seconds per gigabyte of pages."""
        files = [file for path in self.paths for file in warc_files(path)]
        indexes = [(file, index_of(file)) for file in files]
        places: dict[str, _Place] = {}
        for file, index in indexes:
            for entry in index.entries:
                before = places.get(entry.url)
                if before is None or _rank(entry) >= _rank(before.entry):
                    places[entry.url] = _Place(file, entry)
        _add_revisits(places, indexes)
        self._places = places
        for url, (_, entry) in places.items():
            if is_page(entry):
                self._names.setdefault(entry.body, url)
        return self

    def __len__(self) -> int:
        return len(self._places)

    def __contains__(self, url: str) -> bool:
        return self.entry(url) is not None

    def urls(self) -> Iterator[str]:
        """Every recorded URL, in the order of recording."""
        return iter(self._places)

    def get(self, url: str) -> Recorded | None:
        """The recorded reply; None for a URL that is not in the recording."""
        place = self._find(url)
        if place is None:
            return None
        if place.entry.url != url:
            return Recorded(301, (("Location", place.entry.url),), url=url, location=place.entry.url)
        return _read(place)

    def respond(self, url: str, headers: Mapping[str, str]) -> Answer:
        """The reply when served: the page itself, whatever the scheme, because a proxy sees only http."""
        place = self._find(urls.canonical(url))
        if place is None:
            return _NOT_FOUND
        answer = _read(place)
        return replace(answer, headers=tuple((name, _as_bytes(value)) for name, value in answer.headers))

    def entry(self, url: str) -> Entry | None:
        """What is known about a URL without reading the page."""
        place = self._find(url)
        return place.entry if place else None

    def resolve(self, url: str) -> str:
        """The URL at the end of the recorded redirects; empty if there is none."""
        for _ in range(_MOST_HOPS + 1):
            entry = self.entry(url)
            if entry is None:
                return ""
            if not entry.location:
                return entry.url
            url = entry.location
        return ""

    def page(self, url: str) -> str:
        """One name for all URLs that lead to the same page: the first one recorded; empty if they lead to none.

        For example, a directory and its index page are one page with two URLs; a label of either is a label of both.
        """
        entry = self.entry(self.resolve(url))
        return self._names[entry.body] if entry and is_page(entry) else ""

    def pages(self) -> list[str]:
        """Every HTML page once, by its name."""
        return list(self._names.values())

    def _find(self, url: str) -> _Place | None:
        place = self._places.get(url)
        if place is None and self.any_scheme:
            scheme, colon, rest = url.partition(":")
            place = self._places.get(_OTHER.get(scheme, "") + colon + rest)
        return place


_OTHER = {"http": "https", "https": "http"}


def is_page(entry: Entry) -> bool:
    """Did the URL return an HTML page?"""
    return 200 <= entry.status < 300 and entry.content_type in HTML_TYPES and bool(entry.body)


def warc_files(path: Path) -> list[Path]:
    """The WARCs of a path: itself, those of a folder, or those of a crawl folder."""
    if path.is_dir():
        is_crawl = (path / "warc").is_dir()
        within = shard_views.warc_files(path) if is_crawl else sorted(path.iterdir())
        found = [file for file in within if file.name.endswith(_WARC_NAMES) and file.is_file()]
        if not found:
            raise BadInput(f"{path / 'warc' if is_crawl else path}: no WARC here (.warc, .warc.gz)")
        return found
    if not path.exists():
        raise BadInput(f"{path}: no such file or folder")
    return [path]


def page_labels(web: RecordedWeb, labels: Mapping[str, str]) -> dict[str, str]:
    """Labels by page instead of by URL; if two URLs of a page disagree, the page's name decides."""
    found: dict[str, str] = {}
    for url, label in labels.items():
        name = web.page(url)
        if name and (name not in found or url == name):
            found[name] = label
    return found


def start_urls(seeds: Iterable[str]) -> list[str]:
    """The start URLs, in canonical form, each once."""
    good, wrong = read_seeds(list(seeds), Path())
    if wrong:
        raise BadInput(wrong[0].removesuffix(", skipped"))
    return good


def _rank(entry: Entry) -> int:
    """A page or a redirect is preferred to a failure, or to "not modified"."""
    return int(200 <= entry.status < 400 and entry.status != 304)


def _add_revisits(places: dict[str, _Place], indexes: Sequence[tuple[Path, Index]]) -> None:
    """Resolve revisits to what they refer to, by record, URL or payload; skip those that refer to nothing."""
    revisits = [revisit for _, index in indexes for revisit in index.revisits]
    if not revisits:
        return
    records: dict[int, _Place] = {}
    payloads: dict[int, _Place] = {}
    for file, index in indexes:
        for entry in index.entries:
            records[entry.record] = payloads[entry.payload] = _Place(file, entry)
    records.pop(0, None)
    payloads.pop(0, None)
    for revisit in revisits:
        before = places.get(revisit.url)
        if not revisit.url or (before and _rank(before.entry)):
            continue
        found = records.get(revisit.refers_record) or places.get(revisit.refers_url) or payloads.get(revisit.payload)
        if found:
            places[revisit.url] = found._replace(entry=replace(found.entry, url=revisit.url))


def _as_bytes(value: str) -> str:
    """A header value as the server writes it: one byte per character."""
    return value if value.isascii() else value.encode().decode("latin-1")


def _read(place: _Place) -> Recorded:
    entry = place.entry
    response = to_response(read_record(place.path, entry.offset), entry.offset)
    headers = tuple((name, value) for name, value in response.headers.items() if name not in _FRAMING)
    return Recorded(response.status, headers, response.body, url=entry.url, location=entry.location)
