"""Read untrusted XML: no entities, nothing fetched, limited depth and size."""

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO
from xml.etree import ElementTree
from xml.parsers import expat

from lycosa.types import BadInput

MOST_BYTES = 256 << 20
_MOST_DEPTH = 50
_CHUNK = 1 << 16
_MOST_SILENT = 4 << 20  # bytes without a tag: the parser rescans an unfinished one with each chunk


def size_checked(path: Path, most: int = MOST_BYTES) -> Path:
    """The path, if it is a file of acceptable size."""
    if not path.is_file():
        raise BadInput(f"{path}: no such file")
    if path.stat().st_size > most:
        raise BadInput(f"{path.name}: larger than {most >> 20} MB")
    return path


class _Root(Exception):
    """Ends the scan of the prolog; not an error."""


def root(path: Path) -> tuple[str, str]:
    """Namespace and name of the root element. Anything before it that is not harmless is refused.

    Entities can be declared nowhere else, so a file that passes has none, in any encoding: the same parser reads the
    rest. A DOCTYPE that only names its DTD is harmless, because the DTD is never fetched.
    """
    parser = expat.ParserCreate(namespace_separator=" ")

    def doctype(name: str, system: str | None, public: str | None, has_internal_subset: bool) -> None:
        if has_internal_subset:
            where = f"{path.name}:{parser.CurrentLineNumber}"
            raise BadInput(f"{where}: a DOCTYPE with declarations is refused, because they may be entities")

    def start(name: str, attributes: dict[str, str]) -> None:
        raise _Root(name)

    parser.StartDoctypeDeclHandler = doctype
    parser.StartElementHandler = start
    try:
        with path.open("rb") as file:
            parser.Parse(file.read(_MOST_SILENT), True)
    except _Root as found:
        namespace, _, name = str(found).rpartition(" ")
        return namespace, name
    except expat.ExpatError as error:
        raise BadInput(f"{path.name}:{error.lineno}: {expat.ErrorString(error.code)}") from error
    except (LookupError, ValueError) as error:  # an unknown encoding
        raise BadInput(f"{path.name}: {error}") from error
    raise BadInput(f"{path.name}: contains no XML")


def children(path: Path) -> Iterator[ElementTree.Element]:
    """The elements directly below the root, complete, one at a time, with names stripped of their namespace."""
    root(size_checked(path))
    with path.open("rb") as file:
        try:
            yield from _children(_events(file, path.name), path.name)
        except ElementTree.ParseError as error:
            raise BadInput(f"{path.name}:{error.position[0]}: {str(error).split(':')[0]}") from error


def _events(file: BinaryIO, name: str) -> Iterator[tuple[str, ElementTree.Element]]:
    parser: ElementTree.XMLPullParser[ElementTree.Element] = ElementTree.XMLPullParser(("start", "end"))
    silent = 0
    while chunk := file.read(_CHUNK):
        parser.feed(chunk)
        silent += len(chunk)
        for event in parser.read_events():
            silent = 0
            yield event  # type: ignore[misc]  # other kinds of event were not requested
        if silent > _MOST_SILENT:
            raise BadInput(f"{name}: {_MOST_SILENT >> 20} MB without a tag")
    parser.close()


def _children(events: Iterator[tuple[str, ElementTree.Element]], name: str) -> Iterator[ElementTree.Element]:
    open_elements: list[ElementTree.Element] = []
    for event, element in events:
        if event == "start":
            element.tag = element.tag.rpartition("}")[2]
            open_elements.append(element)
            if len(open_elements) > _MOST_DEPTH:
                raise BadInput(f"{name}: elements nested deeper than {_MOST_DEPTH}")
        else:
            open_elements.pop()
            if len(open_elements) == 1:
                yield element
                open_elements[0].clear()  # discard what was read: memory stays flat
