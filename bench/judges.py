"""How well do the judges order real pages they were not trained on, and what does a verdict cost?

python bench/judges.py WEBS [--skip quality|speed]

WEBS is a folder with the recorded webs webkb-misc, webkb-texas and webkb-wisconsin: NAME.warc.gz and NAME.labels.tsv.
Quality: the area under the ROC curve of the relevance, one label as target, over all labelled pages of the test web.
Speed: microseconds of CPU for one page of about 1,500 words, the best of five rounds. A topic in a sentence also
remembers each page, and is measured with that, training apart, on pages of all lengths. The best of ten rounds counts
for each page, so that other programs disturb it less, and its words are touched first, as if they had just been parsed.
"""

import argparse
import asyncio
import logging
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")  # read when numpy is first imported: CPU time of one core
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from lycosa.judge.corpus import read_labels
from lycosa.judge.examples import Examples
from lycosa.judge.keywords import Keywords
from lycosa.judge.ontology import Ontology
from lycosa.judge.sentence import Sentence
from lycosa.judge.taxonomy import Taxonomy
from lycosa.judge.tids import Tids
from lycosa.output.topic_report import roc_auc
from lycosa.pages import read_pages
from lycosa.store.db import CrawlDb
from lycosa.types import Judge, Link, Page, Reply, Visit
from lycosa.urls import canonical

TARGETS = ("student", "faculty", "course", "project")
SPLITS = (("webkb-texas", "webkb-wisconsin", 0.96), ("webkb-wisconsin", "webkb-texas", 0.945))
MODELS = ("logistic", "svm", "nb", "mlp", "vote")
WORDS = 1_500
LEARNED, ROUNDS = 1_000, 10  # pages that a sentence judge has learned from
CLASSES = 50

Labelled = list[tuple[str, Page]]


def load(webs: Path, name: str) -> Labelled:
    """Every labelled page of a web."""
    labels = read_labels(webs / f"{name}.labels.tsv")
    pages = {canonical(url): page for url, page in read_pages(webs / f"{name}.warc.gz")}
    return [(label, pages[url]) for url, label in labels.items() if url in pages]


async def relevances(judge: Judge, pages: Labelled) -> np.ndarray[Any, np.dtype[np.float64]]:
    return np.array([(await judge.judge(page)).relevance for _, page in pages])


async def areas(judge: Examples | Taxonomy, pages: Labelled) -> list[float]:
    """For each target in turn; the model does not depend on the target."""
    truth = np.array([label for label, _ in pages])
    found = []
    for target in TARGETS:
        judge.target = [target]
        judge.focus_ = judge.focus(judge.classifier_)
        found.append(roc_auc(truth == target, await relevances(judge, pages)) or 0.0)
    return found


def make(webs: Path, extra: str, **options: Any) -> Examples:
    names = ("webkb-misc", extra)
    examples, labels = [f"{name}.warc.gz" for name in names], [f"{name}.labels.tsv" for name in names]
    return Examples(examples, labels, target=["course"], **options)


async def quality(webs: Path) -> None:
    for extra, test, bar in SPLITS:
        pages = load(webs, test)
        print(f"\ntrained on webkb-misc + {extra}, all {len(pages)} pages of {test}; the bar is {bar}")
        print(f"{'':28}{''.join(f'{name:>10}' for name in (*TARGETS, 'mean', 'train s'))}")
        for model in MODELS:
            started = time.process_time()
            judge = make(webs, extra, model=model)
            judge.prepare(webs, read_pages)
            show(f"examples {model}", await areas(judge, pages), time.process_time() - started)
        await drawn(webs, extra, pages)
        started = time.process_time()
        tree = Taxonomy(judge.examples, ["course"], judge.labels, min_pages=1)
        tree.prepare(webs, read_pages)
        show("taxonomy", await areas(tree, pages), time.process_time() - started)


async def drawn(webs: Path, extra: str, pages: Labelled) -> None:
    """With two negatives for each positive the model depends on the target: four trainings."""
    truth, found, started = np.array([label for label, _ in pages]), [], time.process_time()
    for target in TARGETS:
        judge = make(webs, extra, negatives=2)
        judge.target = [target]
        judge.prepare(webs, read_pages)
        found.append(roc_auc(truth == target, await relevances(judge, pages)) or 0.0)
    show("examples logistic, 2 : 1", found, time.process_time() - started)


