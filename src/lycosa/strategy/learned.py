"""Learned: one model over all evidence that the other strategies use, starting as a sensible mixture of them.

    log-odds of a link = sum of weight * evidence       relevance of its page, words around it, cash, depth,
                                                        and how links like it did so far, above all its siblings

Every visit teaches it: what links of the same page, host, kind of address, class of page and words bring, and which of
these to trust. A link's score follows what happens to its siblings while it waits.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import log, sqrt
from pathlib import Path
from typing import Annotated, Any

import msgspec
import xxhash
from msgspec import Meta

from lycosa import urls
from lycosa.db import CrawlDb
from lycosa.strategy.addresses import folder_of, twins, words_of
from lycosa.strategy.evidence import BIAS, PRIOR, SPOT, YIELD, Levels, Scale, Source, Surpluses, Tally, Waiting
from lycosa.strategy.leads import Leads
from lycosa.strategy.online import Weights
from lycosa.strategy.reasons import HELD_BACK, Reasons, explain
from lycosa.types import Explanation, Glances, Notes, Page, Scored, Verdict, Visit, glances

SOURCES = 3  # pages of one URL whose siblings are watched; the first ones
CALLED = 18  # links of a page, best words first, that wait with their full score; the others follow as these are taken
READ = 8  # links of a page, best words first, around which the words are judged too
UNKNOWN = -1.0  # relevance of words that nobody judged
ENOUGH = 2.0  # relevant pages, before weights are learned: until then all there is to learn is failure
ANCESTORS = 3  # links that led to a page share in what it brings: so a crawl finds its way through pages off topic
MOST_CREDIT = 1.0  # of a link for what lies behind it: a list of a hundred pages does not make its neighbours lists too
AREA = 0.3  # pages more: in so small a part of a host a few failures tell enough
LEAST_CASH, MOST_CASH = 1e-12, 1e6  # a long chain of pages on topic must not grow out of range


@dataclass
class Learned:
    """A URL waits with the probability that it is relevant, as far as one can tell now."""

    speed: Annotated[float, Meta(ge=0, le=1)] = 0.2  # of learning weights; 0: the mixture stays as it starts
    credit: Annotated[float, Meta(ge=0, le=1)] = 0.35  # share of a page's surplus for the link that led to its page
    explore: Annotated[int, Meta(ge=0)] = 5  # pages outside of lists that bring something, for one in its turn; 0: none
    without: list[str] = field(default_factory=list)  # kinds of evidence to leave out
    seed: int = 0  # of chance, which decides what is tried first

    judge_: Any = field(init=False, repr=False, default=None)
    db_: Any = field(init=False, repr=False, default=None)
    refuses_: Callable[[str, int], str] = field(init=False, repr=False, default_factory=lambda: lambda url, depth: "")
    waits_: Callable[[str], bool] = field(init=False, repr=False, default_factory=lambda: lambda url: True)
    weights_: Weights = field(init=False, repr=False, default_factory=lambda: Weights(PRIOR, BIAS))
    surplus_: Surpluses = field(init=False, repr=False, default_factory=Surpluses)  # by host, word, ...
    total_: Tally = field(init=False, repr=False, default_factory=lambda: Tally(0.5, 10.0))
    leads_: Leads = field(init=False, repr=False, default_factory=Leads)
    best_: float = field(init=False, repr=False, default=0.0)  # the highest relevance of a page on topic
    scales_: dict[str, Scale] = field(init=False, repr=False, default_factory=dict)
    sources_: list[Source] = field(init=False, repr=False, default_factory=list)
    waiting_: dict[str, Waiting] = field(init=False, repr=False, default_factory=dict)
    done_: set[int] = field(init=False, repr=False, default_factory=set)  # fingerprints of URLs that were asked
    pages_: set[int] = field(init=False, repr=False, default_factory=set)  # and of the folders of those that were pages
    levels_: Levels = field(init=False, repr=False, default_factory=Levels)
    idle_: int = field(init=False, repr=False, default=0)  # pages outside of such lists since the last turn
    up_: Waiting | None = field(init=False, repr=False, default=None)  # the link of the visit under way
    dirty_: dict[int, Source] = field(init=False, repr=False, default_factory=dict)  # pages whose yield changed
    twins_: list[str] = field(init=False, repr=False, default_factory=list)  # addresses of the page under way that wait
    next_: int = field(init=False, repr=False, default=0)  # the page whose links are looked at again next
    unsaved_: dict[str, Callable[[], Any]] = field(init=False, repr=False, default_factory=dict)  # counts to be noted
    reasons_: Reasons = field(init=False, repr=False, default_factory=Reasons)  # what made the scores

    def __post_init__(self) -> None:
        self.weights_ = Weights(PRIOR, BIAS, self.without)
        self.surplus_.start(self.rate())
        self.scales_ = {name: Scale() for name in ("parent", "context", "own", "cash")}

    def prepare(self, folder: Path, judge: Any) -> None:
        self.judge_ = judge if isinstance(judge, Glances) else None
        if hasattr(judge, "targets"):
            self.leads_.prepare(folder, judge.targets)

    def connect(self, db: CrawlDb, refuses: Callable[[str, int], str], waits: Callable[[str], bool]) -> None:
        self.db_, self.refuses_, self.waits_ = db, refuses, waits
        self.reasons_.db = db

    # -- what a visit teaches -----------------------------------------------------------------------------------------

    def learn(self, visit: Visit) -> None:
        reply = visit.reply
        self.dirty_.clear()
        self.twins_.clear()
        self.up_ = self._take(reply.link.url, not reply.error)
        for url in {reply.url, *(exchange.url for exchange in reply.exchanges)} - {reply.link.url, ""}:
            self._take(url, not reply.error)
        if self.up_ is None:
            return
        pages = [source.number for source, _ in self.up_.found]
        self._note(f"why {reply.link.url}", self.reasons_.told(reply.link.url, visit.score, pages, self.up_.turn))
        evidence = self.evidence(self.up_)
        self.idle_ += not reply.error and max(evidence[YIELD]) <= 0
        if reply.error:  # nothing was learned of the topic; but a host that fails is no place to look
            self._count(self.up_.host, 0.0)
        elif visit.duplicate_of:
            self._count_siblings(self.up_, 0.0)
        else:
            self._learn(self.up_, evidence, self.outcome(visit.verdict))
            self._lead(self.up_.found[0][0].label, visit.verdict.label)
        self.surplus_.start(self.rate())

    def outcome(self, verdict: Verdict) -> float:
        """0..1: relevance in units of the best so far, since judges differ in scale; off topic it counts half."""
        if verdict.on_topic:
            self.best_ = max(self.best_, verdict.relevance)
        share = min(1.0, verdict.relevance / (self.best_ or 1.0))
        return share if verdict.on_topic else 0.5 * share

    def _learn(self, link: Waiting, evidence: Sequence[float], outcome: float) -> None:
        rate = self.rate()
        if self.total_.good > ENOUGH and self.speed:
            self.weights_.step(evidence, outcome, rate, self.speed)
        self.total_.add(outcome)
        self._count_all(link, outcome)
        surplus, source = self.credit * (outcome - rate), link.found[0][0]
        for _ in range(ANCESTORS if surplus > 0 else 0):
            if source.up is None:
                break
            share = min(surplus, MOST_CREDIT - source.given)
            source.given += share
            self._count_all(source.up, share, 0.0)
            surplus, source = surplus * self.credit, source.up.found[0][0]

    def _lead(self, source: str, target: str) -> None:
        if self.leads_.see(source, target):
            self._note(f"lead {source}", self.leads_.counts[source])

    def rate(self) -> float:
        """The going rate: relevant pages among all that were tried."""
        return min(0.99, max(1e-4, self.total_.good / self.total_.tried))

    def _count_all(self, link: Waiting, good: float, tried: float = 1.0) -> None:
        self._count_siblings(link, good, tried)
        for key in link.counted_as():
            self._count(key, good, tried)

    def _count(self, key: str, good: float, tried: float = 1.0) -> None:
        self.unsaved_[f"tally {key}"] = self.surplus_.count(key, good, tried).state

    def _count_siblings(self, link: Waiting, good: float, tried: float = 1.0) -> None:
        for source, spot in link.found:
            source.count(link.place, spot, good, tried)
            if tried:  # credit alone can wait for its turn
                self.dirty_[source.number] = source
            self.unsaved_[f"yield {source.number:09}"] = source.state

    def _take(self, url: str, is_page: bool) -> Waiting | None:
        """The link no longer waits. Other addresses of the same page still do, but should come last."""
        folder = folder_of(url) if is_page else ""
        known = urls.fingerprint(folder) if folder else 0
        self.done_.add(urls.fingerprint(url))
        self._note(f"done {urls.fingerprint(url):x}", known)
        if folder and known not in self.pages_:
            self.pages_.add(known)
            for twin in twins(folder):
                if waits := self.waiting_.get(twin):
                    waits.twin = 1.0
                    self.twins_.append(twin)
        link = self.waiting_.pop(url, None)
        for source, _ in link.found if link else ():
            source.waiting[link.place] -= 1  # type: ignore[union-attr]
        return link

    # -- what a link is worth -----------------------------------------------------------------------------------------

    def score(self, visit: Visit) -> Sequence[float]:
        page = visit.page
        if not page.links:
            return []
        source = self._source(visit)
        found = self._found(page)
        links = [self._find(source, about) for about in found]
        self.scales_["cash"].add([log(link.cash + LEAST_CASH) for link in links])
        if source.kids:
            self.levels_.add(source, found[0][2])
        up = source.up.state() if source.up else None
        about = [source.relevance, source.label, source.distance, source.cash, source.luck, up, found]
        self._note(f"page {source.number:09}", about)
        kids = links[: len(source.kids)]  # of the others no more is to be learned
        called = [self.worth(link, url, source) for link, url in zip(kids[:CALLED], source.kids, strict=False)]
        scores = [*called, *(HELD_BACK * (1.0 + link.own) / 2 for link in kids[CALLED:])]
        worth = dict(zip(source.kids, scores, strict=True))
        return [worth.get(link.url, 0.0) for link in page.links]

    def _found(self, page: Page) -> list[list[Any]]:
        """The links that may be asked, best words first, as they are noted: address, spot, depth, context, own words
        judged, what all words promise, words to be counted; only the address where no more is to be learned."""
        new, links, said, told = [], [], [], []
        counted: list[Sequence[str]] = []
        for at, link in enumerate(page.links):
            waits = self.waiting_.get(link.url)
            if waits is None and (urls.fingerprint(link.url) in self.done_ or self.refuses_(link.url, link.depth)):
                continue
            if waits and len(waits.found) >= SOURCES:
                told.append([link.url])
                continue
            own, words = words_of(link, page)
            new.append([link.url, at // SPOT, link.depth, UNKNOWN, UNKNOWN, 0.0, *words])
            links.append(link)
            said.append(own)
            counted.append(words)
        relevances = self._glances("own", said)
        promises = self.leads_.promises.of(page, links, counted)
        for about, relevance, promise in zip(new, relevances, promises, strict=True):
            about[4], about[5] = relevance, promise
        order = sorted(range(len(new)), key=relevances.__getitem__, reverse=True)
        best = order[:READ]  # the others' context would cost more than it tells
        contexts = self._glances("context", [page.context(links[at]) for at in best])
        for at, relevance in zip(best, contexts, strict=True):
            new[at][3] = relevance
        return [new[at] for at in order] + told

    def _glances(self, name: str, many: Sequence[Sequence[str]]) -> list[float]:
        if self.judge_ is None:
            return [UNKNOWN] * len(many)
        found = iter(glances(self.judge_, [words for words in many if words]))
        relevances = [next(found) if words else UNKNOWN for words in many]
        self.scales_[name].add([relevance for relevance in relevances if relevance >= 0])
        return relevances

    def _source(self, visit: Visit) -> Source:
        verdict, up = visit.verdict, self.up_
        revised = 1 + 0.85 * (2 * verdict.relevance - 1) ** 3  # as OTIE does
        cash = min(MOST_CASH, (up.cash if up else 1.0) * revised) / len(visit.page.links)
        distance = 0 if verdict.on_topic else 1 + (up.best.distance if up else 0)
        luck = 0.9 + 0.2 * xxhash.xxh3_64_intdigest(f"{self.seed} {visit.reply.link.url}".encode()) / 2**64
        source = Source(len(self.sources_), verdict.relevance, verdict.label, distance, cash, luck)
        source.up = up
        self.sources_.append(source)
        self.scales_["parent"].add([verdict.relevance])
        return source

    def _find(self, source: Source, about: Sequence[Any]) -> Waiting:
        """Take down what a page says of a link."""
        url = about[0]
        link = self.waiting_.get(url)
        if link is None:
            link = self.waiting_[url] = Waiting.first(source, about)
            if (folder := folder_of(url)) and urls.fingerprint(folder) in self.pages_:
                link.twin = 1.0
        else:
            link.again(source, about)
        if len(about) > 1:
            source.kids.append(url)
            source.waiting[link.place] = source.waiting.get(link.place, 0) + 1
        return link

    def worth(self, link: Waiting, url: str, source: Source) -> float:
        """The score of a link of this page; what made it is kept."""
        if link.turn:
            return 1.0
        weighed = self.weights_.weigh(self.evidence(link))
        self.reasons_.keep(source.number, url, weighed)
        return weighed.score

    def evidence(self, link: Waiting) -> list[float]:
        """One number for each kind, in the order of PRIOR; 0 where nothing is known."""
        scales, surplus, place, best = self.scales_, self.surplus_, link.place, link.best
        rate, count = surplus.rate, len(link.found)
        siblings = part = near = untested = 0.0
        for source, spot in link.found:
            untried = source.luck * log(1 + source.waiting[place])
            if source.tally.tried:
                siblings += source.tally.surplus(rate)
                expected = rate * (source.tally.good + 1) / (source.tally.tried * rate + 1)
                near += source.near(spot, expected)
                if tally := source.places.get(place):
                    part += tally.surplus(expected)
                    untried /= sqrt(1 + max(0.0, tally.tried - tally.good))
            if untried > untested:
                untested = untried
        area = surplus.tallies.get(link.area)
        return [
            scales["parent"].of(best.relevance),
            scales["context"].of(link.context) if link.context >= 0 else 0.0,
            scales["own"].of(link.own) if link.own >= 0 else 0.0,
            link.elsewhere,
            siblings / count,
            part / count,
            near / count,
            untested * surplus.curiosity,
            surplus[place],
            min(0.0, area.surplus(rate, AREA)) if area else 0.0,
            surplus[link.host],
            surplus[best.kind],
            self.leads_.surplus(best.label),
            sum(map(surplus.__getitem__, link.words)) / sqrt(len(link.words) or 1),
            scales["cash"].of(log(link.cash + LEAST_CASH)),
            log(1 + link.depth),
            log(link.finds),
            min(best.distance, 4.0),
            link.twin,
        ]

    def merge(self, waiting: float, found: float) -> float:
        return max(waiting, found)

    def renew(self) -> tuple[Sequence[str], Sequence[float]]:
        """New scores for links of the pages whose yield this visit changed, and of the next page in turn, so that in
        time everything that waits follows what was learned."""
        anew = {url: link.found[0][0] for url in self.twins_ if (link := self.waiting_.get(url))}
        for source in self.dirty_.values():
            self._call(source, anew)
        for _ in range(min(8, len(self.sources_))):
            self.next_ = (self.next_ + 1) % len(self.sources_)
            if self._call(self.sources_[self.next_], anew):
                break
        if self.explore and self.idle_ >= self.explore and (url := self.levels_.turn(self.waiting_)):
            self.idle_ = 0
            self._note(f"turn {url}", 1)
            anew[url] = self.waiting_[url].found[0][0]
        waiting = [url for url in anew if self.waits_(url)]  # what is in flight keeps the score it was taken with
        scores = [self.worth(self.waiting_[url], url, anew[url]) for url in waiting]
        if self.reasons_.is_full():
            self.reasons_.write(self.done_)
        return waiting, scores

    def _call(self, source: Source, anew: dict[str, Source]) -> bool:
        if source.kids:
            source.kids = [url for url in source.kids if url in self.waiting_]
            anew.update(dict.fromkeys(source.kids[:CALLED], source))
        return bool(source.kids)

    # -- what survives ------------------------------------------------------------------------------------------------

    def _note(self, key: str, value: Any) -> None:
        if self.db_ is not None:
            self.db_.note(f"learned {key}", msgspec.json.encode(value))

    def explain(self, scored: Scored, notes: Notes) -> Explanation:
        return explain(scored, notes)

    def save(self) -> dict[str, Any]:
        for key, state in self.unsaved_.items():  # once a commit is enough: they belong to it
            self._note(key, state())
        self.unsaved_.clear()
        self.reasons_.write(self.done_)
        return {
            "weights": self.weights_.save(),
            "total": [self.total_.good, self.total_.tried],
            "best": self.best_,
            "scales": {name: scale.state() for name, scale in self.scales_.items()},
            "next": self.next_,
            "idle": self.idle_,
            "leads": self.leads_.save(),
        }

    def load(self, state: dict[str, Any]) -> None:
        self.load_counts(state)
        if self.db_ is not None:
            self.load_links()

    def load_counts(self, state: dict[str, Any]) -> None:
        self.weights_.load(state["weights"])
        self.total_ = Tally(*state["total"])
        self.best_, self.next_, self.idle_ = state["best"], state["next"], state["idle"]
        self.scales_ = {name: Scale(*parts) for name, parts in state["scales"].items()}
        tallies = self.db_.notes("learned tally ") if self.db_ is not None else ()
        self.surplus_.tallies.update({key: Tally(*msgspec.json.decode(text)) for key, text in tallies})
        rows = self.db_.notes("learned lead ") if self.db_ is not None else ()
        self.leads_.load(state["leads"], {name: msgspec.json.decode(text) for name, text in rows})
        self.surplus_.clear()
        self.surplus_.start(self.rate())

    def load_links(self) -> None:
        """All that waits, and the pages it was found on, from the notes."""
        for key, folder in self.db_.notes("learned done "):
            self.done_.add(int(key, 16))
            self.pages_.add(int(folder))
        self.pages_.discard(0)
        for _, text in self.db_.notes("learned page "):
            self._load_page(msgspec.json.decode(text))
        for number, text in self.db_.notes("learned yield "):
            self.sources_[int(number)].load(msgspec.json.decode(text))
        for url, _ in self.db_.notes("learned turn "):
            if link := self.waiting_.get(url):
                link.turn = True

    def _load_page(self, about: list[Any]) -> None:
        relevance, label, distance, cash, luck, up, found = about
        source = Source(len(self.sources_), relevance, label, distance, cash, luck)
        self.sources_.append(source)
        source.up = Waiting.restored(up, self.sources_) if up else None
        for link in found:
            if urls.fingerprint(link[0]) not in self.done_:
                self._find(source, link)
        if source.kids:
            self.levels_.add(source, found[0][2])
