"""All views on what a crawl has found and what it will fetch."""

from starlette.routing import BaseRoute

from lycosa.console import compare, failures, frontier, ontology, page, pages, search, taxonomy, why

VIEWS = (pages, page, search, why, frontier, failures, ontology, taxonomy, compare)
routes: list[BaseRoute] = [route for view in VIEWS for route in view.routes]
