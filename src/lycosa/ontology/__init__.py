"""Descriptions of a subject: `read` reads the concepts of a topic map or an RDF file."""

from pathlib import Path

from lycosa.ontology import rdf, xtm
from lycosa.ontology.concepts import Association, Concept, Concepts, Name
from lycosa.ontology.safe_xml import root, size_checked
from lycosa.ontology.triples import SYNTAXES
from lycosa.types import BadInput

__all__ = ["Association", "Concept", "Concepts", "Name", "read"]


def read(path: Path) -> Concepts:
    """The concepts of a file. Its suffix determines the syntax; an XML file is recognised as XTM or RDF by its root."""
    size_checked(path)
    syntax = SYNTAXES.get(path.suffix.lower())
    if syntax not in (None, "xml"):
        found = rdf.read(path, syntax)
    elif path.suffix.lower() in (".xtm", ".xml") or syntax == "xml":
        found = _read_xml(path)
    else:
        raise BadInput(f"{path.name}: unknown suffix; use one of .xtm {' '.join(SYNTAXES)}")
    if not len(found):
        raise BadInput(f"{path.name}: contains no topic with a name")
    return found


def _read_xml(path: Path) -> Concepts:
    namespace, name = root(path)
    if name == "topicMap":
        return xtm.read(path)
    if name == "RDF" or namespace == rdf.RDF:
        return rdf.read(path, "xml")
    what = "OWL/XML: save it as Turtle or RDF/XML" if name == "Ontology" else f"a <{name}> file"
    raise BadInput(f"{path.name}: neither a topic map nor RDF/XML, but {what}")
