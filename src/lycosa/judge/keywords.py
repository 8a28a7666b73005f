"""How much is the page about these words and phrases? A judge that needs no training.

The words give a page a score (`term_scores.py`). What a score is worth is learned from the pages of the crawl
(`calibration.py`), so that the relevance is a probability.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import nan
from pathlib import Path
from typing import Any, Literal, NamedTuple
from urllib.parse import unquote

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from lycosa.errors import ConfigError
from lycosa.judge.calibration import Calibration, Numbers, fit
from lycosa.judge.company import Company
from lycosa.judge.hashed_words import Places, places_of
from lycosa.judge.phrases import Phrases, tokens
from lycosa.judge.term_scores import TermScores
from lycosa.lessons import SharesPages
from lycosa.text import words
from lycosa.types import Page, Verdict, Visit

TYPICAL_WORDS = 500  # a page of this length is neither short nor long
STRONG = 0.6  # pages that score at least this are examples of on topic, those up to half of it of off topic
LEAST_STRONG, BEST_SHARE = 0.25, 0.05  # if no score is that high, the top 5 % of the pages with a word are examples
TOLD = 0.005  # smallest change in the relevance of a page that is reported
REMEMBERED = 300  # pages to learn from; their verdicts are revised when it changes
FIRST_FIT, MOST_BETWEEN = 20, 500  # pages before the first calibration, and upper bound between two
# What it takes to make a new version, since judging the remembered pages again and rescoring their links is slow: this
# share of the verdicts `on_topic` changes, or the mean probability changes by this much.
FLIPPED, NOTICEABLE = 0.02, 0.02
WORST_SHARE = 0.15  # if hardly any score is that low, this share counts as weak
LEAST_OFF, SURELY_OFF = 10, 0.25  # pages off topic needed to tell how common a word is, and their maximum probability
MOST_COMMON = 5.0  # upper bound on the mentions subtracted for being common on pages off topic
MANY_ALIKE = 200  # strong pages, or weak ones, after which only some are learned from
MOST_RATED = 10_000  # short texts whose relevance is remembered
MOST_URL = 300  # characters; longer URLs are not remembered
SHOWN = 10


class Weights(Struct, frozen=True, forbid_unknown_fields=True):
    """How many mentions in the text of a typical page one mention in this field is worth."""

    title: float = 3.0
    text: float = 1.0
    url: float = 1.0


class Remembered(NamedTuple):
    """A judged page: all that is needed to judge it again."""

    url: str  # as requested; empty if the verdict will not be revised
    mentions: tuple[tuple[int, float], ...]
    company: float | None
    on_topic: bool  # as last reported, like its relevance
    relevance: float


class Reading(NamedTuple):
    """What was found on a page."""

    page: Page
    mentions: tuple[tuple[int, float], ...]  # number of the term, and how often it occurs
    places: Places | None  # of its words in the company; None if not needed
    company: float | None
    score: float = 0.0


@dataclass
class Keywords(SharesPages):
    """A page is on topic if it has enough of `words`; an entry with a leading minus counts against the page.

    With `adapt`, the judge learns during the crawl what a score is worth, and relevance is a probability. Without it,
    the relevance is the score, and a page always gets the same verdict. The threshold is always applied as given.
    """

    words: list[str]
    model: Literal["bm25", "tfidf"] = "bm25"
    k1: float = 3.0  # mentions on a typical page that are worth half the maximum
    b: float = 0.5  # 0: a long page needs no more mentions than a short one; 1: in proportion to its length
    weights: Weights = field(default_factory=Weights)
    threshold: float = 0.5
    adapt: bool = True

    wanted_: list[str] = field(init=False, repr=False, default_factory=list)  # as the user wrote them
    unwanted_: list[str] = field(init=False, repr=False, default_factory=list)  # the same, with their minus
    names_: list[str] = field(init=False, repr=False, default_factory=list)  # both
    phrases_: Phrases = field(init=False, repr=False, default_factory=lambda: Phrases([]))  # wanted, then unwanted
    terms_: TermScores = field(init=False, repr=False, default_factory=TermScores)
    common_: list[float] = field(init=False, repr=False, default_factory=list)  # mentions of each on pages off topic
    company_: Company = field(init=False, repr=False, default_factory=Company)
    calibration_: Calibration = field(init=False, repr=False, default_factory=Calibration)
    strong_: float = field(init=False, repr=False, default=STRONG)
    weak_: float = field(init=False, repr=False, default=STRONG / 2)
    seen_: list[Remembered] = field(init=False, repr=False, default_factory=list)
    pages_: int = field(init=False, repr=False, default=0)
    next_fit_: int = field(init=False, repr=False, default=FIRST_FIT)
    version_: int = field(init=False, repr=False, default=1)
    told_: int = field(init=False, repr=False, default=1)  # the version whose verdicts `revised` has returned
    rated_: tuple[list[float], dict[Any, float]] = field(init=False, repr=False, default_factory=lambda: ([], {}))
    last_: Reading | None = field(init=False, repr=False, default=None)  # of the last page judged, to read it only once

    def prepare(self, folder: Path, read: Callable[[Path], Iterable[tuple[str, Page]]]) -> None:
        """Check the options and compile the phrases; no file is read."""
        self._check()
        wanted, unwanted = _split(self.words)
        self.wanted_, self.unwanted_ = list(wanted.values()), list(unwanted.values())
        self.names_ = self.wanted_ + self.unwanted_
        self.phrases_ = Phrases([*wanted, *unwanted])
        self.company_ = Company({token for term in (*wanted, *unwanted) for token in term})
        self.common_ = [0.0] * len(wanted)
        self.terms_ = TermScores(len(wanted), self.model, self.k1)

    async def judge(self, page: Page) -> Verdict:
        """Judge by text, title and URL; the reasons in `why` sum to the relevance, unless there are more than ten."""
        reading = self._read(page)
        score, parts = self.terms_.of_page(reading.mentions, self.common_)
        self.last_ = reading._replace(score=score)
        return self._verdict(score, parts, reading.company)

    def learn(self, visit: Visit) -> None:
        """Remember the page and recalibrate the scores from time to time."""
        if not self.adapt or not visit.is_distinct:
            return
        last, verdict = self.last_, visit.verdict
        reading = last if last and last.page is visit.page else self._read_again(visit.page)
        self.last_ = None
        strong, taught = reading.score >= self.strong_, None
        if (strong or reading.score <= self.weak_) and self._is_taught(strong):
            places = places_of(visit.page.words) if reading.places is None else reading.places
            company = self.company_.of(places) if reading.company is None else reading.company
            self.company_.add(places, strong)
            reading, taught = reading._replace(company=company), places
        url = visit.reply.link.url
        url = url if reading.mentions and len(url) <= MOST_URL else ""
        told = verdict.on_topic, round(verdict.relevance, 4)
        if self.lessons_ is not None:
            taught_bytes = b"" if taught is None else taught.tobytes()
            self.lessons_.append((reading.mentions, reading.company, *told, taught_bytes, strong))
        self._remember(Remembered(url, reading.mentions, reading.company, *told))

    def _remember(self, page: Remembered) -> None:
        self.seen_.append(page)
        del self.seen_[:-REMEMBERED]
        self.pages_ += 1
        if self.pages_ >= self.next_fit_:
            self.next_fit_ = self.pages_ + min(max(FIRST_FIT, self.pages_ // 2), MOST_BETWEEN)
            self._fit()

    def study(self, lesson: dict[str, Any]) -> None:
        """Learn from pages of another shard, whose verdicts are not ours to revise."""
        for mentions, company, on_topic, relevance, taught, strong in lesson["pages"]:
            if taught:
                self.company_.add(np.frombuffer(taught, np.uint16), strong)
            self._remember(Remembered("", tuple(map(tuple, mentions)), company, on_topic, relevance))

    def revised(self) -> list[tuple[str, Verdict]]:
        """Return URL and new verdict of the remembered pages whose verdict has changed, once."""
        if self.told_ == self.version_:
            return []
        self.told_ = self.version_
        scores = self.terms_.of_pages(self._times(), self.common_)
        relevances = self.calibration_.probabilities(scores, self._companies())
        found = []
        for number, (on_topic, relevance) in enumerate(zip(self._passes(relevances), relevances, strict=True)):
            one = self.seen_[number]
            if one.url and (on_topic != one.on_topic or abs(relevance - one.relevance) > TOLD):
                verdict = self._verdict(*self.terms_.of_page(one.mentions, self.common_), one.company)
                self.seen_[number] = one._replace(on_topic=verdict.on_topic, relevance=round(verdict.relevance, 4))
                found.append((one.url, verdict))
        return found

    def relevance_of(self, words: Sequence[str]) -> float:
        """Estimate from a few words, an anchor or the words around it, the relevance of the page behind the link."""
        return self.relevances_of([words])[0]

    def relevances_of(self, many: Sequence[Sequence[str]]) -> list[float]:
        """Like `relevance_of`, for all links of a page. Most have none of the words, and others recur."""
        if self.rated_[0] is not self.common_ or len(self.rated_[1]) > MOST_RATED:
            self.rated_ = self.common_, {}
        rated, are_words, found = self.rated_[1], self.phrases_.are_words, [0.0] * len(many)
        for at, told in self.phrases_.telling(many).items():
            text = many[at]
            key = len(text), tuple(told if are_words else text)
            found[at] = rated[key] if key in rated else rated.setdefault(key, self._rated(text))
        return found

    def _rated(self, text: Sequence[str]) -> float:
        weight = [1 / (1 + common) for common in self.common_]
        return self.terms_.of_texts([self._in_text(text)], weight)[0]

    def describe(self, top: int) -> list[tuple[str, list[tuple[str, float]]]]:
        """Return the wanted terms with their weights, and the unwanted ones."""
        sections = [
            ("looked for", [(term, 1 / (1 + common)) for term, common in zip(self.wanted_, self.common_, strict=True)]),
            ("ruled out", [(term, -1.0) for term in self.unwanted_]),
        ]
        return [(heading, rows[:top]) for heading, rows in sections if rows]

    def save(self) -> dict[str, Any]:
        """Return what was learned, about twenty kilobytes; a hundred at most, if many URLs are long."""
        own = {name: getattr(self, f"{name}_") for name in _SIMPLE}
        kept = {"words": self.names_, "common": self.common_[:], "seen": self.seen_[:]}
        learned = self.calibration_
        parts = [learned.shift, learned.slope, learned.weight, learned.middle]
        return {**own, **kept, "calibration": parts, "company": self.company_.save()}

    def load(self, state: dict[str, Any]) -> None:
        """Resume from what `save` returned; if the words have changed, start from scratch."""
        if state["words"] != self.names_:
            return
        for name in _SIMPLE:
            setattr(self, f"{name}_", state[name])
        self.common_ = list(state["common"])
        self.calibration_ = Calibration(*state["calibration"])
        self.company_.load(state["company"])
        self.seen_ = [
            Remembered(url, tuple((place, times) for place, times in mentions), *told)
            for url, mentions, *told in state["seen"]
        ]

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

    def _is_taught(self, strong: bool) -> bool:
        """Return whether to learn from another such page: after many, one in four is enough."""
        return self.company_.pages[strong] < MANY_ALIKE or self.pages_ % 4 == 0

    def _read(self, page: Page) -> Reading:
        """Read a page. Its company is skipped if it has none of the words, since then it cannot be relevant."""
        if not self.adapt:
            return Reading(page, tuple(self._mentions(page).items()), None, None)
        mentions = tuple([(place, round(times, 7)) for place, times in self._mentions(page).items()])
        if not mentions:
            return Reading(page, mentions, None, None)
        places = places_of(page.words)
        return Reading(page, mentions, places, self.company_.of(places))

    def _read_again(self, page: Page) -> Reading:
        """Read a page that others were judged after."""
        reading = self._read(page)
        return reading._replace(score=self.terms_.of_page(reading.mentions, self.common_)[0])

    def _mentions(self, page: Page) -> dict[int, float]:
        """Return how often each term found would occur in the text if the page had the typical length and no title."""
        mentions = self._in_text(page.words)
        url = unquote(page.url) if "%" in page.url else page.url
        for text, weight in ((page.title, self.weights.title), (url, self.weights.url)):
            for place, times in self.phrases_.count(words(text)).items():
                mentions[place] = mentions.get(place, 0.0) + times * weight
        return mentions

    def _in_text(self, text: Sequence[str]) -> dict[int, float]:
        one = self.weights.text / (1 - self.b + self.b * max(len(text), 1) / TYPICAL_WORDS)
        return {place: times * one for place, times in self.phrases_.count(text).items()}

    def _verdict(self, score: float, parts: Mapping[int, float], company: float | None) -> Verdict:
        why = {self.names_[place]: part for place, part in parts.items() if part}
        relevance, version = score, ""
        if self.adapt:
            alone = self.calibration_.probability(score)
            relevance, version = self.calibration_.probability(score, company), f"keywords {self.version_}"
            if not self.calibration_.is_prior:
                why |= {"(calibration)": alone - score, "(other words)": relevance - alone}
        largest = sorted(why, key=lambda name: -abs(why[name]))[:SHOWN]
        on_topic = relevance > 0 and relevance >= self.threshold
        return Verdict(relevance, on_topic, why={name: why[name] for name in largest if why[name]}, model=version)

    def _fit(self) -> None:
        """Recalibrate; if that changes next to nothing, keep the old calibration."""
        times, companies = self._times(), self._companies()
        before = self.calibration_.probabilities(self.terms_.of_pages(times, self.common_), companies)
        common = self._common(times, off=before < SURELY_OFF)
        scores = self.terms_.of_pages(times, common)
        self.strong_, self.weak_ = _extremes(scores)
        forgotten = self.pages_ - len(self.seen_)
        calibration = fit(scores, companies, self.strong_, self.weak_, self.calibration_, forgotten)
        after = calibration.probabilities(scores, companies)
        moved = np.abs(after - before)[np.maximum(after, before) > 0]
        now, then = self._passes(after), self._passes(before)
        if (now != then).sum() > FLIPPED * (now | then).sum() or (moved.size and moved.mean() >= NOTICEABLE):
            self.common_, self.calibration_ = common, calibration
            self.version_ += 1

    def _passes(self, relevances: Numbers) -> NDArray[np.bool_]:
        return (relevances > 0) & (relevances >= self.threshold)

    def _companies(self) -> Numbers:
        return np.array([nan if one.company is None else one.company for one in self.seen_])

    def _times(self) -> Numbers:
        """Return the mentions on the remembered pages: a row for each page, a column for each term."""
        times = np.zeros((len(self.seen_), len(self.names_)))
        found = [(row, *mention) for row, one in enumerate(self.seen_) for mention in one.mentions]
        if found:
            rows, places, numbers = zip(*found, strict=True)
            times[rows, places] = numbers
        return times

    def _common(self, times: Numbers, off: NDArray[np.bool_]) -> list[float]:
        """Return how often each term occurs on the typical page off topic: a menu on every page says nothing.

        If no page stands out from that, it is the topic that is common, not a menu.
        """
        if off.sum() < LEAST_OFF:
            return self.common_
        number = len(self.wanted_)
        found: list[float] = np.minimum(np.median(times[off, :number], axis=0), MOST_COMMON).tolist()
        return found if self.terms_.of_pages(times, found).max() >= 0.5 else [0.0] * number


_SIMPLE = ("pages", "next_fit", "version", "told", "strong", "weak")  # saved as is


def _extremes(scores: Numbers) -> tuple[float, float]:
    """Return the scores above and below which pages are examples of on topic and off topic."""
    told = scores[scores > 0]
    best = float(np.quantile(told, 1 - BEST_SHARE)) if told.size >= LEAST_OFF else STRONG
    strong, worst = min(STRONG, max(LEAST_STRONG, best)), float(np.quantile(scores, WORST_SHARE))
    return (max(strong, (worst + best) / 2), worst) if worst > strong / 2 else (strong, strong / 2)


def _split(entries: Iterable[str]) -> tuple[dict[tuple[str, ...], str], dict[tuple[str, ...], str]]:
    """Return wanted and unwanted terms: what to match, and how the user wrote it. Forms of one word are one term."""
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
