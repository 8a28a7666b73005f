"""What is a link worth? One file a strategy; here is where a name becomes a class.

Other packages add theirs by an entry point of the group `lycosa.strategies`; `contract.py` checks any of them.
"""

import dataclasses
import logging
from importlib.metadata import entry_points

from lycosa.strategy.best_first import BestFirst
from lycosa.strategy.breadth import BreadthFirst
from lycosa.strategy.hard_focus import HardFocus
from lycosa.strategy.learned import Learned
from lycosa.strategy.link_context import LinkContext
from lycosa.strategy.ontology import OntologyStrategy
from lycosa.strategy.opic import Opic
from lycosa.strategy.otie import Otie
from lycosa.strategy.publications import Publications
from lycosa.strategy.rules import Rules
from lycosa.strategy.tids import TidsStrategy

GROUP = "lycosa.strategies"
STRATEGIES: dict[str, type] = {
    "best-first": BestFirst,
    "breadth-first": BreadthFirst,
    "hard-focus": HardFocus,
    "learned": Learned,
    "link-context": LinkContext,
    "ontology": OntologyStrategy,
    "opic": Opic,
    "otie": Otie,
    "publications": Publications,
    "rules": Rules,
    "tids": TidsStrategy,
}

_log = logging.getLogger(__name__)


def strategies() -> dict[str, type]:
    """Ours and those of installed packages. One that cannot be used is named in the log and left out: it must not stop
    a crawl that does not ask for it."""
    found = dict(STRATEGIES)
    for point in entry_points(group=GROUP):
        place = f"strategy {point.name!r} ({point.value})"
        if point.name in found:
            _log.warning("%s: left out, there is one of this name", place)
            continue
        try:
            kind = point.load()
        except Exception as error:  # whatever a stranger's module does when it is imported
            _log.warning("%s: left out, it cannot be loaded: %s: %s", place, type(error).__name__, error)
            continue
        if isinstance(kind, type) and dataclasses.is_dataclass(kind):
            found[point.name] = kind
        else:
            _log.warning("%s: left out, it is no dataclass", place)
    return found
