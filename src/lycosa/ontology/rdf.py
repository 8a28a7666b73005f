"""Read an ontology or thesaurus: RDF Schema, OWL and SKOS in any of RDF's syntaxes.

`rdfs:subClassOf`, `skos:broader` and `skos:narrower` are the hierarchy. Any other property between two concepts is an
association, and so is a restriction on a class, or a property's domain with its range. All kinds of labels are names.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from urllib.parse import unquote

from lycosa.ontology.concepts import (
    HIERARCHY,
    INSTANCE_OF,
    Association,
    Concept,
    Concepts,
    Name,
    in_order,
    spaced,
    tail,
)
from lycosa.ontology.triples import Triple, triples

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
_RDFS = "http://www.w3.org/2000/01/rdf-schema#"
_OWL = "http://www.w3.org/2002/07/owl#"
_SKOS = "http://www.w3.org/2004/02/skos/core#"
_SKOSXL = "http://www.w3.org/2008/05/skos-xl#"
_ISO_THES = "http://purl.org/iso25964/skos-thes#"
_NOTATION = (RDF, _RDFS, _OWL, _SKOS, _SKOSXL, "http://www.w3.org/2001/XMLSchema#")

_TYPE = RDF + "type"
_LABELS = {  # rank: the first is preferred
    _SKOS + "prefLabel": 0,
    _RDFS + "label": 1,
    _SKOS + "altLabel": 2,
    _SKOS + "hiddenLabel": 3,
    _SKOSXL + "prefLabel": 0,
    _SKOSXL + "altLabel": 2,
    _SKOSXL + "hiddenLabel": 3,
}
_UP = [_RDFS + "subClassOf", _SKOS + "broader", _SKOS + "broadMatch"]
_UP += [_ISO_THES + name for name in ("broaderGeneric", "broaderInstantial", "broaderPartitive")]
_DOWN = [_SKOS + "narrower", _SKOS + "narrowMatch"]
_DOWN += [_ISO_THES + name for name in ("narrowerGeneric", "narrowerInstantial", "narrowerPartitive")]
_NO_LINK = {  # refers to documentation, denies an association, or follows from the others
    *(_RDFS + name for name in ("seeAlso", "isDefinedBy", "subPropertyOf", "domain", "range")),
    *(_OWL + name for name in ("disjointWith", "differentFrom", "complementOf")),
    *(_SKOS + name for name in ("broaderTransitive", "narrowerTransitive")),
}
_NO_CONCEPT = {
    *(_OWL + name for name in ("Ontology", "ObjectProperty", "DatatypeProperty", "AnnotationProperty")),
    *(_SKOS + name for name in ("ConceptScheme", "Collection", "OrderedCollection")),
    *(RDF + "Property", _RDFS + "Datatype", _SKOSXL + "Label"),
}
_CLASSES = {_OWL + "Class", _RDFS + "Class", _OWL + "NamedIndividual", _SKOS + "Concept"}
_RESTRICTS = [_OWL + name for name in ("someValuesFrom", "allValuesFrom", "hasValue", "onClass")]
_OPAQUE = re.compile(r"[A-Za-z]{0,6}[_-]?[0-9][0-9A-Fa-f_-]*$")  # C0012, BFO_0000001: an id, not a name


class _Graph:
    """Statements, indexed by property and by subject."""

    def __init__(self, statements: Iterable[Triple]) -> None:
        self.by_property: dict[str, list[tuple[str, str | Name]]] = defaultdict(list)
        self.about: dict[str, dict[str, list[str | Name]]] = defaultdict(lambda: defaultdict(list))
        for subject, property, object in statements:
            self.by_property[property].append((subject, object))
            self.about[subject][property].append(object)

    def nodes(self, subject: str, property: str) -> list[str]:
        """The objects of the property, without literals."""
        if subject not in self.about:
            return []
        return [object for object in self.about[subject].get(property, ()) if isinstance(object, str)]

    def items(self, start: str) -> Iterator[str]:
        """The members of an RDF list, which may be circular."""
        seen: set[str] = set()
        waiting = [start]
        while waiting and waiting[0] not in seen:
            seen.add(waiting[0])
            yield from self.nodes(waiting[0], RDF + "first")
            waiting = self.nodes(waiting[0], RDF + "rest")

    def with_narrower_properties(self, properties: list[str]) -> set[str]:
        """The properties and all that the file declares as their subproperties."""
        below: dict[str, list[str]] = defaultdict(list)
        for narrow, wide in self.by_property.get(_RDFS + "subPropertyOf", ()):
            if isinstance(wide, str):
                below[wide].append(narrow)
        found: set[str] = set()
        waiting = list(properties)
        while waiting:
            if (property := waiting.pop()) not in found:
                found.add(property)
                waiting += below[property]
        return found


def read(path: Path, syntax: str) -> Concepts:
    """The concepts of an RDF file, sorted by id, because the order of an RDF file has no meaning."""
    graph = _Graph(triples(path, syntax))
    hierarchy = set(_hierarchy(graph))
    concepts = _concepts(graph, {end for pair in hierarchy for end in pair})
    return Concepts(concepts.values(), _associations(graph, hierarchy, concepts), path.name)


def _hierarchy(graph: _Graph) -> Iterator[tuple[str, str]]:
    """(broader, narrower) pairs of named resources."""
    for property in graph.with_narrower_properties(_UP):
        for narrow, start in graph.by_property.get(property, ()):
            yield from ((wide, narrow) for kind, wide in _parts(graph, start) if not kind)
    for property in graph.with_narrower_properties(_DOWN):
        for wide, start in graph.by_property.get(property, ()):
            yield from ((wide, narrow) for kind, narrow in _parts(graph, start) if not kind)
    for narrow, start in graph.by_property.get(_OWL + "equivalentClass", ()):
        if not _is_iri(start):  # a definition: it is a subclass of these
            yield from ((wide, narrow) for kind, wide in _parts(graph, start) if not kind)


def _parts(graph: _Graph, start: str | Name) -> Iterator[tuple[str, str]]:
    """The named classes in a class expression: ('', class) for a superclass, (property, class) for a restriction."""
    waiting = [start] if isinstance(start, str) else []
    seen: set[str] = set()  # expressions may share parts, and may be circular
    while waiting:
        node = waiting.pop()
        if node in seen:
            continue
        seen.add(node)
        if _is_iri(node):
            yield "", node
            continue
        for property in graph.nodes(node, _OWL + "onProperty"):
            for kind in _RESTRICTS:
                yield from ((property, found) for found in graph.nodes(node, kind) if _is_iri(found))
        for members in graph.nodes(node, _OWL + "intersectionOf"):
            waiting += graph.items(members)


def _is_iri(node: str | Name) -> bool:
    return isinstance(node, str) and not node.startswith("_:")


def _concepts(graph: _Graph, in_hierarchy: set[str]) -> dict[str, Concept]:
    """IRI to concept. Resources without a label are named by the last part of their IRI if they are surely concepts."""
    found = {}
    properties = graph.by_property.keys() | {property for property, _ in graph.by_property[_RDFS + "subPropertyOf"]}
    for iri in sorted(graph.about.keys() | in_hierarchy):
        types = set(graph.nodes(iri, _TYPE))
        if not _is_iri(iri) or iri.startswith(_NOTATION) or types & _NO_CONCEPT or iri in properties:
            continue
        names = in_order(_names(graph, iri))
        if not names and (iri in in_hierarchy or types & _CLASSES) and not _OPAQUE.match(_last(iri)):
            names = in_order([(0, Name(spaced(_last(iri))))])
        if names:
            found[iri] = names
    count = Counter(map(_last, found))
    id_of = {iri: _last(iri) if count[_last(iri)] == 1 and _last(iri) else iri for iri in found}
    return {iri: Concept(id_of[iri], names, (iri,)) for iri, names in found.items()}


def _last(iri: str) -> str:
    return unquote(tail(iri))


def _names(graph: _Graph, iri: str) -> list[tuple[int, Name]]:
    found = []
    for property, rank in _LABELS.items():
        for label in graph.about[iri].get(property, ()) if iri in graph.about else ():
            if isinstance(label, Name):
                found.append((rank, label))
            else:  # SKOS-XL: the label is a resource itself
                forms = graph.about[label].get(_SKOSXL + "literalForm", ()) if label in graph.about else ()
                found += [(rank, form) for form in forms if isinstance(form, Name)]
    return sorted(found, key=lambda pair: (pair[0], pair[1].text))


def _associations(graph: _Graph, hierarchy: set[tuple[str, str]], concepts: dict[str, Concept]) -> list[Association]:
    """Each association between two concepts once, however often the file states it."""
    pairs = [(wide, narrow) for wide, narrow in hierarchy if wide in concepts and narrow in concepts and wide != narrow]
    made = {pair: Association(HIERARCHY, (concepts[pair[0]].id, concepts[pair[1]].id), True) for pair in pairs}
    others = {}
    taken = graph.with_narrower_properties(_UP + _DOWN) | _NO_LINK
    for property, one, other in sorted(set(_others(graph))):
        if property not in taken and one in concepts and other in concepts and one != other:
            kind = _kind(graph, property)
            first, second = (other, one) if property == _TYPE else (one, other)
            if (kind, other, one) not in others:  # stated in both directions
                others[kind, one, other] = Association(kind, (concepts[first].id, concepts[second].id))
    bonds = [*made.values(), *others.values()]
    return sorted(bonds, key=lambda bond: (not bond.hierarchy, bond.members, bond.kind))


def _others(graph: _Graph) -> Iterator[tuple[str, str, str]]:
    """(property, one, other) for all possible associations: statements, restrictions, and domain and range."""
    for property, pairs in graph.by_property.items():
        yield from ((property, one, other) for one, other in pairs if isinstance(other, str))
    for property in (_RDFS + "subClassOf", _OWL + "equivalentClass"):
        for narrow, start in graph.by_property.get(property, ()):
            yield from ((kind, narrow, other) for kind, other in _parts(graph, start) if kind)
    for property, one in graph.by_property.get(_RDFS + "domain", ()):
        yield from ((property, one, other) for other in graph.nodes(property, _RDFS + "range") if isinstance(one, str))


def _kind(graph: _Graph, property: str) -> str:
    """The display name of a property."""
    if property == _TYPE:
        return INSTANCE_OF
    names = in_order(_names(graph, property))
    return names[0].text if names else spaced(_last(property)).lower()
