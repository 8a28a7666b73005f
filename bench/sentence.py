"""How far does one sentence go? Crawls of recorded webs for a topic known by a sentence, by keywords, by 60 examples.

python bench/sentence.py WEBS [--final] [--only TASK] [--judge KIND] [--pages 2000] [--strategy learned] [--field]
python bench/sentence.py WEBS --growth [--final] [--only TASK]

WEBS is a folder with the recorded webs uic, webkb-texas, webkb-wisconsin and webkb-misc: NAME.warc.gz, NAME.labels.tsv.
The sentences and words were written before any result was looked at. `--final` takes the tasks that nothing was chosen
by. For each crawl: the area under recall; then, over the pages it fetched and by their labels, the average precision of
the judge as it is at the end, precision and recall of `on_topic`, and the mean squared error of the relevance beside
that of a judge that always says how frequent the targets are. Targets that serve as examples are targets for nobody.
The crawls are in strict order or, with `--field`, with the delays and workers of a real crawl on the lab's clock.
With `--growth` nothing is focused: the judge learns from the pages in breadth-first order, and the table has its
average precision over all pages that can be reached, after so many pages.
"""

import argparse
import asyncio
import logging
import os
import re
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

os.environ.setdefault("OMP_NUM_THREADS", "1")  # read when numpy is first imported: CPU time of one core
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from lycosa import urls
from lycosa.judge.corpus import read_labels
from lycosa.judge.examples import Examples
from lycosa.judge.keywords import Keywords
from lycosa.judge.sentence import Sentence
from lycosa.lab.answer import Graph, Pages
from lycosa.lab.metrics import area_under_recall
from lycosa.lab.one import LabCrawl, crawl_web, manner
from lycosa.lab.survey import reach
from lycosa.lab.webs import graph_of, labels_of, open_web
from lycosa.pages import read_pages
from lycosa.strategy import STRATEGIES
from lycosa.types import Link, Page, Reply, Visit

EXAMPLES, OTHERS = 60, 120
GROWTH = (0, 30, 100, 300, 1_000)
KINDS = ("sentence", "keywords", "examples")


class Topic(NamedTuple):
    sentence: str
    words: list[str]
    hosts: tuple[str, ...] = ()  # pages of these hosts are targets; without, those with the label
    label: str = ""
    title: str = ""  # or those with this in their title: a regular expression


class Task(NamedTuple):
    name: str
    web: str
    seed: str
    topic: Topic
    pages: int


UIC = {
    "health": Topic(
        "Health sciences at the university: medicine, nursing, dentistry, pharmacy, public health, patients and"
        " clinical care.",
        ["health", "medicine", "nursing", "dentistry", "pharmacy", "public health", "patient", "clinic"],
        label="1",
    ),
    "nursing": Topic(
        "The education of nurses, and research in nursing and midwifery.",
        ["nursing", "nurse", "midwifery", "nursing research"],
        ("nursing.uic.edu", "www.nursing.uic.edu"),
    ),
    "social work": Topic(
        "Social work: education of social workers, and services for children, families and communities.",
        ["social work", "social worker", "child welfare", "family services", "community"],
        ("socialwork.uic.edu",),
    ),
    "library": Topic(
        "The university library: books, journals, databases, archives, collections and research guides.",
        ["library", "books", "journals", "databases", "archives", "collections", "research guide"],
        ("library.uic.edu", "researchguides.uic.edu", "rjd.library.uic.edu", "uicarchives.library.uic.edu"),
    ),
    "engineering": Topic(
        "Engineering as a subject: mechanical, electrical, chemical, civil and biomedical engineering, its departments,"
        " labs and students.",
        [
            "engineering", "mechanical engineering", "electrical engineering", "chemical engineering",
            "civil engineering", "bioengineering",
        ],
        ("engineering.uic.edu", "mie.uic.edu", "ece.uic.edu", "bioe.uic.edu"),
    ),
    "business": Topic(
        "The business school: accounting, finance, marketing, management and the MBA.",
        ["business", "accounting", "finance", "marketing", "management", "MBA"],
        ("business.uic.edu",),
    ),
    "study abroad": Topic(
        "Programs for students who want to study abroad in another country.",
        ["study abroad", "exchange program", "foreign country", "international"],
        ("studyabroad.uic.edu",),
    ),
    "children": Topic(
        "Help for children with special health care needs and for their families.",
        ["children", "special health care needs", "families", "care coordination"],
        ("dscc.uic.edu", "provider.dscc.uic.edu"),
    ),
    "computing": Topic(
        "Computing services for staff and students: accounts, email, networks, software and passwords.",
        ["computing", "account", "email", "network", "software", "password"],
        ("accc.uic.edu",),
    ),
}  # fmt: skip
DENTISTRY = Topic(
    "Dentistry: oral health, teeth, dental students, patients and clinics.",
    ["dentistry", "dental", "oral health", "teeth", "dental clinic"],
    ("dentistry.uic.edu",),
)
WEBKB = {
    "course": Topic(
        "The web page of a university course: lectures, homework assignments, exams, syllabus and office hours.",
        ["course", "lecture", "homework", "assignment", "exam", "syllabus", "office hours"],
        label="course",
    ),
    "faculty": Topic(
        "The home page of a professor of computer science: research interests, publications and teaching.",
        ["professor", "research interests", "publications", "teaching", "computer science"],
        label="faculty",
    ),
    "student": Topic(
        "The home page of a graduate student: who I am, my hobbies, my friends, favorite links and resume.",
        ["graduate student", "home page", "hobbies", "friends", "favorite links", "resume"],
        label="student",
    ),
    "project": Topic(
        "A research project in computer science: its goals, people, papers and software.",
        ["project", "research group", "papers", "software", "goals"],
        label="project",
    ),
}


