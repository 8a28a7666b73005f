"""The queued URLs, by host: put a host or a pattern first or last, or exclude it."""

from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from msgspec import Struct
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from lycosa import config, offline
from lycosa.build import make_scope
from lycosa.console import asked
from lycosa.console.api import ApiRoute, Query
from lycosa.console.pending import Pending
from lycosa.console.recent import Recent
from lycosa.console.site import folder_of, reading, render
from lycosa.control import Place, Unreachable
from lycosa.control import Request as Order
from lycosa.remote import reach
from lycosa.store import orders
from lycosa.store.db import CrawlDb
from lycosa.store.orders import Exclusion
from lycosa.store.queue import Queued, QueuedHost, best_queued, queued_hosts
from lycosa.types import BadInput

SIZE = 100  # hosts at a time
SORTS = ("waiting", "best", "yield", "due", "name")
_KEYS = {
    "waiting": lambda host: (-host.waiting, host.name),
    "best": lambda host: (-(host.best if host.best is not None else -1.0), host.name),
    "yield": lambda host: (-(host.relevant / host.pages if host.pages else -1.0), -host.pages, host.name),
    "due": lambda host: (host.due_at, host.name),
    "name": lambda host: host.name,
}
QUERY = (
    Query("text", "part of the host's name"),
    Query("sort", ", ".join(SORTS)),
    Query("from", "the number of the first host", "integer"),
)
ORDERS = ("first", "last", "usual", "exclude")


class Hosts(Struct):
    """Some hosts of the queue. While they are counted for the first time there are none, and `is_counted` is false."""

    is_counted: bool
    total: int = 0
    waiting: int = 0
    hosts: list[QueuedHost] = []
    excluded: list[str] = []  # by users, in addition to crawl.toml


class What(Struct):
    """A host, or a regular expression that is searched in whole URLs."""

    host: str = ""
    pattern: str = ""


class Change(What):
    """What to do with the URLs queued there."""

    order: str = "usual"  # one of ORDERS


class Counted(Struct):
    """How many queued URLs a change concerned."""

    what: str
    urls: int


class Preview(Struct):
    """How many queued URLs an exclusion would drop; null while they are still being counted: ask again."""

    what: str
    urls: int | None


class _Asked(NamedTuple):
    folder: Path
    what: Exclusion


def _count(folder: Path) -> list[QueuedHost]:
    with closing(CrawlDb(folder / "crawl.db", readonly=True).open()) as db:
        return queued_hosts(db)


def _count_dropped(asked: _Asked) -> int:
    settings, _ = config.load(asked.folder)
    with closing(CrawlDb(asked.folder / "crawl.db", readonly=True).open()) as db:
        scope = make_scope(settings, orders.exclusions(db))
        return len(orders.waiting_urls(db, asked.what, scope.refuses))


_recent = Recent(_count)
_pending = Pending(_count_dropped)


def list_hosts(request: Request) -> Hosts:
    given = request.query_params
    sort, wanted = asked.one_of(given, "sort", SORTS), asked.text(given, "text").lower()
    start = asked.number(given, "from", 0, 10_000_000)
    with reading(request) as db:
        excluded = [*map(str, orders.exclusions(db))]
    found = _recent.get(folder_of(request))
    if found is None:
        return Hosts(False, excluded=excluded)
    chosen = sorted((host for host in found if wanted in host.name), key=_KEYS[sort])
    waiting = sum(host.waiting for host in found)
    return Hosts(True, len(chosen), waiting, chosen[start : start + SIZE], excluded)


def list_queued(request: Request) -> list[Queued]:
    with reading(request) as db:
        return best_queued(db, asked.text(request.query_params, "host"))


def count(request: Request) -> Preview:
    """How many URLs an exclusion would drop. Nothing is changed."""
    what = _what(request.query_params)
    return Preview(str(what), _pending.ask(_Asked(folder_of(request), what)))


def change(request: Request, wanted: Change) -> Counted:
    """Put the URLs of a host or a pattern first or last, or exclude them; answers how many it concerned."""
    what, folder = orders.exclusion(wanted.host, wanted.pattern), folder_of(request)
    if wanted.order not in ORDERS:
        raise BadInput(f"order: {wanted.order[:40]!r} is not one of {', '.join(ORDERS)}")
    changed = _exclude(folder, what) if wanted.order == "exclude" else _prefer(folder, what, wanted.order)  # type: ignore[arg-type]
    _recent.forget(folder)
    return Counted(str(what), changed)


def _exclude(folder: Path, what: Exclusion) -> int:
    try:
        return int(reach(folder, Order("exclude", host=what.host, pattern=what.pattern)))
    except Unreachable:
        return offline.exclude(folder, what)


def _prefer(folder: Path, what: Exclusion, place: Place) -> int:
    try:
        return int(reach(folder, Order("prefer", host=what.host, pattern=what.pattern, place=place)))
    except Unreachable:
        return offline.prefer(folder, what, place)


def _what(given: Any) -> Exclusion:
    return orders.exclusion(asked.text(given, "host"), asked.text(given, "pattern"))


def show_frontier(request: Request) -> Response:
    given = {name: asked.text(request.query_params, name) for name in ("text", "sort", "from")}
    template = "frontier_hosts.html" if request.headers.get("hx-target") == "hosts" else "frontier.html"
    asks = partial(asked.query_string, given)
    return render(request, template, view="frontier", found=list_hosts(request), given=given, asks=asks, size=SIZE)


def show_queued(request: Request) -> Response:
    """The best URLs of one host, below its row."""
    return render(request, "frontier_queued.html", queued=list_queued(request))


def show_count(request: Request) -> Response:
    """The number that an exclusion would drop, with the button that does it."""
    return render(request, "frontier_count.html", what=_what(request.query_params), counted=count(request))


async def take_change(request: Request) -> Response:
    async with request.form(max_files=0, max_fields=5) as form:
        given = {name: str(form.get(name, "")) for name in ("host", "pattern", "order")}
    done = await run_in_threadpool(change, request, Change(**given))
    return await run_in_threadpool(render, request, "frontier_done.html", done=done, order=given["order"])


_COUNT = "How many URLs an exclusion would drop; null while they are being counted: ask again."
_NAMED = (Query("host", "a host"), Query("pattern", "or a regular expression"))
routes: list[BaseRoute] = [
    Route("/crawls/{name}/frontier", show_frontier, name="frontier"),
    Route("/crawls/{name}/frontier/queued", show_queued, name="frontier-queued"),
    Route("/crawls/{name}/frontier/count", show_count, name="frontier-count"),
    Route("/crawls/{name}/frontier/change", take_change, methods=["POST"], name="frontier-change"),
    ApiRoute("GET", "/api/crawls/{name}/frontier", list_hosts, "The queued URLs, by host.", query=QUERY),
    ApiRoute(
        "GET", "/api/crawls/{name}/frontier/queued", list_queued, "The best URLs queued at a host.", query=_NAMED[:1]
    ),
    ApiRoute("GET", "/api/crawls/{name}/frontier/count", count, _COUNT, query=_NAMED),
    ApiRoute("POST", "/api/crawls/{name}/frontier", change, "Put URLs first or last, or exclude them.", body=Change),
]
