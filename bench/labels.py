"""What do labels bring while a crawl runs? A simulated person answers questions, truthfully or not.

python bench/labels.py WEBS [--tasks demo,"texas course"] [--pages 1000] [--every 50] [--answers 5] [--seeds 3]

Each task is crawled in the lab in strict order with the strategy best-first and a topic of keywords. Every `--every`
pages the person answers `--answers` questions about pages fetched so far, chosen as `lycosa label` chooses them:

- none: no answers;
- truthful: the answers are true;
- 10 % wrong: each answer is wrong with a probability of 0.1;
- random: the answers are true, but the pages asked about are drawn at random from all pages fetched.

For each: the area under target recall, and the F1 of `on_topic` over the pages fetched, verdicts revised. Means over
`--seeds` random numbers, where chance plays a part. The judge never sees a label that was not asked for.
"""

import argparse
import random
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from keywords import TASKS, Task, line, scores

from lycosa.judge.asking import choose
from lycosa.judge.corrected import Corrected
from lycosa.judge.keywords import Keywords
from lycosa.lab.metrics import area_under_recall
from lycosa.lab.one import crawl_web
from lycosa.store.db import CrawlDb
from lycosa.store.labels import Candidate
from lycosa.strategy import STRATEGIES
from lycosa.types import Page, Verdict, Visit


class Person(NamedTuple):
    """How somebody answers."""

    answers: int  # each time
    wrong: float = 0.0
    at_random: bool = False


class Asked:
    """A corrected judge that asks a person every so many pages."""

    def __init__(self, task: Task, person: Person, every: int, seed: int) -> None:
        judge = Keywords(task.words)
        judge.prepare(Path(), lambda path: [])
        self.inner = Corrected(judge)
        self.inner.connect(CrawlDb(":memory:").open())
        self.relevance_of, self.relevances_of = judge.relevance_of, judge.relevances_of
        self._task, self._person, self._every, self._chance = task, person, every, random.Random(seed)
        self.seen: dict[str, Candidate] = {}
        self.labels: dict[str, bool] = {}

    async def judge(self, page: Page) -> Verdict:
        return await self.inner.judge(page)

    def learn(self, visit: Visit) -> None:
        self.inner.learn(visit)
        if not visit.is_distinct:
            return
        url, verdict = visit.reply.link.url, visit.verdict
        told = verdict.relevance, verdict.on_topic, verdict.label, verdict.why
        self.seen[url] = Candidate(url, visit.page.title, *told, visit.page.simhash, "", visit.reply.url, "", 0)
        if self._person.answers and len(self.seen) % self._every == 0:
            self._ask()

    def revised(self) -> list[tuple[str, Verdict]]:
        found = self.inner.revised()
        for url, verdict in found:
            now = self.seen[url]._replace(relevance=verdict.relevance, on_topic=verdict.on_topic)
            self.seen[url] = now
        return found

    def is_target(self, url: str) -> bool:
        return self._task.web.page(self.seen[url].final_url) in self._task.targets

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


def run(task: Task, person: Person, pages: int, every: int, seed: int) -> tuple[float, float]:
    """Area under recall, and F1 at the end."""
    judge, strategy = Asked(task, person, every, seed), STRATEGIES["best-first"]()
    if hasattr(strategy, "prepare"):
        strategy.prepare(Path(), judge)
    crawl = crawl_web(task.web, task.seeds, judge, strategy, pages)
    truth = np.array([judge.is_target(url) for url in judge.seen])
    said = np.array([page.on_topic for page in judge.seen.values()])
    return area_under_recall(crawl.order(task.web.page), task.targets, pages), scores(truth, said)[2]


def main(report: Callable[[str], None] = print) -> None:
    given = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    given.add_argument("webs", type=Path)
    given.add_argument("--tasks", default="texas course,wisconsin course,uic health,uic dentistry")
    given.add_argument("--pages", type=int, default=1_000)
    given.add_argument("--every", type=int, default=50)
    given.add_argument("--answers", type=int, default=5)
    given.add_argument("--seeds", type=int, default=3)
    options = given.parse_args()
    people = {
        "none": Person(0),
        "truthful": Person(options.answers),
        "10 % wrong": Person(options.answers, wrong=0.1),
        "random": Person(options.answers, at_random=True),
    }
    report(line(["task", "person", "area", "F1"]))
    for name in options.tasks.split(","):
        task = TASKS[name](options.webs)
        for who, person in people.items():
            seeds = range(options.seeds if person.answers else 1)
            found = np.array([run(task, person, options.pages, options.every, seed) for seed in seeds])
            report(line([name, who, *(f"{figure:.3f}" for figure in found.mean(axis=0))]))


if __name__ == "__main__":
    main()
