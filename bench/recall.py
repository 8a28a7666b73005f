"""How well does a crawl know how much it has found, when does it stop, and does it cry drift for nothing?

    python bench/recall.py WEBS --out out/recall [--strategy best-first]

WEBS is a folder with the recorded webs that examples/lab names. Each task is crawled once in the lab, to the end of its
web, and the order of its fetches is kept in --out. The estimates are then made by replaying that order: with five draws
of pages that are set aside, at twenty points of the crawl, and with `[limits] recall = 0.8`. The constants were chosen
on the tasks marked with a star; judge them by the others.
"""

import argparse
import logging
import statistics
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from random import Random
from typing import Any

import msgspec
from msgspec import Struct

from lycosa import build, config
from lycosa.estimate.drift import SITES, Drift, frequent_words
from lycosa.estimate.recall import Estimate
from lycosa.lab import estimates, one, tasks
from lycosa.lab.estimates import DRAWS, Missed, Step, Steps
from lycosa.lab.judges import MAIN, judge_of
from lycosa.lab.prepare import Preparation, Prepared
from lycosa.lab.replay import Fenced
from lycosa.lab.tasks import Comparison, Task
from lycosa.lab.webs import open_web
from lycosa.types import Page, Verdict, Visit

CHOSEN_ON = ("texas course", "texas faculty", "texas student", "uic health")
TARGET, ENOUGH = 0.8, 0.75
SIZES = (10, 20)  # pages set aside
BEFORE = 75  # relevant pages before a crawl is led astray
GROWN = 0.95  # recall until which a crawl grows
UIC = {  # hosts as topics, and how many of their pages are given as examples
    "dentistry": (["dentistry.uic.edu"], 60),
    "nursing": (["nursing.uic.edu"], 20),
    "engineering": (["engineering.uic.edu"], 60),
    "computing": (["accc.uic.edu"], 30),
    "library": (["library.uic.edu", "researchguides.uic.edu", "rjd.library.uic.edu"], 20),
    "children": (["dscc.uic.edu"], 20),
}
GENERATED = {"astronomy": "locality=0.5", "music": "anchor_quality=0.2", "law": "chains=3"}


class WordStep(Step, frozen=True, array_like=True):
    """What the alarm for drift needs besides."""

    relevance: float
    words: list[str]  # the frequent ones

    def full_visit(self) -> Visit:
        verdict = Verdict(self.relevance, self.on_topic)
        return msgspec.structs.replace(self.visit(), page=Page(words=self.words), verdict=verdict)


class Recording(Struct, frozen=True):
    """One crawl to the end of its web: every distinct page in the order of fetching."""

    task: str
    targets: list[str]
    steps: list[WordStep]
    links: dict[str, int]  # to each target, from the fetched pages

    def recall(self) -> list[float]:
        return estimates.recall(self.steps, self.targets)

    @property
    def oracle(self) -> int:
        """After how many pages one who knows the targets would stop."""
        return next(number for number, recall in enumerate(self.recall(), 1) if recall >= TARGET)


def webkb(web: str, other: str) -> Iterator[Task]:
    train = [f"{name}.warc.gz:{name}.labels.tsv" for name in ("webkb-misc", f"webkb-{other}")]
    start = {"texas": "http://www.cs.utexas.edu/", "wisconsin": "http://www.cs.wisc.edu/"}[web]
    for target in ("course", "faculty", "student"):
        named: dict[str, Any] = {"web": f"webkb-{web}.warc.gz", "labels": f"webkb-{web}.labels.tsv", "target": [target]}
        yield Task(name=f"{web} {target}", seeds=[start], train=train, closed=True, pages=10_000, **named)


def all_tasks() -> Iterator[Task]:
    yield from webkb("texas", "wisconsin")
    uic: dict[str, Any] = {"web": "uic.warc.gz", "seeds": ["http://cs.uic.edu/"], "closed": True, "pages": 10_000}
    yield Task(name="uic health", labels="uic.labels.tsv", target=["1"], examples_from_targets=60, **uic)
    yield from webkb("wisconsin", "texas")
    for name, (hosts, examples) in UIC.items():
        yield Task(name=f"uic {name}", hosts=hosts, examples_from_targets=examples, **uic)
    for topic, options in GENERATED.items():
        web = f"generated:pages=4000,hosts=40,size_bytes=2000-6000,count=15-40,{options}"
        yield Task(name=f"generated {topic}", web=web, target=[topic], pages=4_000)


