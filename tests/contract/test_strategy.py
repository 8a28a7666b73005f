"""Every strategy keeps to the protocol, and the checks themselves catch whoever does not."""

import itertools
import random
from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import pytest

from lycosa.contract import check_strategy
from lycosa.contract.samples import odd_visits, web
from lycosa.store.db import CrawlDb
from lycosa.strategy import STRATEGIES
from lycosa.strategy.rule_base import RuleBase, save
from lycosa.types import Acts, Explanation, Graph, Link, Notes, Scored, Strategy, Visit


class NoCrawl:
    """The view of a strategy that is used without a crawl."""

    def __init__(self, db: CrawlDb) -> None:
        self.notes = db

    def refusals(self, links: Sequence[Link]) -> dict[str, str]:
        return {}

    def numbers(self, urls: Iterable[str]) -> list[int]:
        return [0 for _ in urls]

    def number(self, url: str) -> int:
        return 0

    def waits(self, number: int) -> bool:
        return True

    def scores(self) -> "array[float]":
        return array("d", [0.0])

    def host(self, number: int) -> str:
        return ""

    def graph(self) -> Graph:
        return Graph(array("I"), array("I"), array("I"))

    def found_on(self, number: int) -> dict[int, str]:
        return {}


class Topic:
    """A judge that any strategy can work with: it has classes, can judge a few words, and knows a set of pages."""

    def targets(self, known: Sequence[str]) -> list[str]:
        return [name for name in known if name == "PH"]

    def relevance_of(self, words: Sequence[str]) -> float:
        return len({"web", "crawler"} & set(words)) / 2

    def similarity(self, words: Sequence[str]) -> float:
        return 100 * self.relevance_of(words)


class Maker:
    """New strategies of one kind, ready for a crawl, each with a database of its own."""

    def __init__(self, kind: str, folder: Path) -> None:
        self.kind = STRATEGIES[kind]
        self.folder = folder
        self.databases: dict[int, CrawlDb] = {}

    def make(self) -> Strategy:
        return self._ready(CrawlDb(":memory:").open())

    def resume(self, strategy: Strategy) -> Strategy:
        return self._ready(self.databases[id(strategy)])

    def _ready(self, db: CrawlDb) -> Strategy:
        strategy: Any = msgspec.convert({}, self.kind)
        if isinstance(strategy, Acts):
            strategy.connect(NoCrawl(db))
        if hasattr(strategy, "prepare"):
            strategy.prepare(self.folder, Topic())
        self.databases[id(strategy)] = db
        self.kept = [*getattr(self, "kept", []), strategy]  # an id stands for a strategy only while it lives
        return strategy  # type: ignore[no-any-return]

    def close(self) -> None:
        for db in self.databases.values():
            db.close()


@pytest.mark.parametrize("kind", STRATEGIES)
def test_strategy(kind: str, tmp_path: Path) -> None:
    counts = {"DH": {"CH": 8, "PH": 1, "SP": 1}, "CH": {"PH": 4, "DH": 6}, "PH": {"PH": 3, "CH": 7}}
    save(RuleBase(["CH", "DH", "PH", "SP"], counts), tmp_path / "rules.json")
    maker = Maker(kind, tmp_path)
    try:
        check_strategy(maker.make, maker.resume)
    finally:
        maker.close()


@pytest.mark.parametrize("kind", ["opic", "otie"])
def test_a_strategy_works_without_a_crawl_database(kind: str) -> None:
    def make() -> Strategy:
        strategy: Any = STRATEGIES[kind]()
        strategy.prepare(Path(), Topic())
        return strategy  # type: ignore[no-any-return]

    for visit in web():
        strategy = make()
        strategy.learn(visit)
        assert len(strategy.score(visit)) == len(visit.page.links)


def test_the_small_web_has_some_of_everything() -> None:
    visits = web()
    assert {bool(visit.reply.link.source) for visit in visits} == {True, False}
    assert any(visit.reply.url != visit.reply.link.url for visit in visits if not visit.reply.error)
    assert any(link.url == visit.page.url for visit in visits for link in visit.page.links)
    assert max(len(visit.page.links) for visit in visits) == 300
    urls = [link.url for visit in visits for link in visit.page.links]
    assert len(set(urls)) < len(urls)
    assert any(not link.anchor.isascii() for visit in visits for link in visit.page.links)
    assert {visit.verdict.on_topic for visit in visits} == {True, False}
    assert all(visit in visits for visit in odd_visits())
    assert visits == web()


# -- the message says how the contract was broken ----------------------------------------------------------------------


@dataclass
class Good:
    """Learns, remembers, and keeps to everything."""

    weight: float = 1.0
    seen_: int = field(init=False, repr=False, default=0)

    def score(self, visit: Visit) -> Sequence[float]:
        return [self.weight * self.seen_] * len(visit.page.links)

    def merge(self, waiting: float, found: float) -> float:
        return max(waiting, found)

    def learn(self, visit: Visit) -> None:
        self.seen_ += 1

    def save(self) -> dict[str, Any]:
        return {"seen": self.seen_}

    def load(self, state: dict[str, Any]) -> None:
        self.seen_ = state["seen"]


