"""How far are a crawl's recall estimates from the truth? The estimates are made by replaying a crawl of the lab.

Held-out pages are sampled from the targets, several times. A target that can be held out was given to nobody, so the
crawl would have been the same, and one crawl serves for all samples.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from random import Random
from typing import NamedTuple

from msgspec import Struct

from lycosa.estimate.held_out import HeldOut
from lycosa.estimate.recall import Estimate
from lycosa.lab.significance import mean
from lycosa.types import Link, Reply, Verdict, Visit

DRAWS = 5  # samples of held-out pages
POINTS = 20  # at which the estimates are compared with the truth
CURVE = "harvest curve"
_NEAR = 0.01  # an interval may miss the truth by this much
_UNKNOWN = 0.5  # stands for the estimate where the harvest curve does not give one yet


class Step(Struct, frozen=True, array_like=True):
    """What the estimates need to know about the visit of a distinct page."""

    url: str
    page: str  # its name in the web
    source: str
    on_topic: bool  # as first judged: estimates are not told of revised verdicts

    def visit(self) -> Visit:
        reply = Reply(Link(self.url, source=self.source), url=self.url, status=200)
        return Visit(reply, verdict=Verdict(on_topic=self.on_topic), digest="-")


class Steps:
    """A sink that keeps what the estimates need."""

    def __init__(self, name: Callable[[str], str]) -> None:
        """`name` gives the name of the page at a URL."""
        self.all: list[Step] = []
        self.name = name

    def write(self, visit: Visit) -> None:
        reply = visit.reply
        if visit.is_distinct:
            self.all.append(Step(reply.url, self.name(reply.url), reply.link.source, visit.verdict.on_topic))


class Missed(NamedTuple):
    """An estimate beside the truth."""

    after: int  # pages
    error: float  # absolute
    covered: bool  # whether the interval holds the truth


class Errors(Struct, frozen=True):
    """How far one kind of estimate was from the truth, averaged over the samples."""

    kind: str  # "10 held out", "harvest curve"
    error: float  # absolute, the mean over equally spaced points of the crawl
    covered: float  # share of these points at which the interval held the truth
    at: dict[str, float]  # the error after these percentages of the pages


def recall(steps: Iterable[Step], targets: Collection[str]) -> list[float]:
    """The true recall after each page."""
    left, number, curve = set(targets), len(targets), []
    for step in steps:
        left.discard(step.page)
        curve.append(1 - len(left) / number)
    return curve


def sample(targets: Sequence[str], size: int, seed: int) -> list[str]:
    return Random(seed).sample(targets, min(size, len(targets)))


def hold_out(pages: Iterable[str], steps: Sequence[Step]) -> HeldOut:
    """Hold out pages given by name, under the URL at which the crawl finds them, if it does."""
    address = {step.page: step.url for step in reversed(steps)}
    return HeldOut(address.get(page, page) for page in pages)


def of_held_out(
    steps: Sequence[Step], truth: Sequence[float], held: HeldOut, points: Collection[int]
) -> Iterator[Missed]:
    """The errors of the estimate by held-out pages."""
    for number, step in enumerate(steps, 1):
        held.write(step.visit())
        if number in points:
            yield _missed(number, truth[number - 1], len(held.found) / len(held), *held.interval())


def of_curve(steps: Sequence[Step], truth: Sequence[float], points: Collection[int]) -> Iterator[Missed]:
    """The errors of the estimate from the harvest curve."""
    estimate = Estimate()
    for number, step in enumerate(steps, 1):
        estimate.write(step.visit())
        if number in points:
            low, middle, high = estimate.curve() or (0.0, _UNKNOWN, 1.0)
            yield _missed(number, truth[number - 1], middle, low, high)


def points_of(pages: int) -> set[int]:
    """Equally spaced points of a crawl."""
    return {max(1, round(pages * point / POINTS)) for point in range(1, POINTS + 1)}


def score(steps: Sequence[Step], targets: Sequence[str], sizes: Sequence[int], shares: Sequence[int]) -> list[Errors]:
    """The errors of each kind of estimate: for each number of held-out pages, and from the harvest curve."""
    if not steps:
        return []
    truth, length = recall(steps, targets), len(steps)
    points, marks = points_of(length), {str(share): max(1, length * share // 100) for share in shares}
    asked = points | {*marks.values()}
    found: list[Errors] = []
    for size in (*sizes, 0):
        draws = [hold_out(sample(targets, size, seed), steps) for seed in range(DRAWS)] if size else []
        runs = [[*of_held_out(steps, truth, held, asked)] for held in draws] or [[*of_curve(steps, truth, asked)]]
        missed = [one for run in runs for one in run]
        regular = [one for one in missed if one.after in points]
        at = {share: mean([one.error for one in missed if one.after == mark]) for share, mark in marks.items()}
        error, covered = mean([one.error for one in regular]), mean([float(one.covered) for one in regular])
        found.append(Errors(f"{size} held out" if size else CURVE, error, covered, at))
    return found


def _missed(after: int, truth: float, middle: float, low: float, high: float) -> Missed:
    return Missed(after, abs(middle - truth), low - _NEAR <= truth <= high + _NEAR)