RARE = {  # for bench/labels.py: few targets, and a judge that finds them badly
    "publications": Topic("Publications: papers and technical reports.", [], title="publication|papers|bibliograph"),
    "links": Topic("My favorite links: cool sites on the Web.", [], title="links|bookmarks|favorite|hotlist"),
    "homework": Topic(
        "Homework: programming assignments and projects of a class.", [], title="homework|assignment|project"
    ),
    "group": Topic(
        "A research group or laboratory: its members, projects and publications.", [], title=r"group|laboratory|\blab\b"
    ),
    "schedule": Topic("The schedule of talks and seminars, and the calendar.", [], title="schedule|calendar"),
    "resume": Topic("My resume: education, experience and skills.", [], title=r"resume|vita\b|\bcv\b"),
}


def rare_tasks(pages: int) -> Iterator[Task]:
    for name, topic in RARE.items():
        yield Task(f"texas {name}", "webkb-texas", "http://www.cs.utexas.edu/", topic, pages)


def tasks(final: bool, pages: int) -> Iterator[Task]:
    uic = {"dentistry": DENTISTRY} if final else UIC
    webkb, seed = (
        ("webkb-wisconsin", "http://www.cs.wisc.edu/") if final else ("webkb-texas", "http://www.cs.utexas.edu/")
    )
    for name, topic in uic.items():
        yield Task(f"uic {name}", "uic", "http://cs.uic.edu/", topic, pages)
    for name, topic in WEBKB.items():
        yield Task(f"{webkb.removeprefix('webkb-')} {name}", webkb, seed, topic, min(pages, 400))


