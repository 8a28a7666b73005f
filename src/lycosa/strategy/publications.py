"""Score links by the class of their URL (APDG 2005, Publication Spider 2007), predicted before the download.

Publication pages are the target; homepages link to them, staff lists to homepages, departments to staff lists.
Everything else is queued until nothing better is left; within a class, the frontier keeps the order of discovery.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from typing import Any

from lycosa.errors import ConfigError
from lycosa.strategy import url_training
from lycosa.strategy.url_classes import UrlClasses, load
from lycosa.types import Explanation, Notes, Scored, Visit

PRIORITIES = {"publication": 1.0, "homepage": 0.9, "staff": 0.8, "department": 0.7, "other": 0.0}


@dataclass
class Publications:
    """Give each link the priority of its URL's class; a class without a priority scores 0."""

    target: str = "publication"  # the class sought: what the search step counts
    priorities: dict[str, float] = field(default_factory=lambda: dict(PRIORITIES))
    urls: str = ""  # labelled training URLs, `url<TAB>class`; empty: a built-in list of university addresses
    model: str = ""  # a classifier written by `lycosa urls train`; replaces `urls`
    classes_: UrlClasses = field(init=False, repr=False, default_factory=lambda: UrlClasses(["other"], [0.0], {}))

    def prepare(self, folder: Path, judge: Any) -> None:
        """Load or train the classifier; file names are relative to the folder."""
        if self.model and self.urls:
            raise ConfigError("strategy.model", "give either model or urls, not both")
        if self.model:
            self.classes_ = load(folder / self.model)
        else:
            labels = url_training.read_labels(folder / self.urls) if self.urls else url_training.built_in()
            self.classes_ = url_training.train(labels)
        self._check(self.classes_.classes)

    def _check(self, known: Sequence[str]) -> None:
        for key, names in (("target", [self.target]), ("priorities", self.priorities)):
            for name in names:
                if name not in known:
                    raise ConfigError(f"strategy.{key}", f"there is no class {name!r} (there are: {', '.join(known)})")
        for name, priority in self.priorities.items():
            if not isfinite(priority):
                raise ConfigError("strategy.priorities", f"{priority} for {name!r} is out of range")

    def score(self, visit: Visit) -> Sequence[float]:
        class_of, priority = self.classes_.class_of, self.priorities.get
        return [priority(class_of(link.url), 0.0) for link in visit.page.links]

    def merge(self, waiting: float, found: float) -> float:
        return max(waiting, found)  # the same URL has the same class

    def learn(self, visit: Visit) -> None:
        """Nothing to learn: a page says nothing about the URLs of others."""

    def explain(self, scored: Scored, notes: Notes) -> Explanation:
        alike = [name for name, priority in self.priorities.items() if priority == scored.score]
        if not alike:
            return Explanation("the class of its URL has no priority")
        names = " or ".join(map(repr, alike))
        return Explanation(f"its URL is of class {names}, which has priority {scored.score:g}")

    # -- for the search step ------------------------------------------------------------------------------------------

    @property
    def target_score(self) -> float:
        """Return the score from which a queued link counts as a target."""
        return self.priorities.get(self.target, 0.0)

    def priority(self, url: str) -> float:
        return self.priorities.get(self.classes_.class_of(url), 0.0)

    def is_target(self, url: str) -> bool:
        return self.classes_.class_of(url) == self.target
