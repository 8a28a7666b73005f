"""On topic is what resembles the labelled pages: the probability of the target labels, learned from examples."""

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
from lycosa.judge.linear import fit_logistic, fit_svm
from lycosa.judge.neural import fit_network
from lycosa.judge.sparse import Rows
from lycosa.judge.trained import TrainedOnPages
from lycosa.judge.training import train

POSITIVE = "positive"
LEAST_EXAMPLES = 2  # of the target, and of the rest: one to train on while the other is held out
VOTERS = ("nb", "svm", "mlp")


@dataclass
class Examples(TrainedOnPages):
    """Trains a linear model (or a small neural network, or a vote) on labelled pages."""

    KIND: ClassVar[str] = "examples"

    examples: str | list[str]  # a folder with one sub-folder per label, or WARCs
    labels: str | list[str] = ""  # a file of url<TAB>label for each WARC
    target: list[str] = field(default_factory=list)  # the labels that are on topic; default `positive`, if it exists
    model: Literal["nb", "svm", "logistic", "mlp", "vote"] = "logistic"
    features: Annotated[int, Meta(ge=0)] = 2_000  # terms selected by chi-squared; 0: all
    fields: Fields = field(default_factory=FIELDS.copy)
    negatives: Annotated[float, Meta(gt=0)] | Literal["all"] = "all"  # sampled from the other labels, per positive
    threshold: Annotated[float, Meta(gt=0, lt=1)] = 0.5
    seed: int = 0

    def recipe(self) -> dict[str, Any]:
        """Return the options; the target matters for training only if it affects which pages are sampled."""
        drawn = {} if self.negatives == "all" else {"negatives": self.negatives, "target": sorted(self.target)}
        return {"model": self.model, "features": self.features, "fields": self.fields, "seed": self.seed, **drawn}

    def corpus(self, folder: Path, read: ReadPages) -> Corpus:
        found = read_corpus(sources(folder, self.examples, self.labels), self.fields, read)
        known = sorted(set(found.labels))
        if len(known) < 2:
            only = f"only the label {known[0]!r}" if known else "no labelled page"
            raise ConfigError("topic.examples", f"{only} in {self._where()}; at least two labels are needed")
        self.check(known)
        positive = np.isin(found.labels, self._wanted())
        if min(positive.sum(), (~positive).sum()) < LEAST_EXAMPLES:
            raise ConfigError(
                "topic.examples",
                f"{positive.sum()} pages of the target and {(~positive).sum()} others;"
                f" at least {LEAST_EXAMPLES} of each are needed",
            )
        return found

    def fit(self, corpus: Corpus, chosen: NDArray[np.intp]) -> Classifier:
        if self.negatives != "all":
            chosen = self._draw(np.array(corpus.labels)[chosen], chosen)
        return train(corpus, chosen, self.features, self._heads)

    def focus(self, found: Classifier) -> Focus:
        return Focus(np.isin(found.labels, self.targets(found.labels)), self.threshold)

    def targets(self, known: Sequence[str]) -> list[str]:
        return [label for label in known if label in self._wanted()]

    def class_of(self, label: str, known: Sequence[str]) -> str:
        return label

    def _heads(self, rows: Rows, classes: NDArray[np.intp], size: int) -> Sequence[tuple[str, Head]]:
        names = VOTERS if self.model == "vote" else (self.model,)
        return [(name, self._head(name, rows, classes, size)) for name in names]

    def _head(self, name: str, rows: Rows, classes: NDArray[np.intp], size: int) -> Head:
        match name:
            case "nb":
                return cool(fit_bayes(rows, classes, size), fit_temperature(rows, classes, size, self.seed))
            case "svm":
                return fit_svm(rows, classes, size, self.seed)
            case "mlp":
                return fit_network(rows, classes, size, self.seed)
            case _:
                return fit_logistic(rows, classes, size)

    def _draw(self, labels: NDArray[np.str_], chosen: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return all positives and, for each, as many of the others as `negatives` says."""
        positive = np.isin(labels, self._wanted())
        others = np.random.default_rng(self.seed).permutation(chosen[~positive])
        wanted = max(LEAST_EXAMPLES, round(float(self.negatives) * positive.sum()))
        return np.sort(np.concatenate([chosen[positive], others[:wanted]]))

    def _wanted(self) -> list[str]:
        return self.target or [POSITIVE]

    def _where(self) -> str:
        return ", ".join(as_list(self.examples))

    def check(self, known: Sequence[str]) -> None:
        there_are = f"(there are: {', '.join(known)})"
        for label in self._wanted():
            if label not in known:
                problem = f"no label {label!r}" if self.target else f"say which labels are on topic; no {label!r}"
                raise ConfigError("topic.target", f"{problem} in {self._where()} {there_are}")
        if set(self._wanted()) >= set(known):
            raise ConfigError(
                "topic.target", f"every label is a target; at least one other label is needed {there_are}"
            )
