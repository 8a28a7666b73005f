"""From a page to class probabilities and the terms behind them: what the trained judges share."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from lycosa.judge import model_file
from lycosa.judge.features import Features, Fields, Floats, Ids
from lycosa.judge.linear import Linear
from lycosa.judge.neural import Network
from lycosa.judge.text_relevance import relevances
from lycosa.types import BadInput, Page, Verdict

REASONS = 10
_TINY = 1e-300
_LARGEST = 1e9  # training never yields such a weight, and sums of larger ones may overflow
Section = tuple[str, list[tuple[str, float]]]  # a heading, and terms with their weights, heaviest first


class Head(Protocol):
    """One model; several models vote."""

    def look(self, ids: Ids, values: Floats) -> tuple[Floats, Floats]: ...


class Facts(Struct, frozen=True):
    """The metadata of a model file."""

    labels: list[str]
    terms: list[str]
    words: list[str]  # the terms as a person reads them
    fields: Fields
    plain: bool
    heads: list[str]
    top: list[list[tuple[str, float]]] = []  # the terms that count most for each label
    options: dict[str, Any] = {}  # training options
    source: str = ""  # digest of the training data


class Focus(NamedTuple):
    """Which classes are the topic, and when a page is on topic."""

    target: NDArray[np.bool_]
    threshold: float
    hard: bool = False  # the best class must be a target class


@dataclass
class Opinion:
    """The output of the heads for one page."""

    probabilities: NDArray[np.float64]  # heads by classes
    rows: list[Floats]  # for each head, what one unit of each term adds to each class
    ids: Ids
    values: Floats


@dataclass
class Classifier:
    """A trained classifier; judging needs nothing else."""

    features: Features
    heads: Sequence[Head]
    facts: Facts

    @property
    def labels(self) -> list[str]:
        return self.facts.labels

    def look(self, ids: Ids, values: Floats) -> Opinion:
        seen = [head.look(ids, values) for head in self.heads]
        scores = np.array([scores for scores, _ in seen], np.float64)
        scores -= scores.max(axis=1, keepdims=True)
        odds = np.exp(scores)
        return Opinion(odds / odds.sum(axis=1, keepdims=True), [rows for _, rows in seen], ids, values)

    def verdict(self, page: Page, focus: Focus) -> Verdict:
        return self.decide(*self.features.read(page), focus)

    def decide(self, ids: Ids, values: Floats, focus: Focus) -> Verdict:
        """Judge by the probability of the target classes. A page without known terms is off topic."""
        if not ids.size:
            return Verdict()
        opinion = self.look(ids, values)
        relevance = agreed(opinion.probabilities @ focus.target, focus.threshold)
        classes = opinion.probabilities.mean(axis=0)
        best = int(classes.argmax())
        on_topic = relevance >= focus.threshold and (not focus.hard or bool(focus.target[best]))
        probabilities = dict(zip(self.labels, classes.tolist(), strict=True))
        return Verdict(relevance, on_topic, self.labels[best], probabilities, self._why(opinion, focus.target))

    def _why(self, opinion: Opinion, target: NDArray[np.bool_]) -> dict[str, float]:
        """Return the terms that moved the log-odds of the target most."""
        moved = contributions(opinion, target)
        most = np.argsort(-np.abs(moved))[:REASONS]
        words = self.facts.words
        return {words[opinion.ids[place]]: float(moved[place]) for place in most.tolist()}

    def text_relevances(self, many: Sequence[Sequence[str]], focus: Focus) -> list[float]:
        """Return the relevance of several short texts; without known words, it is the prior."""
        head = self.heads[0]
        if not many:
            return []
        if len(self.heads) == 1 and isinstance(head, Linear):
            return relevances(self.features, head, many, focus.target)
        opinions = (self.look(*self.features.read_few(words)).probabilities for words in many)
        return [agreed(probabilities @ focus.target, focus.threshold) for probabilities in opinions]

    def describe(self, top: int) -> list[Section]:
        """Return, for each class, the terms that count most for it on its own training pages."""
        return [(label, terms[:top]) for label, terms in zip(self.labels, self.facts.top, strict=True)]

    def save(self, path: Path, kind: str) -> None:
        arrays = {"idf": self.features.idf}
        for number, head in enumerate(self.heads):
            arrays |= {f"{number}.{name}": array for name, array in vars(head).items()}
        model_file.save(path, kind, self.facts, arrays)


def untrained() -> Classifier:
    """Return a classifier that knows no terms, so that every page is off topic: the state before `prepare`."""
    return Classifier(Features([], np.zeros(0, np.float32), {}), [], Facts([], [], [], {}, False, []))


def agreed(relevances: NDArray[np.float64], threshold: float) -> float:
    """Return the mean of the majority's heads, so that it exceeds the threshold exactly when most heads do."""
    if len(relevances) == 1:
        return float(relevances[0])
    above = relevances >= threshold
    majority = above if 2 * above.sum() > len(above) else ~above
    return float(relevances[majority].mean())


def contributions(opinion: Opinion, target: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return what each term adds to the log-odds of target against rest for this page, as the mean over the heads.

    With two classes and a linear model this is exact; with more, the classes on each side are weighted by their share.
    """
    moved = np.zeros(len(opinion.ids))
    for probabilities, rows in zip(opinion.probabilities, opinion.rows, strict=True):
        side = np.where(target, probabilities @ target, -(probabilities @ ~target))
        direction = np.divide(probabilities, side, out=np.zeros(len(side)), where=np.abs(side) > _TINY)
        moved += opinion.values * (rows @ direction.astype(np.float32))
    return moved / len(opinion.rows)


def load(path: Path, kind: str) -> Classifier:
    """Load a saved classifier and check that its parts fit together."""
    facts, arrays = model_file.load(path, kind, Facts)
    try:
        heads = [_head(name, number, arrays) for number, name in enumerate(facts.heads)]
        found = Classifier(Features(facts.terms, arrays["idf"], facts.fields, facts.plain), heads, facts)
        _check(found)
    except (KeyError, ValueError, TypeError, IndexError) as error:
        raise BadInput(f"{path}: damaged: its parts do not match ({error})") from None
    return found


def _head(name: str, number: int, arrays: Mapping[str, NDArray[Any]]) -> Head:
    mine = {key.partition(".")[2]: array for key, array in arrays.items() if key.startswith(f"{number}.")}
    return Network(**mine) if name == "mlp" else Linear(**mine)


def _check(found: Classifier) -> None:
    """Judge a page that has only the last term: a wrong shape fails here instead of in the middle of a crawl."""
    facts, size = found.facts, len(found.facts.terms)
    if not facts.heads or len(facts.labels) < 2 or len(set(facts.labels)) < len(facts.labels):
        raise ValueError("too few heads or labels")
    if not size or len(facts.words) != size or found.features.idf.shape != (size,):
        raise ValueError("terms")
    if len(facts.top) != len(facts.labels):
        raise ValueError("top terms")
    for head in found.heads:
        weights = vars(head)["weights"]
        scores, rows = head.look(np.array([size - 1], np.int32), np.ones(1, np.float32))
        if len(weights) != size or scores.shape != (len(facts.labels),) or rows.shape != (1, len(facts.labels)):
            raise ValueError("weights")
        if any(np.abs(array).max(initial=0) > _LARGEST for array in vars(head).values()):
            raise ValueError("weights out of range")
