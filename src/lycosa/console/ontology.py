"""The map of the subject: its concepts as a tree and as a graph, their weights, and what was found for each.

For topics that are not a map it shows the words that spoke for most pages, which is what their verdicts rest on.
"""

from functools import lru_cache
from math import cos, pi, sin, sqrt
from pathlib import Path
from typing import Any

from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from lycosa import config, topics
from lycosa.console.api import ApiRoute
from lycosa.console.site import folder_of, reading, render
from lycosa.ontology.concepts import Concepts
from lycosa.ontology.weights import roles
from lycosa.output.ontology_picture import rows
from lycosa.pages import read_pages
from lycosa.store.browse import count_reasons

MOST_NODES = 60  # more cannot be told apart in a picture
MOST_ROWS = 2_000  # of the tree
MOST_WORDS = 100
_RINGS = ("focus", "hierarchy", "association", "rest")
_SIZE = 900.0  # of the picture


class ConceptRow(Struct, frozen=True):
    """One concept in the tree."""

    id: str
    label: str
    depth: int
    weight: float
    role: str  # focus, hierarchy, association or rest
    pages: int  # relevant pages for which it was among the strongest reasons
    related: list[str]
    again: bool = False  # shown above with everything below it


class Node(Struct, frozen=True):
    """One concept in the graph, with its place."""

    label: str
    role: str
    x: float
    y: float
    radius: float
    pages: int


class Edge(Struct, frozen=True):
    """A line between two concepts."""

    x1: float
    y1: float
    x2: float
    y2: float
    kind: str
    is_hierarchy: bool


class Map(Struct):
    """The subject of a crawl."""

    kind: str  # of the topic
    source: str  # the name of the file
    focus: list[str]
    concepts: list[ConceptRow]
    nodes: list[Node]
    edges: list[Edge]
    words: list[tuple[str, int]]  # all reasons, with the number of relevant pages


def view_map(request: Request) -> Map:
    folder = folder_of(request)
    with reading(request) as db:
        counts = count_reasons(db)
    kind = str(config.load(folder)[0].topic.get("kind", ""))
    words = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:MOST_WORDS]
    if kind != "ontology":
        return Map(kind, "", [], [], [], [], words)
    judge = _prepared(folder, (folder / config.NAME).stat().st_mtime)
    concepts: Concepts = judge.concepts_
    role = {id: next(one for one in _RINGS if one in found) for id, found in roles(concepts, judge.focus_).items()}
    pages = {concept.id: counts.get(concept.label, 0) for concept in concepts}
    nodes, edges = _graph(concepts, judge.weights_, role, pages)
    focus = [concepts[id].label for id in judge.focus_]
    return Map(kind, concepts.source, focus, _tree(concepts, judge.weights_, role, pages), nodes, edges, words)


@lru_cache(maxsize=8)
def _prepared(folder: Path, changed_at: float) -> Any:
    """The judge with its map; read again when crawl.toml has changed."""
    topic = topics.load(folder)
    with topic.source.placing():
        topics.prepare(topic, read_pages)
    return topic.judge


def _tree(
    concepts: Concepts, weights: dict[str, float], role: dict[str, str], pages: dict[str, int]
) -> list[ConceptRow]:
    related = concepts.related()
    return [
        ConceptRow(
            row.id,
            concepts[row.id].label,
            row.depth,
            weights[row.id],
            role[row.id],
            pages[row.id],
            [f"{concepts[other].label} ({kind})" for kind, other in related[row.id][:5]],
            row.again,
        )
        for row in rows(concepts)[:MOST_ROWS]
    ]


def _graph(
    concepts: Concepts, weights: dict[str, float], role: dict[str, str], pages: dict[str, int]
) -> tuple[list[Node], list[Edge]]:
    """The heaviest concepts on rings: the focus inside, then what is next to it, the rest outside."""
    order = sorted(weights, key=lambda id: (-weights[id], -pages[id], id))[:MOST_NODES]
    used = [ring for ring in _RINGS if any(role[id] == ring for id in order)]
    most, middle = max(map(pages.__getitem__, order), default=0) or 1, _SIZE / 2
    places: dict[str, tuple[float, float]] = {}
    nodes = []
    for at, ring in enumerate(used):
        members = [id for id in order if role[id] == ring]
        alone = at == 0 and len(members) == 1
        distance = 0.0 if alone else (middle - 90) * (at + 1 if len(used) == 1 else at + 0.6) / (len(used) - 0.4)
        for place, id in enumerate(members):
            angle = 2 * pi * (place + at / 3) / len(members)
            x, y = middle + distance * sin(angle), middle - distance * cos(angle)
            places[id] = x, y
            radius = 6 + 18 * sqrt(pages[id] / most)
            nodes.append(Node(concepts[id].label, ring, round(x), round(y), round(radius), pages[id]))
    edges = []
    for bond in concepts.associations:
        ends = [id for id in bond.members if id in places]
        for other in ends[1:]:
            first, second = places[ends[0]], places[other]
            ends_at = (round(first[0]), round(first[1]), round(second[0]), round(second[1]))
            edges.append(Edge(*ends_at, kind=bond.kind, is_hierarchy=bond.hierarchy))
    return nodes, edges


def show_map(request: Request) -> Response:
    return render(request, "ontology.html", view="ontology", found=view_map(request), size=int(_SIZE))


routes: list[BaseRoute] = [
    Route("/crawls/{name}/ontology", show_map, name="ontology"),
    ApiRoute("GET", "/api/crawls/{name}/ontology", view_map, "The map of the subject, with what was found."),
]
