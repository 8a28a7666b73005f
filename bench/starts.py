"""How well does `learned` do when it starts anywhere in a site, instead of on its main page?

    python bench/starts.py WEBS --web texas --starts 10 --out out/starts

The tasks of examples/lab/webkb.toml on one web, each from some of the pages that lead to nearly all of it, drawn at
random.
"""

import argparse
import statistics
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from random import Random

from ablation import plans, run
from msgspec.structs import replace

from lycosa.cli.lab import mine
from lycosa.lab.answer import Graph
from lycosa.lab.prepare import Preparation
from lycosa.lab.survey import reach
from lycosa.lab.tasks import Plan
from lycosa.lab.webs import graph_of, open_web

PAGES = 300
NEARLY_ALL = 0.9  # of the pages


def plan_from(webs: Path, web: str, count: int, seed: int) -> Plan:
    plan = next(plans(webs))
    chosen = [task for task in plan.tasks if task.name.startswith(web)]
    graph = graph_of(open_web(chosen[0].web, plan.folder))
    starts = islice(starts_of(graph, Random(seed)), count)
    tasks = [
        replace(task, name=f"{task.name} {number}", seeds=[start], pages=PAGES)
        for number, start in enumerate(starts)
        for task in chosen
    ]
    return replace(plan, tasks=tasks, strategies={"learned": {"kind": "learned"}})


def starts_of(graph: Graph, random: Random) -> Iterator[str]:
    pages = sorted(graph.web.pages())
    random.shuffle(pages)
    return (page for page in pages if len(reach(graph, [page])) >= NEARLY_ALL * len(pages))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("webs", type=Path)
    parser.add_argument("--out", type=Path, default=Path("out/starts"))
    parser.add_argument("--web", choices=("texas", "wisconsin"), default="texas")
    parser.add_argument("--starts", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0, help="of the start pages")
    given = parser.parse_args()
    plan = plan_from(given.webs, given.web, given.starts, given.seed)
    preparation = Preparation(plan, given.out, mine)
    (given.out / "outcomes").mkdir(parents=True, exist_ok=True)
    areas: dict[str, list[float]] = {}
    for task in plan.tasks:
        todo = [("learned", {"kind": "learned"}, 0)]
        for outcome in run(preparation.prepare(task, 0), todo, given.out / "outcomes"):
            areas.setdefault(" ".join(task.target), []).append(outcome.area)
    for target, found in areas.items():
        print(f"{target:10} {statistics.mean(found):.3f}")
    print(f"{'mean':10} {statistics.mean([area for found in areas.values() for area in found]):.3f}")


if __name__ == "__main__":
    main()
