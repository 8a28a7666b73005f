"""Every judge keeps to the protocol, and the checks themselves catch those that do not."""

import itertools
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from lycosa import build, config
from lycosa.contract import check_judge
from lycosa.contract.samples import web
from lycosa.judge import JUDGES
from lycosa.judge.corrected import Corrected
from lycosa.store.db import CrawlDb
from lycosa.types import Judge, Page, Verdict

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize("kind", JUDGES)
def test_judge(kind: str, tmp_path: Path) -> None:
    folder = tmp_path / kind
    shutil.copytree(EXAMPLES / kind, folder)
    settings, source = config.load(folder)
    assert settings.topic["kind"] == kind
    check_judge(lambda: build.make_judge(settings, source))


@pytest.mark.parametrize("kind", JUDGES)
def test_judge_with_corrections(kind: str, tmp_path: Path) -> None:
    folder = tmp_path / kind
    shutil.copytree(EXAMPLES / kind, folder)
    settings, source = config.load(folder)
    check_judge(lambda: Corrected(build.make_judge(settings, source)))
    check_judge(lambda: taught(build.make_judge(settings, source)))


def taught(judge: Judge) -> Corrected:
    """With some labels, one of them on a page that is unlike any other."""
    corrected = Corrected(judge)
    corrected.connect(CrawlDb(":memory:").open())
    visits = [visit for visit in web() if visit.is_distinct][:3]
    for visit in visits:
        corrected.learn(visit)
    corrected.teach({visit.reply.link.url: place == 1 for place, visit in enumerate(visits)})
    assert corrected.taught_.correction
    return corrected


@dataclass
class Good:
    """Learns, remembers, and keeps to everything."""

    word: str = "web"
    seen_: int = field(init=False, repr=False, default=0)

    async def judge(self, page: Page) -> Verdict:
        self.seen_ += 1
        return Verdict(1 / (1 + self.seen_), self.word in page.words)

    def save(self) -> dict[str, Any]:
        return {"seen": self.seen_}

    def load(self, state: dict[str, Any]) -> None:
        self.seen_ = state["seen"]


def test_a_good_one_passes() -> None:
    check_judge(Good)


async def test_it_can_be_checked_in_a_running_loop() -> None:
    check_judge(Good)


class Plain:
    judge = Good.judge


@dataclass
class NotAsync:
    def judge(self, page: Page) -> Verdict:
        return Verdict()


@dataclass
class Number(Good):
    async def judge(self, page: Page) -> Verdict:
        return 0.5  # type: ignore[return-value]


@dataclass
class TooSure(Good):
    async def judge(self, page: Page) -> Verdict:
        return Verdict(1.5, True)


@dataclass
class Unsure(Good):
    async def judge(self, page: Page) -> Verdict:
        return Verdict(float("nan"))


@dataclass
class Wordy(Good):
    async def judge(self, page: Page) -> Verdict:
        return Verdict(0.5, True, why={"web": float("inf")})


@dataclass
class Odds(Good):
    async def judge(self, page: Page) -> Verdict:
        return Verdict(0.5, True, "a", {"a": 3.0})


@dataclass
class FearsEmptyPages(Good):
    async def judge(self, page: Page) -> Verdict:
        assert page.words, "no words"
        return Verdict()


@dataclass
class Forgets(Good):
    def load(self, state: dict[str, Any]) -> None:
        """Nothing comes back."""


@dataclass
class NothingSaved:
    seen_: int = field(init=False, repr=False, default=0)
    word = "web"
    judge = Good.judge


_ever = itertools.count(2)


@dataclass
class SharedMemory(Good):
    async def judge(self, page: Page) -> Verdict:
        return Verdict(1 / next(_ever))


@dataclass
class BadGlance(Good):
    def relevance_of(self, words: object) -> float:
        return 7.0


@dataclass
class TwoMinds(Good):
    def relevance_of(self, words: object) -> float:
        return 0.5

    def relevances_of(self, many: list[object]) -> list[float]:
        return [0.25] * len(many)


@pytest.mark.parametrize(
    ("make", "complaint"),
    [
        (Plain, "not a dataclass"),
        (NotAsync, "not an async method"),
        (Number, "returned a float, not a Verdict"),
        (TooSure, "not between 0 and 1: 1.5"),
        (Unsure, "not between 0 and 1: nan"),
        (Wordy, "web is not finite"),
        (Odds, "not probabilities"),
        (FearsEmptyPages, "no words"),
        (Forgets, r"load\(\) does not restore what save\(\) returned"),
        (NothingSaved, "after a restart without save and load"),
        (SharedMemory, "two judges that saw the same pages disagree"),
        (BadGlance, "not between 0 and 1: 7.0"),
        (TwoMinds, "alone: 0.5, among others: 0.25"),
    ],
)
def test_a_bad_one_is_told_what_is_wrong(make: Callable[[], Any], complaint: str) -> None:
    with pytest.raises(AssertionError, match=complaint):
        check_judge(make)
