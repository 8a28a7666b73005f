"""The strategies, which decide what a link is worth: one module each, by name. Packages add more (plugins.py)."""

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
RULED = ("learned", "rules")  # strategies that use rules between classes, learned from the topic's examples
