"""Does a crawl of the live Web keep what strict order promises? Quality by pages and by hours, at real politeness.

    python bench/field.py WEBS --out out/field

WEBS is a folder with the recorded webs that examples/lab names. Every task is crawled in the lab in strict order (one
worker, no delay: the upper bound), with the defaults of a real crawl (64 workers, a delay of one second, answers that
take 0.2 s), strictly focused, and always busy, on the lab's own clock.
"""

import argparse
import statistics
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace
from remembering import Remembering

from lycosa import build, config
from lycosa.cli.lab import mine
from lycosa.lab import one, tasks
from lycosa.lab.judges import MAIN, judge_of
from lycosa.lab.metrics import area_under_recall, recall_curve
from lycosa.lab.prepare import Preparation, Prepared, judge_for
from lycosa.lab.tasks import Comparison, Task
from lycosa.lab.webs import open_web

WORDS = {  # written from what a person would say, before any crawl
    "dentistry": ["dentistry", "dental", "dentist", "oral health"],
    "health": ["health", "medicine", "nursing", "pharmacy", "dentistry", "patient", "clinic"],
    "course": ["course", "syllabus", "homework", "lecture", "assignment"],
    "student": ["graduate student", "phd student", "my advisor", "my resume", "home page"],
    "faculty": ["professor", "faculty", "research interests", "publications", "teaching"],
}
STRATEGIES = ("best-first", "learned")
BUSY, FOCUSED, PATIENT, STRICT = "busy", "default", "patient", "strict"
HOW = {
    STRICT: (one.LAB, 0.0),
    FOCUSED: (one.FIELD, one.LATENCY_S),
    PATIENT: (replace(one.FIELD, fetch=replace(one.FIELD.fetch, focus=1.0)), one.LATENCY_S),
    BUSY: (replace(one.FIELD, fetch=replace(one.FIELD.fetch, focus=0.0)), one.LATENCY_S),
}


class Outcome(Struct, frozen=True):
    """One crawl."""

    task: str
    topic: str
    strategy: str
    how: str
    area: float  # under recall, by pages
    recall: float
    hours: float  # of the lab's clock

    def line(self) -> str:
        what = f"{self.task:18}{self.topic:9}{self.strategy:14}{self.how:9}"
        return f"{what} area {self.area:.3f} recall {self.recall:.3f} {self.hours:7.3f} h"


def webkb(web: str, target: str, topic: str, other: str) -> Task:
    train = [f"{name}.warc.gz:{name}.labels.tsv" for name in ("webkb-misc", other)]
    host = {"webkb-texas": "utexas", "webkb-wisconsin": "wisc"}[web]
    return Task(
        name=f"{web.removeprefix('webkb-')} {target}",
        web=f"{web}.warc.gz",
        labels=f"{web}.labels.tsv",
        target=[target],
        seeds=[f"http://www.cs.{host}.edu/"],
        pages=400,
        model="logistic",
        **({"train": train} if topic == "examples" else {"topic": f"{target}.toml"}),
    )


def uic(target: str, topic: str) -> Task:
    return Task(
        name=f"uic {target}",
        web="uic.warc.gz",
        seeds=["http://cs.uic.edu/"],
        pages=2_000 if target == "health" else 600,
        model="logistic",
        **({"labels": "uic.labels.tsv", "target": ["1"]} if target == "health" else {"hosts": ["dentistry.uic.edu"]}),
        **({"examples_from_targets": 60} if topic == "examples" else {"topic": f"{target}.toml"}),
    )


def plans(webs: Path, out: Path, webs_too: str, chosen: Sequence[str] = STRATEGIES) -> Iterator[tuple[str, tasks.Plan]]:
    """One comparison for each kind of topic."""
    for name, words in WORDS.items():
        (out / f"{name}.toml").write_text(f'topic = {{ kind = "keywords", words = {words} }}\n', encoding="utf-8")
    for topic in ("keywords", "examples"):
        found = [uic(target, topic) for target in ("dentistry", "health")]
        for web, other in (("webkb-texas", "webkb-wisconsin"), ("webkb-wisconsin", "webkb-texas")):
            if web.removeprefix("webkb-") in webs_too:
                found += [webkb(web, target, topic, other) for target in ("course", "student", "faculty")]
        comparison = Comparison(task=found, strategies=[*chosen], webs=str(webs.resolve()), oracle=False)
        yield topic, tasks.complete(comparison, out.resolve())


