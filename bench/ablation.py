"""What does each part of `learned` contribute? The full model, each part removed, each single strategy, and the oracle.

    python bench/ablation.py WEBS --out out/ablation --report docs/learned-ablation.md

WEBS is a folder with the recorded webs that examples/lab/webkb.toml and uic.toml name. What depends on chance is run
with five random seeds. All runs of a task share one process, which parses and judges each page once.
"""

import argparse
import os
import statistics
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct
from remembering import Remembering

from lycosa import build, config
from lycosa.cli.lab import mine
from lycosa.lab import baselines, one, tasks
from lycosa.lab.judges import judge_of
from lycosa.lab.metrics import area_under_recall, recall_curve
from lycosa.lab.prepare import Preparation, Prepared, judge_for
from lycosa.lab.webs import open_web
from lycosa.strategy.link_features import PRIOR

HOME = Path(__file__).parent.parent
LONG = 1_000  # pages; crawls as long as that differ little from seed to seed
TUNED = ("texas course", "texas faculty", "texas student", "uic health")  # where constants were chosen
SINGLE = ("breadth-first", "best-first", "hard-focus", "link-context", "opic", "otie", "rules")
GROUPS = {
    "parent relevance": ["parent"],
    "words around the link": ["context"],
    "the link's own words": ["own"],
    "class of the page by link words": ["elsewhere"],
    "value by link words": ["value"],
    "either of the two": ["elsewhere", "value"],
    "sibling yield": ["siblings", "part", "near", "untested"],
    "place on the page": ["near"],
    "untested siblings": ["untested"],
    "part of the host": ["area"],
    "host and kind of URL": ["host", "place"],
    "class of the page": ["class", "leads"],
    "word yield": ["words"],
    "cash": ["cash"],
    "depth": ["depth"],
    "twin detection": ["twin"],
}
BEFORE = ("parent", "context", "own", "elsewhere", "value", "cash", "depth", "twin")
PARTS: dict[str, dict[str, Any]] = {
    **{f"without {name}": {"without": gone} for name, gone in GROUPS.items()},
    "without learned weights": {"speed": 0.0},
    "without credit to ancestors": {"credit": 0.0},
    "without exploring": {"explore": 0},
    "only what is known before the visit": {
        "without": [name for name in PRIOR if name not in BEFORE],
        "speed": 0.0,
        "explore": 0,
    },
}


class Outcome(Struct, frozen=True):
    """One run."""

    task: str
    strategy: str
    seed: int
    area: float
    curve: list[float]
    cpu_s: float


def plans(webs: Path) -> Iterator[tasks.Plan]:
    os.environ["LYCOSA_WEBS"] = str(webs.resolve())
    for name, chosen in (("webkb", SINGLE), ("uic", SINGLE[:-1])):  # rules need examples of more than one class
        run = [*chosen, "learned"]
        yield tasks.load(HOME / "examples" / "lab" / f"{name}.toml", strategies=run, strategy={}, repeat=1)


def variants(plan: tasks.Plan, seeds: int, part_seeds: int) -> Iterator[tuple[str, dict[str, Any], int]]:
    for name, options in plan.strategies.items():
        if name not in ("random", "learned"):
            yield name, options, 0
    for seed in range(seeds):
        yield "learned", {"kind": "learned"}, seed
        for name, options in PARTS.items() if seed < part_seeds else ():
            yield name, {"kind": "learned", **options}, seed


def run(prepared: Prepared, todo: Sequence[tuple[str, dict[str, Any], int]], out: Path) -> list[Outcome]:
    """All runs of one task that are not on disk yet."""
    web = open_web(prepared.task.web, Path(prepared.folder))
    kept: dict[str, Remembering] = {}
    found = []
    for name, options, seed in todo:
        path = out / f"{tasks.slug(prepared.task.name)}--{tasks.slug(name)}--{seed}.json"
        if path.exists():
            found.append(msgspec.json.decode(path.read_bytes(), type=Outcome))
            continue
        kind = judge_for(options, prepared.task)
        shared = kept.setdefault(kind, Remembering(judge_of(prepared.judges[kind]), web))
        strategy = _strategy(prepared, options, seed, web, shared, Path(prepared.judges[kind].home))
        cpu = time.process_time()
        crawl = one.crawl_web(shared, prepared.seeds, shared, strategy, prepared.task.pages)
        order, targets = crawl.order(web.page), set(prepared.targets)
        area = area_under_recall(order, targets, prepared.task.pages)
        curve = recall_curve(order, targets)
        outcome = Outcome(prepared.task.name, name, seed, area, curve, time.process_time() - cpu)
        path.write_bytes(msgspec.json.encode(outcome))
        found.append(outcome)
        print(f"{prepared.task.name:16} {name:36} {seed} {area:.3f} {outcome.cpu_s:5.1f} s", flush=True)
    return found


