"""A crawl while it runs: harvest, speed, the last pages, errors, hosts, and one sentence that says why."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from msgspec import Struct, to_builtins
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import BaseRoute, Route

from lycosa import remote, summary
from lycosa.console.api import ApiRoute
from lycosa.console.overview import Overview, overview
from lycosa.console.site import folder_of, part, reading, render, site
from lycosa.errors import StateError
from lycosa.estimate.history import History, history
from lycosa.output.lately import Lately, read_lately
from lycosa.output.show import duration
from lycosa.store.visited import relevance_order

EVERY_S = 1.0  # a running crawl rewrites its summary about as often
_ALIVE_EVERY = 15  # rounds without news after which the connection is shown to be alive


class Now(Struct, frozen=True):
    """Everything on the page that changes."""

    crawl: Overview
    pages_per_s: float
    recent_harvest: float | None  # of the last pages of this run
    recent_pages: int
    low: float | None  # the recall estimate from the harvest curve
    middle: float | None
    high: float | None
    known: int
    hosts: int
    hosts_due: int
    hosts_resting: int
    spent: str
    errors: dict[str, int]
    refused: dict[str, int]
    lately: Lately


def now(request: Request) -> Now:
    """The latest state of a crawl, whether it runs or not."""
    folder = folder_of(request)
    head = overview(request.path_params["name"], folder, site(request).jobs)
    found = remote.read_summary(folder)
    curve: dict[str, Any] = found.get("recall", {}).get("curve", {})
    try:
        with reading(request) as db:
            lately = read_lately(db)
    except StateError:
        lately = Lately([], [], [])
    return Now(
        crawl=head,
        pages_per_s=_speed(lately, head),
        recent_harvest=found.get("recent_harvest_rate") if found.get("recent_pages") else None,
        recent_pages=found.get("recent_pages", 0),
        low=curve.get("low"),
        middle=curve.get("middle"),
        high=curve.get("high"),
        known=found.get("known", 0),
        hosts=found.get("hosts", 0),
        hosts_due=found.get("hosts_due", 0),
        hosts_resting=found.get("hosts_resting", 0),
        spent=duration(head.seconds),
        errors=found.get("errors", {}),
        refused=found.get("refused", {}),
        lately=lately,
    )


def _speed(lately: Lately, head: Overview) -> float:
    """Pages per second: of the latest pages while it runs, of the whole crawl afterwards."""
    times = [page.at for page in lately.pages]
    if head.state == "crawling" and len(times) > 1 and times[0] > times[-1]:
        return (len(times) - 1) / (times[0] - times[-1])
    return head.pages / head.seconds if head.seconds else 0.0


def read_history(request: Request) -> History:
    """The curves of harvest and recall estimate so far."""
    try:
        with reading(request) as db:
            return history(relevance_order(db))
    except StateError:
        return history([])  # not started yet


def show_live(request: Request) -> Response:
    return render(request, "live.html", view="live", now=now(request))


async def events(request: Request) -> Response:
    """Server-sent events: the page's moving parts, whenever the crawl has written news."""
    folder = folder_of(request)
    headers = {"X-Accel-Buffering": "no"}
    return StreamingResponse(_news(request, folder), media_type="text/event-stream", headers=headers)


async def _news(request: Request, folder: Path) -> AsyncIterator[bytes]:
    told, quiet = "", 0
    while not request.app.state.is_closing() and not await request.is_disconnected():
        state = await run_in_threadpool(_version, request, folder)
        if state != told:
            told, quiet = state, 0
            found = await run_in_threadpool(now, request)
            html = {name: part(request, f"live_{name}.html", now=found) for name in ("head", "body")}
            numbers = to_builtins(found) | {"lately": None}
            yield f"data: {json.dumps({**html, 'now': numbers})}\n\n".encode()
        else:
            quiet += 1
            if quiet % _ALIVE_EVERY == 0:
                yield b": still here\n\n"
        await asyncio.sleep(EVERY_S)


def _version(request: Request, folder: Path) -> str:
    """Changes whenever there is something new to show."""
    try:
        written = (folder / summary.NAME).stat().st_mtime_ns
    except OSError:
        written = 0
    return f"{written} {remote.is_listening(folder)} {site(request).jobs.is_active(folder)}"


routes: list[BaseRoute] = [
    Route("/crawls/{name}/", show_live, name="live"),
    Route("/crawls/{name}/events", events, name="events"),
    ApiRoute("GET", "/api/crawls/{name}/now", now, "Everything the live view shows."),
    ApiRoute("GET", "/api/crawls/{name}/history", read_history, "How harvest and recall estimate developed."),
]
