"""What `learned` tells its like in other shards: counts, and how the weights have moved. Both add up."""

from collections.abc import Callable, Sequence
from typing import Any

from lycosa.strategy.link_features import Surpluses, Tally
from lycosa.strategy.memory import Memory
from lycosa.strategy.online_logistic import Weights


class Lessons:
    """Collects what has been learned since the last lesson."""

    def __init__(self) -> None:
        self.tallies: dict[int, list[float]] = {}  # by number of a name: good and tried
        self.total = [0.0, 0.0]
        self._weights: dict[str, Any] = {}  # at the last lesson

    def count(self, key: int, good: float, tried: float) -> None:
        tally = self.tallies.setdefault(key, [0.0, 0.0])
        tally[0] += good
        tally[1] += tried

    def begin(self, weights: Weights) -> None:
        self._weights = _copied(weights)

    def take(self, names: list[str], weights: Weights, best: float) -> dict[str, Any]:
        """The lesson, by names, since each shard has numbers of its own; empty if nothing was learned."""
        if not self.tallies and not self.total[1]:
            return {}
        before, now = self._weights, _copied(weights)
        lesson = {
            "tallies": {names[key]: tally for key, tally in self.tallies.items()},
            "total": self.total,
            "best": best,
            "bias": now["bias"] - before["bias"],
            "values": [new - old for new, old in zip(now["values"], before["values"], strict=True)],
            "squares": [new - old for new, old in zip(now["squares"], before["squares"], strict=True)],
        }
        self.tallies, self.total, self._weights = {}, [0.0, 0.0], now
        return lesson

    def study(self, lesson: dict[str, Any], weights: Weights, total: Tally) -> None:
        state, known = _copied(weights), self._weights
        for one in (state, known):  # what others have learned is not ours to pass on
            one["bias"] += lesson["bias"]
            for name in ("values", "squares"):
                one[name] = [mine + theirs for mine, theirs in zip(one[name], lesson[name], strict=True)]
        weights.load(state)
        total.add(*lesson["total"])


def _copied(weights: Weights) -> dict[str, Any]:
    state = weights.save()
    return {"bias": state["bias"], "values": [*state["values"]], "squares": [*state["squares"]]}


class LearnedTogether:
    """The part of `learned` that other shards concern."""

    lessons_: Lessons | None
    given_: Sequence[float]
    memory_: Memory
    weights_: Weights
    surplus_: Surpluses
    total_: Tally
    best_: float
    rate: Callable[[], float]

    def share(self) -> None:
        """There are other shards, whose lessons this one will study."""
        self.lessons_ = Lessons()
        self.lessons_.begin(self.weights_)

    def lesson(self) -> dict[str, Any]:
        """Return what was learned from the visits of this shard since the last lesson."""
        return self.lessons_.take(self.memory_.names.all, self.weights_, self.best_) if self.lessons_ else {}

    def study(self, lesson: dict[str, Any]) -> None:
        """Learn from the visits of another shard."""
        assert self.lessons_
        for name, (good, tried) in lesson["tallies"].items():
            self.tally(self.memory_.names[name], good, tried)
        self.lessons_.study(lesson, self.weights_, self.total_)
        self.best_ = max(self.best_, lesson["best"])
        self.surplus_.start(self.rate())

    def take_over(self, given: Sequence[float]) -> None:
        """Only part of the links of a page will be scored; this is what `hand_over` returned for all of them."""
        self.given_ = given

    def tally(self, key: int, good: float, tried: float) -> None:
        self.memory_.batches.tallies[key] = self.surplus_.count(key, good, tried)