def show(name: str, figures: Sequence[float], seconds: float) -> None:
    shown = "".join(f"{figure:10.4f}" for figure in (*figures, np.mean(figures)))
    print(f"{name:28}{shown}{seconds:10.1f}", flush=True)


async def cost(judge: Judge, pages: Sequence[Page]) -> float:
    """Microseconds of CPU a page; the first round fills the tables of words and does not count."""
    best = float("inf")
    for turn in range(6):
        started = time.process_time()
        for page in pages:
            await judge.judge(page)
        best = min(best, time.process_time() - started) if turn else best
    return best / len(pages) * 1e6


async def cost_remembering(pages: Sequence[Page]) -> tuple[str, float]:
    """What a sentence judge has learned from the pages, and microseconds of CPU to judge and remember one of them."""
    visits = [Visit(Reply(Link(page.url), url=page.url, status=200), page, digest="-") for page in pages]
    taught, best = sentence(), np.full(len(visits), np.inf)
    for visit in visits:
        taught.learn(visit)
    for _ in range(ROUNDS):
        judge = sentence()
        judge.version_ = taught.version_  # trained on as many pages, so it does not train again
        for place, visit in enumerate(visits):
            set(visit.page.words)
            started = time.process_time()
            await judge.judge(visit.page)
            judge.learn(visit)
            best[place] = min(best[place], time.process_time() - started)
    return taught.version_.name, float(best.mean()) * 1e6


def sentence() -> Sentence:
    judge = Sentence("The web page of a university course: lectures, homework, exams, syllabus and office hours.")
    judge.prepare(Path(), read_pages)
    judge.connect(CrawlDb(":memory:").open(), at_once=True)
    return judge


def as_tree(pages: Labelled) -> tuple[Taxonomy, Any]:
    """Fifty classes of equal size, whatever they mean: only the cost is looked at."""
    named = [(f"class{number % CLASSES}/{number}.html", page) for number, (_, page) in enumerate(pages)]
    return Taxonomy(".", ["class0"], min_pages=1, features_per_class=0), lambda path: named


def untaught(pages: Labelled) -> dict[str, Judge]:
    """The judges that need no labels, ready to judge."""
    courses = [(f"{number}.html", page) for number, (label, page) in enumerate(pages) if label == "course"]
    keywords = Keywords(["course", "syllabus", "homework", "lecture notes", "exam"])
    keywords.prepare(Path(), read_pages)
    tids = Tids(".")
    tids.prepare(Path(), lambda path: courses[:100])
    ontology = Ontology("birds.xtm", ["birdwatching"])
    ontology.prepare(Path(__file__).parents[1] / "examples" / "ontology", read_pages)
    return {"keywords": keywords, "tids": tids, "ontology": ontology}


async def speed(webs: Path) -> None:
    pages = load(webs, "webkb-misc")
    long = [page for _, page in pages if 0.8 * WORDS < len(page.words) < 1.2 * WORDS]
    mean = np.mean([len(page.words) for page in long])
    print(f"\nmicroseconds a page, {len(long)} pages of {mean:.0f} words on average (the bar is 300)")
    for model in MODELS:
        judge = make(webs, "webkb-texas", model=model)
        judge.prepare(webs, read_pages)
        print(f"examples {model:20}{await cost(judge, long):8.0f}", flush=True)
    tree, reader = as_tree(pages)
    tree.prepare(webs, reader)
    size = len(tree.classifier_.facts.terms)
    print(f"{f'taxonomy, {CLASSES} classes':29}{await cost(tree, long):8.0f}   ({size} terms)")
    for name, other in untaught(pages).items():
        print(f"{name:29}{await cost(other, long):8.0f}", flush=True)
    some = [page for _, page in pages if page.words][:LEARNED]
    name, microseconds = await cost_remembering(some)
    size = np.mean([len(page.words) for page in some])
    print(f"{'sentence, with remembering':29}{microseconds:8.0f}   ({name}; {size:.0f} words on average)", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("webs", type=Path)
    parser.add_argument("--skip", action="append", default=[], choices=["quality", "speed"])
    options = parser.parse_args()
    logging.disable(logging.WARNING)
    if "quality" not in options.skip:
        asyncio.run(quality(options.webs))
    if "speed" not in options.skip:
        asyncio.run(speed(options.webs))


if __name__ == "__main__":
    main()
