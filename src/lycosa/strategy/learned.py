"""Learned: one model over all the evidence that the other strategies use, starting from a sensible mixture of them.

    log-odds of a link = sum of weight * evidence       relevance of its page, words around it, cash, depth,
                                                        and the yield of similar links so far, above all its siblings

Every visit trains it: how well links from the same page, host, kind of address, class of page and with the same words
do, and which of these signals to trust. A queued link's score follows the yield of its siblings.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from math import log
from pathlib import Path
from typing import Annotated, Any

import msgspec
import xxhash
from msgspec import Meta

from lycosa import urls
from lycosa.strategy.class_rules import ClassRules
from lycosa.strategy.evidence import LEAST_CASH, Gathering
from lycosa.strategy.kept import read_tallies
from lycosa.strategy.learned_lessons import LearnedTogether, Lessons
from lycosa.strategy.link_features import BIAS, PRIOR, YIELD, Scale, Surpluses, Tally
from lycosa.strategy.link_reading import LinkReader
from lycosa.strategy.memory import Memory
from lycosa.strategy.online_logistic import OTHER_VERSION, Weighed, Weights
from lycosa.strategy.reasons import HELD_BACK, Reasons, explain
from lycosa.strategy.rule_base import KnowsClasses
from lycosa.strategy.sources import Source
from lycosa.types import (
    NOTHING,
    BadInput,
    Effects,
    Explanation,
    Notebook,
    Notes,
    Revised,
    Scored,
    TextRelevance,
    Verdict,
    View,
    Visit,
)

CALLED = 18  # links per page, best words first, that get their full score; the others follow as these are fetched
ENOUGH = 2.0  # relevant pages before weights are learned: until then there are only failures to learn from
ANCESTORS = 3  # links up the path to a page share in its outcome, so that a crawl can tunnel through irrelevant pages
MOST_CREDIT = 1.0  # per link, for what lies behind it: a list of a hundred pages must not make its neighbours lists too
NOTICEABLE = 0.1  # change in the outcome of a page that has links rescored at once; others wait for their turn
HEARD = 20  # pages per visit whose links are rescored because verdicts were revised: a judge may revise hundreds
SLIGHT = 0.05  # change of a score, relative to it, that leaves a link where it is queued
VERSION = 3  # of the stored state
MOST_CASH = 1e6  # keeps cash in range along a long chain of relevant pages
Called = tuple[Sequence[int], Sequence[Weighed | None]]


@dataclass
class Learned(LearnedTogether):
    """Queue each URL with the estimated probability that it is relevant."""

    speed: Annotated[float, Meta(ge=0, le=1)] = 0.2  # learning rate of the weights; 0: keep the initial mixture
    credit: Annotated[float, Meta(ge=0, le=1)] = 0.35  # share of a page's surplus that the link to its parent gets
    explore: Annotated[int, Meta(ge=0)] = 5  # pages outside productive lists per explored one; 0: no exploration
    without: list[str] = field(default_factory=list)  # kinds of evidence to leave out
    seed: int = 0  # of the random numbers that decide what is tried first

    reader_: Any = field(init=False, repr=False, default=None)  # reads the links of a page
    db_: Any = field(init=False, repr=False, default=None)
    waits_: Callable[[int], bool] = field(init=False, repr=False, default_factory=lambda: lambda number: True)
    scores_: Callable[[], Sequence[float]] = field(init=False, repr=False, default_factory=lambda: list)
    weights_: Weights = field(init=False, repr=False, default_factory=lambda: Weights(PRIOR, BIAS))
    surplus_: Surpluses = field(init=False, repr=False, default_factory=Surpluses)  # by host, word, ...
    total_: Tally = field(init=False, repr=False, default_factory=lambda: Tally(0.5, 10.0))
    class_rules_: ClassRules = field(init=False, repr=False, default_factory=ClassRules)
    best_: float = field(init=False, repr=False, default=0.0)  # the highest relevance of a relevant page so far
    scales_: dict[str, Scale] = field(init=False, repr=False, default_factory=dict)
    memory_: Memory = field(init=False, repr=False, default_factory=Memory)  # of pages and their links
    reasons_: Reasons = field(init=False, repr=False, default_factory=Reasons)  # why links have their scores
    called_: Called = field(init=False, repr=False, default=((), ()))  # links of this page, not in the frontier yet
    idle_: int = field(init=False, repr=False, default=0)  # such pages since the last explored one
    dirty_: dict[int, Source] = field(init=False, repr=False, default_factory=dict)  # pages whose yield changed
    twins_: list[int] = field(init=False, repr=False, default_factory=list)  # rows of other URLs of the current page
    heard_: dict[int, None] = field(init=False, repr=False, default_factory=dict)  # pages with revised verdicts nearby
    next_: int = field(init=False, repr=False, default=0)  # the page whose links are rescored next
    scored_: int = field(init=False, repr=False, default=-1)  # the page whose links this visit has scored
    given_: Sequence[float] = field(init=False, repr=False, default=())  # by `take_over`
    lessons_: Lessons | None = field(init=False, repr=False, default=None)  # for other shards, if there are any

    def __post_init__(self) -> None:
        self.weights_ = Weights(PRIOR, BIAS, self.without)
        self.surplus_.start(self.rate())
        self.scales_ = {name: Scale() for name in ("parent", "context", "own", "cash")}
        self.reader_ = LinkReader(self.memory_, self.class_rules_)

    def prepare(self, folder: Path, judge: Any) -> None:
        if isinstance(judge, TextRelevance):
            self.reader_.prepare(judge)
        if isinstance(judge, KnowsClasses):
            self.class_rules_.prepare(folder, judge.targets)

    def connect(self, view: View) -> Effects:
        self.db_, self.waits_, self.scores_ = view.notes, view.waits, view.scores
        self.reader_.connect(view.refusals)
        self.reasons_.connect(view.notes)
        self.memory_.links.connect(view.numbers)
        return NOTHING

    def read(self, notes: Notebook) -> None:
        """Read the learned state without a crawl."""
        self.db_ = notes

    # -- learning -----------------------------------------------------------------------------------------------------

    def learn(self, visit: Visit) -> None:
        reply, memory = visit.reply, self.memory_
        memory.settle(self.db_)
        self.scored_ = -1
        self.dirty_.clear()
        self.twins_.clear()
        row = memory.up = self._take(reply.link.url, not reply.error)
        for url in {reply.url, *(exchange.url for exchange in reply.exchanges)} - {reply.link.url, ""}:
            if reached := self._take(url, not reply.error):
                memory.links.release(reached)
        if not row:
            return
        if not memory.links.word_counts[row]:
            memory.links.set_words(row, self.reader_.words(reply.link))
        (evidence,) = self.evidence([row])
        self.idle_ += not reply.error and max(evidence[YIELD]) <= 0
        if reply.error:  # says nothing about the topic, but a failing host is not worth trying
            self._count(memory.links.hosts[row], 0.0)
        elif visit.duplicate_of:
            self._count_siblings(row, 0.0)
        else:
            self._learn(row, evidence, self.outcome(visit.verdict))
            self._lead(memory.first_page(row).label, visit.verdict.label)
        self.surplus_.start(self.rate())

    def _take(self, url: str, is_page: bool) -> int:
        row, same = self.memory_.take(url, is_page)
        self.twins_ = [twin for twin in (*self.twins_, *same) if twin != row]
        return row

    def outcome(self, verdict: Verdict) -> float:
        """Return relevance relative to the best so far (0..1), since judges differ in scale; halved if off topic."""
        if verdict.on_topic:
            self.best_ = max(self.best_, verdict.steering_relevance)
        return self._share(verdict.steering_relevance, verdict.on_topic)

    def _share(self, relevance: float, on_topic: bool) -> float:
        share = min(1.0, relevance / (self.best_ or 1.0))
        return share if on_topic else 0.5 * share

    def hear(self, revised: Revised) -> None:
        """Correct what was learned from pages whose verdicts have changed. A page without links is not remembered."""
        for url, verdict in revised:
            if source := self.memory_.by_key.get(urls.key(url)):
                self._revise(source, verdict)
        self.surplus_.start(self.rate())

    def _revise(self, source: Source, verdict: Verdict) -> None:
        memory, changed = self.memory_, [source.number]
        more = self.outcome(verdict) - self._share(source.relevance, source.distance == 0)
        is_noticeable = abs(more) >= NOTICEABLE
        source.relevance = verdict.steering_relevance
        source.distance = 0 if verdict.on_topic else source.distance or 1
        memory.name_class(source, verdict.label)
        if source.up and more:
            self.total_.add(more, 0.0)
            self._count_all(source.up, more, 0.0)
            changed += [page for page, _ in memory.links.found(source.up)]
        for number in changed:
            if is_noticeable:
                self.heard_[number] = None
            memory.batches.yields[number] = memory.sources[number]

    def _learn(self, row: int, evidence: Sequence[float], outcome: float) -> None:
        rate = self.rate()
        if self.total_.good > ENOUGH and self.speed:
            self.weights_.step(evidence, outcome, rate, self.speed)
        self.total_.add(outcome)
        if self.lessons_:
            self.lessons_.total[0] += outcome
            self.lessons_.total[1] += 1
        self._count_all(row, outcome)
        surplus, source = self.credit * (outcome - rate), self.memory_.first_page(row)
        for _ in range(ANCESTORS if surplus > 0 else 0):
            if not source.up:
                break
            share = min(surplus, MOST_CREDIT - source.given)
            source.given += share
            self._count_all(source.up, share, 0.0)
            surplus, source = surplus * self.credit, self.memory_.first_page(source.up)

    def _lead(self, source: str, target: str) -> None:
        if self.class_rules_.see(source, target):
            self._note(f"lead {source}", self.class_rules_.counts[source])

    def rate(self) -> float:
        """Return the base rate: the share of relevant pages among all pages tried."""
        return min(0.99, max(1e-4, self.total_.good / self.total_.tried))

    def _count_all(self, row: int, good: float, tried: float = 1.0) -> None:
        links = self.memory_.links
        self._count_siblings(row, good, tried)
        marks = links.hosts[row], links.places[row], links.areas[row], self.memory_.best_page(row).kind
        for key in (*filter(None, marks), *links.words(row)):
            self._count(key, good, tried)

    def _count(self, key: int, good: float, tried: float = 1.0) -> None:
        if self.lessons_:
            self.lessons_.count(key, good, tried)
        self.tally(key, good, tried)

    def _count_siblings(self, row: int, good: float, tried: float = 1.0) -> None:
        links = self.memory_.links
        for page, spot in links.found(row):
            source = self.memory_.sources[page]
            source.count(links.places[row], spot, good, tried)
            if tried:  # credit alone can wait until the next regular update
                self.dirty_[page] = source
            self.memory_.batches.yields[page] = source

    # -- scoring ------------------------------------------------------------------------------------------------------

    def score(self, visit: Visit) -> Sequence[float]:
        page, links = visit.page, self.memory_.links
        if not page.links:
            return []
        source = self._source(visit)
        self.scored_ = source.number
        finds, told = self.reader_.read(page, self.scales_)
        rows = self.memory_.add_links(source, finds, told)
        self.scales_["cash"].add([log(links.cash[row] + LEAST_CASH) for row in (*rows, *told)])
        called = rows[:CALLED]
        weighed = self.weigh(called)
        self.called_ = called, weighed
        scores = [*map(_score, weighed), *(HELD_BACK * (1.0 + links.owns[row]) / 2 for row in rows[CALLED:])]
        worth = dict(zip(finds.urls, scores, strict=True))
        return [worth.get(link.url, 0.0) for link in page.links]

    def _source(self, visit: Visit) -> Source:
        verdict, memory = visit.verdict, self.memory_
        cash, distance = self.given_ or self.hand_over(visit)
        self.given_ = ()
        luck = 0.9 + 0.2 * xxhash.xxh3_64_intdigest(f"{self.seed} {visit.reply.link.url}".encode()) / 2**64
        self.scales_["parent"].add([verdict.steering_relevance])
        source = Source(len(memory.sources), verdict.steering_relevance, verdict.label, int(distance), cash, luck)
        return memory.add_page(source, visit.reply.link.url, memory.up)

    def hand_over(self, visit: Visit) -> list[float]:
        """Return the cash that each link of a page gets, and the clicks since the last relevant page."""
        verdict, memory, up = visit.verdict, self.memory_, self.memory_.up
        revised = 1 + 0.85 * (2 * verdict.steering_relevance - 1) ** 3  # as OTIE does
        cash = min(MOST_CASH, (memory.links.cash[up] if up else 1.0) * revised) / len(visit.page.links)
        return [cash, 0 if verdict.on_topic else 1 + (memory.best_page(up).distance if up else 0)]

    def weigh(self, rows: Sequence[int]) -> list[Weighed | None]:
        """Score links; None: selected for exploration."""
        turns, weigh = self.memory_.links.turns, self.weights_.weigh
        return [None if turns[row] else weigh(found) for row, found in zip(rows, self.evidence(rows), strict=True)]

    def evidence(self, rows: Iterable[int]) -> list[list[float]]:
        return Gathering(self.memory_, self.surplus_, self.scales_, self.class_rules_.surplus).of(rows)

    def merge(self, waiting: float, found: float) -> float:
        return max(waiting, found)

    def effects(self) -> Effects:
        """Rescore the links of the pages whose yield this visit changed, and those of the next page in turn, so that
        over time every queued link reflects what has been learned."""
        self.memory_.settle(self.db_)
        links, sources, batches = self.memory_.links, self.memory_.sources, self.memory_.batches
        due: dict[int, None] = dict.fromkeys(self.twins_)
        heard = [*islice(self.heard_, HEARD)]
        for number in heard:
            del self.heard_[number]
        for source in (*self.dirty_.values(), *map(sources.__getitem__, heard)):
            due.update(dict.fromkeys(source.kids[:CALLED]))
        for _ in range(min(8, len(sources))):
            self.next_ = (self.next_ + 1) % len(sources)
            if kids := sources[self.next_].kids[:CALLED]:
                if self.next_ != self.scored_:
                    due.update(dict.fromkeys(kids))
                break
        if self.explore and self.idle_ >= self.explore and (row := self.memory_.levels.turn(links.turns, links.twins)):
            self.idle_ = 0
            batches.turns.append(links.ids[row])
            due[row] = None
        rows, weighed = self._rescored(due)
        ids, hosts = [links.ids[row] for row in rows], [*map(self.memory_.host, rows)]
        self._keep_reasons(ids, weighed)
        return Effects(ids=ids, scores=[*map(_score, weighed)], hosts=hosts)

    def _rescored(self, rows: Iterable[int]) -> tuple[list[int], list[Weighed | None]]:
        """Return the links whose scores have changed enough to queue them elsewhere: that costs more than scoring."""
        scores, ids = self.scores_(), self.memory_.links.ids
        waiting = [row for row in rows if (number := ids[row]) and self.waits_(number)]  # skip URLs in flight
        both = zip(waiting, self.weigh(waiting), strict=True)
        moved = [(row, new) for row, new in both if abs(_score(new) - scores[ids[row]]) > SLIGHT * scores[ids[row]]]
        return [row for row, _ in moved], [new for _, new in moved]

    def _keep_reasons(self, ids: Sequence[int], weighed: Sequence[Weighed | None]) -> None:
        of, (rows, found) = self.memory_.links.ids, self.called_
        self.called_ = (), ()
        self.reasons_.keep([of[row] for row in rows], found)
        self.reasons_.keep(ids, weighed)
        if self.reasons_.is_full():
            self.reasons_.write()

    def explain(self, scored: Scored, notes: Notes) -> Explanation:
        return explain(scored, notes)

    # -- persistence --------------------------------------------------------------------------------------------------

    def _note(self, key: str, value: Any) -> None:
        if self.db_ is not None:
            self.db_.note(f"learned {key}", msgspec.json.encode(value))

    def save(self) -> dict[str, Any]:
        self.memory_.settle(self.db_)
        if self.db_ is not None:
            self.memory_.save(self.db_)
            self.reasons_.write()
        return {
            "version": VERSION,
            "weights": self.weights_.save(),
            "total": [self.total_.good, self.total_.tried],
            "best": self.best_,
            "scales": {name: scale.state() for name, scale in self.scales_.items()},
            "next": self.next_,
            "idle": self.idle_,
            "leads": self.class_rules_.save(),
            "batches": self.memory_.batches.count,
            "reasons": self.reasons_.count,
            "fetched": len(self.memory_.done),
            "heard": [*self.heard_],
        }

    def load(self, state: dict[str, Any]) -> None:
        self.load_counts(state)
        if self.db_ is not None:
            self.memory_.load(self.db_)
        self.heard_ = dict.fromkeys(state["heard"])

    def load_counts(self, state: dict[str, Any]) -> None:
        if state.get("version") != VERSION:
            raise BadInput(OTHER_VERSION)
        self.weights_.load(state["weights"])
        self.total_ = Tally(*state["total"])
        self.best_, self.next_, self.idle_ = state["best"], state["next"], state["idle"]
        self.memory_.batches.start(state["batches"])
        self.reasons_.count = state["reasons"]
        self.scales_ = {name: Scale(*parts) for name, parts in state["scales"].items()}
        if self.db_ is not None:
            self.memory_.load_names(self.db_)
            self.surplus_.restore(read_tallies(self.db_))
        rows: Iterable[tuple[str, str]] = self.db_.notes("learned lead ") if self.db_ is not None else ()
        self.class_rules_.load(state["leads"], {name: msgspec.json.decode(text) for name, text in rows})
        self.surplus_.start(self.rate())


def _score(weighed: Weighed | None) -> float:
    """Return the score of a link; without evidence, it was selected for exploration."""
    return weighed.score if weighed else 1.0
