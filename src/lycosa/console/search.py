"""Full-text search over the relevant pages: the portal that a crawl is made for. It may be shown read-only."""

import time
from functools import partial
from pathlib import Path
from threading import Lock, Thread

from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from lycosa.console import asked
from lycosa.console.api import ApiRoute, Query
from lycosa.console.site import folder_of, reading, render
from lycosa.errors import LycosaError
from lycosa.search_index.finding import MOST, Results, Wanted, count_indexed, find
from lycosa.search_index.updating import Busy, update

SIZE = 10
_EVERY_S = 10.0  # between two updates of an index
_WAIT_S = 0.25  # for an update before results are shown without it
QUERY = (
    Query("q", 'the words; "a phrase", -without and OR work'),
    Query("host", "only pages of this host"),
    Query("label", "only pages of this class"),
    Query("given", "only pages that a person called on topic (yes) or not (no)"),
    Query("since", "fetched since: hour, day, week (ago), a date, or seconds since the epoch"),
    Query("until", "fetched before"),
    Query("from", "the number of the first result", "integer"),
)


class Found(Struct):
    """Results, and how far the index is."""

    indexed: int  # pages that are searched
    is_updating: bool
    problem: str  # why the index could not be brought up to date
    results: Results | None


class Indexer:
    """Brings indexes up to date in the background, each by one thread at a time."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._running: dict[Path, Thread] = {}
        self._ended: dict[Path, float] = {}
        self._problems: dict[Path, str] = {}

    def refresh(self, folder: Path) -> tuple[bool, str]:
        """Start an update if none was made lately; return whether one is under way, and what went wrong."""
        with self._lock:
            thread = self._running.get(folder)
            if not thread and time.monotonic() - self._ended.get(folder, -_EVERY_S) >= _EVERY_S:
                thread = self._running[folder] = Thread(target=self._update, args=(folder,), daemon=True)
                thread.start()
        if thread:
            thread.join(_WAIT_S)
        return bool(thread and thread.is_alive()), self._problems.get(folder, "")

    def _update(self, folder: Path) -> None:
        problem = ""
        try:
            update(folder)
        except Busy:
            pass  # another process does it
        except (LycosaError, OSError, ValueError) as error:
            problem = str(error)
        with self._lock:
            self._problems[folder] = problem
            self._ended[folder] = time.monotonic()
            del self._running[folder]


_indexer = Indexer()


def search(request: Request) -> Found:
    folder = folder_of(request)
    with reading(request):
        pass  # says so if nothing was crawled yet
    is_updating, problem = _indexer.refresh(folder)
    indexed = count_indexed(folder)
    given = request.query_params
    since, until = asked.moment(given, "since"), asked.moment(given, "until")
    wanted = Wanted(
        words=asked.text(given, "q"),
        host=asked.text(given, "host").lower(),
        label=asked.text(given, "label"),
        given=asked.one_of(given, "given", ("", "yes", "no")),
        since=None if since is None else int(since),
        until=None if until is None else int(until),
    )
    asks = any((wanted.words, wanted.host, wanted.label, wanted.given, since, until))
    results = find(folder, wanted, SIZE, asked.number(given, "from", 0, MOST)) if indexed and asks else None
    return Found(indexed, is_updating, problem, results)


def show_search(request: Request) -> Response:
    given = {query.name: asked.text(request.query_params, query.name) for query in QUERY}
    asks = partial(asked.query_string, given)
    start = asked.number(given, "from", 0, MOST)
    found = search(request)
    return render(
        request, "search.html", view="search", found=found, given=given, asks=asks, start=start, size=SIZE, most=MOST
    )


routes: list[BaseRoute] = [
    Route("/crawls/{name}/search", show_search, name="search"),
    ApiRoute("GET", "/api/crawls/{name}/search", search, "Full-text search over the relevant pages.", query=QUERY),
]
