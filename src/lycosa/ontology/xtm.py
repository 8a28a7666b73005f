"""Read a topic map: XTM 1.0, 2.0 and 2.1.

Nothing is fetched: references to other files, including `mergeMap`, are ignored.
"""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote
from xml.etree.ElementTree import Element

from lycosa.ontology.concepts import Concepts, clean, tail
from lycosa.ontology.safe_xml import children
from lycosa.ontology.topic_map import ABOUT, CONCEPT, PAGE, RELEVANCE, URL, Bond, Topic, TopicMap
from lycosa.types import BadInput

_RESOURCES = ("resourceRef", "subjectLocatorRef", "subjectLocator")  # the resource itself, not what it describes
_REFERENCES = ("topicRef", "subjectIdentifierRef", "subjectIndicatorRef", *_RESOURCES)
_IDENTITIES = ("itemIdentity", "subjectIdentifier", "subjectLocator")
_XLINK_HREF = "{http://www.w3.org/1999/xlink}href"


def read(path: Path) -> Concepts:
    """The concepts of a topic map."""
    found = TopicMap()
    for element in children(path):
        if element.tag == "topic":
            found.topics.append(_topic(element, path.name))
        elif element.tag == "association":
            found.bonds.append(_bond(element, path.name))
    return found.concepts(path.name)


def read_pages(path: Path) -> Iterator[tuple[str, str, float]]:
    """URL, title and relevance of each page that an export added to a topic map."""
    kinds: dict[str, str] = {}  # reference to its meaning
    for element in children(path):
        if element.tag != "topic":
            continue
        topic = _topic(element, path.name)
        for meaning in {PAGE, RELEVANCE, URL}.intersection(topic.keys):
            kinds[topic.keys[0]] = meaning
        if PAGE in map(kinds.get, topic.types):
            worth = [one for one in element.iterfind("occurrence") if _means(one, RELEVANCE, kinds, path.name)]
            url = next((key[1:] for key in topic.keys if key.startswith("=")), "")
            title = topic.names[0][1] if topic.names else ""
            yield url, title, _number(worth[0], path.name) if worth else 0.0


def read_subjects(path: Path) -> Iterator[tuple[str, str]]:
    """Pairs of page URL and concept id, as written by an export."""
    kinds: dict[str, str] = {}
    pages: dict[str, str] = {}  # reference to URL
    for element in children(path):
        if element.tag == "topic":
            topic = _topic(element, path.name)
            for meaning in {ABOUT, CONCEPT, PAGE}.intersection(topic.keys):
                kinds[topic.keys[0]] = meaning
            if PAGE in map(kinds.get, topic.types):
                pages[topic.keys[0]] = next((key[1:] for key in topic.keys if key.startswith("=")), "")
        elif element.tag == "association":
            bond = _bond(element, path.name)
            players = {kinds.get(role): _first(players) for role, players in bond.roles}
            if kinds.get(bond.type) == ABOUT and {PAGE, CONCEPT} <= players.keys():
                yield pages.get(players[PAGE], ""), players[CONCEPT].lstrip("#")


def _number(occurrence: Element, file: str) -> float:
    text = _text(occurrence.find("resourceData"))
    try:
        return float(text)
    except ValueError as error:
        raise BadInput(f"{file}: a relevance is not a number: {text[:40]!r}") from error


def _means(occurrence: Element, meaning: str, kinds: dict[str, str], file: str) -> bool:
    return any(kinds.get(kind) == meaning for kind in _kinds(occurrence, file))


def _topic(element: Element, file: str) -> Topic:
    topic = Topic([f"#{element.get('id')}"] if element.get("id") else [])
    for child in element:
        if child.tag in _IDENTITIES:
            topic.keys.append(_reference(child, file))
        elif child.tag == "subjectIdentity":  # XTM 1.0
            topic.keys += _references(child, file)
        elif child.tag == "instanceOf":
            topic.types += _references(child, file)
        elif child.tag in ("baseName", "name"):
            _add_names(topic, child, file)
        elif child.tag == "occurrence":
            topic.vocabulary += [*_kinds(child, file), *_references(child.find("scope"), file)]
    return topic


def _add_names(topic: Topic, element: Element, file: str) -> None:
    """The base name followed by its variants, except those for sorting."""
    scope = _references(element.find("scope"), file)
    topic.vocabulary += [*scope, *_kinds(element, file)]
    if text := _text(element.find("baseNameString")) or _text(element.find("value")):
        topic.names.append((0, text, scope))
    for variant in element.iter("variant"):
        themes = _references(variant.find("parameters"), file) + _references(variant.find("scope"), file)
        topic.vocabulary += themes
        text = _text(variant.find("variantName/resourceData")) or _text(variant.find("resourceData"))
        if text and "sort" not in map(tail, themes):
            topic.names.append((1, text, scope + themes))


def _bond(element: Element, file: str) -> Bond:
    bond = Bond(_first(_kinds(element, file)))
    for child in element:
        if child.tag == "role":  # XTM 2.0
            bond.roles.append((_first(_kinds(child, file)), _references(child, file)))
        elif child.tag == "member":  # XTM 1.0: several players may share a role
            bond.roles.append((_first(_references(child.find("roleSpec"), file)), _references(child, file)))
    return bond


def _kinds(element: Element, file: str) -> list[str]:
    """References to the type: `instanceOf` in XTM 1.0, `type` in 2.0."""
    return _references(element.find("instanceOf"), file) + _references(element.find("type"), file)


def _references(element: Element | None, file: str) -> list[str]:
    return [] if element is None else [_reference(child, file) for child in element if child.tag in _REFERENCES]


def _reference(element: Element, file: str) -> str:
    href = element.get("href") or element.get(_XLINK_HREF) or ""
    if element.tag in _RESOURCES:
        return f"={href}"
    before, mark, after = href.partition("#")
    return f"#{after}" if mark and unquote(before) in ("", file) else href


def _first(references: list[str]) -> str:
    return references[0] if references else ""


def _text(element: Element | None) -> str:
    return "" if element is None else clean("".join(element.itertext()))
