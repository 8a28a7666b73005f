"""Write concepts as a topic map in XTM 2.0, so that topic map tools can read any ontology."""

import re
from collections.abc import Iterable, Iterator

from lycosa.ontology.concepts import INSTANCE_OF, Association, Concept, Concepts
from lycosa.ontology.topic_map import LANGUAGE

HEAD = '<?xml version="1.0" encoding="utf-8"?>\n<topicMap xmlns="http://www.topicmaps.org/xtm/" version="2.0">\n'
TAIL = "</topicMap>\n"
_MODEL = "http://psi.topicmaps.org/iso13250/model/"
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # not allowed in XML
_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\r": " ", "\n": " ", "\t": " "})


def escape(text: str) -> str:
    """Text for an element or an attribute, on one line, without characters that are not allowed in XML."""
    return _NOT_XML.sub("", text).translate(_ESCAPES)


class _Ids:
    """Maps anything that identifies something to a unique XML id."""

    def __init__(self) -> None:
        self._given: dict[str, str] = {}
        self._used: set[str] = set()

    def __getitem__(self, wanted: str) -> str:
        if wanted not in self._given:
            plain = re.sub(r"[^\w.-]+", "-", wanted)
            plain = plain if re.match(r"[^\W\d]", plain) else f"_{plain}"
            found, number = plain, 1
            while found in self._used:
                found, number = f"{plain}-{number}", number + 1
            self._used.add(found)
            self._given[wanted] = found
        return self._given[wanted]


def topic_ids(concepts: Concepts) -> dict[str, str]:
    """The topic id of each concept in the map."""
    ids = _Ids()
    return {concept.id: ids[concept.id] for concept in concepts}


def lines(concepts: Concepts) -> Iterator[str]:
    """The whole map without HEAD and TAIL, so that more topics can follow."""
    ids = _Ids()
    for concept in concepts:
        ids[concept.id]  # concepts keep their ids; others are renamed
    yield from _vocabulary(concepts, ids)
    types: dict[str, list[str]] = {}
    for bond in concepts.associations:
        if bond.kind == INSTANCE_OF:
            types.setdefault(bond.members[1], []).append(ids[bond.members[0]])
    for concept in concepts:
        yield _topic(concept, ids, types.get(concept.id, []))
    for bond in concepts.associations:
        if bond.kind != INSTANCE_OF:
            yield _association(bond, ids)


def _vocabulary(concepts: Concepts, ids: _Ids) -> Iterator[str]:
    """The topics that others refer to: languages, the hierarchy, and the other kinds of association."""
    for language in sorted({name.language for concept in concepts for name in concept.names} - {""}):
        yield _marked(ids[f"language {language}"], f"{LANGUAGE}{language}")
    for name in ("supertype-subtype", "supertype", "subtype"):
        yield _marked(ids[f"model {name}"], f"{_MODEL}{name}")
    yield f'<topic id="{ids["role"]}"/>\n'
    kinds = dict.fromkeys(bond.kind for bond in concepts.associations if not bond.hierarchy)
    kinds.pop(INSTANCE_OF, None)  # stated in the topic itself
    for kind in kinds:
        yield f'<topic id="{ids[f"kind {kind}"]}"><name><value>{escape(kind)}</value></name></topic>\n'


def _marked(id: str, identifier: str) -> str:
    return f'<topic id="{id}"><subjectIdentifier href="{escape(identifier)}"/></topic>\n'


def _topic(concept: Concept, ids: _Ids, types: list[str]) -> str:
    parts = [f'<topic id="{ids[concept.id]}">']
    parts += [f'<subjectIdentifier href="{escape(iri)}"/>' for iri in concept.identifiers]
    parts += [f"<instanceOf>{''.join(map(_reference, types))}</instanceOf>"] if types else []
    for name in concept.names:
        scope = f"<scope>{_reference(ids[f'language {name.language}'])}</scope>" if name.language else ""
        parts.append(f"<name>{scope}<value>{escape(name.text)}</value></name>")
    return "".join([*parts, "</topic>\n"])


def _association(bond: Association, ids: _Ids) -> str:
    if bond.hierarchy:
        kind, roles = ids["model supertype-subtype"], [ids["model supertype"], ids["model subtype"]]
    else:
        kind, roles = ids[f"kind {bond.kind}"], [ids["role"]] * len(bond.members)
    players = _roles(zip(roles, (ids[member] for member in bond.members), strict=True))
    return f"<association><type>{_reference(kind)}</type>{players}</association>\n"


def _roles(players: Iterable[tuple[str, str]]) -> str:
    return "".join(f"<role><type>{_reference(kind)}</type>{_reference(player)}</role>" for kind, player in players)


def _reference(id: str) -> str:
    return f'<topicRef href="#{id}"/>'
