"""Did the effect that a document claims show again? Decided by a criterion that is stated, from the data alone."""

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from lycosa.lab.significance import Comparison, mean, paired_t_test

REPRODUCED: Literal["reproduced"] = "reproduced"
NOT_REPRODUCED: Literal["not reproduced"] = "not reproduced"
CANNOT: Literal["cannot be shown here"] = "cannot be shown here"
LEVEL = 0.05  # of significance, as the documents that test at all have it

Outcome = Literal["reproduced", "not reproduced", "cannot be shown here"]


class Effect(Struct, frozen=True):
    """One claim of a document and what became of it."""

    claim: str
    criterion: str
    measured: str
    outcome: Outcome


class Pair(Struct, frozen=True):
    """What is compared: one value a task for each of two, in the same order."""

    first: str
    second: str
    ones: Sequence[float]
    others: Sequence[float]
    digits: int = 3

    def shown(self) -> str:
        """The means, and the difference with its standard error."""
        text = f"{self.first} {self._number(mean(self.ones))}, {self.second} {self._number(mean(self.others))}"
        if len(self.ones) < 2:
            return text
        tested = self.test()
        return (
            f"{text}; difference {tested.difference:+.{self.digits}f} ± {tested.error:.{self.digits}f}"
            f" (n = {len(self.ones)}, p = {tested.p:.2g})"
        )

    def test(self) -> Comparison:
        return paired_t_test(self.ones, self.others)

    def _number(self, value: float) -> str:
        return f"{value:.{self.digits}f}"


def better(claim: str, *pairs: Pair) -> Effect:
    """The first of each pair is larger, and not by luck."""
    criterion = f"{_names(pairs, ' > ')}: paired one-tailed t-test, p < {LEVEL}{_each(pairs)}"
    if any(len(pair.ones) < 2 for pair in pairs):
        return Effect(claim, criterion, _shown(pairs), CANNOT)
    held = all(pair.test().is_significant(LEVEL) for pair in pairs)
    return Effect(claim, criterion, _shown(pairs), REPRODUCED if held else NOT_REPRODUCED)


def alike(claim: str, margin: float, *pairs: Pair) -> Effect:
    """The two of each pair differ by no more than the margin in the mean."""
    criterion = f"{_names(pairs, ' and ')} differ by at most {margin:g} in the mean{_each(pairs)}"
    held = all(abs(mean(pair.ones) - mean(pair.others)) <= margin for pair in pairs)
    return Effect(claim, criterion, _shown(pairs), REPRODUCED if held else NOT_REPRODUCED)


def undecided(claim: str, pair: Pair) -> Effect:
    """The test finds no difference, in neither direction."""
    criterion = f"{pair.first} and {pair.second}: paired two-tailed t-test, p >= {LEVEL}"
    if len(pair.ones) < 2:
        return Effect(claim, criterion, pair.shown(), CANNOT)
    p = pair.test().p
    held = 2 * min(p, 1 - p) >= LEVEL
    return Effect(claim, criterion, pair.shown(), REPRODUCED if held else NOT_REPRODUCED)


def is_true(claim: str, criterion: str, measured: str, held: bool) -> Effect:
    """For a criterion of another kind."""
    return Effect(claim, criterion, measured, REPRODUCED if held else NOT_REPRODUCED)


def cannot(claim: str, why: str) -> Effect:
    return Effect(claim, why, "", CANNOT)


def _names(pairs: Sequence[Pair], between: str) -> str:
    return ", ".join(dict.fromkeys(f"{pair.first}{between}{pair.second}" for pair in pairs))


def _each(pairs: Sequence[Pair]) -> str:
    return ", in each case" if len(pairs) > 1 else ""


def _shown(pairs: Sequence[Pair]) -> str:
    return "; ".join(pair.shown() for pair in pairs)