def crawl(prepared: Prepared, strategy: str, how: str, shared: Remembering, home: Path) -> one.LabCrawl:
    settings, latency_s = HOW[how]
    made = build.make("strategy", build.strategies(), {"kind": strategy}, config.Source(Path("field"), ""))
    kind = judge_for({"kind": strategy}, prepared.task)
    judge: Any = shared if kind == MAIN and not prepared.task.topic else judge_of(prepared.judges[kind])
    if hasattr(made, "prepare"):
        made.prepare(home, judge)
    return one.crawl_web(shared, prepared.seeds, judge, made, prepared.task.pages, settings, latency_s=latency_s)


class Field:
    """All crawls of some tasks, each done once and kept on disk."""

    def __init__(self, out: Path, strategies: Sequence[str], manners: Sequence[str]) -> None:
        self.out = out
        self.strategies = strategies
        self.manners = manners

    def run(self, prepared: Prepared, topic: str) -> Iterator[Outcome]:
        web = open_web(prepared.task.web, Path(prepared.folder))
        shared = Remembering(judge_of(prepared.judges[MAIN]), web)
        for strategy in self.strategies:
            if strategy == "rules" and not prepared.task.train:
                continue  # rules need examples of more than one class
            for how in self.manners:
                name = f"{tasks.slug(prepared.task.name)}--{topic}--{strategy}--{how}.json"
                path = self.out / name
                if not path.exists():
                    home = Path(prepared.judges[judge_for({"kind": strategy}, prepared.task)].home)
                    outcome = measured(
                        prepared, topic, strategy, how, crawl(prepared, strategy, how, shared, home), web
                    )
                    path.write_bytes(msgspec.json.encode(outcome))
                    print(outcome.line(), flush=True)
                yield msgspec.json.decode(path.read_bytes(), type=Outcome)


def measured(prepared: Prepared, topic: str, strategy: str, how: str, done: one.LabCrawl, web: Any) -> Outcome:
    order, targets = done.order(web.page), set(prepared.targets)
    curve = recall_curve(order, targets)
    area = area_under_recall(order, targets, prepared.task.pages)
    return Outcome(prepared.task.name, topic, strategy, how, area, curve[-1], round(done.seconds / 3600, 4))


def table(outcomes: Sequence[Outcome], chosen: Sequence[str]) -> str:
    """Areas as a ratio to strict order, and the hours."""
    by = {(o.task, o.topic, o.strategy, o.how): o for o in outcomes}
    others = [how for how in chosen if how != STRICT]
    head = ["task", "topic", "strategy", "strict: area"]
    head += [f"{how}: {what}" for how in others for what in ("area", "of strict", "recall", "hours")]
    lines = ["| " + " | ".join(head) + " |", "|---|---|---|" + "--:|" * (len(head) - 3)]
    ratios: dict[str, list[float]] = {how: [] for how in others}
    for (task, topic, strategy, how), strict in by.items():
        if how != STRICT:
            continue
        cells = [task, topic, strategy, f"{strict.area:.3f}"]
        for other in others:
            got = by[task, topic, strategy, other]
            ratios[other].append(got.area / strict.area if strict.area else 1.0)
            cells += [f"{got.area:.3f}", f"{ratios[other][-1]:.2f}", f"{got.recall:.3f}", f"{got.hours:.2f}"]
        lines.append("| " + " | ".join(cells) + " |")
    for how, values in ratios.items():
        lines.append(f"\n{how}: mean ratio {statistics.mean(values):.3f}, lowest {min(values):.3f}")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("webs", type=Path)
    parser.add_argument("--out", type=Path, default=Path("out/field"))
    parser.add_argument("--on", default="texas", help="WebKB webs beside uic: texas, wisconsin, or both")
    parser.add_argument("--how", default=",".join((STRICT, FOCUSED, BUSY)), help=f"of {', '.join(HOW)}")
    parser.add_argument("--strategies", default=",".join(STRATEGIES))
    parser.add_argument("--topics", default="keywords,examples")
    parser.add_argument("--tasks", default="", help="only tasks whose name holds this")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    outcomes: list[Outcome] = []
    field = Field(given.out, given.strategies.split(","), given.how.split(","))
    for topic, plan in plans(given.webs, given.out, given.on, field.strategies):
        preparation = Preparation(plan, given.out / topic, mine)
        for task in plan.tasks if topic in given.topics else ():
            if given.tasks in task.name:
                outcomes += field.run(preparation.prepare(task, 0), topic)
    text = table(outcomes, field.manners)
    (given.out / "table.md").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
