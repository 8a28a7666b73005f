"""What `learned` tells its like in other shards: counts, and how the weights have moved. Both add up."""

from typing import Any

from lycosa.strategy.link_features import Tally
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
