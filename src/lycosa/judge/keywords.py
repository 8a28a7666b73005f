"""How much is the page about these words and phrases? A judge that needs no training.

Each word alone makes a page relevant to the degree s of its BM25 saturation, 0 to 1. A page is irrelevant as far as all
words fail, and a longer list asks for a little more: relevance = 1 - prod (1 - s_i) ** (w_i / sqrt(sum w)).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import exp, log, log1p, sqrt
from pathlib import Path
from typing import Any, Literal
from urllib.parse import unquote

from msgspec import Struct

from lycosa.errors import ConfigError
from lycosa.judge.phrases import Phrases, tokens
from lycosa.text import words
from lycosa.types import Page, Verdict

TYPICAL_WORDS = 500  # a page of this length is neither short nor long
FULL_TIMES = 20  # tf-idf: so many mentions on a typical page are all one can ask for
PRIOR_PAGES, PRIOR_SHARE = 100, 0.1  # before the first page: as if 100 had been seen and each word stood on a tenth
LEAST_WEIGHT = 0.3  # a common word is still one the user asked for
WINDOW = 50  # pages between two looks at the threshold
MOST_PASS = 0.95  # a threshold that a larger share of the pages pass divides nothing
SHOWN = 10


class Weights(Struct, frozen=True, forbid_unknown_fields=True):
    """How many mentions in the text of a typical page one mention in this field is worth."""

    title: float = 3.0
    text: float = 1.0
    url: float = 1.0


class Threshold:
    """From which relevance on is a page on topic? From `start`, unless no page ever reaches it or nearly all do.

    Then it moves, every WINDOW pages, half the way to what parts the best tenth of them from the others, or the worst:
    down to a fifth of `start`, up to the middle between `start` and 1. As soon as `start` divides again, it is back.
    """

    def __init__(self, start: float) -> None:
        self.start = start
        self.value = start
        self.reached = False  # has any page been worth `start`?
        self.recent: list[float] = []  # relevance of the pages since the last look

    def note(self, relevance: float) -> None:
        self.recent.append(relevance)
        if not self.reached and relevance > 0 and relevance >= self.start:
            self.reached, self.value = True, self.start
        if len(self.recent) >= WINDOW:
            self.value = self._moved(sorted(self.recent))
            self.recent = []

    def save(self) -> dict[str, Any]:
        return vars(self) | {"recent": self.recent[:]}

    def load(self, state: dict[str, Any]) -> None:
        vars(self).update(state, recent=list(state["recent"]))

    def _moved(self, seen: list[float]) -> float:
        hits = [relevance for relevance in seen if relevance > 0]
        if not self.reached:  # without a single hit there is nothing to choose from
            best = hits[len(hits) * 9 // 10] if hits else self.value
            return max((self.value + min(best, self.value)) / 2, self.start / 5)
        if sum(relevance >= self.start for relevance in hits) <= MOST_PASS * len(seen):
            return self.start
        return min((self.value + max(seen[len(seen) // 10], self.value)) / 2, (1 + self.start) / 2)


@dataclass
class Keywords:
    """A page is on topic if it says enough of `words`; an entry with a leading minus speaks against the page.

    With `adapt` the judge learns two things while it crawls: words that are common on off-topic pages weigh less, and
    the threshold moves when nothing or everything passes it. Without, a page always gets the same verdict.
    """

    words: list[str]
    model: Literal["bm25", "tfidf"] = "bm25"
    k1: float = 3.0  # so many mentions on a typical page are worth half of what endless ones are
    b: float = 0.5  # 0: a long page needs no more mentions than a short one; 1: in proportion to its length
    weights: Weights = field(default_factory=Weights)
    threshold: float = 0.5
    adapt: bool = True

    wanted_: list[str] = field(init=False, repr=False, default_factory=list)  # as the user wrote them
    unwanted_: list[str] = field(init=False, repr=False, default_factory=list)  # the same, with their minus
    phrases_: Phrases = field(init=False, repr=False, default_factory=lambda: Phrases([]))  # wanted, then unwanted
    threshold_: Threshold = field(init=False, repr=False, default_factory=lambda: Threshold(0.5))
    off_topic_: int = field(init=False, repr=False, default=0)  # the pages that taught us the weights
    seen_in_: list[int] = field(init=False, repr=False, default_factory=list)  # how many of them had each wanted term
    weight_: list[float] = field(init=False, repr=False, default_factory=list)  # of each wanted term, 1 at most

    def prepare(self, folder: Path, read: Callable[[Path], Iterable[tuple[str, Page]]]) -> None:
        """Check the options and compile the phrases; no file is read."""
        self._check()
        wanted, unwanted = _split(self.words)
        self.wanted_, self.unwanted_ = list(wanted.values()), list(unwanted.values())
        self.phrases_ = Phrases([*wanted, *unwanted])
        self.threshold_ = Threshold(self.threshold)
        self.off_topic_ = 0
        self.seen_in_ = [0] * len(wanted)
        self._weigh()

    async def judge(self, page: Page) -> Verdict:
        """Relevance from text, title and address; the terms in `why` sum to it, unless there are more than ten."""
        mentions = self._mentions(page)
        wanted = {place: times for place, times in mentions.items() if place < len(self.wanted_)}
        for_it, parts = self._for(wanted)
        against, vetoes = _any_of({place: log1p(mentions[place] / self.k1) for place in mentions.keys() - wanted})
        relevance = for_it * (1 - against)
        threshold = self.threshold_.value
        on_topic = relevance > 0 and relevance >= threshold
        if self.adapt:
            self._learn(relevance, on_topic, wanted)
        names = self.wanted_ + self.unwanted_
        signed = parts | {place: -for_it * veto for place, veto in vetoes.items()}
        largest = sorted(signed, key=lambda place: -abs(signed[place]))[:SHOWN]
        why = {names[place]: signed[place] for place in largest}
        if threshold != self.threshold:
            why["(threshold)"] = -threshold  # it is not where the user put it, so it is part of the reason
        return Verdict(relevance, on_topic, why=why)

    def relevance_of(self, words: Sequence[str], telling: set[str] | None = None) -> float:
        """What a few words, an anchor or the words around it, say of the page behind them; nothing is learned."""
        mentions = self._in_text(words, telling)
        if not mentions:
            return 0.0
        wanted = {place: times for place, times in mentions.items() if place < len(self.wanted_)}
        against, _ = _any_of({place: log1p(mentions[place] / self.k1) for place in mentions.keys() - wanted})
        return self._for(wanted)[0] * (1 - against)

    def relevances_of(self, many: Sequence[Sequence[str]]) -> list[float]:
        """The same for all links of a page, of which most say nothing that is looked for: one look tells."""
        telling = self.phrases_.among(set().union(*many))
        return [0.0 if telling.isdisjoint(words) else self.relevance_of(words, telling) for words in many]

    def describe(self, top: int) -> list[tuple[str, list[tuple[str, float]]]]:
        """What is looked for and how much it weighs, and what is ruled out."""
        sections = [
            ("looked for", list(zip(self.wanted_, self.weight_, strict=True))),
            ("ruled out", [(term, -1.0) for term in self.unwanted_]),
        ]
        return [(heading, rows[:top]) for heading, rows in sections if rows]

    def save(self) -> dict[str, Any]:
        """What was learned; by term, since the list of words may change between two runs."""
        return {
            "threshold": self.threshold_.save(),
            "off_topic": self.off_topic_,
            "seen_in": dict(zip(self.wanted_, self.seen_in_, strict=True)),
        }

    def load(self, state: dict[str, Any]) -> None:
        """Go on from what `save` gave; a threshold or a word that the user changed since then starts anew."""
        if state["threshold"]["start"] == self.threshold:
            self.threshold_.load(state["threshold"])
        self.off_topic_ = state["off_topic"]
        unknown = round(self.off_topic_ * PRIOR_SHARE)
        self.seen_in_ = [state["seen_in"].get(term, unknown) for term in self.wanted_]
        self._weigh()

    def _check(self) -> None:
        if not 0 <= self.threshold <= 1:
            raise ConfigError("topic.threshold", f"{self.threshold} is not between 0 and 1")
        if not 0 <= self.b <= 1:
            raise ConfigError("topic.b", f"{self.b} is not between 0 and 1")
        if not 0 < self.k1 < 1e9:
            raise ConfigError("topic.k1", f"{self.k1} is not a number above 0")
        for name in self.weights.__struct_fields__:
            if not 0 <= getattr(self.weights, name) < 1e9:
                raise ConfigError("topic.weights", f"{name} = {getattr(self.weights, name)} is not between 0 and 1e9")

    def _mentions(self, page: Page) -> dict[int, float]:
        """How often each term that occurs would stand in the text, had the page the typical length and no title."""
        mentions = self._in_text(page.words)
        url = unquote(page.url) if "%" in page.url else page.url
        for text, weight in ((page.title, self.weights.title), (url, self.weights.url)):
            for place, times in self.phrases_.count(words(text)).items():
                mentions[place] = mentions.get(place, 0.0) + times * weight
        return mentions

    def _in_text(self, text: Sequence[str], telling: set[str] | None = None) -> dict[int, float]:
        one = self.weights.text / (1 - self.b + self.b * max(len(text), 1) / TYPICAL_WORDS)
        return {place: times * one for place, times in self.phrases_.count(text, telling).items()}

    def _for(self, mentions: Mapping[int, float]) -> tuple[float, dict[int, float]]:
        """What speaks for the page, 0 to 1, and the part of each term in it."""
        total = sum(self.weight_)
        if self.model == "tfidf":
            share = {place: min(log1p(times) / log1p(FULL_TIMES), 1.0) for place, times in mentions.items()}
            parts = {place: self.weight_[place] / total * share[place] for place in share}
            return sum(parts.values()), parts
        root = sqrt(total)
        return _any_of({place: self.weight_[place] / root * log1p(x / self.k1) for place, x in mentions.items()})

    def _learn(self, relevance: float, on_topic: bool, wanted: Iterable[int]) -> None:
        """Pages on topic teach no weights: where the crawl does well, the topic's own words are common."""
        self.threshold_.note(relevance)
        if not on_topic:
            self.off_topic_ += 1
            for place in wanted:
                self.seen_in_[place] += 1
            self._weigh()

    def _weigh(self) -> None:
        """Inverse document frequency over the off-topic pages, relative to the rarest term; rare enough is enough."""
        pages = self.off_topic_ + PRIOR_PAGES
        most = log(1 / PRIOR_SHARE)
        idf = [min(log(pages / (times + PRIOR_PAGES * PRIOR_SHARE)), most) for times in self.seen_in_]
        best = max(idf)
        self.weight_ = [max(value / best, LEAST_WEIGHT) for value in idf]


