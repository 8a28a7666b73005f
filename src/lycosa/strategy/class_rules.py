"""Which classes of pages lead to the target? Rules as of Interclass rules (2004), counted while the crawl goes on.

Every visit tells that a page of one class linked to a page of another. Chained, such rules say what the links of a page
are worth by its class, also where the target lies behind pages that are off topic. Rules that were mined before the
crawl (`lycosa topic rules`) are where it starts; they also say where links lead by their words.
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
MOST_RULES = 3  # on a path
BEFOREHAND = 30.0  # pages that rules from elsewhere count for, for each class: what is seen here soon counts more
EVERY = 10  # pages after which the paths are counted anew
LEAST = 0.05  # a chance below this is as good as none: so a class that was seen once does not end a search
_log = logging.getLogger(__name__)


class ClassRules:
    """What a class is worth, in units of the class of an average page."""

    def __init__(self) -> None:
        self.targets: Targets | None = None  # which of some classes are sought; None: the topic has no classes
        self.counts: dict[str, dict[str, float]] = {}  # from the class of a page to those of the pages it links to
        self.worth: dict[str, float] = {}  # by class: the chance that its links lead to the target
        self.usual = 0.0  # of a page as they come
        self.seen = 0
        self.link_model = LinkModel([])  # of words of links, learned elsewhere
        self._surplus: dict[str, float] = {}

    def prepare(self, folder: Path, targets: Targets) -> None:
        """With the rules of the crawl folder, if there are any."""
        path = folder / rule_base.NAME
        rules = rule_base.load(path) if path.exists() else None
        if rules and not targets(rules.classes):
            raise BadInput(f"{path}: made for other classes than the topic has; make it anew, or take it away")
        if rules and rules.format < rule_base.FORMAT:
            _log.warning("%s: made by an older Lycosa; made anew it would also tell words of links", path)
        self.start(targets, rules)

    def start(self, targets: Targets, rules: RuleBase | None) -> None:
        """With rules that were mined elsewhere, if there are any."""
        self.targets = targets
        if rules:
            for name, row in rules.rules().items():
                self.counts[name] = {target: BEFOREHAND * chance for target, chance in row.items()}
            self.link_model = rules.link_model(targets(rules.classes))
            self._weigh(targets)

    def see(self, source: str, target: str) -> bool:
        """A page of class `source` linked to one of class `target`. Is there anything to be remembered?"""
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
        told = {*self.counts, *self.worth} if self.worth else ()  # who only reads has not the rules from elsewhere
        self._surplus = {name: log((self.worth.get(name, 0.0) + LEAST) / (self.usual + LEAST)) for name in told}

    def surplus(self, name: str) -> float:
        """The logarithm of its worth over the usual one; 0 of a class that nobody knows yet."""
        return self._surplus.get(name, 0.0)

    def save(self) -> dict[str, Any]:
        return {"worth": self.worth, "usual": self.usual, "seen": self.seen}

    def load(self, state: Mapping[str, Any], counts: Mapping[str, dict[str, float]]) -> None:
        self.worth, self.usual, self.seen = dict(state["worth"]), state["usual"], state["seen"]
        self.counts.update(counts)
        self._tell()
