"""What could not be fetched, by kind, and how to try it again."""

from msgspec import Struct
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from lycosa import offline
from lycosa.console import asked
from lycosa.console.api import ApiRoute, Query
from lycosa.console.site import folder_of, reading, render
from lycosa.control import Request as Order
from lycosa.control import Unreachable
from lycosa.outcomes import may_pass
from lycosa.remote import reach
from lycosa.store.browse import Failed, failure_kinds, find_failures

SIZE = 50
QUERY = (Query("kind", "only failures of this kind"), Query("before", "`next` of the answer before", "integer"))
MEANINGS = {
    "connect": "the host refused the connection",
    "dns": "the name of the host is unknown",
    "timeout": "the host did not answer in time",
    "tls": "the connection could not be encrypted",
    "robots": "robots.txt forbids it",
    "robots-unreachable": "robots.txt could not be read, so nothing may be fetched for now",
    "too-large": "the page is larger than allowed",
    "content-type": "it is not a web page",
    "parse": "the page could not be read",
    "parse-budget": "reading the page would take too long",
    "judge": "the judge failed on this page",
    "host-closed": "nothing more is fetched from its host",
    "out-of-scope": "a redirect led out of the scope",
    "excluded": "a redirect led to something excluded",
    "offline": "our own network was down",
    "disconnected": "the connection was lost",
    "incomplete": "the connection was lost before the whole page had arrived",
    "private-address": "the host is on a private network",
}


class Kind(Struct, frozen=True):
    """One kind of failure."""

    kind: str
    meaning: str
    urls: int
    latest: float
    may_pass: bool  # may another attempt succeed?


class Failures(Struct):
    """All kinds, and some of the URLs, the latest first."""

    kinds: list[Kind]
    failures: list[Failed]
    next: int = 0


class Again(Struct):
    """Which failures to try again: the URLs named, those of one kind, or all."""

    kind: str = ""
    urls: list[str] = []


class Queued(Struct):
    """How many are queued again, and whether a running crawl fetches them."""

    urls: int
    is_running: bool


def meaning(kind: str) -> str:
    if kind.startswith("http-"):
        status = kind.removeprefix("http-")
        named = {"404": "there is no such page", "410": "the page is gone", "403": "the host does not allow it"}
        return named.get(status, f"the host answered with status {status}")
    return MEANINGS.get(kind, "")


def list_failures(request: Request) -> Failures:
    given = request.query_params
    with reading(request) as db:
        kinds = [Kind(kind, meaning(kind), urls, at, may_pass(kind)) for kind, urls, at in failure_kinds(db)]
        before = asked.number(given, "before", 0, 1 << 53)
        found = find_failures(db, asked.text(given, "kind"), before, SIZE)
    return Failures(kinds, list(found.rows), found.after.n if found.after else 0)


def retry(request: Request, again: Again) -> Queued:
    """Queue failed URLs again; a running crawl fetches them in their turn, otherwise the next run does."""
    folder = folder_of(request)
    try:
        return Queued(int(reach(folder, Order("retry", urls=again.urls, kind=again.kind))), True)
    except Unreachable:
        return Queued(offline.retry_failed(folder, again.urls, again.kind), False)


def show_failures(request: Request) -> Response:
    kind = asked.text(request.query_params, "kind")
    return render(request, "failures.html", view="failures", found=list_failures(request), kind=kind)


async def take_retry(request: Request) -> Response:
    async with request.form(max_files=0, max_fields=5) as form:
        kind, url = str(form.get("kind", "")), str(form.get("url", ""))
    done = await run_in_threadpool(retry, request, Again(kind, [url] if url else []))
    return await run_in_threadpool(render, request, "failures_done.html", done=done)


routes: list[BaseRoute] = [
    Route("/crawls/{name}/failures", show_failures, name="failures"),
    Route("/crawls/{name}/failures/retry", take_retry, methods=["POST"], name="failures-retry"),
    ApiRoute("GET", "/api/crawls/{name}/failures", list_failures, "What failed, by kind, with URLs.", query=QUERY),
    ApiRoute("POST", "/api/crawls/{name}/failures/retry", retry, "Queue failed URLs again.", body=Again),
]
