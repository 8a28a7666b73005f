"""What to compare: tasks (a web, targets, seeds, a judge) and strategies, from a TOML file or from options."""

import os
import re
import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct, field
from msgspec.structs import replace

from lycosa import config
from lycosa.config import Positive, Whole
from lycosa.estimate.held_out import LEAST
from lycosa.lab.one import LATENCY_S
from lycosa.lab.person import person_of
from lycosa.lab.webs import GENERATED
from lycosa.types import BadInput

BELOW, ABOVE = ("breadth-first", "random"), ("oracle",)  # always included; only the oracle can be left out
DEFAULT = ("best-first", "link-context", "opic", "otie")
Model = Literal["nb", "svm", "logistic", "mlp", "vote"]
Ratio = Annotated[float, Meta(gt=0, le=1_000)]
HeldOut = Annotated[int, Meta(ge=LEAST)]


class Task(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Find the targets in a web. Labels define the targets; the crawler never sees them."""

    name: str
    web: str  # a WARC, a folder of them, a crawl folder, or generated:...
    labels: str = ""  # url<TAB>label lines; a generated web knows its labels
    target: list[str] = []  # the labels that are targets
    hosts: list[str] = []  # or: all pages of these hosts are targets
    seeds: list[str] | str = []  # URLs, or a file with one per line; a generated web has its own
    train: list[str] = []  # WEB:LABELS, the pages that the judge is trained on
    topic: str = ""  # instead: a crawl folder or .toml file whose topic is used
    sentence: str = ""  # instead: what to look for, in a sentence
    examples_from_targets: Whole = 0  # instead: sample this many targets as examples, which are then not targets
    others_for_each: Ratio = 2.0  # for each of them, sample this many other pages as counter-examples
    model: Model | None = None  # of the judge
    pages: Whole = 0  # page budget
    closed: bool = False  # ignore links that lead out of the web; otherwise each of them is a 404


class Comparison(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One TOML file; `model` and `pages` are defaults for its tasks."""

    task: list[Task]
    strategies: list[str] = field(default_factory=lambda: list(DEFAULT))
    strategy: dict[
        str, dict[str, Any]
    ] = {}  # options by name; `kind` if the name differs from it, `judge` for another judge, `person` who labels pages
    webs: str = ""  # the folder of webs and labels, by default that of the file; $NAME is an environment variable
    model: Model = "logistic"
    pages: Positive = 400
    repeat: Positive = 1
    seed: Whole = 0
    field: bool = False  # with the delays and workers of a real crawl (see `fetch`), instead of in strict order
    fetch: config.Fetch = config.Fetch()
    latency_s: config.Seconds = LATENCY_S  # until a server answers
    oracle: bool = True  # planning needs the links of the whole web
    held_out: list[HeldOut] = []  # compare recall estimates with the truth: with this many held-out pages, ...


class Plan(Struct, frozen=True):
    """A complete comparison that can be run."""

    tasks: list[Task]
    strategies: dict[str, dict[str, Any]]  # name to options, always with `kind`; includes the baselines
    repeat: int
    seed: int
    folder: Path  # that webs and labels are relative to
    home: Path  # that topics and files of seeds are relative to
    fetch: config.Fetch | None = None  # settings of a crawl in the field; None: strict order
    latency_s: float = 0.0
    held_out: tuple[int, ...] = ()  # numbers of held-out pages with which recall is estimated


def load(path: Path, **changes: Any) -> Plan:
    """Read a comparison from a TOML file; `changes` override its keys for every task."""
    try:
        text = path.read_text(encoding="utf-8")
        raw = tomllib.loads(text)
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path}: cannot be read: {error}") from None
    except tomllib.TOMLDecodeError as error:
        raise BadInput(f"{path}: not valid TOML: {error}") from None
    try:
        found = msgspec.convert(raw, Comparison)
    except msgspec.ValidationError as error:
        raise config.Source(path, text).blame(*config.explain(error)) from None
    shared = {name: value for name, value in changes.items() if name in ("model", "pages")}
    found = replace(found, **changes, task=[replace(task, **shared) for task in found.task])
    try:
        return complete(found, path.parent)
    except BadInput as error:
        raise BadInput(f"{path}: {error}") from None


def complete(found: Comparison, folder: Path) -> Plan:
    """Fill in defaults, and reject what cannot be run."""
    tasks = [replace(task, model=task.model or found.model, pages=task.pages or found.pages) for task in found.task]
    if not tasks:
        raise BadInput("task: at least one is required")
    names = [slug(task.name) for task in tasks]
    for task, name in zip(tasks, names, strict=True):
        if not name or names.count(name) > 1:
            raise BadInput(f"task {task.name!r}: names of tasks must be unique")
        _check(task)
    fetch, latency_s = (found.fetch, found.latency_s) if found.field else (None, 0.0)
    webs, held_out = _folder(found.webs, folder), tuple(dict.fromkeys(found.held_out))
    return Plan(tasks, _strategies(found), found.repeat, found.seed, webs, folder, fetch, latency_s, held_out)


def _check(task: Task) -> None:
    def wrong(problem: str) -> BadInput:
        return BadInput(f"task {task.name!r}: {problem}")

    generated = task.web.startswith(GENERATED)
    if bool(task.target) == bool(task.hosts):
        raise wrong("specify the targets, by `target` (labels) or by `hosts`")
    if task.target and not task.labels and not generated:
        raise wrong("labels: required, to define which pages are targets")
    if not task.seeds and not generated:
        raise wrong("seeds: required, to know where to start")
    if problem := config.file_problem(task.seeds):
        raise wrong(f"seeds: {problem}")
    ways = [bool(task.train), bool(task.topic), bool(task.sentence), task.examples_from_targets > 0]
    if sum(ways) > 1 or (not any(ways) and not generated):
        raise wrong("specify the judge, by one of `train`, `topic`, `sentence` and `examples_from_targets`")
    if task.train and task.hosts:
        raise wrong("a judge that is trained on labels needs `target`, not `hosts`")


def _strategies(found: Comparison) -> dict[str, dict[str, Any]]:
    """Options by name, each strategy once, with the baselines."""
    names = list(dict.fromkeys([*BELOW, *found.strategies, *ABOVE]))
    if not found.oracle:
        names = [name for name in names if name not in ABOVE]
    names.sort(key=lambda name: (name in ABOVE) - (name in BELOW))
    if unknown := set(found.strategy) - set(names):
        raise BadInput(f"strategy.{min(unknown)}: options for a strategy that is not one of `strategies`")
    for name in names:
        if not slug(name):
            raise BadInput(f"strategies: {name!r} is not a name")
        person_of(found.strategy.get(name, {}), name)
    return {name: {"kind": name, **found.strategy.get(name, {})} for name in names}


def _folder(webs: str, folder: Path) -> Path:
    """Substitute environment variables."""

    def value(found: re.Match[str]) -> str:
        name = found[1] or found[2]
        if name not in os.environ:
            raise BadInput(f"webs: the environment variable {name} is not set; it must name the folder of the webs")
        return os.environ[name]

    return folder / Path(re.sub(r"\$(?:(\w+)|\{(\w+)\})", value, webs)).expanduser()


def slug(name: str) -> str:
    """A name as part of a file name."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def trained_on(task: Task, folder: Path) -> list[tuple[Path, Path]]:
    """Webs and labels that a task's judge is trained on."""
    found: list[tuple[Path, Path]] = []
    for item in task.train:
        web, colon, labels = item.rpartition(":")
        if not colon:
            raise BadInput(f"task {task.name!r}: train: {item!r} is not WEB:LABELS")
        found.append((folder / web, folder / labels))
    return found
