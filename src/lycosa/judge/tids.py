"""How similar is the page to a set of relevant pages? A term table that grows with each page found (TIDS, 2009).

    TIDS(t) = idf(t) * sum over the set of ln(1 + tf)        idf(t) = ln(N / df), or ln(1 + N / df) when smooth

A term's idf is the same for all pages, so two sums per term keep the table exact as pages are added.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from copy import copy
from dataclasses import dataclass, field
from itertools import repeat
from math import log1p, sqrt
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from lycosa.errors import ConfigError
from lycosa.lessons import SharesPages
from lycosa.text import STEMS, words
from lycosa.types import Page, Verdict, Visit

MOST_TERMS = 20_000  # above this the rarest are discarded, to bound memory and the saved state
MOST_MEMBERS = 1_000  # of the latest members: the similarities a quantile is taken over
MOST_HELD_OUT = 500  # examples compared with the others, about 0.1 ms each
SHOWN = 10

Numbers = npt.NDArray[np.float64]
Places = npt.NDArray[np.intp]


class Table:
    """The terms of a set of pages. Adding pages one by one gives exactly the table built from all of them."""

    def __init__(self, measure: Literal["cosine", "mean"] = "cosine", smooth: bool = False) -> None:
        self.measure = measure
        self.smooth = smooth
        self.pages = 0
        self.terms: list[str] = []
        self.words: list[str] = []  # for people: each in the spelling most frequent on the first page that has it
        self._place: dict[str, int] = {}
        self._df = np.zeros(0, np.intp)  # over-allocated: longer than the list of terms
        self._weight = np.zeros(0)  # the sum of ln(1 + tf)
        self._unit = np.zeros(0)  # the same, each page normalised to unit length: for the mean similarity
        self._scores: Numbers | None = None  # cached until the next page is added
        self._norm = 0.0
        self._logs = np.zeros(0)

    def add(self, counts: Counter[str], text: Iterable[str] = ()) -> None:
        """Add a page to the set, given the count of each stem; `text` has the words as written."""
        self._make_room(counts, text)
        places, logs = self._vector(counts)
        self._df[places] += 1
        self._weight[places] += logs
        self._unit[places] += logs / (self._length(logs) or 1.0)
        self.pages += 1
        self._scores = None
        if len(self.terms) > MOST_TERMS:
            self._forget()

    def raw(self) -> Numbers:
        """Return the TIDS of each term, in the order of `terms`."""
        df = self._used(self._df)
        if len(self._logs) <= 2 * self.pages:  # N and df are integers: a look-up is faster than computing
            self._logs = np.log(np.maximum(np.arange(4 * self.pages + 1), 1))
        idf = self._logs[self.pages + df if self.smooth else self.pages] - self._logs[df]
        raw: Numbers = self._used(self._weight) * idf
        return raw

    def scores(self) -> Numbers:
        """Return the TIDS values scaled so that the best term has 1, with a zero at the end for unknown terms."""
        if self._scores is None:
            self._scores = np.append(self.raw(), 0.0)
            self._scores /= self._scores.max() or 1.0
            self._norm = self._length(self._scores) if self.measure == "cosine" else 1.0
        return self._scores

    def compare(self, counts: Counter[str]) -> tuple[float, dict[str, float]]:
        """Return the similarity of a page to the set, 0 to 1, and the terms that contribute most."""
        places, logs = self._vector(counts)
        parts = self.scores()[places] * logs / (self._norm * self._length(logs) or 1.0)
        largest = np.argsort(-parts, kind="stable")[:SHOWN]
        return float(parts.sum()), {self.words[places[at]]: float(parts[at]) for at in largest if parts[at] > 0}

    def compare_few(self, counts: Counter[str]) -> float:
        """Like `compare`, for a handful of stems, where setting up arrays would take longer than the work."""
        score, place, cosine = self.scores().item, self._place.get, self.measure == "cosine"
        dot = size = 0.0
        for stem, times in counts.items():
            value = log1p(times)
            dot += value * score(place(stem, -1))
            size += value * value if cosine else value
        size = self._norm * (sqrt(size) if cosine else size)
        return dot / size if size else 0.0

    def mean(self) -> float:
        """Return the mean similarity of the set's own pages: exact, though the pages themselves are not kept."""
        total = (self.scores()[:-1] * self._used(self._unit)).sum()
        return float(total) / (self.pages * self._norm) if self.pages and self._norm else 0.0

    def held_out(self, counts: Counter[str]) -> float:
        """Return the similarity of one page of the set to the others."""
        places, logs = self._vector(counts)
        known = places >= 0
        others = copy(self)
        others.pages, others._df, others._weight = self.pages - 1, self._df.copy(), self._weight.copy()
        others._df[places[known]] -= 1
        others._weight[places[known]] -= logs[known]
        others._scores = None
        return others.compare_few(counts)

    def rows(self) -> list[tuple[str, float, int, float, str]]:
        """Return term, score, df, sum of ln(1 + tf) and readable word, best first."""
        scores, df, weight = self.scores()[:-1], self._used(self._df), self._used(self._weight)
        rows = zip(self.terms, scores.tolist(), df.tolist(), weight.tolist(), self.words, strict=True)
        return sorted(rows, key=lambda row: (-row[1], row[0]))

    def save(self) -> dict[str, Any]:
        return {
            "pages": self.pages,
            "terms": self.terms[:],
            "words": self.words[:],
            "df": self._used(self._df).tolist(),
            "weight": self._used(self._weight).tolist(),
            "unit": self._used(self._unit).tolist(),
        }

    def load(self, state: dict[str, Any]) -> None:
        self.pages, self.terms = state["pages"], list(state["terms"])
        self.words = list(state.get("words", self.terms))
        self._df = np.array(state["df"], np.intp)
        self._weight, self._unit = np.array(state["weight"], float), np.array(state["unit"], float)
        self._place = dict(zip(self.terms, range(len(self.terms)), strict=True))
        self._scores = None

    def _used(self, column: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return column[: len(self.terms)]

    def _vector(self, counts: Counter[str]) -> tuple[Places, Numbers]:
        """Return the position of each stem in the table, -1 if missing, and ln(1 + tf)."""
        places = np.fromiter(map(self._place.get, counts, repeat(-1)), np.intp, len(counts))
        return places, np.log1p(np.fromiter(counts.values(), np.float64, len(counts)))

    def _length(self, values: Numbers) -> float:
        """Return the length of a page or of the table. Without `@`, which for long vectors starts threads that cost
        more than they save."""
        return sqrt((values * values).sum()) if self.measure == "cosine" else float(values.sum())

    def _make_room(self, stems: Iterable[str], text: Iterable[str]) -> None:
        new = [stem for stem in stems if stem not in self._place]
        if new:
            self._place.update(zip(new, range(len(self.terms), len(self.terms) + len(new)), strict=True))
            self.terms += new
            self.words += map(_spellings(text).get, new, new)
        if len(self.terms) > len(self._df):
            more = np.zeros(len(self.terms), np.intp)
            self._df = np.concatenate((self._df, more))
            self._weight = np.concatenate((self._weight, more))
            self._unit = np.concatenate((self._unit, more))

    def _forget(self) -> None:
        """Keep two thirds of the maximum: terms on few pages say least about what the set has in common."""
        weight = self._used(self._weight)
        worth = self._used(self._df) + weight / (weight.max() + 1)  # by pages, then by weight
        keep = MOST_TERMS * 2 // 3
        places = np.sort(np.argpartition(worth, -keep)[-keep:])
        self._df, self._weight, self._unit = self._df[places], self._weight[places], self._unit[places]
        self.terms = list(map(self.terms.__getitem__, places.tolist()))
        self.words = list(map(self.words.__getitem__, places.tolist()))
        self._place = dict(zip(self.terms, range(len(self.terms)), strict=True))


@dataclass
class Tids(SharesPages):
    """A page is on topic if it is as similar to the set as half of the set's own pages were before they joined; it then
    joins them. (The published method: `idf` literal, `accept` mean.)"""

    examples: str  # a folder with relevant pages, .html or .txt
    measure: Literal["cosine", "mean"] = "cosine"
    idf: Literal["literal", "smooth"] = "smooth"
    accept: Literal["mean", "quantile"] | float = "quantile"  # of the set's similarities; or a number, 0 to 100
    accept_quantile: float = 0.5
    refresh: int = 100  # pages that join before the threshold is recomputed
    grow: bool = True

    table_: Table = field(init=False, repr=False, default_factory=Table)
    bound_: float = field(init=False, repr=False, default=0.0)  # similarity threshold for on topic
    joined_: int = field(init=False, repr=False, default=0)  # pages since the threshold was computed
    members_: list[float] = field(init=False, repr=False, default_factory=list)  # their similarity before they joined

    def prepare(self, folder: Path, read: Callable[[Path], Iterable[tuple[str, Page]]]) -> None:
        """Build the table from the example pages and measure how similar they are to it."""
        self._check(folder)
        self.table_ = Table(self.measure, smooth=self.idf == "smooth")
        pages: list[Counter[str]] = []
        for _, page in read(folder / self.examples):
            text = _text_of(page)
            if counts := _count(text):
                pages.append(counts)
                self.table_.add(counts, text)
        if len(pages) < 2:
            raise ConfigError(
                "topic.examples",
                f"{self.examples} has {len(pages)} pages with text; at least two are needed, ten or more are better",
            )
        if not self.table_.scores().any():
            raise ConfigError(
                "topic.examples", f'the pages of {self.examples} have all terms in common; try idf = "smooth"'
            )
        sample = pages[:: (len(pages) - 1) // MOST_HELD_OUT + 1]
        self.members_ = [100 * self.table_.held_out(counts) for counts in sample]
        self._refresh()
        if not self.bound_ and self.accept == "quantile":
            raise ConfigError(
                "topic.accept",
                f"the pages of {self.examples} have too little in common for a quantile;"
                ' add pages on the subject, or set accept = "mean" or a number',
            )

    def freeze(self) -> None:
        """Let no more pages join the set."""
        self.grow = False

    async def judge(self, page: Page) -> Verdict:
        """Return the similarity as relevance; `why` sums to it, unless more than ten terms contribute."""
        share, why = self.table_.compare(_count(_text_of(page)))
        on_topic = share > 0 and 100 * share >= self.bound_
        return Verdict(min(share, 1.0), on_topic, why=why)

    def learn(self, visit: Visit) -> None:
        """Add a page on topic to the set."""
        if visit.verdict.on_topic and self.grow:
            text, similarity = _text_of(visit.page), 100 * visit.verdict.relevance
            counts = _count(text)
            self.table_.add(counts, text)
            self._joined(similarity)
            if self.lessons_ is not None:
                spelled = _spellings(text)
                self.lessons_.append((similarity, [(times, spelled[stem]) for stem, times in counts.items()]))

    def study(self, lesson: dict[str, Any]) -> None:
        """Add pages that joined the set of another shard."""
        for similarity, found in lesson["pages"]:
            self.table_.add(Counter({STEMS[word]: times for times, word in found}), [word for _, word in found])
            self._joined(similarity)

    def similarity(self, text: Iterable[str]) -> float:
        """Return the similarity of a few lower-case words to the set, 0 to 100: the score of an anchor."""
        return 100 * self.table_.compare_few(_count(text))

    def relevance_of(self, words: Sequence[str]) -> float:
        """Return the similarity as a relevance, 0 to 1."""
        return min(1.0, self.similarity(words) / 100)

    def table(self, top: int) -> list[tuple[str, float]]:
        """Return the best terms and their scores, the first being 1."""
        return [(word, score) for _, score, _, _, word in self.table_.rows()[:top]]

    def describe(self, top: int) -> list[tuple[str, list[tuple[str, float]]]]:
        """Return the head of the table."""
        return [(f"terms of {self.table_.pages} pages", self.table(top))]

    def write_tsv(self, path: Path) -> None:
        """Write the whole table for other programs: stem, score, number of pages, sum of ln(1 + tf), readable word."""
        found = self.table_.rows()
        rows = (f"{term}\t{score:.6f}\t{df}\t{weight:.6f}\t{word}\n" for term, score, df, weight, word in found)
        with path.open("w", encoding="utf-8") as file:
            file.writelines(("term\tscore\tpages\tweight\tword\n", *rows))

    def save(self) -> dict[str, Any]:
        """Return the table, including the examples, and the threshold."""
        own = {"bound": self.bound_, "joined": self.joined_, "members": self.members_[:], "options": self._options()}
        return own | self.table_.save()

    def load(self, state: dict[str, Any]) -> None:
        """Resume from what `save` returned, not from the examples alone; options changed since then take effect."""
        if state["options"]["measure"] != self.measure:
            return  # the saved sums and similarities use another measure: start from scratch
        self.table_.load(state)
        self.bound_, self.joined_, self.members_ = state["bound"], state["joined"], list(state["members"])
        if state["options"] != self._options():
            self._refresh()

    def _options(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("measure", "idf", "accept", "accept_quantile")}

    def _check(self, folder: Path) -> None:
        if not self.examples or not (folder / self.examples).is_dir():
            raise ConfigError("topic.examples", f"there is no folder {self.examples!r} in {folder}")
        if isinstance(self.accept, float | int) and not 0 <= self.accept <= 100:
            raise ConfigError("topic.accept", f"{self.accept} is not between 0 and 100")
        if not 0 <= self.accept_quantile <= 1:
            raise ConfigError("topic.accept_quantile", f"{self.accept_quantile} is not between 0 and 1")
        if self.refresh < 1:
            raise ConfigError("topic.refresh", f"{self.refresh} is not above 0")

    def _joined(self, similarity: float) -> None:
        self.members_.append(similarity)
        del self.members_[:-MOST_MEMBERS]
        self.joined_ += 1
        if self.joined_ >= self.refresh:
            self._refresh()

    def _refresh(self) -> None:
        self.joined_ = 0
        if self.accept == "mean":
            self.bound_ = 100 * self.table_.mean()
        elif self.accept == "quantile":
            self.bound_ = float(np.quantile(self.members_, self.accept_quantile))
        else:
            self.bound_ = float(self.accept)


def _text_of(page: Page) -> list[str]:
    return [*words(page.title), *page.words]


def _count(text: Iterable[str]) -> Counter[str]:
    """Count the stems of a text, without stop words."""
    counts = Counter(map(STEMS.__getitem__, text))
    del counts[""]
    return counts


def _spellings(text: Iterable[str]) -> dict[str, str]:
    """Return, for each stem, its most frequent word; ties go to the first."""
    return {STEMS[word]: word for word, _ in reversed(Counter(text).most_common())}
