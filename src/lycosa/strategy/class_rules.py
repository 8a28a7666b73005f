"""Rules about which classes of pages lead to the target (Interclass rules, 2004), counted during the crawl.

Each visit shows that a page of one class links to a page of another. Chained together, these rules estimate what the
links of a page are worth from its class, even if the target lies behind pages that are off topic. Rules mined before
the crawl (`lycosa topic rules`) are the starting point; they also predict from a link's words where it leads.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from math import log
from pathlib import Path
from typing import Any

from lycosa.strategy import rule_base
from lycosa.strategy.link_words import LinkModel
from lycosa.strategy.rule_base import RuleBase
from lycosa.types import BadInput

Targets = Callable[[Sequence[str]], Sequence[str]]
MOST_RULES = 3  # in a path
BEFOREHAND = 30.0  # weight of mined rules per class, in pages: low, so that what this crawl sees soon outweighs them
EVERY = 10  # pages between two updates of the paths
LEAST = 0.05  # added to every probability, so that a class seen only once does not end a search
_log = logging.getLogger(__name__)


class ClassRules:
    """What each class is worth, relative to the class of an average page."""

    def __init__(self) -> None:
        self.targets: Targets | None = None  # which of the given classes are targets; None: the topic has no classes
        self.counts: dict[str, dict[str, float]] = {}  # class of a page -> class of a linked page -> count
        self.worth: dict[str, float] = {}  # by class: the probability that its links lead to the target
        self.usual = 0.0  # the mean worth, over all links seen
        self.seen = 0
        self.link_model = LinkModel()  # predicts from a link's words; trained before the crawl
        self._surplus: dict[str, float] = {}

    def prepare(self, folder: Path, targets: Targets) -> None:
        """Start from the rules in the crawl folder, if there are any."""
        path = folder / rule_base.NAME
        rules = rule_base.load(path) if path.exists() else None
        if rules and not targets(rules.classes):
            raise BadInput(f"{path}: made for other classes than those of the topic; create it again, or delete it")
        if rules and rules.format < rule_base.FORMAT:
            _log.warning("%s: made by an older Lycosa, which did not learn the value of links; create it again", path)
        self.start(targets, rules)

    def start(self, targets: Targets, rules: RuleBase | None) -> None:
        """Start from rules mined elsewhere, if there are any."""
        self.targets = targets
        if rules:
            for name, row in rules.rules().items():
                self.counts[name] = {target: BEFOREHAND * chance for target, chance in row.items()}
            self.link_model = rules.link_model(targets(rules.classes))
            self._weigh(targets)

    def see(self, source: str, target: str) -> bool:
        """Count a link from a page of class `source` to one of class `target`. Return whether anything changed."""
        if self.targets is None or not source or not target:
            return False
        row = self.counts.setdefault(source, {})
        row[target] = row.get(target, 0.0) + 1.0
        self.seen += 1
        if self.seen % EVERY == 0:
            self._weigh(self.targets)
        return True

    def _weigh(self, targets: Targets) -> None:
        names = sorted({*self.counts, *(name for row in self.counts.values() for name in row)})
        self.worth = RuleBase(names, self.counts).scores(targets(names), MOST_RULES)
        totals = {name: sum(row.values()) for name, row in self.counts.items()}
        everything = sum(totals.values())
        self.usual = sum(self.worth.get(name, 0.0) * total for name, total in totals.items()) / (everything or 1.0)
        self._tell()

    def _tell(self) -> None:
        told = {*self.counts, *self.worth} if self.worth else ()  # read-only users do not have the mined rules
        self._surplus = {name: log((self.worth.get(name, 0.0) + LEAST) / (self.usual + LEAST)) for name in told}

    def surplus(self, name: str) -> float:
        """Return the log of the class's worth over the mean worth; 0 for an unknown class."""
        return self._surplus.get(name, 0.0)

    def save(self) -> dict[str, Any]:
        return {"worth": self.worth, "usual": self.usual, "seen": self.seen}

    def load(self, state: Mapping[str, Any], counts: Mapping[str, dict[str, float]]) -> None:
        self.worth, self.usual, self.seen = dict(state["worth"]), state["usual"], state["seen"]
        self.counts.update(counts)
        self._tell()
