"""How much is a page about the concepts of a topic map, ontology or thesaurus?

    relevance = sum over concepts of  tf / TFmax * log10((D + D0) / (df + d0)) * weight  / sum of all weights

tf: how often the page names the concept; TFmax: the count of its most frequent word (or concept); D: pages judged so
far; df: those of them that name the concept. D0 = d0 = 0 is the formula as published.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import nlargest
from math import log10
from pathlib import Path
from typing import Annotated, Any, Literal

from msgspec import Meta

from lycosa import ontology
from lycosa.errors import ConfigError
from lycosa.ontology.concepts import Concepts
from lycosa.ontology.matcher import Matcher
from lycosa.ontology.weights import Weights, roles, weigh
from lycosa.text import words
from lycosa.types import BadInput, Page, Verdict, Visit

_REASONS = 10  # concepts named in a verdict
NotNegative = Annotated[float, Meta(ge=0)]


@dataclass
class Ontology:
    """A page is on topic if its relevance reaches the limit."""

    file: str  # XTM 1.0 or 2.0, Turtle, RDF/XML, JSON-LD, ...
    focus: list[str] = field(default_factory=list)  # ids, IRIs or names; none: all concepts have equal weight
    weights: Weights = field(default_factory=Weights)
    limit: NotNegative = 0.02
    tf_scope: Literal["words", "topics"] = "words"  # what TFmax is taken over
    smoothing: tuple[NotNegative, NotNegative] = (100.0, 1.0)  # D0, d0
    idf: str = ""  # a table from `write_idf`: the same page then has the same relevance in every crawl
    languages: list[str] = field(default_factory=list)  # use names in these languages and names without one; none: all
    concepts_: Concepts = field(init=False, repr=False, default_factory=lambda: Concepts([], []))
    focus_: list[str] = field(init=False, repr=False, default_factory=list)
    weights_: dict[str, float] = field(init=False, repr=False, default_factory=dict)
    ids_: list[str] = field(init=False, repr=False, default_factory=list)  # the order of all that follows
    shares_: list[float] = field(init=False, repr=False, default_factory=list)  # of the sum of all weights
    matcher_: Matcher = field(init=False, repr=False, default_factory=lambda: Matcher([]))
    pages_: int = field(init=False, repr=False, default=0)
    df_: list[int] = field(init=False, repr=False, default_factory=list)
    last_: tuple[Page | None, tuple[Mapping[int, int], int]] = field(init=False, repr=False, default=(None, ({}, 0)))
    frozen_: tuple[int, list[int]] | None = field(init=False, repr=False, default=None)  # D and df from the table

    def prepare(self, folder: Path, read: Callable[[Path], Iterable[tuple[str, Page]]]) -> None:
        """Read the map and weigh its concepts, once per crawl."""
        if self.smoothing[0] < self.smoothing[1]:
            raise ConfigError("topic.smoothing", "the first number must not be less than the second")
        try:
            self.concepts_ = ontology.read(folder / self.file)
        except BadInput as error:
            raise ConfigError("topic.file", str(error)) from error
        self.focus_ = [self._focal(wanted) for wanted in self.focus]
        self.weights_ = weigh(self.concepts_, self.focus_, self.weights)
        self.ids_ = list(self.weights_)
        total = sum(self.weights_.values())
        if not total:
            raise ConfigError("topic.weights", "all concepts have the weight 0")
        self.shares_ = [weight / total for weight in self.weights_.values()]
        self.matcher_ = Matcher([self._names(id) for id in self.ids_])
        if len(self.matcher_.silent) == len(self.ids_):
            raise ConfigError("topic.languages", f"no concept of {self.concepts_.source} has a name in these languages")
        self.pages_, self.df_ = 0, [0] * len(self.ids_)
        if self.idf:
            pages, counts = read_idf(folder / self.idf)
            self.frozen_ = pages, [counts.get(id, 0) for id in self.ids_]

    async def judge(self, page: Page) -> Verdict:
        """Return the verdict; the page itself counts towards the document frequencies."""
        counts, most = self._counted(page)
        if not counts:
            return Verdict(on_topic=self.limit <= 0)
        parts = self._parts(counts, most, 1)
        relevance = sum(parts.values())
        return Verdict(relevance=min(1.0, relevance), on_topic=relevance >= self.limit, why=self._why(parts))

    def learn(self, visit: Visit) -> None:
        """Count the page among those judged."""
        if visit.is_distinct:
            self.pages_ += 1
            for place in self._counted(visit.page)[0]:
                self.df_[place] += 1

    def _counted(self, page: Page) -> tuple[Mapping[int, int], int]:
        """Return the count of each concept and of the most frequent word, cached since `learn` follows `judge`."""
        if self.last_[0] is not page:
            text = [*words(page.title), "", *page.words] if page.title else page.words  # no name spans the gap
            self.last_ = page, self.matcher_.count(text)
        return self.last_[1]

    def relevance_of(self, words: Sequence[str]) -> float:
        """Return the relevance of a few words, which are not counted as a page."""
        counts, most = self.matcher_.count(words)
        return min(1.0, sum(self._parts(counts, most).values())) if counts else 0.0

    def _parts(self, counts: Mapping[int, int], most: int, more: int = 0) -> dict[int, float]:
        """Return what each concept adds to the relevance; `more` pages, besides those learned, have all of them."""
        most = max(most if self.tf_scope == "words" else 0, *counts.values())
        return {place: tf / most * self._idf(place, more) * self.shares_[place] for place, tf in counts.items()}

    def _why(self, parts: dict[int, float]) -> dict[str, float]:
        reasons: dict[str, float] = {}
        for place in nlargest(_REASONS, parts, key=parts.__getitem__):
            label = self.concepts_[self.ids_[place]].label
            reasons[label] = reasons.get(label, 0.0) + parts[place]  # two concepts may have the same name
        return dict(sorted(reasons.items(), key=lambda reason: -reason[1]))

    def _idf(self, place: int, more: int) -> float:
        pages, df = self.frozen_ or (self.pages_, self.df_)
        more_pages, more_df = self.smoothing if self.frozen_ else (self.smoothing[0] + more, self.smoothing[1] + more)
        # a concept missing from the table counts as seen once if there is no smoothing, or log10 would fail
        return log10((pages + more_pages) / ((df[place] + more_df) or 1.0))

    def _focal(self, wanted: str) -> str:
        found = self.concepts_.find(wanted)
        if len(found) == 1:
            return found[0]
        source = self.concepts_.source
        if found:
            raise ConfigError("topic.focus", f"{wanted!r} means {len(found)} topics of {source}: {', '.join(found)}")
        nearest = ", ".join(self.concepts_.nearest(wanted))
        raise ConfigError(
            "topic.focus", f"no topic {wanted!r} in {source}" + (f" (nearest: {nearest})" if nearest else "")
        )

    def _names(self, id: str) -> list[str]:
        wanted = {language.lower() for language in self.languages}
        return [
            name.text
            for name in self.concepts_[id].names
            if not wanted or not name.language or {name.language, name.language.split("-")[0]} & wanted
        ]

    def save(self) -> dict[str, Any]:
        """Return what was learned: the number of pages, and how many of them name each concept."""
        return {"pages": self.pages_, "df": {id: df for id, df in zip(self.ids_, self.df_, strict=True) if df}}

    def load(self, state: dict[str, Any]) -> None:
        """Resume where a crawl stopped; concepts no longer in the map are discarded."""
        self.pages_ = state["pages"]
        self.df_ = [state["df"].get(id, 0) for id in self.ids_]

    def write_idf(self, path: Path) -> None:
        """Freeze the counts in a table that other crawls can share."""
        rows = [f"{df}\t{id}\n" for id, df in zip(self.ids_, self.df_, strict=True) if df]
        path.write_text("".join([f"{self.pages_}\n", *rows]), encoding="utf-8")

    def describe(self, top: int) -> list[tuple[str, list[tuple[str, float]]]]:
        """Return the concepts and their weights, the focus first, at most `top` of each kind; and unmatchable ones."""
        sections: dict[str, list[tuple[str, float]]] = {"focus": [], "hierarchy": [], "association": [], "rest": []}
        for id, found in roles(self.concepts_, self.focus_).items():
            kind = next(kind for kind in sections if kind in found)
            sections[kind].append((self.concepts_[id].label, self.weights_[id]))
        silent = [self.ids_[place] for place in self.matcher_.silent]
        sections["no name to look for"] = [(self.concepts_[id].label, self.weights_[id]) for id in silent]
        return [(kind, rows[:top]) for kind, rows in sections.items() if rows]


def read_idf(path: Path) -> tuple[int, dict[str, int]]:
    """Read the number of pages, from the first line, and how many of them name each concept, from `df<tab>id` lines."""
    try:
        first, *lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError) as error:
        raise ConfigError("topic.idf", f"{path}: cannot be read: {error}") from error
    counts: dict[str, int] = {}
    at = 1
    try:
        pages = int(first)
        for line in lines:
            at += 1
            df, _, id = line.partition("\t")
            counts[id] = int(df)
    except ValueError as error:
        raise ConfigError("topic.idf", f"{path}, line {at}: not a table of pages and counts") from error
    if pages < max(counts.values(), default=1) or min(counts.values(), default=0) < 0:
        raise ConfigError("topic.idf", f"{path}: more pages name a concept than there are pages")
    return pages, counts
