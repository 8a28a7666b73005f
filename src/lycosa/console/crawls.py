"""The list of crawls, and the orders that concern a whole crawl: start, pause, resume, stop."""

from msgspec import Struct
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from lycosa import remote
from lycosa.console.api import ApiRoute
from lycosa.console.jobs import REJUDGE
from lycosa.console.overview import Overview, overview
from lycosa.console.site import folder_of, path_to, render, site
from lycosa.control import Request as Order
from lycosa.control import Unreachable
from lycosa.errors import BadInput

ORDERS = ("start", "pause", "resume", "stop", REJUDGE)


class Done(Struct):
    """What an order has led to."""

    crawl: Overview


def list_crawls(request: Request) -> list[Overview]:
    here = site(request)
    return [overview(name, folder, here.jobs) for name, folder in here.folders.all().items()]


def one_crawl(request: Request) -> Overview:
    return overview(request.path_params["name"], folder_of(request), site(request).jobs)


def order(request: Request) -> Done:
    """Start, pause, resume or stop a crawl, whoever started it, or judge its stored pages again."""
    what, folder = request.path_params["order"], folder_of(request)
    if what not in ORDERS:
        raise BadInput(f"{what[:40]}: there is no such order (there are: {', '.join(ORDERS)})")
    if what == "start":
        site(request).jobs.start(folder)
    elif what == REJUDGE:
        site(request).jobs.start(folder, what=REJUDGE)
    else:
        try:
            remote.reach(folder, Order(what), wait_for_end=what == "stop")
        except Unreachable:
            raise BadInput(f"{folder.name}: no crawl is running here") from None
        if what == "stop":
            site(request).jobs.wait(folder)
    return Done(one_crawl(request))


def show_crawls(request: Request) -> Response:
    return render(request, "crawls.html", view="crawls", crawls=list_crawls(request))


def crawls_table(request: Request) -> Response:
    """Only the table, for a page that is open."""
    return render(request, "crawls_table.html", crawls=list_crawls(request))


def take_order(request: Request) -> Response:
    """From a form: back to the page it was on."""
    order(request)
    back = path_to(request, "live", name=request.path_params["name"])
    if request.headers.get("hx-request"):
        return Response(status_code=204, headers={"HX-Refresh": "true"})
    return RedirectResponse(back, 303)


_ORDERS = "Start, pause, resume or stop a crawl, or judge its stored pages again (rejudge)."
routes: list[BaseRoute] = [
    Route("/", show_crawls, name="crawls"),
    Route("/crawls", crawls_table, name="crawls-table"),
    Route("/crawls/{name}/orders/{order}", take_order, methods=["POST"], name="order"),
    ApiRoute("GET", "/api/crawls", list_crawls, "All crawls."),
    ApiRoute("GET", "/api/crawls/{name}", one_crawl, "One crawl: what it is doing and what it has found."),
    ApiRoute("POST", "/api/crawls/{name}/orders/{order}", order, _ORDERS),
]
