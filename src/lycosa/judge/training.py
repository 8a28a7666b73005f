"""From labelled pages to a classifier: select the most discriminative terms, train, test on held-out pages."""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from lycosa.errors import ConfigError
from lycosa.judge import classifier, model_file
from lycosa.judge.classifier import Classifier, Facts, Focus, Head, contributions
from lycosa.judge.corpus import Corpus, ReadPages, as_list, digest, sources
from lycosa.judge.features import Features
from lycosa.judge.sparse import Rows, chi_squared, folds
from lycosa.types import BadInput, Verdict

Fit = Callable[[Rows, NDArray[np.intp], int], Sequence[tuple[str, Head]]]  # rows, classes, number of classes
LEAST_PAGES = 2  # terms on fewer pages discriminate pages, not labels
TOP_TERMS = 50  # kept for each label, for display
_SHOWN_PAGES = 500  # per label, to find its top terms

_log = logging.getLogger(__name__)


@runtime_checkable
class Learner(Protocol):
    """A judge that is trained on labelled pages."""

    KIND: ClassVar[str]
    examples: str | list[str]
    labels: str | list[str]
    classifier_: Classifier

    def recipe(self) -> dict[str, Any]: ...  # every option that affects training
    def corpus(self, folder: Path, read: ReadPages) -> Corpus: ...
    def fit(self, corpus: Corpus, chosen: NDArray[np.intp]) -> Classifier: ...
    def focus(self, found: Classifier) -> Focus: ...
    def check(self, known: Sequence[str]) -> None: ...  # raises ConfigError if the target does not fit the labels
    def use(self, found: Classifier) -> None: ...  # judge with it from now on
    def targets(self, known: Sequence[str]) -> list[str]: ...  # those of the labels that are on topic
    def class_of(self, label: str, known: Sequence[str]) -> str: ...  # of a page labelled by someone else


def load_or_train(judge: Learner, folder: Path, read: ReadPages) -> Classifier:
    """Return the model in the crawl folder if it was made from the same options and pages; otherwise train one,
    unsaved.

    If the pages are gone, the model alone is enough, so it can be shared without them.
    """
    path = folder / model_file.NAME
    if not path.exists():
        return make(judge, folder, read)
    found = classifier.load(path, judge.KIND)
    same = found.facts.options == judge.recipe()
    if not all((folder / name).exists() for name in as_list(judge.examples)):
        if same:
            return found
        raise BadInput(f"{path}: was trained with other options, and the pages to train it again are gone")
    if same and found.facts.source == digest(sources(folder, judge.examples, judge.labels)):
        return found
    _log.warning("%s: made from other options or pages; training again (lycosa topic train writes it)", path)
    return make(judge, folder, read)


def make(judge: Learner, folder: Path, read: ReadPages) -> Classifier:
    """Train a classifier on all pages, with a record of what it was made from."""
    corpus = judge.corpus(folder, read)
    found = judge.fit(corpus, np.arange(len(corpus)))
    source = digest(sources(folder, judge.examples, judge.labels))
    found.facts = replace(found.facts, options=judge.recipe(), source=source)
    return found


def train(corpus: Corpus, chosen: NDArray[np.intp], most_terms: int, fit: Fit, plain: bool = False) -> Classifier:
    """Train a classifier on the chosen pages; with `most_terms` 0, every term on at least two pages is kept."""
    labels, classes = np.unique(np.array(corpus.labels)[chosen], return_inverse=True)
    counts = corpus.rows().take(chosen)
    columns = select(counts, classes, most_terms)
    if not len(columns):
        raise ConfigError("topic.examples", "no word occurs on two of the pages; more pages are needed")
    counts = counts.keep(columns)
    features = _features(corpus, columns, counts, plain)
    rows = weigh(features, counts)
    heads = fit(rows, classes, len(labels))
    facts = Facts(
        labels=labels.tolist(),
        terms=list(features.terms),
        words=_readable(features.terms, corpus.readable()),
        fields=corpus.fields,
        plain=plain,
        heads=[name for name, _ in heads],
    )
    found = Classifier(features, [head for _, head in heads], facts)
    found.facts = replace(facts, top=list(_top_terms(found, rows, classes)))
    return found


def select(counts: Rows, classes: NDArray[np.intp], most: int) -> NDArray[np.intp]:
    """Return the columns that depend most on the class, in ascending order."""
    common = np.bincount(counts.columns, minlength=counts.width) >= LEAST_PAGES
    softened = Rows(counts.starts, counts.columns, 1 + np.log(counts.values), counts.width)
    dependence = np.where(common, chi_squared(softened, classes), -1.0)
    best = np.argsort(-dependence, kind="stable")[: min(most or counts.width, int(common.sum()))]
    return np.sort(best)


def _features(corpus: Corpus, columns: NDArray[np.intp], counts: Rows, plain: bool) -> Features:
    terms = list(corpus.terms)
    pages = np.bincount(counts.columns, minlength=counts.width)
    idf = np.log((1 + len(counts)) / (1 + pages)) + 1
    return Features([terms[column] for column in columns.tolist()], idf.astype(np.float32), corpus.fields, plain)


def weigh(features: Features, counts: Rows) -> Rows:
    """Return the weights of pages with these counts."""
    values = [features.weigh(columns, numbers) for columns, numbers in counts]
    return Rows(counts.starts, counts.columns, np.concatenate(values), counts.width)


def _readable(terms: Sequence[str], words: Mapping[str, str]) -> list[str]:
    def name(term: str) -> str:
        place, colon, stem = term.rpartition(":")
        return f"{place}{colon} {stem if place == 'url' else words.get(stem, stem)}".strip()

    return list(map(name, terms))


def _top_terms(found: Classifier, rows: Rows, classes: NDArray[np.intp]) -> Iterator[list[tuple[str, float]]]:
    """Yield the top terms of each class by their mean contribution on the pages of that class."""
    for number in range(len(found.labels)):
        target = np.arange(len(found.labels)) == number
        mine = np.flatnonzero(classes == number)[:_SHOWN_PAGES]
        push = np.zeros(rows.width)
        for ids, values in rows.take(mine):
            push[ids] += contributions(found.look(ids, values), target) / len(mine)
        best = np.argsort(-push, kind="stable")[:TOP_TERMS].tolist()
        yield [(found.facts.words[term], round(float(push[term]), 6)) for term in best if push[term] > 0]


def cross_validate(judge: Learner, corpus: Corpus, number: int, seed: int) -> Iterator[list[tuple[str, Verdict]]]:
    """Yield for each fold its labels, and the verdicts of a judge trained on the other folds."""
    _, classes = np.unique(np.array(corpus.labels), return_inverse=True)
    for chosen, held in folds(classes, number, seed):
        yield [(corpus.labels[page], verdict) for page, verdict in judge_held(judge, corpus, chosen, held)]


def judge_held(
    judge: Learner, corpus: Corpus, chosen: NDArray[np.intp], held: NDArray[np.intp]
) -> Iterator[tuple[int, Verdict]]:
    """Train on the chosen pages, and yield the numbers of the held-out pages with their verdicts."""
    found = judge.fit(corpus, chosen)
    focus = judge.focus(found)
    counts = corpus.rows().take(held).keep(np.array([corpus.terms[term] for term in found.features.terms]))
    for page, (ids, values) in zip(held.tolist(), weigh(found.features, counts), strict=True):
        yield page, found.decide(ids, values, focus)
