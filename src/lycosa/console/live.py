"""A crawl while it runs: harvest, speed, the last pages, errors, hosts, and one sentence that says why."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from lycosa.console.crawls import one_crawl
from lycosa.console.site import render


def show_live(request: Request) -> Response:
    return render(request, "live.html", view="live", crawl=one_crawl(request))


routes: list[BaseRoute] = [Route("/crawls/{name}/", show_live, name="live")]
