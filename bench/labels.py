"""What do labels add to a topic of one sentence? A simulated person answers questions while the crawl runs.

python bench/labels.py WEBS [--final] [--only TASK] [--who PERSON] [--strategy learned] [--pages 1000] [--seeds 2]

WEBS is a folder with the recorded webs uic, webkb-texas, webkb-wisconsin and webkb-misc: NAME.warc.gz, NAME.labels.tsv.
Tasks, sentences and examples are those of bench/sentence.py; `--final` takes the tasks that nothing was chosen by. Each
is crawled in the lab in strict order. Every `--every` pages the person answers `--answers` questions about pages
fetched so far:

- none: no answers;
- truthful: the answers are true, and the pages are chosen as `lycosa label` chooses them;
- 10 % wrong: each answer is wrong with a probability of 0.1;
- random: the answers are true, but the pages are drawn at random from all pages fetched;
- examples: nobody is asked; instead of a sentence, the topic has 60 pages about it and 120 others;
- knows: nobody is asked, since every page gets the true verdict at once: no labels can do more for the verdicts. The
  texts of links are judged by the sentence.

For each: the area under target recall, and the F1 of `on_topic` over the pages fetched, verdicts revised. Means over
`--seeds` random numbers where chance plays a part. The judge never sees a label that was not asked for. Targets that
serve as examples are targets for nobody.
"""

import argparse
import logging
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import sentence  # first: it limits numpy to one core

import numpy as np  # isort: skip

from lycosa.judge.asking import choose
from lycosa.judge.corrected import Corrected
from lycosa.lab.answer import Pages
from lycosa.lab.metrics import area_under_recall
from lycosa.lab.one import crawl_web
from lycosa.lab.survey import reach
from lycosa.store.db import CrawlDb
from lycosa.store.labels import Candidate
from lycosa.strategy import STRATEGIES
from lycosa.types import Page, Verdict, Visit


class Person(NamedTuple):
    """How somebody answers, and what about."""

    answers: int  # each time
    every: int  # pages
    wrong: float = 0.0
    at_random: bool = False
    kind: str = "sentence"  # of topic
    knows: bool = False


class Asked:
    """A corrected judge that asks a person every so many pages."""

    def __init__(self, judge: Any, web: Pages, positives: set[str], person: Person, seed: int) -> None:
        self.inner = Corrected(judge)
        self.inner.connect(CrawlDb(":memory:").open())
        self.relevance_of, self.relevances_of = self.inner.relevance_of, self.inner.relevances_of
        self._web, self._positives = web, positives
        self._person, self._chance = person, random.Random(seed)
        self.seen: dict[str, Candidate] = {}
        self.labels: dict[str, bool] = {}

    async def judge(self, page: Page) -> Verdict:
        verdict = await self.inner.judge(page)
        is_target = self._web.page(page.url) in self._positives
        return Verdict(float(is_target), is_target) if self._person.knows else verdict

    def learn(self, visit: Visit) -> None:
        self.inner.learn(visit)
        if not visit.is_distinct:
            return
        url, verdict = visit.reply.link.url, visit.verdict
        told = verdict.relevance, verdict.on_topic, verdict.label, verdict.why
        self.seen[url] = Candidate(url, visit.page.title, *told, visit.page.simhash, "", visit.reply.url, "", 0)
        if self._person.answers and len(self.seen) % self._person.every == 0:
            self._ask()

    def revised(self) -> list[tuple[str, Verdict]]:
        found = [] if self._person.knows else self.inner.revised()
        for url, verdict in found:
            now = self.seen[url]._replace(relevance=verdict.relevance, on_topic=verdict.on_topic)
            self.seen[url] = now
        return found

    def name(self, url: str) -> str:
        return self._web.page(self.seen[url].final_url)

    def is_target(self, url: str) -> bool:
        return self.name(url) in self._positives

    def _ask(self) -> None:
        pages, number = [*self.seen.values()], self._person.answers
        if self._person.at_random:
            left = [url for url in self.seen if url not in self.labels]
            urls = self._chance.sample(left, min(number, len(left)))
        else:
            urls = [one.page.url for one in choose(pages, self.labels, number, self._chance.randrange(1 << 30))]
        for url in urls:
            self.labels[url] = self.is_target(url) != (self._chance.random() < self._person.wrong)
        self.inner.teach(self.labels)


def run(bench: sentence.Bench, task: sentence.Task, person: Person, seed: int) -> dict[str, float]:
    """Area under recall, and F1 at the end."""
    web, graph, _, _ = bench.web(task.web)
    positives = set(bench.positives(task))
    named, given = bench.examples(task)
    targets = {page for page in positives - given if page in reach(graph, [task.seed])}
    judge = Asked(bench.judge(person.kind, task, named), web, positives, person, seed)
    strategy: Any = STRATEGIES[bench.strategy]()
    if hasattr(strategy, "prepare"):
        strategy.prepare(Path(), judge)
    crawl = crawl_web(web, [task.seed], judge, strategy, task.pages)
    counted = [url for url in judge.seen if judge.name(url) not in given]
    truth = np.array([judge.is_target(url) for url in counted])
    said = np.array([judge.seen[url].on_topic for url in counted])
    found = sentence.figures(truth, np.array([judge.seen[url].relevance for url in counted]), said)
    return {"area": area_under_recall(crawl.order(web.page), targets, task.pages), "F1": found["F1"]}


def people(answers: int, every: int) -> Mapping[str, Person]:
    return {
        "none": Person(0, every),
        "truthful": Person(answers, every),
        "10 % wrong": Person(answers, every, wrong=0.1),
        "random": Person(answers, every, at_random=True),
        "examples": Person(0, every, kind="examples"),
        "knows": Person(0, every, knows=True),
    }


def line(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    given = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    given.add_argument("webs", type=Path)
    given.add_argument("--final", action="store_true")
    given.add_argument("--only", action="append", default=[], metavar="TASK")
    given.add_argument("--who", action="append", default=[], choices=[*people(1, 1)])
    given.add_argument("--strategy", default="learned")
    given.add_argument("--pages", type=int, default=1_000)
    given.add_argument("--every", type=int, default=50)
    given.add_argument("--answers", type=int, default=5)
    given.add_argument("--seeds", type=int, default=2)
    options = given.parse_args()
    logging.disable(logging.WARNING)
    bench, found = sentence.Bench(options.webs, options.strategy), people(options.answers, options.every)
    names = [name for name in found if not options.who or name in options.who]
    heads = [f"{name}: {figure}" for figure in ("area", "F1") for name in names]
    print(line(["task", *heads]), "|---|" + "--:|" * len(heads), sep="\n", flush=True)
    rows: list[list[float]] = []
    for task in sentence.tasks(options.final, options.pages):
        if options.only and not any(name in task.name for name in options.only):
            continue
        task = task._replace(pages=options.pages)
        figures: dict[str, dict[str, float]] = {}
        for name in names:
            seeds = range(options.seeds if found[name].answers else 1)
            runs = [run(bench, task, found[name], seed) for seed in seeds]
            figures[name] = {key: float(np.mean([one[key] for one in runs])) for key in runs[0]}
        rows.append([figures[name][key] for key in ("area", "F1") for name in names])
        print(line([task.name, *(f"{figure:.3f}" for figure in rows[-1])]), flush=True)
    print(line(["mean", *(f"{figure:.3f}" for figure in np.mean(rows, axis=0))]))


if __name__ == "__main__":
    main()
