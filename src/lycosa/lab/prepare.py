"""Prepare what the runs of a task need: targets, seeds, judges, and the oracle's plan. Done once and kept.

The whole web is read here. A run of a strategy only gets the web to fetch from, the seeds and the judge.
"""

from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import msgspec
import xxhash
from msgspec import Struct
from msgspec.structs import replace

from lycosa import __version__, urls
from lycosa.lab import judges
from lycosa.lab.answer import Graph, Pages
from lycosa.lab.baselines import plan
from lycosa.lab.judges import MAIN, OTHER, POSITIVE, Judging, Makers
from lycosa.lab.recorded import start_urls
from lycosa.lab.survey import reach
from lycosa.lab.tasks import Plan, Task, slug
from lycosa.lab.webs import GENERATED, GeneratedPages, generated, graph_of, labels_of, open_web, stamp
from lycosa.lab.writing import make_folder, writing
from lycosa.seeds.file import read_seeds
from lycosa.strategy import RULED
from lycosa.types import BadInput

_LEAST_EXAMPLES = 2


class Prepared(Struct, frozen=True):
    """A task with everything its runs need; pages are given by name."""

    key: str
    task: Task
    folder: str  # that its paths are relative to
    seeds: list[str]
    positives: list[str]  # all pages with a target's label
    examples: list[str]  # those of them used as examples
    targets: list[str]  # the other ones that can be reached
    unreachable: int  # number of those that cannot be reached
    reachable: int  # pages, targets or not
    oracle: list[str]  # the oracle's plan; empty if it is left out
    judges: dict[str, Judging]


class Truth(NamedTuple):
    """What is known about a web as a whole."""

    web: Pages
    graph: Graph
    labels: dict[str, str]


class Preparation:
    """Prepares tasks one after the other; what is known about a web is kept for the next task on it."""

    def __init__(self, plan: Plan, out: Path, mine: judges.Miner | None = None) -> None:
        self.plan = plan
        self.out = out
        self.makers = Makers(out, mine)
        self._truths: dict[tuple[str, str], Truth] = {}

    def prepare(self, task: Task, repeat: int) -> Prepared:
        """The prepared task, from disk if nothing has changed since."""
        task = varied(task, repeat)
        seed, kinds = self.plan.seed + repeat, self._kinds(task)
        path = self.out / "tasks" / f"{slug(task.name)}-{repeat}.json"
        facts = [__version__, task, seed, kinds, self._needs_oracle, self._stamps(task)]
        key = xxhash.xxh3_64_hexdigest(msgspec.json.encode(facts))
        kept = _load(path)
        if kept and kept.key == key and all(Path(judging.model or ".").exists() for judging in kept.judges.values()):
            return kept
        try:
            made = self._make(task, seed, kinds, key)
        except BadInput as error:
            raise BadInput(f"task {task.name!r}: {error}") from None
        make_folder(path.parent)
        with writing(path):
            path.write_bytes(msgspec.json.encode(made))
        return made

    def _make(self, task: Task, seed: int, kinds: Sequence[str], key: str) -> Prepared:
        truth = self._truth(task)
        seeds = _seeds(task, self.plan.home, truth.web)
        reached = reach(truth.graph, seeds)
        if not reached:
            raise BadInput(f"seeds: no page of the web is at {', '.join(seeds[:3])}")
        positives = _positives(task, truth)
        drawn = _draw(task, truth.web.pages(), positives, seed)
        targets = set(positives).difference(drawn)
        reachable = {page for page in targets if page in reached}
        if not reachable:
            raise BadInput(f"none of the {len(targets)} targets can be reached from the seeds")
        return Prepared(
            key=key,
            task=task,
            folder=str(self.plan.folder),
            seeds=seeds,
            positives=positives,
            examples=sorted(page for page, label in drawn.items() if label == POSITIVE),
            targets=sorted(reachable),
            unreachable=len(targets) - len(reachable),
            reachable=len(reached),
            oracle=plan(truth.graph, seeds, reachable, task.pages) if self._needs_oracle else [],
            judges=self._judges(task, truth.web, drawn, kinds),
        )

    @property
    def _needs_oracle(self) -> bool:
        return any(options["kind"] == "oracle" for options in self.plan.strategies.values())

    def _stamps(self, task: Task) -> list[Any]:
        """A fingerprint that changes when a file named by the task changes."""
        folder = self.plan.folder
        trained = [part for item in task.train for part in item.rsplit(":", 1)]
        files = [folder / name for name in (task.labels, *trained) if name]
        files += [self.plan.home / task.seeds] if isinstance(task.seeds, str) else []
        topic = [self.makers.of_config(self.plan.home / task.topic)] if task.topic else []
        return [stamp(task.web, folder), list(map(_times, files)), topic]

    def _truth(self, task: Task) -> Truth:
        found = self._truths.get((task.web, task.labels))
        if found is None:
            web = open_web(task.web, self.plan.folder)
            labels = labels_of(web, self.plan.folder / task.labels if task.labels else None)
            found = self._truths[task.web, task.labels] = Truth(web, graph_of(web), labels)
        return found

    def _kinds(self, task: Task) -> list[str]:
        """The judges that the strategies need."""
        return list(dict.fromkeys(judge_for(options, task) for options in self.plan.strategies.values()))

    def _judges(self, task: Task, web: Pages, drawn: dict[str, str], kinds: Sequence[str]) -> dict[str, Judging]:
        found: dict[str, Judging] = {}
        ruled = {judge_for(options, task) for options in self.plan.strategies.values() if options["kind"] in RULED}
        for kind in kinds:
            if kind == MAIN:
                found[kind] = self.makers.main(task, self.plan, web, drawn)
            else:
                found[kind] = self.makers.trained(task, self.plan.folder, kind)
            if kind in ruled and task.train:
                self.makers.with_rules(found[kind])
            judges.judge_of(found[kind])  # report problems now
        return found


