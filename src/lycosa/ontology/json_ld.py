"""Read JSON-LD through rdflib's parser, with contexts from the file itself only: nothing is fetched or opened.

rdflib fetches a context wherever it meets a name instead of one: in lists of lists, inside a term, after a reset. So
we replace the loader, in our own subclasses: rdflib itself stays unchanged for other code in the process.
"""

import json
from pathlib import Path
from typing import Any

from rdflib import Dataset
from rdflib.plugins.parsers.jsonld import Parser
from rdflib.plugins.shared.jsonld.context import Context

from lycosa.ontology.concepts import clean
from lycosa.types import BadInput


def add_json_ld(graph: Dataset, path: Path, base: str) -> None:
    """Add every statement of a JSON-LD file to the graph."""
    name = path.name
    try:
        tree = json.loads(path.read_bytes())
    except json.JSONDecodeError as error:
        raise BadInput(f"{name}:{error.lineno}: not JSON: {error.msg}") from error
    except UnicodeDecodeError as error:
        raise BadInput(f"{name}: not UTF-8") from error
    try:
        _ClosedParser().parse(tree, _ClosedContext(base=base), graph)
    except _Fetches as error:
        raise BadInput(
            f"{name}: the context {clean(str(error))[:80]!r} is not fetched; write it into the file"
        ) from error


class _Fetches(Exception):
    """The file refers to a context that it does not contain."""


class _ClosedContext(Context):
    """A context that only knows what the file says."""

    def _fetch_context(self, source: str, *_: Any) -> Any:
        raise _Fetches(source)

    def _subcontext(self, source: Any, propagate: bool) -> Context:
        context = super()._subcontext({}, propagate)  # a plain context, which must not load anything
        context.__class__ = _ClosedContext
        context.load(source)
        return context


class _ClosedParser(Parser):
    """Resets to a context of ours where a node discards the previous ones."""

    def _add_to_graph(self, dataset: Any, graph: Any, context: Any, node: Any, topcontext: bool = False) -> Any:
        if isinstance(node, dict) and not topcontext and "@context" in node and not node["@context"]:
            context = _ClosedContext(base=context.doc_base)
            node = {key: value for key, value in node.items() if key != "@context"}
        return super()._add_to_graph(dataset, graph, context, node, topcontext)
