"""How harvest and recall estimate developed: the curves behind the latest values."""

from collections.abc import Sequence

from msgspec import Struct

from lycosa.estimate.decay import Curve, extrapolate

POINTS = 120
RECENT = 100  # pages over which the current harvest is averaged, as in summary.json


class History(Struct, frozen=True):
    """Values at increasing numbers of pages. Where there are too few relevant pages for an estimate, it is None."""

    pages: list[int]
    harvest: list[float]  # of all pages so far
    recent: list[float]  # of the last hundred
    low: list[float | None]  # the recall estimate, and its range
    middle: list[float | None]
    high: list[float | None]


def history(relevant: Sequence[bool], points: int = POINTS) -> History:
    """From the verdicts in the order of fetching."""
    count = len(relevant)
    marks = sorted({round((step + 1) * count / points) for step in range(points)} - {0}) if count else []
    found = [0]
    for one in relevant:
        found.append(found[-1] + bool(one))
    curve, done, ranges = Curve(), 0, []
    for mark in marks:
        for one in relevant[done:mark]:
            curve.add(bool(one))
        done = mark
        ranges.append(extrapolate(curve))
    return History(
        marks,
        [found[mark] / mark for mark in marks],
        [(found[mark] - found[max(0, mark - RECENT)]) / min(mark, RECENT) for mark in marks],
        *([one[place] if one else None for one in ranges] for place in range(3)),
    )