def judge_for(options: dict[str, Any], task: Task) -> str:
    """The judge of a strategy. Rules were published with a taxonomy; the others share the task's judge."""
    wanted = options.get("judge", "taxonomy" if options["kind"] == "rules" and task.train else MAIN)
    if wanted == MAIN or (wanted in ("examples", "taxonomy") and task.train):
        return MAIN if wanted == "examples" else str(wanted)
    raise BadInput(f"task {task.name!r}: there is no judge {wanted!r} for it (main; with `train` examples, taxonomy)")


def by_chance(task: Task) -> bool:
    """Does the task depend on the random seed?"""
    return task.examples_from_targets > 0 or task.web.startswith(GENERATED)


def varied(task: Task, repeat: int) -> Task:
    """The task of a repetition: on a generated web of the same kind with another random seed."""
    if not repeat or not task.web.startswith(GENERATED):
        return task
    seed = generated(task.web).seed + repeat
    others = [item for item in task.web.removeprefix(GENERATED).split(",") if item and not item.startswith("seed=")]
    return replace(task, web=GENERATED + ",".join([*others, f"seed={seed}"]))


def _positives(task: Task, truth: Truth) -> list[str]:
    """The target pages, before examples are removed."""
    if task.hosts:
        return sorted(page for page in truth.web.pages() if urls.hostname(page) in task.hosts)
    known = set(truth.labels.values())
    if missing := [label for label in task.target if label not in known]:
        raise BadInput(f"target: no page has the label {missing[0]!r} (there are: {', '.join(sorted(known))})")
    return sorted(page for page, label in truth.labels.items() if label in task.target)


def _draw(task: Task, pages: Sequence[str], positives: Sequence[str], seed: int) -> dict[str, str]:
    """Examples sampled from the web itself: some of the targets, and some other pages."""
    wanted = task.examples_from_targets
    if not wanted:
        return {}
    others = sorted(set(pages).difference(positives))
    if not _LEAST_EXAMPLES <= wanted < len(positives) or len(others) < _LEAST_EXAMPLES:
        raise BadInput(f"examples_from_targets: {wanted} of {len(positives)} targets and {len(others)} other pages")
    chance = Random(seed)
    rest = chance.sample(others, min(len(others), max(_LEAST_EXAMPLES, round(wanted * task.others_for_each))))
    return dict.fromkeys(chance.sample(positives, wanted), POSITIVE) | dict.fromkeys(rest, OTHER)


def _seeds(task: Task, folder: Path, web: Pages) -> list[str]:
    if isinstance(task.seeds, str):
        good, wrong = read_seeds(task.seeds, folder)
        if wrong:
            raise BadInput(wrong[0].removesuffix(", skipped"))
        return good
    if not task.seeds:
        assert isinstance(web, GeneratedPages)
        return web.seeds()
    return start_urls(task.seeds)


def _times(path: Path) -> tuple[int, int]:
    try:
        found = path.stat()
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror}") from None
    return found.st_size, found.st_mtime_ns


def _load(path: Path) -> Prepared | None:
    try:
        return msgspec.json.decode(path.read_bytes(), type=Prepared)
    except (OSError, msgspec.DecodeError):
        return None
