"""The map of the subject: its concepts as a tree and as a graph, their weights, and what was found for each.

For topics that are not a map it shows the words that spoke for most pages, which is what their verdicts rest on.
"""

from collections.abc import Sequence
from functools import lru_cache
from math import cos, pi, sin, sqrt
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct
from starlette.requests import Request

from lycosa import config, topics
from lycosa.console import asked
from lycosa.console.site import folder_of, reading
from lycosa.errors import BadInput, StateError
from lycosa.ontology.concepts import Concepts
from lycosa.ontology.weights import Weights, roles, weigh
from lycosa.output.ontology_picture import rows
from lycosa.pages import read_pages
from lycosa.store.browse import count_reasons

MOST_NODES = 60  # more cannot be told apart in a picture
MOST_ROWS = 2_000  # of the tree
MOST_WORDS = 100
_RINGS = ("focus", "hierarchy", "association", "rest")
SIZE = 900.0  # of the picture
WEIGHTS = {  # what each weight is for
    "focus": "in focus",
    "hierarchy": "directly above or below it",
    "association": "associated with it",
    "rest": "all others",
}


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
    source: str = ""  # the name of the file
    focus: list[str] = []  # names of concepts
    focus_ids: list[str] = []
    weights: Weights = Weights()
    concepts: list[ConceptRow] = []
    nodes: list[Node] = []
    edges: list[Edge] = []
    words: list[tuple[str, int]] = []  # all reasons, with the number of relevant pages
    is_draft: bool = False  # with a focus and weights that were tried, not saved


def view_map(request: Request) -> Map:
    folder = folder_of(request)
    try:
        with reading(request) as db:
            counts = count_reasons(db)
    except StateError:
        counts = {}  # not started yet
    kind = str(config.load(folder)[0].topic.get("kind", ""))
    words = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:MOST_WORDS]
    if kind != "ontology":
        return Map(kind, words=words)
    judge = prepared(folder)
    tried = tried_in(request.query_params, judge)
    focus, weights = tried or (judge.focus_, judge.weights)
    concepts: Concepts = judge.concepts_
    role = {id: next(one for one in _RINGS if one in found) for id, found in roles(concepts, focus).items()}
    pages = {concept.id: counts.get(concept.label, 0) for concept in concepts}
    weighed = weigh(concepts, focus, weights)
    names = [concepts[id].label for id in focus]
    tree, (nodes, edges) = _tree(concepts, weighed, role, pages), _graph(concepts, weighed, role, pages)
    return Map(kind, concepts.source, names, [*focus], weights, tree, nodes, edges, words, is_draft=tried is not None)


def tried_in(given: Any, judge: Any) -> tuple[list[str], Weights] | None:
    """The focus and weights that a form says, if it says any."""
    if not asked.text(given, "try"):
        return None
    return checked_focus(given.getlist("focus"), judge), checked_weights(given)


def checked_focus(names: Sequence[str], judge: Any) -> list[str]:
    """The ids of concepts, given as in crawl.toml: by id, IRI or name."""
    ids: dict[str, None] = {}
    for name in names:
        found = judge.concepts_.find(name)
        if len(found) != 1:
            many = f"means {len(found)} concepts" if found else "is not a concept"
            raise BadInput(f"focus: {name[:100]!r} {many} of {judge.concepts_.source}")
        ids[found[0]] = None
    return [*ids]


def checked_weights(given: Any) -> Weights:
    written = {name: text for name in WEIGHTS if (text := asked.text(given, f"weight-{name}"))}
    try:
        return msgspec.convert({name: float(text) for name, text in written.items()}, Weights)
    except (ValueError, msgspec.ValidationError):
        raise BadInput("weights: write numbers from 0 to 1") from None


def prepared(folder: Path) -> Any:
    """The judge with its map, which is read again when crawl.toml has changed."""
    return _prepared(folder, (folder / config.NAME).stat().st_mtime_ns)


@lru_cache(maxsize=8)
def _prepared(folder: Path, changed_at: int) -> Any:
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
    most, middle = max(map(pages.__getitem__, order), default=0) or 1, SIZE / 2
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
