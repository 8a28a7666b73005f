"""All views on what a crawl has found and what it will fetch."""

from starlette.routing import BaseRoute

from lycosa.console import failures, frontier, page, pages, search, why

VIEWS = (pages, page, search, why, frontier, failures)
routes: list[BaseRoute] = [route for view in VIEWS for route in view.routes]
