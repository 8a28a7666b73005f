"""How much of the topic has been found, and is the crawl still on topic? A sink that watches every visit.

Its state is small and bounded; it is saved with the visits and loaded by the next run.
"""

from collections.abc import Iterable
from math import ceil
from typing import Any

from lycosa.estimate.decay import Curve, Range, extrapolate
from lycosa.estimate.drift import Drift
from lycosa.estimate.held_out import HeldOut, wilson
from lycosa.estimate.lists import Lists
from lycosa.types import Stateful, Visit

Z_STOP = 1.2816  # one-sided 90 %: of ten crawls stopped by the held-out pages, nine have found that much
QUIET = 0.15  # share of all pages (and below, the minimum number) since the last list was found
QUIET_PAGES = 50
# Without held-out pages the curve must be more certain, on more pages, and after a longer quiet period.
ALONE_FOUND = 50
ALONE_QUIET = 0.3
ALONE_QUIET_PAGES = 100
_CHECK_EVERY = 0.02  # share of the pages so far (and below, the minimum number)
_CHECK_PAGES = 10


class Estimate:
    """Receives every visit; reports how much was found, whether that is enough, and whether the crawl has drifted."""

    def __init__(self, held: HeldOut | None = None, target: float = 0.0, problem: str = "") -> None:
        """`target`: the share that is enough, 0 for none; `problem`: why no pages are held out, for the user."""
        self.held_out = held or HeldOut()
        self.target = target
        self.problem = problem
        self.drift = Drift()
        self._curve = Curve()
        self._lists = Lists()
        self._next_check = 0
        self._reached = ""
        self._range: Range | None = None  # the estimate ...
        self._estimated_at = 0  # ... when there were this many pages
        self._untold: list[str | None] | None = (
            None  # for another shard: the source of each page, or None if irrelevant
        )
        self._told: tuple[set[str], set[str]] = set(), set()  # the held-out pages it knows of, and those found

    def write(self, visit: Visit) -> None:
        self.held_out.write(visit)
        if not visit.is_distinct:
            return
        source = visit.reply.link.source if visit.verdict.on_topic else None
        self._count(source)
        if self._untold is not None:
            self._untold.append(source)
        if visit.page.words:  # visits read back from crawl.db have none
            self.drift.write(visit)

    def _count(self, source: str | None) -> None:
        """Count one more page: an irrelevant one, or where the link to it was found."""
        self._curve.add(source is not None)
        if source:
            self._lists.add(source, self._curve.pages)
        if self.target and self._curve.pages >= self._next_check:
            self._check()

    def share(self) -> None:
        """One shard counts for the whole crawl; note what it must be told."""
        self._untold = []
        self._told = {*self.held_out.urls}, {*self.held_out.found}

    def lesson(self) -> dict[str, Any]:
        """What was counted here since the last lesson; empty if nothing."""
        pages, self._untold = self._untold, []
        before, self._told = self._told, ({*self.held_out.urls}, {*self.held_out.found})
        found, lost = self._told[1] - before[1], before[0] - self._told[0]
        return {"pages": pages, "found": sorted(found), "lost": sorted(lost)} if pages or found or lost else {}

    def study(self, lesson: dict[str, Any]) -> None:
        self.held_out.study(lesson["found"], lesson["lost"])
        for source in lesson["pages"]:
            self._count(source)

    def reached(self) -> str:
        """Return why the crawl may stop; empty while it should continue."""
        return self._reached

    def curve(self) -> Range | None:
        """Return the estimate from the harvest curve; None while there are too few relevant pages. It is renewed when
        there is another per cent of pages: it takes a millisecond, and is shown every second."""
        pages = self._curve.pages
        if pages - self._estimated_at > 0.01 * pages:
            self._estimated_at, self._range = pages, extrapolate(self._curve)
        return self._range

    def give_away(self, urls: Iterable[str]) -> None:
        """Stop counting pages that the user has told the crawl about: they prove nothing any more."""
        self.held_out.drop(urls)

    def catch_up(self, visits: Iterable[Visit]) -> None:
        """Learn from the stored visits of a crawl that has no state of this kind yet."""
        for visit in visits:
            self.write(visit)

    def notes(self) -> list[str]:
        """Return what the user should know before the crawl starts."""
        held, found = self.held_out, [self.problem] if self.problem else []
        if held.is_enough and wilson(len(held), len(held), Z_STOP).low < self.target:
            needed = ceil(Z_STOP**2 * self.target / (1 - self.target))
            found.append(
                f"{len(held)} held-out pages cannot prove a recall of {self.target:g}, even if all are found:"
                f" {needed} must be set aside, or the crawl ends by its other limits"
            )
        return found

    def words(self) -> str:
        """Return a one-sentence summary; empty if there is nothing to say yet."""
        if not self._curve.pages:
            return ""
        curve, held = self.curve(), self.held_out
        says = f"the harvest curve says {_between(*curve)}" if curve else ""
        if held.is_enough:
            found, low, high = len(held.found), *held.interval()
            counts = f"{found} of {len(held)} held-out pages ({_percent(low)}-{_percent(high)} %)"
            return "; ".join(filter(None, [f"{_about(found / len(held))} found: {counts}", says]))
        told = f"{_about(curve.middle)} found: {says}" if curve else ""
        lost = f"only {len(held)} held-out pages are left, too few to count" if len(held) else ""
        return "; ".join(filter(None, [told, lost]))

    def told(self) -> dict[str, str]:
        """Return recall and drift in words for `lycosa show`; empty where there is nothing to say."""
        recall = "; ".join(filter(None, [self.words(), "" if self.held_out.is_enough else self.problem]))
        return {"recall": recall, "drift": str(self.drift.alarm or "")}

    def summary(self) -> dict[str, Any]:
        """Return the values for summary.json."""
        curve, held = self.curve(), self.held_out
        found: dict[str, Any] = {"words": self.words()}
        if held.is_enough:
            low, high = held.interval()
            found["held_out"] = {"found": len(held.found), "of": len(held), "low": low, "high": high}
        elif self.problem:
            found["problem"] = self.problem
        if curve:
            found["curve"] = curve._asdict()
        return {"recall": found, "drift": str(self.drift.alarm or "")}

    def save(self) -> dict[str, Any]:
        facts = {"problem": self.problem, "target": self.target, "next": self._next_check, "reached": self._reached}
        return {**{name: part.save() for name, part in self._parts()}, **facts}

    def load(self, state: dict[str, Any]) -> None:
        for name, part in self._parts():
            part.load(state[name])
        self._estimated_at = 0
        self.problem, self._next_check = state["problem"], int(state["next"])
        if self.target == state["target"]:
            self._reached = state["reached"]  # stored rather than recomputed, so that a restart changes nothing
        elif self.target:
            self._decide()

    def _parts(self) -> list[tuple[str, Stateful]]:
        return [("held_out", self.held_out), ("curve", self._curve), ("lists", self._lists), ("drift", self.drift)]

    def _check(self) -> None:
        self._next_check = self._curve.pages + max(_CHECK_PAGES, int(_CHECK_EVERY * self._curve.pages))
        self._decide()

    def _decide(self) -> None:
        self._reached = f"limit of {_percent(self.target)} % recall" if self._is_enough() else ""

    def _is_enough(self) -> bool:
        curve = extrapolate(self._curve)
        if curve is None:
            return False
        if self.held_out.is_enough:
            sure = self.held_out.interval(Z_STOP).low >= self.target and curve.middle >= self.target
            return sure and self._is_quiet(QUIET, QUIET_PAGES)
        sure = curve.low >= (1 + self.target) / 2 and self._curve.found >= ALONE_FOUND
        return sure and self._is_quiet(ALONE_QUIET, ALONE_QUIET_PAGES)

    def _is_quiet(self, share: float, least: int) -> bool:
        return self._curve.pages - self._lists.last_at >= max(least, share * self._curve.pages)


def _percent(share: float) -> int:
    return round(100 * share)


def _between(low: float, _: float, high: float) -> str:
    if not low:
        return f"at most {_percent(high)} %, as it has not faded yet"
    return f"{_percent(low)}-{_percent(high)} %"


def _about(share: float) -> str:
    """Round a share to a precision that fits such an estimate."""
    return f"about {5 * round(20 * share)} %"
