"""The subject as a SKOS thesaurus in Turtle, and the pages found as documents whose subjects are its concepts.

    SELECT ?page WHERE { ?page dct:subject ?concept . ?concept skos:prefLabel "endodontics"@en }

Written page by page, without a graph in memory, so that a million pages need no more memory than one.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from urllib.parse import quote

from lycosa.ontology.concepts import INSTANCE_OF, Concept, Concepts
from lycosa.ontology.topic_map import OURS
from lycosa.output.files import replacing
from lycosa.output.subjects import Found

_HEAD = f"""\
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix dct: <http://purl.org/dc/terms/> .
@prefix foaf: <http://xmlns.com/foaf/0.1/> .
@prefix lycosa: <{OURS}> .
"""
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_LANGUAGE = re.compile(r"[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*")
_NOT_IN_IRI = re.compile(r'[\x00-\x20<>"{}|^`\\\ud800-\udfff]')
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\f": "\\f"}


def export(concepts: Concepts, pages: Iterable[Found], out: Path) -> int:
    """Write the thesaurus and the pages, completely or not at all; return the number of pages."""
    count = 0
    iris = {concept.id: _concept_iri(concept) for concept in concepts}
    with replacing(out) as file:
        file.write(_HEAD.encode())
        for block in _thesaurus(concepts, iris):
            file.write(block.encode())
        for page in pages:
            file.write(_page(page, iris).encode())
            count += 1
    return count


def _thesaurus(concepts: Concepts, iris: dict[str, str]) -> Iterator[str]:
    wider: dict[str, dict[str, None]] = {}
    for bond in concepts.associations:
        if bond.hierarchy or bond.kind == INSTANCE_OF:
            wider.setdefault(bond.members[1], {})[bond.members[0]] = None
    related = concepts.related()
    for concept in concepts:
        beside = dict.fromkeys(other for kind, other in related[concept.id] if kind != INSTANCE_OF)
        said = [("a", "skos:Concept"), *_labels(concept)]
        said += [("skos:broader", iris[id]) for id in wider.get(concept.id, ())]
        said += [("skos:related", iris[id]) for id in beside]
        yield _block(iris[concept.id], said)


def _labels(concept: Concept) -> Iterator[tuple[str, str]]:
    """SKOS allows one preferred label per language."""
    preferred: set[str] = set()
    for name in concept.names:
        tag = f"@{name.language}" if _LANGUAGE.fullmatch(name.language) else ""
        yield "skos:altLabel" if tag in preferred else "skos:prefLabel", _literal(name.text) + tag
        preferred.add(tag)


def _page(page: Found, iris: dict[str, str]) -> str:
    about = [(iris[id], part) for id, part in page.concepts.items() if id in iris]
    said = [("a", "foaf:Document")]
    said += [("dct:title", _literal(page.title))] if page.title else []
    said += [("lycosa:relevance", f"{page.relevance:.6e}")]
    said += [("dct:subject", iri) for iri, _ in about]
    said += [("lycosa:mention", f"[ lycosa:concept {iri} ; lycosa:share {part:.6e} ]") for iri, part in about]
    return _block(_iri(page.url), said)


def _block(subject: str, said: Iterable[tuple[str, str]]) -> str:
    return f"\n{subject}\n    " + " ;\n    ".join(f"{property} {value}" for property, value in said) + " .\n"


def _concept_iri(concept: Concept) -> str:
    own = next((iri for iri in concept.identifiers if _SCHEME.match(iri)), "")
    return _iri(own or f"{OURS}concept:{quote(concept.id, safe='')}")


def _iri(iri: str) -> str:
    return f"<{_NOT_IN_IRI.sub(lambda found: quote(found[0], safe='', errors='replace'), iri)}>"


def _literal(text: str) -> str:
    escaped = "".join(_ESCAPES.get(char, char) for char in text.replace("\0", ""))
    return f'"{escaped.encode(errors="replace").decode()}"'