class Bench:
    """The webs, each read once, and what is asked of every task."""

    def __init__(self, webs: Path, strategy: str, field: bool = False) -> None:
        self.webs = webs
        self.strategy = strategy
        self.field = field
        self._orders: dict[str, list[str]] = {}
        self._open: dict[str, tuple[Pages, Graph, dict[str, str], dict[str, Page]]] = {}

    def web(self, name: str) -> tuple[Pages, Graph, dict[str, str], dict[str, Page]]:
        """Its answers, its links, its labels, and its pages by name."""
        if name not in self._open:
            web = open_web(f"{name}.warc.gz", self.webs)
            pages = {web.page(url): page for url, page in read_pages(self.webs / f"{name}.warc.gz")}
            labels = labels_of(web, self.webs / f"{name}.labels.tsv")
            self._open[name] = web, graph_of(web), labels, pages
        return self._open[name]

    def positives(self, task: Task) -> list[str]:
        web, _, labels, pages = self.web(task.web)
        if task.topic.title:
            return sorted(url for url, page in pages.items() if re.search(task.topic.title, page.title, re.IGNORECASE))
        if task.topic.hosts:
            return sorted(page for page in web.pages() if urls.hostname(page) in task.topic.hosts)
        return sorted(page for page, label in labels.items() if label == task.topic.label)

    def examples(self, task: Task) -> tuple[list[tuple[str, Page]], set[str]]:
        """Labelled pages, and which of them are no targets then: of the web itself by host, else of webkb-misc."""
        chance = Random(0)
        if task.topic.title:
            return [], set()
        if task.web == "uic":
            positives, pages = self.positives(task), self.web("uic")[3]
            positives = [page for page in positives if page in pages]
            others = sorted(set(pages).difference(positives))
            given = chance.sample(positives, min(EXAMPLES, len(positives) // 2))
        else:
            labels, pages = self._misc()
            given = chance.sample(sorted(url for url in pages if labels[url] == task.topic.label), EXAMPLES)
            others = sorted(url for url in pages if labels[url] != task.topic.label)
        rest = chance.sample(others, OTHERS)
        named = [(f"positive/{number}.html", pages[url]) for number, url in enumerate(given)]
        named += [(f"other/{number}.html", pages[url]) for number, url in enumerate(rest)]
        return named, set(given)

    @cache  # noqa: B019
    def _misc(self) -> tuple[dict[str, str], dict[str, Page]]:
        labels = read_labels(self.webs / "webkb-misc.labels.tsv")
        return labels, {url: page for url, page in read_pages(self.webs / "webkb-misc.warc.gz") if url in labels}

    def judge(self, kind: str, task: Task, named: list[tuple[str, Page]]) -> Any:
        makers = {
            "sentence": lambda: Sentence(task.topic.sentence),
            "keywords": lambda: Keywords(task.topic.words),
            "examples": lambda: Examples(".", target=["positive"]),
        }
        judge = makers[kind]()
        with TemporaryDirectory() as folder:
            judge.prepare(Path(folder), lambda path: named)
        return judge

    def run(self, task: Task, kind: str) -> dict[str, float]:
        web, graph, _, pages = self.web(task.web)
        positives = set(self.positives(task))
        named, given = self.examples(task)
        targets = reach(graph, [task.seed]).keys() & positives - given
        judge = self.judge(kind, task, named)
        strategy = STRATEGIES[self.strategy]()
        if hasattr(strategy, "prepare"):
            strategy.prepare(Path(), judge)
        started = time.process_time()
        crawl = crawl_web(web, [task.seed], judge, strategy, task.pages, **manner(self.field))
        cpu = time.process_time() - started
        order = crawl.order(web.page)
        fetched = [page for page in dict.fromkeys(order) if page in pages and page not in given]
        truth = np.array([page in positives for page in fetched])
        verdicts = asyncio.run(verdicts_of(judge, [pages[page] for page in fetched]))
        found = figures(
            truth, np.array([one.relevance for one in verdicts]), np.array([one.on_topic for one in verdicts])
        )
        return {
            "area": area_under_recall(order, targets, task.pages),
            **found,
            "early": early(crawl, web, positives),
            "cpu": cpu,
        }

    def growth(self, task: Task) -> dict[str, float]:
        """Average precision over the whole web, with what was learned from its first pages."""
        web, _, _, pages = self.web(task.web)
        if task.web not in self._orders:
            crawl = crawl_web(web, [task.seed], self.judge("keywords", task, []), STRATEGIES["breadth-first"](), 10**6)
            self._orders[task.web] = [page for page in dict.fromkeys(crawl.order(web.page)) if page in pages]
        order, positives = self._orders[task.web], set(self.positives(task))
        truth = np.array([page in positives for page in order])
        judge, found = self.judge("sentence", task, []), {}
        for number, name in enumerate([*order, ""]):
            if number in GROWTH or not name:
                verdicts = asyncio.run(verdicts_of(judge, [pages[page] for page in order]))
                found[str(number if name else "all")] = precision(truth, np.array([one.relevance for one in verdicts]))
            if name:
                judge.learn(Visit(Reply(Link(name)), pages[name]))
        return {name: found.get(name, found["all"]) for name in [*map(str, GROWTH), "all"]}


async def verdicts_of(judge: Any, pages: list[Page]) -> list[Any]:
    return [await judge.judge(page) for page in pages]


def early(crawl: LabCrawl, web: Pages, positives: set[str]) -> float:
    """Average precision of what was said when the pages were fetched."""
    seen = {web.page(fetch.final_url): fetch.relevance for fetch in crawl.pages if not fetch.duplicate_of}
    return precision(np.array([page in positives for page in seen]), np.array([*seen.values()]))


def precision(truth: Any, scores: Any) -> float:
    """Average precision."""
    ordered = truth[np.argsort(-scores, kind="stable")]
    return float((np.cumsum(ordered)[ordered] / (np.flatnonzero(ordered) + 1)).mean()) if truth.any() else 0.0


def figures(truth: Any, scores: Any, on_topic: Any) -> dict[str, float]:
    hits, share = int((truth & on_topic).sum()), truth.mean()
    return {
        "AP": precision(truth, scores),
        "precision": hits / max(int(on_topic.sum()), 1),
        "recall": hits / max(int(truth.sum()), 1),
        "F1": 2 * hits / max(int(truth.sum() + on_topic.sum()), 1),
        "error": float(((scores - truth) ** 2).mean()),
        "of share": float(share * (1 - share)),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("webs", type=Path)
    parser.add_argument("--final", action="store_true")
    parser.add_argument("--growth", action="store_true")
    parser.add_argument("--only", action="append", default=[], metavar="TASK")
    parser.add_argument("--judge", action="append", default=[], choices=KINDS)
    parser.add_argument("--pages", type=int, default=2_000)
    parser.add_argument("--strategy", default="learned")
    parser.add_argument("--field", action="store_true")
    options = parser.parse_args()
    logging.disable(logging.WARNING)
    bench, kinds = (
        Bench(options.webs, options.strategy, options.field),
        ["growth"] if options.growth else options.judge or KINDS,
    )
    totals: dict[str, list[list[float]]] = {}
    for task in tasks(options.final, options.pages):
        if options.only and not any(name in task.name for name in options.only):
            continue
        for kind in kinds:
            row = bench.growth(task) if options.growth else bench.run(task, kind)
            if not totals:
                print(f"{'':30}{''.join(f'{name:>10}' for name in row)}")
            totals.setdefault(kind, []).append([*row.values()])
            show(f"{task.name}, {kind}", [*row.values()])
    for kind, rows in totals.items():
        show(f"mean of {len(rows)}, {kind}", np.mean(rows, axis=0).tolist())


def show(name: str, figures: list[float]) -> None:
    print(f"{name:30}{''.join(f'{figure:10.3f}' for figure in figures)}", flush=True)


if __name__ == "__main__":
    main()
