"""Does a topic of keywords call a page on topic when a person would, and is its relevance a probability?

python bench/keywords.py WEBS [--tasks demo,"texas course"] [--strategies best-first,learned] [--option adapt=false]
    [--field]

WEBS is a folder with the recorded webs webkb-texas, webkb-wisconsin and uic: NAME.warc.gz and NAME.labels.tsv. Each
task is crawled in the lab, in strict order or, with `--field`, with the delays and workers of a real crawl. Neither
judge nor strategy sees the labels (for the demo's web: what its maker knows); they only measure, over the pages
fetched:

- precision, recall and F1 of `on_topic`, after the verdicts were revised, and F1 as it was when each page was fetched;
- Brier score (mean squared error) and expected calibration error (ten bins) of the relevance, revised, and its ROC AUC;
- the area under target recall of the crawl, since strategies follow what the judge says;
- microseconds of CPU of the judge for a page, learning and revising included.
"""

import argparse
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec
import numpy as np
from field import WORDS
from msgspec import Struct

from lycosa.judge.keywords import Keywords
from lycosa.lab import demo
from lycosa.lab.metrics import area_under_recall
from lycosa.lab.one import crawl_web, manner
from lycosa.lab.webs import GeneratedPages, labels_of, open_web
from lycosa.output.topic_report import roc_auc
from lycosa.strategy import STRATEGIES
from lycosa.types import Page, Revised, Verdict, Visit

HEAD = "task, strategy, pages, targets, precision, recall, F1, F1 at once, Brier, ECE, AUC, area, us/page".split(", ")


class Task(Struct, frozen=True):
    """Find these pages of this web."""

    web: Any
    seeds: list[str]
    words: list[str]
    targets: set[str]
    pages: int


def demo_task(topic: str) -> Task:
    web = GeneratedPages(demo.WEB)
    targets = {page for page, about in web.topics().items() if about == topic}
    return Task(web, demo.WEB.seeds(80, count=6), [topic, *demo.WEB.words_of(topic)[:8]], targets, 800)


def recorded(webs: Path, name: str, seed: str, target: str, pages: int, label: str = "") -> Task:
    web = open_web(f"{name}.warc.gz", webs)
    labels = labels_of(web, webs / f"{name}.labels.tsv")
    targets = {page for page, known in labels.items() if known == (label or target)}
    return Task(web, [seed], WORDS[target], targets, pages)


def dentistry(webs: Path) -> Task:
    """A topic by its host."""
    web = open_web("uic.warc.gz", webs)
    targets = {page for page in web.pages() if urlsplit(page).hostname == "dentistry.uic.edu"}
    return Task(web, ["http://cs.uic.edu/"], WORDS["dentistry"], targets, 600)


TASKS: dict[str, Callable[[Path], Task]] = {
    "demo": lambda webs: demo_task("astronomy"),
    "demo finance": lambda webs: demo_task("finance"),
    "texas course": lambda webs: recorded(webs, "webkb-texas", "http://www.cs.utexas.edu/", "course", 400),
    "uic health": lambda webs: recorded(webs, "uic", "http://cs.uic.edu/", "health", 2_000, "1"),
    "wisconsin course": lambda webs: recorded(webs, "webkb-wisconsin", "http://www.cs.wisc.edu/", "course", 400),
    "uic dentistry": dentistry,
}


class Watched:
    """A judge, its verdicts as they were given and as they were revised, and the time it takes."""

    def __init__(self, judge: Keywords) -> None:
        self._judge = judge
        self.relevance_of, self.relevances_of = judge.relevance_of, judge.relevances_of
        self.given: dict[str, Verdict] = {}
        self.latest: dict[str, Verdict] = {}
        self.pages: dict[str, str] = {}  # as asked for to where it was
        self.seconds = 0.0

    async def judge(self, page: Page) -> Verdict:
        started = time.process_time()
        verdict = await self._judge.judge(page)
        self.seconds += time.process_time() - started
        return verdict

    def learn(self, visit: Visit) -> None:
        if not visit.digest or visit.duplicate_of:
            return
        url = visit.reply.link.url
        self.pages[url] = visit.reply.url
        self.given[url] = self.latest[url] = visit.verdict
        started = time.process_time()
        self._judge.learn(visit)
        self.seconds += time.process_time() - started

    def revised(self) -> Revised:
        started = time.process_time()
        found = self._judge.revised()
        self.seconds += time.process_time() - started
        self.latest.update(found)
        return found


def run(name: str, task: Task, strategy: str, options: Mapping[str, Any], field: bool) -> list[str]:
    """One crawl, as a row of the table."""
    judge = Keywords(task.words, **options)
    judge.prepare(Path(), lambda path: [])
    watched, chosen = Watched(judge), STRATEGIES[strategy]()
    if hasattr(chosen, "prepare"):
        chosen.prepare(Path(), watched)
    crawl = crawl_web(task.web, task.seeds, watched, chosen, task.pages, **manner(field))
    truth = np.array([task.web.page(watched.pages[url]) in task.targets for url in watched.given])
    at_once = np.array([verdict.on_topic for verdict in watched.given.values()])
    on_topic = np.array([verdict.on_topic for verdict in watched.latest.values()])
    relevance = np.array([verdict.relevance for verdict in watched.latest.values()])
    area = area_under_recall(crawl.order(task.web.page), task.targets, task.pages)
    brier, auc = float(((relevance - truth) ** 2).mean()), roc_auc(truth, relevance) or 0.0
    figures = [*scores(truth, on_topic), scores(truth, at_once)[2], brier, miscalibration(truth, relevance), auc, area]
    cost = watched.seconds / len(truth) * 1e6
    return [name, strategy, str(len(truth)), str(truth.sum()), *(f"{figure:.3f}" for figure in figures), f"{cost:.0f}"]


def scores(truth: np.ndarray[Any, Any], said: np.ndarray[Any, Any]) -> tuple[float, float, float]:
    """Precision, recall and F1."""
    both = int((truth & said).sum())
    return both / max(1, said.sum()), both / max(1, truth.sum()), 2 * both / max(1, said.sum() + truth.sum())


def miscalibration(truth: np.ndarray[Any, Any], relevance: np.ndarray[Any, Any], bins: int = 10) -> float:
    """By how much the relevance is off in the mean, where it is compared with the share of targets in each tenth."""
    where = np.minimum((relevance * bins).astype(int), bins - 1)
    parts = (where == place for place in range(bins))
    return float(sum(part.mean() * abs(truth[part].mean() - relevance[part].mean()) for part in parts if part.any()))


def line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("webs", type=Path)
    parser.add_argument("--tasks", default=",".join(TASKS))
    parser.add_argument("--strategies", default="best-first,learned")
    parser.add_argument("--option", action="append", default=[], help="of the topic, as KEY=VALUE in JSON")
    parser.add_argument("--field", action="store_true")
    given = parser.parse_args()
    options = {key: msgspec.json.decode(value) for key, _, value in (item.partition("=") for item in given.option)}
    print(line(HEAD), "|---|---|" + "--:|" * (len(HEAD) - 2), sep="\n")
    for name in given.tasks.split(","):
        task = TASKS[name](given.webs)
        for strategy in given.strategies.split(","):
            print(line(run(name, task, strategy, options, given.field)), flush=True)


if __name__ == "__main__":
    main()
