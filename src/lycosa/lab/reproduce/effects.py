"""Was a claimed effect reproduced? Decided by a stated criterion, from the data alone.

In addition to the verdict, the direction says whether the figures at least point the way that was claimed.
"""

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from lycosa.lab.significance import Comparison, mean, paired_t_test

REPRODUCED: Literal["reproduced"] = "reproduced"
NOT_REPRODUCED: Literal["not reproduced"] = "not reproduced"
CANNOT: Literal["cannot be shown here"] = "cannot be shown here"
LEVEL = 0.05  # of significance, as in those of the papers that test at all

Outcome = Literal["reproduced", "not reproduced", "cannot be shown here"]
Direction = Literal["as claimed", "in part", "no difference", "the opposite", "alike", "not alike", ""]


class Effect(Struct, frozen=True):
    """One published claim and its verdict."""

    claim: str
    criterion: str
    measured: str
    outcome: Outcome
    direction: Direction = ""  # of the figures; empty if there is none


class Pair(Struct, frozen=True):
    """A comparison of two: one value per task for each, in the same order."""

    first: str
    second: str
    ones: Sequence[float]
    others: Sequence[float]
    digits: int = 3
    what: str = ""  # the name of the measure

    def shown(self) -> str:
        """The means, and the difference with its standard error."""
        text = f"{self.first} {self._number(mean(self.ones))}, {self.second} {self._number(mean(self.others))}"
        if len(self.ones) < 2:
            return text
        tested = self.test()
        return (
            f"{text}: difference {tested.difference:+.{self.digits}f} ± {tested.error:.{self.digits}f}"
            f" ({self._relative()}n = {len(self.ones)}, p = {tested.p:.2g})"
        )

    def way(self) -> int:
        """1 if the first is larger, -1 if it is smaller, 0 if they differ by no more than one standard error."""
        tested = self.test()
        return 0 if abs(tested.difference) <= tested.error else 1 if tested.difference > 0 else -1

    def test(self) -> Comparison:
        return paired_t_test(self.ones, self.others)

    def _relative(self) -> str:
        """In percent of the second, or as a multiple of it."""
        one, other = mean(self.ones), mean(self.others)
        if other <= 0 or one < 0:
            return ""
        told = f"{one / other:.1f} times" if one >= 2 * other else f"{one / other - 1:+.0%}"
        return "" if told in ("+0%", "-0%") else f"{told}, "

    def _number(self, value: float) -> str:
        return f"{value:.{self.digits}f}"


def better(claim: str, *pairs: Pair) -> Effect:
    """The first of each pair is significantly larger."""
    criterion = f"{_names(pairs, ' > ')}: paired one-tailed t-test, p < {LEVEL}{_each(pairs)}"
    if any(len(pair.ones) < 2 for pair in pairs):
        return Effect(claim, criterion, _shown(pairs), CANNOT)
    held = all(pair.test().is_significant(LEVEL) for pair in pairs)
    return Effect(claim, criterion, _shown(pairs), REPRODUCED if held else NOT_REPRODUCED, _direction(pairs))


def alike(claim: str, margin: float, *pairs: Pair) -> Effect:
    """The means of each pair differ by no more than the margin."""
    criterion = f"{_names(pairs, ' and ')} differ by at most {margin:g} on average{_each(pairs)}"
    held = all(abs(mean(pair.ones) - mean(pair.others)) <= margin for pair in pairs)
    return _level(claim, criterion, pairs, held)


def undecided(claim: str, pair: Pair) -> Effect:
    """The test finds no difference in either direction."""
    criterion = f"{pair.first} and {pair.second}: paired two-tailed t-test, p >= {LEVEL}"
    if len(pair.ones) < 2:
        return Effect(claim, criterion, _shown([pair]), CANNOT)
    p = pair.test().p
    return _level(claim, criterion, [pair], 2 * min(p, 1 - p) >= LEVEL)


def is_true(claim: str, criterion: str, measured: str, held: bool, direction: Direction = "") -> Effect:
    """For other criteria; `direction` is given if it does not follow from the verdict."""
    way: Direction = direction or ("as claimed" if held else "the opposite")
    return Effect(claim, criterion, measured, REPRODUCED if held else NOT_REPRODUCED, way)


def cannot(claim: str, why: str) -> Effect:
    return Effect(claim, why, "", CANNOT)


def _names(pairs: Sequence[Pair], between: str) -> str:
    return ", ".join(dict.fromkeys(f"{pair.first}{between}{pair.second}" for pair in pairs))


def _each(pairs: Sequence[Pair]) -> str:
    return ", in each case" if len(pairs) > 1 else ""


def _level(claim: str, criterion: str, pairs: Sequence[Pair], held: bool) -> Effect:
    outcome = REPRODUCED if held else NOT_REPRODUCED
    return Effect(claim, criterion, _shown(pairs), outcome, "alike" if held else "not alike")


def _direction(pairs: Sequence[Pair]) -> Direction:
    ways = {pair.way() for pair in pairs}
    if len(ways) > 1:
        return "in part"
    return "as claimed" if ways == {1} else "the opposite" if ways == {-1} else "no difference"


def _shown(pairs: Sequence[Pair]) -> str:
    """All pairs; the measure is named when it changes."""
    before = [""] + [pair.what for pair in pairs]
    named = (f"{pair.what}: " if pair.what != last else "" for pair, last in zip(pairs, before, strict=False))
    return "; ".join(f"{name}{pair.shown()}" for name, pair in zip(named, pairs, strict=True))
