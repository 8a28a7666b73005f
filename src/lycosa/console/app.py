"""The application: all routes, behind the guard. Each view is a module with a list of `routes`."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from lycosa.console import api, crawls, entrance, errors, found, label, live, wizard
from lycosa.console.drafts import Drafts
from lycosa.console.folders import Folders
from lycosa.console.jobs import Jobs
from lycosa.console.security import Access, Guard
from lycosa.console.site import Site

VIEWS = (
    entrance,
    crawls,
    live,
    label,
    wizard,
    found,
)
STATIC = Path(__file__).with_name("static")


def openapi(request: Request) -> Response:
    return api.json_response(api.openapi(request.app.routes))


def all_routes() -> list[BaseRoute]:
    return [
        *(route for view in VIEWS for route in view.routes),
        Route("/api/openapi.json", openapi, name="openapi"),
        Mount("/static", StaticFiles(directory=STATIC), name="static"),
    ]


@asynccontextmanager
async def _life(app: Starlette) -> AsyncIterator[None]:
    yield
    close(app)


def close(app: Starlette) -> None:
    """Remove what is temporary. Crawls go on."""
    app.state.drafts.close()
    app.state.console_site.jobs.close()


def make_app(site: Site, access: Access) -> Starlette:
    """The console as an ASGI application."""
    guard = Middleware(Guard, access=access, read_only=site.read_only, refuse=errors.refuse)
    app = Starlette(routes=all_routes(), middleware=[guard], exception_handlers=errors.HANDLERS, lifespan=_life)
    app.state.console_site = site
    app.state.access = access
    app.state.is_closing = lambda: False
    app.state.label_batches = label.Batches()
    app.state.drafts = Drafts()
    return app


def of_folders(folders: Sequence[Path], access: Access, read_only: bool = False) -> Starlette:
    """The console of crawl folders, or of folders that contain some."""
    return make_app(Site(Folders(folders), Jobs(), read_only), access)