def test_a_good_one_passes() -> None:
    check_strategy(Good)


@dataclass
class TooFew(Good):
    def score(self, visit: Visit) -> Sequence[float]:
        return [1.0]


@dataclass
class Endless(Good):
    def score(self, visit: Visit) -> Sequence[float]:
        return [float("inf")] * len(visit.page.links)


@dataclass
class NotANumber(Good):
    def score(self, visit: Visit) -> Sequence[float]:
        return [float("nan")] * len(visit.page.links)


@dataclass
class Words(Good):
    def score(self, visit: Visit) -> Sequence[float]:
        return ["high"] * len(visit.page.links)  # type: ignore[list-item]


@dataclass
class FearsFailures(Good):
    def learn(self, visit: Visit) -> None:
        assert visit.page.url, "no page"


@dataclass
class Lowers(Good):
    def merge(self, waiting: float, found: float) -> float:
        return min(waiting, found) - 0.1


@dataclass
class Newest(Good):
    def merge(self, waiting: float, found: float) -> float:
        return found


@dataclass
class Average(Good):
    def merge(self, waiting: float, found: float) -> float:
        return (waiting + found) / 2


@dataclass
class Gambler(Good):
    def score(self, visit: Visit) -> Sequence[float]:
        return [random.random() for _ in visit.page.links]


_ever = itertools.count()


@dataclass
class SharedMemory(Good):
    def score(self, visit: Visit) -> Sequence[float]:
        return [float(next(_ever))] * len(visit.page.links)


@dataclass
class Forgets(Good):
    def load(self, state: dict[str, Any]) -> None:
        """Nothing comes back."""


@dataclass
class KeepsObjects(Good):
    def save(self) -> dict[str, Any]:
        return {"seen": object()}


@dataclass
class SavesAList(Good):
    def save(self) -> dict[str, Any]:
        return [self.seen_]  # type: ignore[return-value]


@dataclass
class NothingSaved:
    """Learns, but a restart loses it."""

    seen_: int = field(init=False, repr=False, default=0)
    score, merge, learn = Good.score, Good.merge, Good.learn
    weight = 1.0


@dataclass
class HalfSaved(NothingSaved):
    def save(self) -> dict[str, Any]:
        return {}


@dataclass
class NoStart(Good):
    model_: list[str] = field(init=False, repr=False)


class Plain:
    score, merge, learn = Good.score, Good.merge, Good.learn


@dataclass
class NoMerge:
    score, learn = Good.score, Good.learn


@dataclass
class Evasive(Good):
    def explain(self, scored: Scored, notes: Notes) -> Explanation:
        return Explanation("")


@dataclass
class ExplainsByText(Good):
    def explain(self, scored: Scored, notes: Notes) -> Explanation:
        return "because"  # type: ignore[return-value]


@dataclass
class NamelessSum(Good):
    def explain(self, scored: Scored, notes: Notes) -> Explanation:
        return Explanation("it is short", {"length": 1.0})


@dataclass
class Boasts(Good):
    def learned(self) -> dict[str, dict[str, float]]:
        return {"visits": {"seen": float("inf") if self.seen_ else 0.0}}


ONE = Good()


@pytest.mark.parametrize(
    ("make", "complaint"),
    [
        (TooFew, "1 scores for the 2 links"),
        (Endless, "not finite"),
        (NotANumber, "not finite"),
        (Words, "not a number: 'high'"),
        (FearsFailures, "no page"),
        (Lowers, "less than either"),
        (Newest, "depending on their order"),
        (Average, "depending on their order"),
        (Gambler, "two runs over the same visits"),
        (SharedMemory, "two runs over the same visits"),
        (Forgets, r"load\(\) does not restore what save\(\) returned"),
        (SavesAList, "returned a list, not a dict"),
        (NothingSaved, "after a restart without save and load"),
        (HalfSaved, "only one of save and load"),
        (NoStart, "model_ is learned state, so it needs a default"),
        (Plain, "not a dataclass"),
        (NoMerge, "no method merge"),
        (Evasive, "gives no reason"),
        (ExplainsByText, "returned a str, not an Explanation"),
        (NamelessSum, "no name for their sum"),
        (Boasts, "visits: seen is not finite"),
        (lambda: ONE, "a new Good each time"),
    ],
)
def test_a_bad_one_is_told_what_is_wrong(make: Callable[[], Any], complaint: str) -> None:
    with pytest.raises(AssertionError, match=complaint):
        check_strategy(make)


def test_what_cannot_be_written_as_json_is_no_state() -> None:
    with pytest.raises(TypeError, match="unsupported"):
        check_strategy(KeepsObjects)
