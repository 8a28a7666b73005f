"""Why a page was fetched or a link is still queued: one sentence, the evidence as bars, the path from a seed."""

from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from lycosa import config
from lycosa.console import asked
from lycosa.console.api import ApiRoute, Query
from lycosa.console.evidence import Bar, bars
from lycosa.console.site import folder_of, reading, render
from lycosa.explaining import explain, place_in_queue
from lycosa.output.waits import waits_for
from lycosa.output.why import Step, read_path, sentence
from lycosa.types import BadInput

URL = (Query("url", "a URL that the crawl knows"),)


class WhyView(Struct):
    """The answer in a sentence, and what it rests on."""

    url: str
    sentence: str
    evidence: list[Bar]  # for the score of the link
    reasons: list[Bar]  # for the verdict on the page
    path: list[Step]
    is_waiting: bool


class Place(Struct):
    """What a queued URL waits for, in words."""

    lines: list[str]


def view_why(request: Request) -> WhyView:
    settings, source = config.load(folder_of(request))
    with reading(request) as db:
        path, found = explain(db, settings, source, _url(request))
    step = path[-1]
    evidence = bars(found.parts) if found else []
    return WhyView(step.url, sentence(step, found), evidence, bars(step.why), path, not step.is_done)


def view_place(request: Request) -> Place:
    settings, _ = config.load(folder_of(request))
    with reading(request) as db:
        waits = place_in_queue(db, settings, read_path(db, _url(request))[-1], most=0)
    return Place(waits_for(waits) if waits else ["It is not queued."])


def _url(request: Request) -> str:
    if not (url := asked.text(request.query_params, "url")):
        raise BadInput("url: name a URL that the crawl knows")
    return url


def show_why(request: Request) -> Response:
    folder_of(request)  # says so if there is no such crawl
    url, found, problem = asked.text(request.query_params, "url"), None, ""
    if url:
        try:
            found = view_why(request)
        except BadInput as error:
            problem = str(error)
    return render(request, "why.html", 404 if problem else 200, view="why", url=url, found=found, problem=problem)


def show_place(request: Request) -> Response:
    return render(request, "why_place.html", lines=view_place(request).lines)


routes: list[BaseRoute] = [
    Route("/crawls/{name}/why", show_why, name="why"),
    Route("/crawls/{name}/why/place", show_place, name="why-place"),
    ApiRoute("GET", "/api/crawls/{name}/why", view_why, "Why a URL was fetched or is still queued.", query=URL),
    ApiRoute("GET", "/api/crawls/{name}/why/place", view_place, "What a queued URL waits for.", query=URL),
]
