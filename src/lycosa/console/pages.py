"""The table of pages: filter, sort, search in titles and URLs, see what is new."""

from functools import partial

from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from lycosa.console import asked
from lycosa.console.api import ApiRoute, Query
from lycosa.console.site import reading, render
from lycosa.store.browse import PageQuery, PageRow, classes, count_pages, find_pages

SORTS = ("time", "relevance", "title", "host")
SIZE, MOST = 50, 500  # rows at a time
_TOP = 30  # classes offered as filters
QUERY = (
    Query("text", "words that the title or the URL must contain"),
    Query("host", "only pages of this host"),
    Query("label", "only pages of this class"),
    Query("verdict", "relevant or other"),
    Query("given", "what a person said: yes, no, or none"),
    Query("concept", "only pages with this concept or word among the reasons"),
    Query("since", "fetched since: hour, day, week (ago), a date, or seconds since the epoch"),
    Query("sort", "time, relevance, title or host"),
    Query("way", "reverse, for the opposite order"),
    Query("after", "`next` of the answer before"),
    Query("size", f"rows, at most {MOST}", "integer"),
)


class Pages(Struct):
    """Some pages, how many there are in all, and how to ask for the next ones."""

    total: int
    pages: list[PageRow]
    next: str = ""


def query_of(request: Request) -> PageQuery:
    given = request.query_params
    verdict = asked.one_of(given, "verdict", ("", "relevant", "other"))
    return PageQuery(
        text=asked.text(given, "text"),
        host=asked.text(given, "host").lower(),
        label=asked.text(given, "label"),
        relevant={"relevant": True, "other": False}.get(verdict),
        given=asked.one_of(given, "given", ("", "yes", "no", "none")),
        concept=asked.text(given, "concept"),
        since=asked.moment(given, "since"),
        sort=asked.one_of(given, "sort", SORTS),
        reverse=asked.one_of(given, "way", ("", "reverse")) == "reverse",
    )


def list_pages(request: Request) -> Pages:
    query, given = query_of(request), request.query_params
    size = max(1, asked.number(given, "size", SIZE, MOST))
    with reading(request) as db:
        found = find_pages(db, query, asked.cursor(given), size)
        return Pages(count_pages(db, query), list(found.rows), asked.encoded(found.after))


def show_pages(request: Request) -> Response:
    given = {name: asked.text(request.query_params, name) for name in [query.name for query in QUERY]}
    asks = partial(asked.query_string, {**given, "after": ""})
    found = list_pages(request)
    if request.headers.get("hx-target") == "more":
        return render(request, "pages_rows.html", found=found, asks=asks)
    with reading(request) as db:
        labels = [row.label for row in classes(db) if row.label][:_TOP]
    return render(request, "pages.html", view="pages", found=found, given=given, asks=asks, labels=labels, sorts=SORTS)


routes: list[BaseRoute] = [
    Route("/crawls/{name}/pages", show_pages, name="pages"),
    ApiRoute("GET", "/api/crawls/{name}/pages", list_pages, "Pages of a crawl, a screenful at a time.", query=QUERY),
]