class Recorder(Steps):
    """Also keeps what the alarm for drift and the choice of well-linked pages need."""

    def __init__(self, name: Callable[[str], str]) -> None:
        super().__init__(name)
        self.steps: list[WordStep] = []
        self.links: Counter[str] = Counter()

    def write(self, visit: Visit) -> None:
        super().write(visit)
        self.links.update(link.url for link in visit.page.links)
        if visit.is_distinct:
            words, relevance = frequent_words(visit.page), round(visit.verdict.relevance, 4)
            self.steps.append(WordStep(*msgspec.structs.astuple(self.all[-1]), relevance, words))


def record(prepared: Prepared, strategy: str, path: Path) -> Recording:
    """Crawl once, or read what was crawled before."""
    if path.exists():
        return msgspec.json.decode(path.read_bytes(), type=Recording)
    task = prepared.task
    web, judge = open_web(task.web, Path(prepared.folder)), judge_of(prepared.judges[MAIN])
    made = build.make("strategy", build.strategies(), {"kind": strategy}, config.Source(Path("recall"), ""))
    if hasattr(made, "prepare"):
        made.prepare(Path(prepared.judges[MAIN].home), judge)
    seen, links, targets = Recorder(web.page), Counter[str](), set(prepared.targets)
    one.crawl_web(Fenced(web) if task.closed else web, prepared.seeds, judge, made, task.pages, sinks=[seen])
    for url, count in seen.links.items():
        if (page := web.page(url)) in targets:
            links[page] += count
    found = Recording(task.name, prepared.targets, seen.steps, dict(links))
    path.write_bytes(msgspec.json.encode(found))
    return found


def drawn(found: Recording, size: int, seed: int, popular: bool = False) -> list[str]:
    """Pages set aside, by their names: any of the targets, or rather those that many pages link to."""
    if not popular:
        return estimates.sample(found.targets, size, seed)
    chance = Random(seed)
    keys = {page: chance.random() ** (1 / max(1, found.links.get(page, 0))) for page in found.targets}
    return sorted(keys, key=lambda page: -keys[page])[:size]


def stop(found: Recording, held: Sequence[str]) -> int:
    """After how many pages a crawl with `[limits] recall` ends."""
    estimate = Estimate(estimates.hold_out(held, found.steps), TARGET)
    for number, step in enumerate(found.steps, 1):
        estimate.write(step.visit())
        if estimate.reached():
            return number
    return len(found.steps)


def errors(found: Recording) -> dict[str, list[Missed]]:
    """For each estimator, its errors at equal steps of the crawl: of all of it, and of the part in which it grows."""
    steps, truth = found.steps, found.recall()
    grown = next(number for number, recall in enumerate(truth, 1) if recall >= GROWN)
    results: dict[str, list[Missed]] = {}
    for part, points in {"grows": estimates.points_of(grown), "all": estimates.points_of(len(truth))}.items():
        results[f"{part} curve"] = [*estimates.of_curve(steps, truth, points)]
        for size in SIZES:
            held = [estimates.hold_out(drawn(found, size, seed), steps) for seed in range(DRAWS)]
            missed = (estimates.of_held_out(steps, truth, one, points) for one in held)
            results[f"{part} {size}"] = [*chain.from_iterable(missed)]
    return results


def error_table(recordings: Sequence[Recording]) -> str:
    heads = [f"{part} {name}" for part in ("grows", "all") for name in (*SIZES, "curve")]
    lines = ["| task | targets | " + " | ".join(heads) + " |", "|---|--:|" + "--:|" * len(heads)]
    sums: dict[str, list[tuple[float, float]]] = {head: [] for head in heads}
    for found in recordings:
        results, cells = errors(found), [starred(found.task), str(len(found.targets))]
        for head in heads:
            _, error, covered = (statistics.mean(values) for values in zip(*results[head], strict=True))
            cells.append(f"{error:.3f} ({covered:.0%})")
            if found.task not in CHOSEN_ON:
                sums[head].append((error, covered))
        lines.append("| " + " | ".join(cells) + " |")
    if not all(sums.values()):
        return "\n".join(lines)  # only tasks that constants were chosen on
    means = [[statistics.mean(values) for values in zip(*sums[head], strict=True)] for head in heads]
    return "\n".join([*lines, "| mean without * | | " + " | ".join(f"{e:.3f} ({c:.0%})" for e, c in means) + " |"])


