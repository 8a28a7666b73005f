"""A small online logistic regression that starts from hand-chosen weights and learns from visits."""

from collections.abc import Iterable, Mapping, Sequence
from math import exp, sqrt
from operator import mul
from typing import Any

from msgspec import Struct

from lycosa.types import BadInput

_PULL = 0.02  # regularisation towards the initial weights: they stay unless visits contradict them
_STEEPEST = 3.0  # gradient clipping: one surprise must not overturn everything
MOST = 30.0  # log-odds, practically certain
OTHER_VERSION = (
    "crawl.db: the state of `learned` was written by another version of Lycosa; continue this crawl with that version"
)


def chance(log_odds: float) -> float:
    bounded = log_odds if -MOST < log_odds < MOST else MOST if log_odds > 0 else -MOST
    return 1.0 / (1.0 + exp(-bounded))


class Weighed(Struct, frozen=True, gc=False):
    """A probability and the terms that produced it."""

    score: float
    evidence: Sequence[float]
    weights: Sequence[float]
    bias: float

    def parts(self) -> Iterable[float]:
        """Return what each kind of evidence adds to the log-odds."""
        return map(mul, self.weights, self.evidence)


class Weights:
    """One weight for each kind of evidence; step sizes shrink with the gradients seen (AdaGrad)."""

    def __init__(self, prior: Mapping[str, float], bias: float, without: Iterable[str] = ()) -> None:
        self.names = list(prior)
        self.kept = [name not in set(without) for name in self.names]
        self.prior = [value if kept else 0.0 for value, kept in zip(prior.values(), self.kept, strict=True)]
        self.values = list(self.prior)
        self.bias = bias
        self._squares = [1.0] * len(self.names)

    def log_odds(self, evidence: Sequence[float]) -> float:
        total: float = sum(map(mul, self.values, evidence), self.bias)
        return total

    def weigh(self, evidence: Sequence[float]) -> Weighed:
        return Weighed(chance(self.log_odds(evidence)), evidence, self.values, self.bias)

    def step(self, evidence: Sequence[float], outcome: float, rate: float, speed: float) -> None:
        """Learn from one outcome, 0..1. Good and bad outcomes have equal total weight, however rare good ones are."""
        error = chance(self.log_odds(evidence)) - outcome
        error *= 0.5 * outcome / rate + 0.5 * (1 - outcome) / (1 - rate)
        error = max(-_STEEPEST, min(_STEEPEST, error))
        self.bias -= speed * error
        self.values = list(self.values)  # copied: earlier `Weighed` keep the weights they were computed with
        for at, value in enumerate(evidence):
            if self.kept[at]:
                slope = error * value
                self._squares[at] += slope * slope
                pull = _PULL * (self.values[at] - self.prior[at])
                self.values[at] -= speed * (slope + pull) / sqrt(self._squares[at])

    def save(self) -> dict[str, Any]:
        return {"bias": self.bias, "values": self.values, "squares": self._squares}

    def load(self, state: Mapping[str, Any]) -> None:
        if len(state["values"]) != len(self.names):
            raise BadInput(OTHER_VERSION)
        self.bias, self.values, self._squares = state["bias"], list(state["values"]), list(state["squares"])
