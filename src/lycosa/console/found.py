"""All views on what a crawl has found and what it will fetch."""

from starlette.routing import BaseRoute

from lycosa.console import compare, failures, focus, frontier, page, pages, search, taxonomy, why

VIEWS = (pages, page, search, why, frontier, failures, focus, taxonomy, compare)
routes: list[BaseRoute] = [route for view in VIEWS for route in view.routes]