def _any_of(evidence: Mapping[int, float]) -> tuple[float, dict[int, float]]:
    """The probability that one of several independent causes is enough, each given as -log(1 - its probability)."""
    total = sum(evidence.values())
    if not total:
        return 0.0, {}
    probability = 1 - exp(-total)
    return probability, {place: value / total * probability for place, value in evidence.items()}


def _split(entries: Iterable[str]) -> tuple[dict[tuple[str, ...], str], dict[tuple[str, ...], str]]:
    """Wanted and unwanted terms: what to match, and how the user wrote it. Forms of one word are one term."""
    wanted: dict[tuple[str, ...], str] = {}
    unwanted: dict[tuple[str, ...], str] = {}
    for entry in entries:
        bare = entry.strip().strip("'\"")
        minus = bare.startswith("-")
        bare = bare.lstrip("-").strip(" '\"")
        term = tokens(bare)
        if not term:
            raise ConfigError("topic.words", f"{entry!r} has no word to look for, only stop words or signs")
        (unwanted if minus else wanted).setdefault(term, "-" + bare if minus else bare)
    if not wanted:
        raise ConfigError("topic.words", "name at least one word or phrase to look for")
    for term in wanted.keys() & unwanted.keys():
        raise ConfigError("topic.words", f"{wanted[term]!r} is both looked for and ruled out")
    return wanted, unwanted
