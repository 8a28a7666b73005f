"""Labels for a topic of `examples` or `taxonomy`: correct the judge, or train it again with them?

python bench/retraining.py WEBS [--final] [--only TASK] [--kind examples] [--strategy learned] [--pages 400]

WEBS is a folder with the recorded webs uic, webkb-texas, webkb-wisconsin and webkb-misc: NAME.warc.gz, NAME.labels.tsv.
A simulated person truthfully answers `--answers` questions every `--every` pages, chosen as by `lycosa label`. The
topic has 60 pages about it and 120 others (`examples`), or up to 100 pages of each class of webkb-misc (`taxonomy`).

- none: no answers;
- labels alone: the judge is corrected by what the labels teach;
- together: the judge is corrected by what the labels and its training pages teach together, as in every crawl;
- retrained: labelled pages are added to the training pages, and the judge is trained again, terms included.

A labelled page always gets the verdict of its label. For each: the area under target recall, the F1 of the final
verdicts on the pages fetched, and their average precision on those without a label. Means over `--seeds` choices of
questions.
"""

import argparse
import logging
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import sentence  # first: it limits numpy to one core

import numpy as np  # isort: skip

from labels import crawled, line

from lycosa.judge.corrected import Taught, correct
from lycosa.judge.correction import places
from lycosa.judge.examples import Examples
from lycosa.judge.taxonomy import Taxonomy
from lycosa.lab.person import Asked, Person
from lycosa.types import Page, Verdict, Visit

WAYS = ("none", "labels alone", "together", "retrained")
MOST_OF_CLASS = 100

Named = list[tuple[str, Page]]


def make(kind: str, target: str, named: Named) -> Any:
    judge = Examples(".", target=[target]) if kind == "examples" else Taxonomy(".", [target], min_pages=1)
    with TemporaryDirectory() as folder:
        judge.prepare(Path(folder), lambda path: named)
    judge.set_source(Path(), lambda path: named)
    return judge


class Retrained(Asked):
    """Trains the judge again after each round of questions, and judges all pages again."""

    def __init__(self, kind: str, target: str, named: Named, way: str, *given: Any) -> None:
        self._topic, self._named, self._way = (kind, target), named, way
        self._trained = make(*self._topic, named)
        super().__init__(self._trained, *given)
        self._first = self._trained.classifier_
        self._parsed: dict[str, Page] = {}
        self._changed: list[tuple[str, Verdict]] = []

    def learn(self, visit: Visit) -> None:
        if visit.is_distinct:
            self._parsed[visit.reply.link.url] = visit.page
        super().learn(visit)

    def ask(self) -> None:
        if self._way == "none":
            return
        super().ask()
        if self._way != "retrained":
            return
        added = [(f"{self._class_of(url)}/{number}.htm", self._parsed[url]) for number, url in enumerate(self.labels)]
        self._trained.use(make(*self._topic, self._named + added).classifier_)
        judged = {
            url: self._trained.classifier_.verdict(page, self._trained.focus_) for url, page in self._parsed.items()
        }
        for url, verdict in judged.items():
            self._keep(url, verdict, places(self._parsed[url]).tobytes())
        self.taught_, self.before_ = Taught(dict(self.labels)), None
        told = self.taught_
        self._changed = [(url, correct(url, one, places(self._parsed[url]), told)) for url, one in judged.items()]

    def _given(self) -> Any:
        return super()._given() if self._way == "together" else []

    def _class_of(self, url: str) -> str:
        """The most probable class on the label's side, by the judge as it was first trained."""
        ids, values = self._first.features.read(self._parsed[url])
        chances = self._first.look(ids, values).probabilities.mean(axis=0)
        side = np.array([label == self._topic[1] for label in self._first.labels]) == self.labels[url]
        return self._first.labels[int(np.where(side, chances, -1.0).argmax())]

    def revised(self) -> list[tuple[str, Verdict]]:
        found, self._changed = super().revised() + self._changed, []
        for url, verdict in found:
            self.seen[url] = self.seen[url]._replace(relevance=verdict.relevance, on_topic=verdict.on_topic)
        return found


def taught_on(bench: sentence.Bench, task: sentence.Task, kind: str) -> tuple[str, Named, set[str]]:
    """The target class, the training pages, and those that are no targets then."""
    if kind == "examples":
        return "positive", *bench.examples(task)
    labels, pages = bench._misc()
    named: Named = []
    for label in sorted(set(labels.values())):
        mine = sorted(url for url in pages if labels[url] == label)
        chosen = Random(0).sample(mine, min(len(mine), MOST_OF_CLASS))
        named += [(f"{label}/{number}.html", pages[url]) for number, url in enumerate(chosen)]
    return task.topic.label, named, set()


def run(bench: sentence.Bench, task: sentence.Task, kind: str, way: str, person: Person) -> dict[str, float]:
    web, positives = bench.web(task.web)[0], set(bench.positives(task))
    target, named, given = taught_on(bench, task, kind)
    judge = Retrained(kind, target, named, way, person, lambda url: web.page(url) in positives)
    area, counted = crawled(bench, task, judge, given)
    unseen = [one for one in counted if one.url not in judge.labels]
    truth = np.array([judge.truth[one.url] for one in counted])
    found = sentence.figures(truth, np.zeros(len(truth)), np.array([one.on_topic for one in counted]))
    rest = np.array([judge.truth[one.url] for one in unseen])
    ranked = sentence.precision(rest, np.array([one.relevance for one in unseen]))
    return {"area": area, "F1": found["F1"], "AP": ranked}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("webs", type=Path)
    parser.add_argument("--final", action="store_true")
    parser.add_argument("--only", action="append", default=[], metavar="TASK")
    parser.add_argument("--kind", default="examples", choices=["examples", "taxonomy"])
    parser.add_argument("--strategy", default="learned")
    parser.add_argument("--pages", type=int, default=400)
    parser.add_argument("--every", type=int, default=50)
    parser.add_argument("--answers", type=int, default=5)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--way", action="append", default=[], choices=WAYS)
    options = parser.parse_args()
    logging.disable(logging.WARNING)
    bench, figures = sentence.Bench(options.webs, options.strategy), ("area", "F1", "AP")
    ways = [way for way in WAYS if not options.way or way in options.way]
    heads = [f"{way}: {figure}" for figure in figures for way in ways]
    print(line(["task", *heads]), "|---|" + "--:|" * len(heads), sep="\n", flush=True)
    rows: list[list[float]] = []
    for task in sentence.tasks(options.final, options.pages):
        if options.only and not any(name in task.name for name in options.only):
            continue
        task = task._replace(pages=options.pages)
        found = {}
        for way in ways:
            seeds = range(1 if way == "none" else options.seeds)
            people = [Person(options.answers, options.every, seed=seed) for seed in seeds]
            found[way] = [run(bench, task, options.kind, way, person) for person in people]
        rows.append([float(np.mean([one[figure] for one in found[way]])) for figure in figures for way in ways])
        print(line([task.name, *(f"{figure:.3f}" for figure in rows[-1])]), flush=True)
    print(line(["mean", *(f"{figure:.3f}" for figure in np.mean(rows, axis=0))]))


if __name__ == "__main__":
    main()
