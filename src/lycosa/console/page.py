"""One page: its text, its verdict with the words that mattered, the way to it, its links, and the stored copy."""

from pathlib import Path

from msgspec import Struct
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from lycosa import config
from lycosa.console.api import ApiRoute
from lycosa.console.copies import harmless
from lycosa.console.evidence import Bar, Part, bars, judges, marked_text
from lycosa.console.security import COPY_POLICY
from lycosa.console.site import folder_of, reading, render
from lycosa.labelling import stored_page
from lycosa.output.why import Step, read_path
from lycosa.store.browse import LinkRow, PageDetail, linked, page_detail
from lycosa.store.db import CrawlDb
from lycosa.store.labels import Candidate, answers
from lycosa.store.warc_reader import read_record, to_response
from lycosa.types import BadInput, Page

COPY_KINDS = ("text/html", "application/xhtml+xml", "text/plain")  # other types are not shown as a copy


class PageView(Struct):
    """A page, its text in marked passages, and the reasons for its verdict."""

    page: PageDetail
    given: bool | None  # what a person said
    reasons: list[Bar]
    text: list[list[Part]]


class Surroundings(Struct):
    """How the crawl came to a page, and where that leads."""

    path: list[Step]
    links: list[LinkRow]


def detail_of(request: Request) -> PageDetail:
    with reading(request) as db:
        found = page_detail(db, request.path_params["n"])
    if found is None:
        raise HTTPException(404, "this crawl has no such page")
    return found


def view_page(request: Request) -> PageView:
    found, folder = detail_of(request), folder_of(request)
    with reading(request) as db:
        given = answers(db).get(found.url)
    page = _parsed(folder, found)
    text = marked_text(page, judges.of(folder), found.why) if page.text or page.title else []
    return PageView(found, given, bars(found.why), text)


def surroundings(request: Request) -> Surroundings:
    found = detail_of(request)
    with reading(request) as db:
        path = _path(db, found.url)
        links = linked(db, path[-1].id) if path else []
        if not links and found.final_url not in ("", found.url):  # a redirect: the links are those of its end
            moved = _path(db, found.final_url)
            links = linked(db, moved[-1].id) if moved else []
    return Surroundings(path, links)


def _path(db: CrawlDb, url: str) -> list[Step]:
    try:
        return read_path(db, url)
    except BadInput:  # the crawl does not know it any more, since all pages were judged again
        return []


def _parsed(folder: Path, found: PageDetail) -> Page:
    if found.error:
        return Page()
    stored = Candidate(
        found.url,
        found.title,
        found.relevance or 0.0,
        found.on_topic,
        found.label,
        found.why,
        found.simhash,
        found.content_type,
        found.final_url,
        found.warc,
        found.warc_offset,
    )
    return stored_page(folder, config.load(folder)[0], stored)


def show_page(request: Request) -> Response:
    return render(request, "page.html", view="pages", found=view_page(request))


def show_surroundings(request: Request) -> Response:
    return render(request, "page_surroundings.html", found=surroundings(request))


def show_copy(request: Request) -> Response:
    """The stored body for a frame without scripts, network and origin."""
    found = detail_of(request)
    kind = found.content_type.partition(";")[0].strip().lower()
    headers = {"Content-Security-Policy": COPY_POLICY}
    if not found.warc or found.error or kind not in COPY_KINDS:
        words = "There is no stored copy." if not found.warc else "The stored copy is not a web page."
        return Response(words, 404, headers, media_type="text/plain")
    try:
        record = read_record(folder_of(request) / "warc" / found.warc, found.warc_offset)
    except (BadInput, OSError):
        return Response("The stored copy cannot be read.", 404, headers, media_type="text/plain")
    return Response(harmless(to_response(record).body, found.content_type), 200, headers, media_type="text/html")


routes: list[BaseRoute] = [
    Route("/crawls/{name}/pages/{n:int}", show_page, name="page"),
    Route("/crawls/{name}/pages/{n:int}/surroundings", show_surroundings, name="page-surroundings"),
    Route("/crawls/{name}/pages/{n:int}/copy", show_copy, name="page-copy"),
    ApiRoute("GET", "/api/crawls/{name}/pages/{n:int}", view_page, "One page: text, verdict and the words behind it."),
    ApiRoute(
        "GET",
        "/api/crawls/{name}/pages/{n:int}/surroundings",
        surroundings,
        "The path from a seed to a page; its links.",
    ),
]
