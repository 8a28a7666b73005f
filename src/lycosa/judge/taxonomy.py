"""Which class of a tree is the page in? Naive Bayes over the leaves; on topic is what falls into the target classes.

A label is a path in the tree, written with dots: `Top.Science.Physics`, or the nested folders Top/Science/Physics.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from lycosa.errors import ConfigError
from lycosa.judge.bayes import cool, fit_bayes, fit_temperature
from lycosa.judge.classifier import Classifier, Focus, Head
from lycosa.judge.corpus import Corpus, ReadPages, as_list, read_corpus, sources
from lycosa.judge.features import FIELDS, Fields
from lycosa.judge.sparse import Rows
from lycosa.judge.trained import TrainedOnPages
from lycosa.judge.training import train

_SHOWN = 20  # class names in an error
_SEED = 0  # of the split that the temperature is fitted on


@dataclass
class Taxonomy(TrainedOnPages):
    """Trains on example pages for a tree of classes; returns the probability of every class."""

    KIND: ClassVar[str] = "taxonomy"

    examples: str | list[str]  # a folder whose nested folders are the tree, or WARCs
    target: list[str]  # classes; an inner node means all below it
    labels: str | list[str] = ""  # a file of url<TAB>label for each WARC
    min_pages: Annotated[int, Meta(ge=1)] = 150  # smaller classes are merged into their parent
    features_per_class: Annotated[int, Meta(ge=0)] = 300  # terms selected by chi-squared, times classes; 0: all
    fields: Fields = field(default_factory=FIELDS.copy)
    weights: Literal["tfidf", "counts"] = "tfidf"
    temperature: Annotated[float, Meta(gt=0)] | Literal["fit"] = "fit"  # 1: the naive Bayes posterior as is
    threshold: Annotated[float, Meta(gt=0, lt=1)] = 0.5

    def recipe(self) -> dict[str, Any]:
        names = ("min_pages", "features_per_class", "fields", "weights", "temperature")
        return {name: getattr(self, name) for name in names}

    def corpus(self, folder: Path, read: ReadPages) -> Corpus:
        found = read_corpus(sources(folder, self.examples, self.labels), self.fields, read, nested=True)
        found.labels = merge([label.replace("/", ".").strip(".") for label in found.labels], self.min_pages)
        known = sorted(set(found.labels))
        if len(known) < 2:
            left = f"only the class {known[0]!r}" if known else "no class"
            raise ConfigError(
                "topic.examples",
                f"{left} in {self._where()} after merging those with fewer than"
                f" {self.min_pages} pages into their parents (min_pages); at least two are needed",
            )
        self.check(known)
        return found

    def fit(self, corpus: Corpus, chosen: NDArray[np.intp]) -> Classifier:
        size = len({corpus.labels[page] for page in chosen.tolist()})
        return train(corpus, chosen, self.features_per_class * size, self._heads, plain=self.weights == "counts")

    def focus(self, found: Classifier) -> Focus:
        return Focus(np.isin(found.labels, self.targets(found.labels)), self.threshold, hard=True)

    def targets(self, known: Sequence[str]) -> list[str]:
        return [label for label in known if any(_below(label, target) for target in self.target)]

    def class_of(self, label: str, known: Sequence[str]) -> str:
        """Return the class that a label of the tree belongs to: itself, or its nearest ancestor."""
        label = label.replace("/", ".").strip(".")
        while label and label not in known:
            label = label.rpartition(".")[0]
        return label

    def _heads(self, rows: Rows, classes: NDArray[np.intp], size: int) -> Sequence[tuple[str, Head]]:
        temperature = self.temperature
        if temperature == "fit":
            temperature = fit_temperature(rows, classes, size, _SEED)
        return [("nb", cool(fit_bayes(rows, classes, size), temperature))]

    def _where(self) -> str:
        return ", ".join(as_list(self.examples))

    def check(self, known: Sequence[str]) -> None:
        names = ", ".join(known[:_SHOWN]) + (", ..." if len(known) > _SHOWN else "")
        there_are = f"(there are: {names}; one with fewer than {self.min_pages} pages is merged into its parent)"
        if not self.target:
            raise ConfigError("topic.target", f"say which classes are on topic {there_are}")
        for target in self.target:
            if not any(_below(label, target) for label in known):
                raise ConfigError("topic.target", f"no class {target!r} in {self._where()} {there_are}")
        if len(self.targets(known)) == len(known):
            raise ConfigError(
                "topic.target", f"every class is a target; at least one other class is needed {there_are}"
            )


def _below(label: str, node: str) -> bool:
    return f"{label}.".startswith(f"{node}.")


def merge(labels: Sequence[str], least: int) -> list[str]:
    """Return each page's class after merging every class with fewer than `least` pages into its parent, deepest first.

    The parent then becomes a class of its own, beside the remaining children. A class without a parent stays as it is.
    """
    sizes = Counter(labels)
    into = {label: label for label in sizes}
    for depth in range(max((label.count(".") for label in sizes), default=0), 0, -1):
        for label in [label for label, size in sizes.items() if label.count(".") == depth and size < least]:
            parent = label.rpartition(".")[0]
            sizes[parent] += sizes.pop(label)
            into[label] = parent
            into.setdefault(parent, parent)
    return [_follow(into, label) for label in labels]


def _follow(into: dict[str, str], label: str) -> str:
    while into[label] != label:
        label = into[label]
    return label
