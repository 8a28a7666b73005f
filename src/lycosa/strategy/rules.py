"""Interclass rules (2004): a link scores the probability that pages of its page's class lead to the target.

    score = merged over all rule paths from the class of the page to the target; where there is none, the relevance

So a crawl tunnels through pages that are off topic themselves: a department page is not a course, but leads to courses.
The rules are mined from the topic's examples with `lycosa topic rules`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

from msgspec import Meta

from lycosa.errors import ConfigError
from lycosa.strategy import rule_base
from lycosa.strategy.plainly import OUTSIDE, by_relevance
from lycosa.types import BadInput, Explanation, Notes, Scored, Verdict, Visit


@dataclass
class Rules:
    """Score all links of a page the same; a URL keeps the score it was first found with."""

    reads_words = False  # of a page: the verdict is enough

    max_depth: Annotated[int, Meta(ge=1, le=5)] = 2  # upper bound on rules in a path
    paths: rule_base.Merge = "sum"  # how the paths of a class are merged
    expected: bool = False  # take the expectation over all classes of the page instead of the most probable one
    calibrate: bool = False  # map the relevance of pages without rules to the scale of the rules
    found_again: Literal["first", "max"] = "first"  # which score counts when a queued URL is found again

    scores_: dict[str, float] = field(init=False, repr=False, default_factory=dict)  # by class
    targets_: list[str] = field(init=False, repr=False, default_factory=list)
    power_: float = field(init=False, repr=False, default=1.0)  # 1 / temperature

    def prepare(self, folder: Path, judge: Any) -> None:
        """Read the rules and compute, once, what each class is worth."""
        path = folder / rule_base.NAME
        if not isinstance(judge, rule_base.KnowsClasses):
            raise ConfigError("strategy.kind", 'rules needs a topic with classes, such as kind "taxonomy"')
        if not path.exists():
            raise BadInput(f"{path}: no such file; create it with: lycosa topic rules {folder}")
        rules = rule_base.load(path)
        targets = judge.targets(rules.classes)
        if not targets:
            raise BadInput(
                f"{path}: the topic has other classes than these rules; create them again: lycosa topic rules {folder}"
            )
        self.use(rules, targets)

    def use(self, rules: rule_base.RuleBase, targets: list[str]) -> None:
        """Score classes by how likely these rules lead from them to the targets."""
        self.targets_ = targets
        self.scores_ = rules.scores(targets, self.max_depth, self.paths)
        self.power_ = 1 / rules.temperature

    def score(self, visit: Visit) -> Sequence[float]:
        return [self.worth(visit.verdict)] * len(visit.page.links)

    def merge(self, waiting: float, found: float) -> float:
        return max(waiting, found) if self.found_again == "max" else waiting

    def learn(self, visit: Visit) -> None:
        """Nothing to learn: the rules were mined before the crawl."""

    def explain(self, scored: Scored, notes: Notes) -> Explanation:
        if scored.source is None:
            return Explanation(OUTSIDE)
        chance, label = f"{scored.score:.4f}", scored.source.label
        if self.expected:
            return Explanation(f"pages of the classes of its page lead to the target with probability {chance}")
        if scored.score == scored.source.relevance:
            return by_relevance(scored, f", and no rule says where pages of class {label!r} lead to")
        unruled = ", by the rules or, without one, by its relevance, calibrated" if self.calibrate else ", by the rules"
        return Explanation(f"pages of class {label!r} lead to the target with probability {chance}{unruled}")

    def worth(self, verdict: Verdict) -> float:
        """Return the score of any link on a page with this verdict."""
        if not self.expected:
            score = self.scores_.get(verdict.label)
            return self._soft(verdict) if score is None else score
        ruled = [(verdict.classes.get(name, 0.0), score) for name, score in self.scores_.items()]
        unruled = 1 - sum(chance for chance, _ in ruled)
        return sum(chance * score for chance, score in ruled) + max(0.0, unruled) * self._soft(verdict)

    def _soft(self, verdict: Verdict) -> float:
        """Return the page's own relevance, used where no rule applies."""
        if not self.calibrate or not verdict.classes:
            return verdict.relevance
        return cooled(verdict.classes, self.targets_, self.power_)


def cooled(classes: Mapping[str, float], targets: Sequence[str], power: float) -> float:
    """Return the targets' share after raising every probability to a power; below 1 it reduces over-confidence."""
    raised: dict[str, float] = {name: chance**power for name, chance in classes.items()}
    return sum(raised.get(target, 0.0) for target in targets) / (sum(raised.values()) or 1.0)
