"""What would `learned` find if it knew how many targets are one click behind each link? A bound on learning the value.

    python bench/foresight.py WEBS --web texas --out out/foresight

The tasks of examples/lab/webkb.toml on one web, and the same from other start pages (see starts.py). A crawl that is
told the number for each queued link, not counting targets it has already found a link to, is compared with one that is
not. With --known 0.5, it is told for half of the links, drawn at random, and hears nothing of the others. With
--clicks 2, it is also told how many targets are two clicks behind, each of which counts half as much.
"""

import argparse
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import xxhash
from ablation import plans
from msgspec.structs import replace
from remembering import Remembering
from starts import plan_from

from lycosa.cli.lab import mine
from lycosa.lab import one
from lycosa.lab.answer import Graph
from lycosa.lab.judges import MAIN, judge_of
from lycosa.lab.metrics import area_under_recall
from lycosa.lab.prepare import Preparation, Prepared
from lycosa.lab.tasks import Plan
from lycosa.lab.webs import graph_of, open_web
from lycosa.strategy.learned import Learned
from lycosa.strategy.links import Finds
from lycosa.strategy.memory import Memory
from lycosa.strategy.online_logistic import Weighed
from lycosa.strategy.sources import Source
from lycosa.types import Visit

MOST = 5  # targets behind one link that count
EACH = 0.5  # what one of them is worth, beside 1 for a target; no other value was tried
FARTHER = 0.25  # the same for those two clicks behind


class Answers:
    """Which targets each page links to, and which of them the pages that it links to."""

    def __init__(self, graph: Graph, targets: Iterable[str], known: float, clicks: int) -> None:
        self._graph, self._targets, self._known, self.clicks = graph, set(targets), known, clicks
        self._behind: dict[str, set[str]] = {}
        self._farther: dict[str, set[str]] = {}

    def page(self, url: str) -> str:
        return self._graph.web.page(self._graph.web.resolve(url) or url)

    def behind(self, url: str) -> set[str]:
        if url not in self._behind:
            at = self._told(url)
            self._behind[url] = self._linked(at) if at else set()
        return self._behind[url]

    def farther(self, url: str) -> set[str]:
        """Two clicks behind."""
        if url not in self._farther:
            at = self._told(url) if self.clicks > 1 else ""
            self._farther[url] = set[str]().union(*map(self._linked, self._graph.links(at))) if at else set()
        return self._farther[url]

    def _told(self, url: str) -> str:
        """The page, if the crawl may know what is behind this link."""
        is_known = xxhash.xxh3_64_intdigest(url.encode()) < self._known * 2**64
        return (self._graph.web.resolve(url) or "") if is_known else ""

    def _linked(self, at: str) -> set[str]:
        return {self.page(target) for target in self._graph.links(at)} & self._targets


class NamedMemory(Memory):
    """Knows the URL of each link too."""

    def __init__(self) -> None:
        super().__init__()
        self.urls: dict[int, str] = {}

    def add_links(self, source: Source, finds: Finds, told: Sequence[int]) -> list[int]:
        rows = super().add_links(source, finds, told)
        self.urls.update(zip(rows, finds.urls, strict=True))
        return rows


@dataclass
class Foresight(Learned):
    """Adds the number of new targets behind a link to the probability that it leads to one."""

    answers: Any = None
    found_: set[str] = field(default_factory=set)  # pages that a link was found to

    def __post_init__(self) -> None:
        self.memory_ = NamedMemory()
        super().__post_init__()

    def learn(self, visit: Visit) -> None:
        self.found_.update(self.answers.page(link.url) for link in visit.page.links)
        self.found_.add(self.answers.page(visit.reply.url))
        super().learn(visit)

    def weigh(self, rows: Sequence[int]) -> list[Weighed | None]:
        both = zip(rows, super().weigh(rows), strict=True)
        return [weighed and self._raised(weighed, self.memory_.urls.get(row, "")) for row, weighed in both]

    def _raised(self, weighed: Weighed, url: str) -> Weighed:
        new = min(MOST, len(self.answers.behind(url) - self.found_)) if url else 0
        far = min(MOST, len(self.answers.farther(url) - self.answers.behind(url) - self.found_)) if url else 0
        most = MOST * (EACH + FARTHER if self.answers.clicks > 1 else EACH)
        score = (weighed.score + EACH * new + FARTHER * far) / (1 + most)
        return Weighed(score, weighed.evidence, weighed.weights, weighed.bias)


def area(prepared: Prepared, strategy: Learned, web: Any, judge: Any) -> float:
    strategy.prepare(Path(prepared.judges[MAIN].home), judge)
    crawl = one.crawl_web(judge, prepared.seeds, judge, strategy, prepared.task.pages)
    return area_under_recall(crawl.order(web.page), set(prepared.targets), prepared.task.pages)


def compare(plan: Plan, out: Path, known: float, clicks: int, seeds: int) -> tuple[float, float]:
    """The mean areas without and with foresight."""
    preparation, areas = Preparation(plan, out, mine), []
    for task in plan.tasks:
        prepared = preparation.prepare(task, 0)
        web = open_web(task.web, plan.folder)
        judge = Remembering(judge_of(prepared.judges[MAIN]), web)
        answers = Answers(graph_of(web), prepared.targets, known, clicks)
        for seed in range(seeds):
            made = Learned(seed=seed), Foresight(seed=seed, answers=answers)
            areas.append([area(prepared, strategy, web, judge) for strategy in made])
            print(f"{task.name:24} {seed} {areas[-1][0]:.3f} {areas[-1][1]:.3f}", flush=True)
    without, knowing = zip(*areas, strict=True)
    return statistics.mean(without), statistics.mean(knowing)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("webs", type=Path)
    parser.add_argument("--out", type=Path, default=Path("out/foresight"))
    parser.add_argument("--web", choices=("texas", "wisconsin"), default="texas")
    parser.add_argument("--starts", type=int, default=6, help="other start pages; 0: none")
    parser.add_argument("--seeds", type=int, default=1, help="of the strategy")
    parser.add_argument("--known", type=float, default=1.0, help="share of the links it is told about")
    parser.add_argument("--clicks", type=int, choices=(1, 2), default=1, help="how far ahead it knows")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    main_pages = next(plans(given.webs))
    chosen = [task for task in main_pages.tasks if task.name.startswith(given.web)]
    sets = {"main pages": replace(main_pages, tasks=chosen, strategies={"learned": {"kind": "learned"}})}
    if given.starts:
        sets["other starts"] = plan_from(given.webs, given.web, given.starts, 0)
    for name, plan in sets.items():
        without, knowing = compare(plan, given.out / name.replace(" ", "-"), given.known, given.clicks, given.seeds)
        print(f"{name}: learned {without:.3f}, with foresight {knowing:.3f}", flush=True)


if __name__ == "__main__":
    main()
