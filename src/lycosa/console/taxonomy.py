"""The classes of a topic: how many pages of each were found, and which classes lead to which."""

from pathlib import Path

from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from lycosa import config
from lycosa.console.api import ApiRoute
from lycosa.console.recent import Recent
from lycosa.console.site import folder_of, reading, render
from lycosa.errors import BadInput
from lycosa.store.browse import ClassRow, class_links, classes
from lycosa.store.db import CrawlDb
from lycosa.strategy import rule_base

MOST_RULES = 40
LEAST_PAGES = 3  # a rule seen less often may be chance


class Rule(Struct, frozen=True):
    """Pages of one class lead to pages of another."""

    source: str
    target: str
    probability: float
    pages: float


class Classes(Struct):
    """The classes of all judged pages, and the rules between them."""

    kind: str  # of the topic
    targets: list[str]  # as crawl.toml names them
    classes: list[ClassRow]
    rules: list[Rule]  # counted in this crawl, the strongest first
    are_counted: bool  # false while the rules are counted for the first time
    mined: list[Rule]  # mined before the crawl


def _count(folder: Path) -> list[Rule]:
    db = CrawlDb(folder / "crawl.db", readonly=True).open()
    try:
        return strongest(class_links(db))
    finally:
        db.close()


_recent = Recent(_count)


def strongest(counts: dict[tuple[str, str], int]) -> list[Rule]:
    """The most probable rules that were seen often enough."""
    totals: dict[str, int] = {}
    for (source, _), pages in counts.items():
        totals[source] = totals.get(source, 0) + pages
    found = [
        Rule(source, target, pages / totals[source], pages)
        for (source, target), pages in counts.items()
        if pages >= LEAST_PAGES
    ]
    return sorted(found, key=lambda rule: (-rule.probability, -rule.pages, rule.source, rule.target))[:MOST_RULES]


def view_classes(request: Request) -> Classes:
    folder = folder_of(request)
    topic = config.load(folder)[0].topic
    with reading(request) as db:
        rows = [row for row in classes(db) if row.label]
    given = topic.get("target", [])
    targets = [*map(str, given)] if isinstance(given, list) else [str(given)]
    rules = _recent.get(folder) if rows else []
    return Classes(str(topic.get("kind", "")), targets, rows, rules or [], rules is not None, _mined(folder))


def _mined(folder: Path) -> list[Rule]:
    """The strongest rules of rules.json, if there is a readable one."""
    path = folder / rule_base.NAME
    if not path.exists():
        return []
    try:
        found = rule_base.load(path)
    except BadInput:
        return []
    rows = [
        Rule(source, target, chance, found.counts[source][target])
        for source, row in found.rules().items()
        for target, chance in row.items()
    ]
    return sorted(rows, key=lambda rule: (-rule.probability, -rule.pages, rule.source))[:MOST_RULES]


def show_classes(request: Request) -> Response:
    return render(request, "taxonomy.html", view="taxonomy", found=view_classes(request))


routes: list[BaseRoute] = [
    Route("/crawls/{name}/taxonomy", show_classes, name="taxonomy"),
    ApiRoute("GET", "/api/crawls/{name}/taxonomy", view_classes, "Classes, what was found of each, and rules."),
]
