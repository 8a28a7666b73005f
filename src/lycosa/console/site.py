"""What every view needs: the crawl a request is about, its database opened read-only, and templates."""

import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import Response
from starlette.templating import Jinja2Templates

from lycosa import __version__, config
from lycosa.console.folders import Folders
from lycosa.console.jobs import Jobs
from lycosa.output.terminal import printable
from lycosa.store.db import CrawlDb

# title and route name of the views, in the order of the navigation; those whose route does not exist are left out
GENERAL = [("Crawls", "crawls"), ("New crawl", "wizard"), ("Compare", "compare")]
OF_A_CRAWL = [
    ("Live", "live"),
    ("Pages", "pages"),
    ("Search", "search"),
    ("Label", "label"),
    ("Why", "why"),
    ("Frontier", "frontier"),
    ("Failures", "failures"),
    ("Ontology", "ontology"),
    ("Taxonomy and rules", "taxonomy"),
]
CHANGING = {"wizard"}  # views that make no sense if nothing may be changed
_MOST_SHOWN = 300  # characters of a title, an anchor or a URL: some pages have megabytes


class Site(NamedTuple):
    """One console."""

    folders: Folders
    jobs: Jobs
    read_only: bool = False


def site(request: Request) -> Site:
    found: Site = request.app.state.console_site
    return found


def folder_of(request: Request) -> Path:
    """The folder of the crawl that a request names."""
    return site(request).folders.find(request.path_params["name"])


@contextmanager
def reading(request: Request) -> Iterator[CrawlDb]:
    """The database of the crawl that a request names, read-only. A crawl never waits for its readers."""
    folder = folder_of(request)
    config.load(folder)  # reports what is wrong if this is not a crawl folder
    with closing(CrawlDb(folder / "crawl.db", readonly=True).open()) as db:
        yield db


def path_to(request: Request, view: str, /, **parameters: str) -> str:
    """The path of a view, quoted: names of folders may contain anything."""
    return quote(str(request.app.url_path_for(view, **parameters)))


def shown(text: object, most: int = _MOST_SHOWN) -> str:
    """Text from the Web on one line, shortened, without control characters and marks that reorder letters.

    Jinja escapes it: this only makes it readable."""
    found = str(text)
    cut = printable(found[:most]).strip()
    return f"{cut} …" if len(found) > most else cut


def percent(share: float | None, digits: int = 0) -> str:
    return "–" if share is None else f"{100 * share:.{digits}f} %"


def number(value: float | None) -> str:
    return "–" if value is None else f"{value:,}" if isinstance(value, int) else f"{value:,.1f}"


def day_and_time(at: float | None) -> str:
    """A time as people write it: today without the date."""
    if not at:
        return "–"
    when = datetime.fromtimestamp(at)
    return f"{when:%H:%M:%S}" if when.date() == datetime.fromtimestamp(time.time()).date() else f"{when:%Y-%m-%d %H:%M}"


def environment() -> Environment:
    """Templates that escape everything, and fail if a name is missing."""
    found = Environment(
        loader=PackageLoader("lycosa.console"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    found.lstrip_blocks = True
    found.filters |= {"shown": shown, "clean": printable, "percent": percent, "number": number, "when": day_and_time}
    found.globals |= {"version": __version__, "clock": time.time}
    return found


_templates = Jinja2Templates(env=environment())


def render(request: Request, template: str, status: int = 200, **context: Any) -> Response:
    """A whole page, or a part of one."""
    return _templates.TemplateResponse(request, template, _known(request, context), status)


def part(request: Request, template: str, **context: Any) -> str:
    """The text of a part of a page."""
    return str(_templates.env.get_template(template).render({"request": request, **_known(request, context)}))


def _known(request: Request, context: dict[str, Any]) -> dict[str, Any]:
    """What every template knows: the crawl's name (empty if there is none), the navigation, the name of the view, and
    whether the console is read-only."""
    name = request.path_params.get("name", "")
    return {
        "crawl_name": name,
        "path_to": partial(path_to, request),
        "view": "",
        "read_only": site(request).read_only,
        "navigation": _navigation(request, ""),
        "crawl_navigation": _navigation(request, name) if name else [],
        **context,
    }


def _navigation(request: Request, name: str) -> list[tuple[str, str, str]]:
    """Title, path and route name of the views of a crawl, or of those that are about no single crawl."""
    routes = {route.name for route in request.app.routes}
    found = []
    for title, view in OF_A_CRAWL if name else GENERAL:
        if view in routes and not (site(request).read_only and view in CHANGING):
            found.append((title, path_to(request, view, **({"name": name} if name else {})), view))
    return found