def _strategy(prepared: Prepared, options: dict[str, Any], seed: int, web: Any, judge: Any, home: Path) -> Any:
    if options["kind"] == "oracle":
        return baselines.oracle(prepared.oracle, web)
    given = {**options, "seed": seed} if options["kind"] == "learned" else options
    made = build.make("strategy", build.strategies(), given, config.Source(Path("ablation"), ""))
    if hasattr(made, "prepare"):
        made.prepare(home, judge)
    return made


def report(outcomes: Sequence[Outcome], path: Path, seeds: int, part_seeds: int) -> None:
    names = list(dict.fromkeys(outcome.task for outcome in outcomes))
    webkb = [name for name in names if not name.startswith("uic")]
    areas: dict[tuple[str, str], float] = {}
    for strategy in dict.fromkeys(outcome.strategy for outcome in outcomes):
        for task in names:
            values = [one.area for one in outcomes if one.task == task and one.strategy == strategy]
            if values:
                areas[strategy, task] = statistics.mean(values)
    rows = ["learned", *PARTS, *SINGLE, "best single in hindsight", "oracle"]
    for task in names:
        areas["best single in hindsight", task] = max(areas.get((single, task), 0.0) for single in SINGLE)
    lines = ["| | " + " | ".join(names) + " | WebKB mean |", "|---|" + "--:|" * (len(names) + 1)]
    for row in rows:
        cells = [f"{areas[row, task]:.3f}" if (row, task) in areas else "" for task in names]
        values = [areas[row, task] for task in webkb if (row, task) in areas]
        mean = f"{statistics.mean(values):.3f}" if values and len(values) == len(webkb) else ""
        label = f"**{row}**" if row == "learned" else row
        lines.append(f"| {label} | " + " | ".join(cells) + f" | {mean} |")
    ratios = [areas["learned", task] / areas["best single in hindsight", task] for task in names]
    lines.append("| learned / best single | " + " | ".join(f"{ratio:.2f}" for ratio in ratios) + " | |")
    text = (HOME / "bench" / "ablation.md").read_text(encoding="utf-8")
    text = text.replace("{seeds}", str(seeds)).replace("{part_seeds}", str(part_seeds))
    path.write_text(text.replace("{table}", "\n".join(lines)).replace("{tuned}", ", ".join(TUNED)), encoding="utf-8")
    draw(outcomes, names, path.parent / "pictures" / "learned.png")


def draw(outcomes: Sequence[Outcome], names: Sequence[str], path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    path.parent.mkdir(exist_ok=True)
    figure, axes = pyplot.subplots(2, (len(names) + 1) // 2, figsize=(12, 5.5), squeeze=False)
    styles = {"learned": ("black", 2.0), "oracle": ("silver", 1.5)}
    for at, task in zip(axes.flat, names, strict=False):
        for strategy in ("oracle", "breadth-first", "best-first", "link-context", "otie", "learned"):
            curves = [one.curve for one in outcomes if one.task == task and one.strategy == strategy]
            if curves:
                length = max(map(len, curves))
                mean = [statistics.mean(curve[min(n, len(curve) - 1)] for curve in curves) for n in range(length)]
                color, width = styles.get(strategy, (None, 1.0))
                at.plot(range(1, length + 1), mean, label=strategy, color=color, linewidth=width)
        at.set_title(task, fontsize=9)
        at.tick_params(labelsize=7)
        at.set_ylim(0, 1)
    axes[0][0].legend(fontsize=7)
    figure.supxlabel("pages fetched", fontsize=9)
    figure.supylabel("recall of targets", fontsize=9)
    figure.tight_layout()
    figure.savefig(path, dpi=80)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("webs", type=Path)
    parser.add_argument("--out", type=Path, default=Path("out/ablation"))
    parser.add_argument("--report", type=Path, default=HOME / "docs" / "learned-ablation.md")
    parser.add_argument("--seeds", type=int, default=5, help="of the full model")
    parser.add_argument("--part-seeds", type=int, default=2, help="of the model with a part removed")
    parser.add_argument("--tasks", default="", help="only tasks whose name holds this")
    given = parser.parse_args()
    outcomes: list[Outcome] = []
    for plan in plans(given.webs):
        preparation = Preparation(plan, given.out, mine)
        (given.out / "outcomes").mkdir(parents=True, exist_ok=True)
        for task in plan.tasks:
            if given.tasks in task.name:
                todo = list(variants(plan, given.seeds, given.part_seeds if task.pages < LONG else 1))
                outcomes += run(preparation.prepare(task, 0), todo, given.out / "outcomes")
    if not outcomes:
        parser.error(f"--tasks: no task has {given.tasks!r} in its name")
    report(outcomes, given.report, given.seeds, given.part_seeds)


if __name__ == "__main__":
    main()
