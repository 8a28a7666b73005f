"""What do labels add to a topic of one sentence? A simulated person answers questions while the crawl runs.

python bench/labels.py WEBS [--final|--rare] [--only TASK] [--who PERSON] [--strategy learned] [--seeds 2] [--field]

WEBS is a folder with the recorded webs uic, webkb-texas, webkb-wisconsin and webkb-misc: NAME.warc.gz, NAME.labels.tsv.
Tasks, sentences and examples are those of bench/sentence.py; `--final` takes the tasks that nothing was chosen by,
`--rare` six topics of webkb-texas with few targets, known by a word in their title, for a sentence alone. Each
is crawled in the lab for `--pages` pages, in strict order or, with `--field`, with the delays and workers of a real
crawl on the lab's clock. Every `--every` pages the person answers `--answers` questions about pages fetched so far:

- none: no answers;
- truthful: the answers are true, and the pages are chosen as `lycosa label` chooses them;
- 10 % wrong: each answer is wrong with a probability of 0.1;
- random: the answers are true, but the pages are drawn at random from all pages fetched;
- examples: nobody is asked; instead of a sentence, the topic has 60 pages about it and 120 others;
- knows: nobody is asked, since every page gets the true verdict at once: no labels can do more for the verdicts. The
  texts of links are judged by the sentence.

For each: the area under target recall, and the F1 of `on_topic` over the pages fetched, verdicts revised. Means over
`--seeds` random numbers of the person and of `learned`, which move a single area by up to 0.02. The judge never sees a
label that was not asked for. Targets that serve as examples are targets for nobody.
"""

import argparse
import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import sentence  # first: it limits numpy to one core

import numpy as np  # isort: skip

from lycosa.lab.metrics import area_under_recall
from lycosa.lab.one import crawl_web, manner
from lycosa.lab.person import Asked, Person
from lycosa.lab.survey import reach
from lycosa.store.labels import Judged
from lycosa.strategy import STRATEGIES
from lycosa.types import Page, Verdict


class Who(NamedTuple):
    """What the topic is, and who is asked."""

    person: Person
    kind: str = "sentence"  # of topic
    answers: bool = True
    knows: bool = False


class Knows(Asked):
    """Gives every page its true verdict."""

    async def judge(self, page: Page) -> Verdict:
        await super().judge(page)
        is_target = self._is_target(page.url)
        return Verdict(float(is_target), is_target)

    def revised(self) -> list[tuple[str, Verdict]]:
        return []


class Silent(Asked):
    """Asks nobody."""

    def ask(self) -> None:
        pass


def run(bench: sentence.Bench, task: sentence.Task, who: Who, seed: int) -> dict[str, float]:
    """Area under recall, and F1 at the end."""
    web, positives = bench.web(task.web)[0], set(bench.positives(task))
    named, given = bench.examples(task)
    kind = Knows if who.knows else Asked if who.answers else Silent
    person = Person(who.person.answers, who.person.every, who.person.wrong, who.person.choose, seed)
    judge = kind(bench.judge(who.kind, task, named), person, lambda url: web.page(url) in positives)
    area, counted = crawled(bench, task, judge, given, seed)
    truth = np.array([judge.truth[one.url] for one in counted])
    said = np.array([one.on_topic for one in counted])
    found = sentence.figures(truth, np.array([one.relevance for one in counted]), said)
    return {"area": area, "F1": found["F1"]}


def crawled(
    bench: sentence.Bench, task: sentence.Task, judge: Asked, given: set[str], seed: int = 0
) -> tuple[float, list[Judged]]:
    """Crawl; return the area under recall, and the pages fetched with their last verdicts, examples left out."""
    web, graph, _, _ = bench.web(task.web)
    targets = reach(graph, [task.seed]).keys() & {*bench.positives(task)} - given
    strategy: Any = STRATEGIES[bench.strategy](**({"seed": seed} if bench.strategy == "learned" else {}))
    if hasattr(strategy, "prepare"):
        strategy.prepare(Path(), judge)
    crawl = crawl_web(web, [task.seed], judge, strategy, task.pages, **manner(bench.field))
    ended = {fetch.url: web.page(fetch.final_url) for fetch in crawl.pages}
    counted = [one for url, one in judge.seen.items() if ended[url] not in given]
    return area_under_recall(crawl.order(web.page), targets, task.pages), counted


def people(answers: int, every: int) -> Mapping[str, Who]:
    person = Person(answers, every)
    return {
        "none": Who(person, answers=False),
        "truthful": Who(person),
        "10 % wrong": Who(Person(answers, every, wrong=0.1)),
        "random": Who(Person(answers, every, choose="random")),
        "examples": Who(person, kind="examples", answers=False),
        "knows": Who(person, answers=False, knows=True),
    }


def line(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    given = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    given.add_argument("webs", type=Path)
    given.add_argument("--final", action="store_true")
    given.add_argument("--rare", action="store_true")
    given.add_argument("--only", action="append", default=[], metavar="TASK")
    given.add_argument("--who", action="append", default=[], choices=[*people(1, 1)])
    given.add_argument("--strategy", default="learned")
    given.add_argument("--pages", type=int, default=1_000)
    given.add_argument("--every", type=int, default=50)
    given.add_argument("--answers", type=int, default=5)
    given.add_argument("--seeds", type=int, default=2)
    given.add_argument("--field", action="store_true")
    options = given.parse_args()
    logging.disable(logging.WARNING)
    bench, found = sentence.Bench(options.webs, options.strategy, options.field), people(options.answers, options.every)
    names = [name for name in found if not options.who or name in options.who]
    heads = [f"{name}: {figure}" for figure in ("area", "F1") for name in names]
    print(line(["task", *heads]), "|---|" + "--:|" * len(heads), sep="\n", flush=True)
    rows: list[list[float]] = []
    for task in sentence.rare_tasks(options.pages) if options.rare else sentence.tasks(options.final, options.pages):
        if options.only and not any(name in task.name for name in options.only):
            continue
        task = task._replace(pages=options.pages)
        figures: dict[str, dict[str, float]] = {}
        for name in names:
            runs = [run(bench, task, found[name], seed) for seed in range(options.seeds)]
            figures[name] = {key: float(np.mean([one[key] for one in runs])) for key in runs[0]}
        rows.append([figures[name][key] for key in ("area", "F1") for name in names])
        print(line([task.name, *(f"{figure:.3f}" for figure in rows[-1])]), flush=True)
    print(line(["mean", *(f"{figure:.3f}" for figure in np.mean(rows, axis=0))]))


if __name__ == "__main__":
    main()
