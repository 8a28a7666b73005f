"""Write the topic map with the results: one topic for each relevant page, with its address and relevance, and an
association with each concept found on it.

A topic map is copied byte for byte and the pages are appended in its own version of XTM; any other ontology is written
as XTM 2.0. Pages are streamed, so that a million pages need no more memory than one.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path
from xml.parsers import expat

from msgspec import Struct

from lycosa.ontology.concepts import Concepts
from lycosa.ontology.safe_xml import root, size_checked
from lycosa.ontology.topic_map import ABOUT, CONCEPT, PAGE, RELEVANCE, URL
from lycosa.ontology.xtm_write import HEAD, TAIL, escape, lines, topic_ids
from lycosa.output.files import replacing
from lycosa.output.subjects import Found
from lycosa.types import BadInput

_XLINK = "http://www.w3.org/1999/xlink"


class _Frame(Struct, frozen=True):
    """The map to insert pages into: everything before and after the insertion point, and its format."""

    before: bytes
    after: bytes
    encoding: str = "utf-8"
    prefix: str = ""  # of element names, with its colon
    is_first: bool = False  # XTM 1.0
    xlink: str = ""  # XTM 1.0: the namespace declaration that an element needs for references
    ids: Mapping[str, str] = {}  # concept id to topic id, where they differ

    def free_id(self) -> str:
        """A prefix that no id of the map starts with."""
        number, id = 1, "lycosa"
        while id.encode(self.encoding) in self.before:
            number, id = number + 1, f"lycosa{number + 1}"
        return id


def export(source: Path, concepts: Concepts, pages: Iterable[Found], out: Path) -> int:
    """Write the map of `source`, which contains these concepts, and the pages; return the number of pages."""
    frame = _frame(source, concepts)
    count, id = 0, frame.free_id()
    topic = (_topics_1 if frame.is_first else _topics_2)(frame, id)
    about = _abouts(frame, id, concepts)
    with replacing(out) as file:
        file.write(frame.before)
        for kind in (PAGE, URL, RELEVANCE, ABOUT, CONCEPT):
            file.write(_kind(frame, id, kind).encode(frame.encoding))
        for count, page in enumerate(pages, start=1):
            own = f"{id}-{count}"
            line = topic(own, escape(page.url), escape(page.title) or escape(page.url), page.relevance)
            line += about(own, page.concepts)
            file.write(line.encode(frame.encoding, "xmlcharrefreplace"))
        file.write(frame.after)
    return count


def _frame(source: Path, concepts: Concepts) -> _Frame:
    if source.suffix.lower() in (".xtm", ".xml"):
        namespace, name = root(size_checked(source))
        if name == "topicMap":
            return _cut(source, namespace.endswith("/1.0/"))
    return _Frame("".join([HEAD, *lines(concepts)]).encode(), TAIL.encode(), ids=topic_ids(concepts))


def _cut(source: Path, is_first: bool) -> _Frame:
    """A topic map, cut before the end tag of its root."""
    data = source.read_bytes()
    parser = expat.ParserCreate()
    said: dict[str, str] = {}
    depth = end = 0

    def declaration(version: str, encoding: str | None, standalone: int) -> None:
        said["encoding"] = encoding or ""

    def start_element(name: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        if not depth:
            said["prefix"] = name.removesuffix("topicMap")
            said["xlink"] = "" if attributes.get("xmlns:xlink") == _XLINK else f' xmlns:xlink="{_XLINK}"'
        depth += 1

    def end_element(name: str) -> None:
        nonlocal depth, end
        depth -= 1
        end = parser.CurrentByteIndex

    parser.XmlDeclHandler = declaration
    parser.StartElementHandler = start_element
    parser.EndElementHandler = end_element
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        raise BadInput(f"{source.name}:{error.lineno}: {expat.ErrorString(error.code)}") from error
    encoding = said.get("encoding") or "utf-8"
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        encoding = "utf-16-le" if data[:2] == b"\xff\xfe" else "utf-16-be"
    if not data[end:].startswith("</".encode(encoding)):
        raise BadInput(f"{source.name}: contains no topic")
    return _Frame(data[:end], data[end:], encoding, said["prefix"], is_first, said["xlink"] if is_first else "")


def _kind(frame: _Frame, id: str, identifier: str) -> str:
    """The topic that defines the type of a page, an address or a relevance."""
    p, name = frame.prefix, identifier.rpartition(":")[2]
    if frame.is_first:
        reference = f'<{p}subjectIndicatorRef xlink:href="{identifier}"/>'
        identity = f"<{p}subjectIdentity>{reference}</{p}subjectIdentity>"
        label = f"<{p}baseName><{p}baseNameString>{name}</{p}baseNameString></{p}baseName>"
    else:
        identity = f'<{p}subjectIdentifier href="{identifier}"/>'
        label = f"<{p}name><{p}value>{name}</{p}value></{p}name>"
    return f'<{p}topic id="{id}-{name}"{frame.xlink}>{identity}{label}</{p}topic>\n'


def _topics_2(frame: _Frame, kind: str) -> Callable[[str, str, str, float], str]:
    p = frame.prefix

    def occurrence(name: str, value: str) -> str:
        return f'<{p}occurrence><{p}type><{p}topicRef href="#{kind}-{name}"/></{p}type>{value}</{p}occurrence>'

    page = f'<{p}instanceOf><{p}topicRef href="#{kind}-page"/></{p}instanceOf>'
    number = 'datatype="http://www.w3.org/2001/XMLSchema#double"'

    def topic(id: str, url: str, title: str, relevance: float) -> str:
        address = occurrence("url", f'<{p}resourceRef href="{url}"/>')
        worth = occurrence("relevance", f"<{p}resourceData {number}>{relevance:.6g}</{p}resourceData>")
        name = f"<{p}name><{p}value>{title}</{p}value></{p}name>"
        return f'<{p}topic id="{id}"><{p}subjectLocator href="{url}"/>{page}{name}{address}{worth}</{p}topic>\n'

    return topic


def _topics_1(frame: _Frame, kind: str) -> Callable[[str, str, str, float], str]:
    p = frame.prefix

    def type_of(name: str) -> str:
        return f'<{p}instanceOf><{p}topicRef xlink:href="#{kind}-{name}"/></{p}instanceOf>'

    def topic(id: str, url: str, title: str, relevance: float) -> str:
        resource = f'<{p}resourceRef xlink:href="{url}"/>'
        identity = f"<{p}subjectIdentity>{resource}</{p}subjectIdentity>"
        # XTM 1.0 merges topics with the same name in the same scope; a separate scope keeps pages apart
        scope = f'<{p}scope><{p}topicRef xlink:href="#{id}"/></{p}scope>'
        name = f"<{p}baseName>{scope}<{p}baseNameString>{title}</{p}baseNameString></{p}baseName>"
        address = f"<{p}occurrence>{type_of('url')}{resource}</{p}occurrence>"
        data = f"<{p}resourceData>{relevance:.6g}</{p}resourceData>"
        worth = f"<{p}occurrence>{type_of('relevance')}{data}</{p}occurrence>"
        return f'<{p}topic id="{id}"{frame.xlink}>{type_of("page")}{identity}{name}{address}{worth}</{p}topic>\n'

    return topic


def _abouts(frame: _Frame, kind: str, concepts: Concepts) -> Callable[[str, Iterable[str]], str]:
    """A function that writes the associations between a page and its concepts."""
    p, href = frame.prefix, "xlink:href" if frame.is_first else "href"
    type_of, role, role_type = ("instanceOf", "member", "roleSpec") if frame.is_first else ("type", "role", "type")

    def plays(name: str, reference: str) -> str:
        return f"<{p}{role}><{p}{role_type}>{topic(f'{kind}-{name}')}</{p}{role_type}>{reference}</{p}{role}>"

    def topic(id: str) -> str:
        return f'<{p}topicRef {href}="#{escape(id)}"/>'

    @cache
    def end(concept: str) -> str:
        if not frame.ids and concept in concepts[concept].identifiers:  # a topic without an id, as XTM 2.1 allows
            reference = f'<{p}subjectIdentifierRef {href}="{escape(concept)}"/>'
        else:
            reference = topic(frame.ids.get(concept, concept))
        return f"{plays('concept', reference)}</{p}association>\n"

    start = f"<{p}association{frame.xlink}><{p}{type_of}>{topic(f'{kind}-about')}</{p}{type_of}>"

    def about(page: str, found: Iterable[str]) -> str:
        own = start + plays("page", topic(page))
        return "".join([own + end(concept) for concept in found])

    return about
