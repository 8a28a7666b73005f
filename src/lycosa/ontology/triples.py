"""Read untrusted RDF through rdflib: no entities, no remote contexts, nothing fetched."""

import re
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lycosa.ontology.concepts import Name, clean
from lycosa.ontology.safe_xml import root, size_checked
from lycosa.types import BadInput

SYNTAXES = {
    ".ttl": "turtle",
    ".rdf": "xml",
    ".owl": "xml",
    ".jsonld": "json-ld",
    ".json": "json-ld",
    ".nt": "nt",
    ".nq": "nquads",
    ".n3": "turtle",
    ".trig": "trig",
}
_MOST_BYTES = 128 << 20  # in memory a graph takes about twenty times the size of its file
_one_at_a_time = threading.Lock()

Triple = tuple[str, str, str | Name]  # an IRI is a string, a blank node a string starting with '_:', a literal a Name


def triples(path: Path, syntax: str) -> list[Triple]:
    """Every statement of a file, including named graphs."""
    size_checked(path, _MOST_BYTES)
    try:
        import rdflib
    except ImportError as error:
        raise BadInput(f"{path.name}: reading RDF needs: pip install 'lycosa[ontology]'") from error
    if syntax == "xml":
        root(path)  # refuses entities
    try:
        with _literals_as_written(rdflib):
            graph = rdflib.Dataset(default_union=True)
            _fill(graph, path, syntax)
            return [(_plain(one), str(two), _plain(three)) for one, two, three in graph.triples((None, None, None))]  # type: ignore[misc]
    except BadInput:
        raise
    except Exception as error:  # rdflib raises anything, including AttributeError and IndexError
        raise BadInput(_message(path.name, syntax, error)) from error


@contextmanager
def _literals_as_written(rdflib: Any) -> Iterator[None]:
    """Keep '1e999999999' from being expanded to a gigabyte. rdflib has only a switch for the whole process, so only one
    thread at a time may use it, or the last one would restore what the first one had set."""
    with _one_at_a_time, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # rdflib warns about its own deprecated calls
        before, rdflib.NORMALIZE_LITERALS = rdflib.NORMALIZE_LITERALS, False
        try:
            yield
        finally:
            rdflib.NORMALIZE_LITERALS = before


def _fill(graph: Any, path: Path, syntax: str) -> None:
    base = f"file:///{path.name}"  # the base of relative names in the file; it is never opened
    if syntax != "json-ld":
        graph.parse(data=path.read_bytes(), format=syntax, publicID=base)
        return
    from lycosa.ontology.json_ld import add_json_ld

    add_json_ld(graph, path, base)


def _plain(node: Any) -> str | Name:
    from rdflib.term import BNode, Literal

    if isinstance(node, Literal):
        return Name(clean(str(node)), (node.language or "").lower())
    return f"_:{node}" if isinstance(node, BNode) else str(node)


def _message(name: str, syntax: str, error: Exception) -> str:
    """One line with the file and, if rdflib says so, the line."""
    if isinstance(error, RecursionError):
        return f"{name}: nested too deeply"
    text = clean(str(error))
    line = re.search(r"\bline (\d+)|^[^:]*:(\d+):\d+:", text)
    why = re.search(r"Bad syntax \((.*?)\) at \^", text) or re.search(r"^[^:]*:\d+:\d+: (.*)", text)
    where = f"{name}:{line[1] or line[2]}" if line else name
    return f"{where}: not {syntax}: {(why[1] if why else text or type(error).__name__)[:200]}"