def stop_table(recordings: Sequence[Recording]) -> str:
    """Each cell: crawls that ended with enough, their mean recall, pages more than the oracle."""
    heads = [*(f"{size} set aside" for size in SIZES), "20, well linked", "curve alone"]
    lines = ["| task | pages | oracle | " + " | ".join(heads) + " |", "|---|--:|--:|" + "--:|" * len(heads)]
    good, runs = Counter[str](), Counter[str]()
    extra: dict[str, list[float]] = {head: [] for head in heads}
    for found in recordings:
        truth, cells = found.recall(), [starred(found.task), f"{len(found.steps):,}", f"{found.oracle:,}"]
        for head, size, popular in zip(heads, (*SIZES, 20, 0), (False, False, True, False), strict=True):
            seeds = range(DRAWS if size else 1)
            ends = [stop(found, drawn(found, size, seed, popular) if size else []) for seed in seeds]
            fine = sum(truth[end - 1] >= ENOUGH for end in ends)
            recall = statistics.mean(truth[end - 1] for end in ends)
            more = statistics.mean(end - found.oracle for end in ends)
            cells.append(f"{fine} of {len(ends)}, {recall:.2f}, {more:+,.0f}")
            if found.task not in CHOSEN_ON:
                good[head] += fine
                runs[head] += len(ends)
                extra[head].append(more / found.oracle)
        lines.append("| " + " | ".join(cells) + " |")
    if not all(runs[head] for head in heads):
        return "\n".join(lines)
    more_than = {head: f"{statistics.median(extra[head]):+.0%} of the oracle's pages (median)" for head in heads}
    total = [f"{good[head]} of {runs[head]}, {more_than[head]}" for head in heads]
    return "\n".join([*lines, "| without * | | | " + " | ".join(total) + " |"])


def alarms(steps: Sequence[WordStep]) -> list[int]:
    """After which relevant pages the alarm went on."""
    drift, found, before, relevant = Drift(), [], False, 0
    for step in steps:
        relevant += step.on_topic
        drift.write(step.full_visit())
        if drift.alarm and not before:
            found.append(relevant)
        before = bool(drift.alarm)
    return found


def until(steps: Sequence[WordStep], relevant: int) -> list[WordStep]:
    """The beginning of a crawl, up to so many relevant pages."""
    ends = [number for number, step in enumerate(steps, 1) if step.on_topic]
    return [*steps[: ends[relevant - 1]]]


def first_sites(steps: Sequence[WordStep]) -> float:
    drift = Drift()
    for step in until(steps, BEFORE):
        drift.write(step.full_visit())
    return drift.early.sites


def drift_table(recordings: Sequence[Recording]) -> str:
    """False alarms in the crawls as they were; alarms when a crawl goes on with the relevant pages of another."""
    relevant = {found.task: [step for step in found.steps if step.on_topic] for found in recordings}
    lines = ["alarms in crawls as they were, by relevant pages:"]
    for found in recordings:
        lines.append(f"- {starred(found.task)} ({len(relevant[found.task])}): {alarms(found.steps) or 'none'}")
    outcome: dict[str, list[int]] = {}
    for found in recordings:
        for task, others in relevant.items():
            fresh = [step for step in others if step.page not in {one.page for one in relevant[found.task]}][:150]
            if found.task == task or len(relevant[found.task]) < BEFORE or len(fresh) < BEFORE:
                continue
            on = [at - BEFORE for at in alarms(until(found.steps, BEFORE) + fresh) if at > BEFORE]
            kind = "of several sites" if first_sites(found.steps) >= SITES else "mostly of one site"
            outcome.setdefault(kind, []).append(on[0] if on else 0)
    for kind, delays in outcome.items():
        caught = [delay for delay in delays if delay]
        after = f", after {statistics.median(caught):.0f} pages (median)" if caught else ""
        lines.append(f"led astray, first pages {kind}: {len(caught)} of {len(delays)} noticed{after}")
    return "\n".join(lines)


def starred(task: str) -> str:
    return f"{task} *" if task in CHOSEN_ON else task


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("webs", type=Path)
    parser.add_argument("--out", type=Path, default=Path("out/recall"))
    parser.add_argument("--strategy", default="learned")
    parser.add_argument("--tasks", default="", help="only those whose name contains this")
    parser.add_argument("--record", action="store_true", help="crawl only")
    given = parser.parse_args()
    logging.disable(logging.WARNING)
    given.out.mkdir(parents=True, exist_ok=True)
    wanted = [task for task in all_tasks() if given.tasks in task.name]
    comparison = Comparison(task=wanted, strategies=[given.strategy], webs=str(given.webs.resolve()), oracle=False)
    plan = tasks.complete(comparison, given.out.resolve())
    preparation, recordings = Preparation(plan, given.out), []
    for task in plan.tasks:
        path = given.out / f"{tasks.slug(task.name)}--{given.strategy}.json"
        recordings.append(record(preparation.prepare(task, 0), given.strategy, path))
        print(f"{task.name}: {len(recordings[-1].steps):,} pages", flush=True)
    for table in () if given.record else (error_table, stop_table, drift_table):
        print(f"\n{table(recordings)}", flush=True)


if __name__ == "__main__":
    main()
